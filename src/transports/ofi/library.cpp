#include "transports/ofi/library.hpp"

#include <array>
#include <cstdlib>

#include "host/late_library.hpp"
#include "transports/ofi/doorkeeper.hpp"
#include "transports/ofi/letters.hpp"
#include "transports/ofi/signal_handlers.hpp"

namespace am::ofi {

namespace {

/// What libfabric reads when it is opened. Whoever has set one of these to something means that.
struct Setting {
  const char* name;
  const char* value;
};
constexpr std::array settings = {
    Setting{"FI_MR_CACHE_MONITOR", "disabled"},
    // ofi_rxm keeps receive buffers for all peers: its own wish, 4096 of 16 KiB, made 70 MiB of each node. Ours hold a letter.
    Setting{"FI_OFI_RXM_BUFFER_SIZE", "8448"},
    Setting{"FI_OFI_RXM_MSG_RX_SIZE", "512"},
    // ofi_rxd mixes up what it carries once it has to send packets again, unless few are under way to a peer (libfabric 1.17). At its
    // own wish, 128, a loop of libfabric alone got wrong bytes in nearly every run; at 64 in one of 70, at 32 in none.
    Setting{"FI_OFI_RXD_MAX_UNACKED", "32"},
};
static_assert(letter_bytes + 256 == 8448);

Library open_system_library() {
  const SignalHandlers kept;
  constexpr const char* mend = "apt-get install libfabric1 on every host, 1.15 or newer";
  for (const auto& [name, value] : settings)
    static_cast<void>(setenv(name, value, 0));  // NOLINT(concurrency-mt-unsafe): while starting
  const host::LateLibrary opened(
      "libfabric.so.1",
      {.what = "open a network over libfabric", .when_missing = mend, .when_too_old = mend});
  Library library{};
  opened.find("fi_getinfo", library.get_info);
  opened.find("fi_freeinfo", library.free_info);
  opened.find("fi_dupinfo", library.copy_info);
  opened.find("fi_fabric", library.open_fabric);
  opened.find("fi_strerror", library.error_text);
  const bool sees_who_comes = take_over_sockets(reinterpret_cast<const void*>(library.get_info));
  library.doors = sees_who_comes ? Library::Doors::kept : Library::Doors::open;
  return library;
}

}  // namespace

const Library& system_library() {
  static const Library library = open_system_library();
  return library;
}

}  // namespace am::ofi
