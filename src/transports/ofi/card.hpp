// Where a node can be reached over libfabric, as it stands on its card: "tcp;ofi_rxm 02001f90... 10.0.0.2:4711", the provider, the
// address in hexadecimal digits, two a byte, and where it takes lifelines (lifelines.hpp), if it does.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/board.hpp"

namespace am::ofi {

struct Reachable {
  std::string provider;
  std::vector<std::byte> address;
  std::string lifeline{};  ///< as Lifelines::tie takes it
};
[[nodiscard]] std::string card_text(const Reachable& node);
/// None where the text is not that.
[[nodiscard]] std::optional<Reachable> read_card(std::string_view text);
[[nodiscard]] std::optional<Reachable> read_card(const host::NodeCard& card);

}  // namespace am::ofi
