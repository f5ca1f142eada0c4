// The four issues of every network interface (von Eicken 1993, 3.3, the conclusion of chapter 3), in cycles of each machine's processor: data
// transfer, synchronization, send failure, virtualization. All are measured on the machines under their clocks.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "emulated_hw/kit/cycle.hpp"

namespace amsim {

struct FourIssues {
  double block_word = 0;  ///< of a long block, a word more, from memory to memory
  // Synchronization: none where handlers never preempt the computation, or run beside it.
  std::optional<double> critical_section{};  ///< to keep handlers out, and let them in again
  std::optional<double> empty_poll{};        ///< to look for a message that is not there
  std::optional<double>
      refused_send{};  ///< that the network or its interface does not accept; none where a send waits
};
/// Throws std::invalid_argument where there is no such machine.
[[nodiscard]] FourIssues four_issues(std::string_view machine);

/// What a CM-5 of 64 nodes takes to swap its data networks for those of another program, in cycles of 25 ns, while all send to all.
struct NetworkSwitch {
  am::kit::Cycle save = 0;     ///< until all that was in the networks is in the kernels' memory
  am::kit::Cycle restore = 0;  ///< until it is in the networks again, while users receive
  std::size_t messages = 0;    ///< that were in the networks
};
[[nodiscard]] NetworkSwitch network_switch();

}  // namespace amsim
