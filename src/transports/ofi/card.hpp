// Where a node can be reached over libfabric, as it stands on its card: "tcp;ofi_rxm 02001f90...@40123%4026531840 10.0.0.2:4711", the
// provider, the address in hexadecimal digits, two a byte, the port that its connections come from (doorkeeper.hpp), where it goes by
// TCP, the place in which its address holds (place_of), unless it holds everywhere, and where it takes lifelines (lifelines.hpp), if it
// does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/board.hpp"
#include "transports/tcp/address.hpp"

namespace am::ofi {

struct Reachable {
  std::string provider;
  std::vector<std::byte> address;
  std::string lifeline{};  ///< as Lifelines::tie takes it
  std::uint16_t source_port = 0;
  std::uint64_t place = 0;
};
[[nodiscard]] std::string card_text(const Reachable& node);
/// None where the text is not that.
[[nodiscard]] std::optional<Reachable> read_card(std::string_view text);
[[nodiscard]] std::optional<Reachable> read_card(const host::NodeCard& card);
/// Whether a node of the job connects from there.
[[nodiscard]] bool is_a_nodes(const host::Board& board, const tcp::Address& source);

}  // namespace am::ofi
