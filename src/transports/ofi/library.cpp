#include "transports/ofi/library.hpp"

#include <cstdlib>

#include "host/late_library.hpp"
#include "transports/ofi/signal_handlers.hpp"

namespace am::ofi {

namespace {

Library open_system_library() {
  const SignalHandlers kept;
  constexpr const char* mend = "apt-get install libfabric1 on every host, 1.15 or newer";
  // Before libfabric reads it. Whoever has set it to something means that.
  static_cast<void>(
      setenv("FI_MR_CACHE_MONITOR", "disabled", 0));  // NOLINT(concurrency-mt-unsafe): while starting
  const host::LateLibrary opened(
      "libfabric.so.1",
      {.what = "open a network over libfabric", .when_missing = mend, .when_too_old = mend});
  Library library{};
  opened.find("fi_getinfo", library.get_info);
  opened.find("fi_freeinfo", library.free_info);
  opened.find("fi_dupinfo", library.copy_info);
  opened.find("fi_fabric", library.open_fabric);
  opened.find("fi_strerror", library.error_text);
  return library;
}

}  // namespace

const Library& system_library() {
  static const Library library = open_system_library();
  return library;
}

}  // namespace am::ofi
