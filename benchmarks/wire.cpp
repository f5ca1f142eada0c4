#include "wire.hpp"

#include <string_view>

#include "transports/ofi/providers.hpp"

namespace ambench {

Wire wire_of(const std::string& transport) {
  if (transport == "tcp") return {.kind = Wire::Kind::sockets};
  constexpr std::string_view ofi = "ofi";
  if (!transport.starts_with(ofi)) return {};
  const std::string_view behind = std::string_view(transport).substr(ofi.size());
  const am::ofi::Wish wish{.provider = behind.substr(behind.empty() ? 0 : 1), .interfaces = {}};
  return {.kind = Wire::Kind::libfabric,
          .provider = am::ofi::provider_of(*am::ofi::choose(am::ofi::system_library(), wish))};
}

}  // namespace ambench
