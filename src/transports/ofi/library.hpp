// libfabric's functions, opened when the first network over it is made, so that a program without one neither loads nor needs
// it. What libfabric declares inline (fi_send, fi_cq_read, ...) goes through the objects that these give, and needs no opening.
//
// A table, so that tests can put providers of their own in its place.
#pragma once

#include <rdma/fabric.h>

#include <cstdint>
#include <memory>

namespace am::ofi {

struct Library {
  /// Of providers that go by TCP: whether libam sees who connects to them (doorkeeper.hpp). None: they have no sockets.
  enum class Doors : std::uint8_t { none, kept, open };

  decltype(&::fi_getinfo) get_info;
  decltype(&::fi_freeinfo) free_info;
  decltype(&::fi_dupinfo) copy_info;
  decltype(&::fi_fabric) open_fabric;
  decltype(&::fi_strerror) error_text;
  Doors doors = Doors::none;
};

/// The interface of libfabric that is used: what it says of bits and sizes is as in that version's documents.
inline constexpr std::uint32_t version = FI_VERSION(1, 15);

/// The system's. Throws am::Error where there is none. Switches libfabric's watch over malloc off, which would put hooks into the
/// program: memory is registered by hand here, once; and has ofi_rxm keep no more than it needs here. By environment variables of
/// libfabric's that are not set. Any thread.
[[nodiscard]] const Library& system_library();

struct FreeInfo {
  decltype(&::fi_freeinfo) free;
  void operator()(fi_info* info) const noexcept { free(info); }
};
/// A list of offers, or one.
using Info = std::unique_ptr<fi_info, FreeInfo>;

}  // namespace am::ofi
