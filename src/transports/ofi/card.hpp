// Where a node can be reached over libfabric, as it stands on its card: "tcp;ofi_rxm 02001f90...", the provider and the address in
// hexadecimal digits, two a byte.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/board.hpp"
#include "transports/ofi/endpoint.hpp"

namespace am::ofi {

/// Throws am::Error where it has no room.
void write_card(const Endpoint& endpoint, host::NodeCard& card);

struct Reachable {
  std::string provider;
  std::vector<std::byte> address;
};
/// None where the text is not that.
[[nodiscard]] std::optional<Reachable> read_card(std::string_view text);
[[nodiscard]] std::string card_text(std::string_view provider, const std::vector<std::byte>& address);

}  // namespace am::ofi
