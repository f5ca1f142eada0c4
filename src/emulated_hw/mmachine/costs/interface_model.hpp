// The interfaces that chapter 6 compares, as points in its space: how messages are injected and extracted, how addresses are
// translated, how arrivals are dispatched. injection.hpp lowers the first and the third to operations, receiver.hpp the others.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 6.1, Tables 6.1, 6.2 and 6.3.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace am::mmachine::costs {

/// How the interface is presented to software.
enum class Mapping : std::uint8_t {
  processor,  ///< registers that any operation may read and write: the M-Machine's
  network,    ///< registers of the network device: a word is moved between them and a program's
  memory,     ///< addresses, reached through the memory hierarchy
};
/// Whether a message goes word by word, or only when it is complete.
enum class Atomicity : std::uint8_t { buffered, streaming };
enum class Translation : std::uint8_t { gtlb, software };
enum class Dispatch : std::uint8_t { thread_slot, polled, interrupt };

struct Port {
  Mapping mapping;
  Atomicity atomicity;
};

struct InterfaceModel {
  std::string_view name;
  Port injection{Mapping::processor, Atomicity::buffered};
  Port extraction{Mapping::processor, Atomicity::streaming};
  Translation translation = Translation::gtlb;
  Dispatch dispatch = Dispatch::thread_slot;
  /// Each message comes just too late for the poll, or for the interrupt handler's last look: the worst cases of 6.5.4.
  bool comes_too_late = false;
};

inline constexpr Port network_streaming{Mapping::network, Atomicity::streaming};
inline constexpr Port network_buffered{Mapping::network, Atomicity::buffered};
inline constexpr Port memory_streaming{Mapping::memory, Atomicity::streaming};
inline constexpr Port memory_buffered{Mapping::memory, Atomicity::buffered};

/// In the order of Table 6.4.
inline constexpr std::size_t basic_models = 12;
inline constexpr std::size_t incremental_models = 6;  ///< of each series
inline constexpr std::array<InterfaceModel, basic_models + 2 * incremental_models> interface_models{{
    {.name = "MM"},
    {.name = "IRS", .injection = network_streaming},
    {.name = "IRB", .injection = network_buffered},
    {.name = "IMS", .injection = memory_streaming},
    {.name = "IMB", .injection = memory_buffered},
    {.name = "ERS", .extraction = network_streaming},
    {.name = "ERB", .extraction = network_buffered},
    {.name = "EMS", .extraction = memory_streaming},
    {.name = "EMB", .extraction = memory_buffered},
    {.name = "SWX", .translation = Translation::software},
    {.name = "POL", .dispatch = Dispatch::polled},
    {.name = "INT", .dispatch = Dispatch::interrupt},
    {"SWX_IMB_EMB_INT", memory_buffered, memory_buffered, Translation::software, Dispatch::interrupt},
    {"SWX_IMB_EMB_POL", memory_buffered, memory_buffered, Translation::software, Dispatch::polled},
    {"SWX_IMB_EMB", memory_buffered, memory_buffered, Translation::software},
    {"SWX_IMB_EMS", memory_buffered, memory_streaming, Translation::software},
    {"SWX_IMS_EMS", memory_streaming, memory_streaming, Translation::software},
    {.name = "SWX_IMS", .injection = memory_streaming, .translation = Translation::software},
    {"SWX_IRB_ERB_INT", network_buffered, network_buffered, Translation::software, Dispatch::interrupt},
    {"SWX_IRB_ERB_POL", network_buffered, network_buffered, Translation::software, Dispatch::polled},
    {"SWX_IRB_ERB", network_buffered, network_buffered, Translation::software},
    {"SWX_IRB_ERS", network_buffered, network_streaming, Translation::software},
    {"SWX_IRS_ERS", network_streaming, network_streaming, Translation::software},
    {.name = "SWX_IRS", .injection = network_streaming, .translation = Translation::software},
}};

}  // namespace am::mmachine::costs
