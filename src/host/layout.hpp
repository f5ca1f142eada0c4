// What lies where in the memory that the nodes of one host share. It is one sparse file without a name: every place follows
// from the number of nodes, so nothing is allocated and nobody has to ask; a page costs memory only once it is touched.
//
//   the board (host/board.hpp): JobHeader | LifeLock per node, and the launcher's | NodeCard per node | links per node |
//     traffic per node | handler counts per node | handler names
//   regions, 1 TiB apart: what lies in one is its network's affair, which maps it
//   the user segments of the nodes, 1 TiB apart
#pragma once

#include <am/impl/link.hpp>
#include <am/impl/packet.hpp>
#include <am/impl/traffic.hpp>
#include <cstddef>
#include <cstdint>

#include "host/life_lock.hpp"

namespace am::host {

inline constexpr std::uint32_t max_nodes = 4096;  // 64 words of 64 bits name them all
inline constexpr std::size_t max_handlers = 4096;
inline constexpr unsigned regions =
    2;  ///< as many as networks that use one, and one to spare: each makes the file longer
inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t stride = std::size_t{1} << 40;  ///< of regions and user segments
inline constexpr std::size_t line = impl::line_bytes;

constexpr std::size_t round_up(std::size_t bytes, std::size_t to) noexcept {
  return (bytes + to - 1) / to * to;
}

class Layout {
 public:
  explicit constexpr Layout(std::uint32_t nodes) noexcept : nodes_(nodes) {}

  /// 64-bit words that have a bit for each node.
  [[nodiscard]] constexpr std::size_t node_words() const noexcept { return (nodes_ + 63) / 64; }

  /// The launcher's is that of node number `nodes`.
  [[nodiscard]] constexpr std::size_t life(std::uint32_t node) const noexcept {
    return page_bytes + node * sizeof(LifeLock);
  }
  [[nodiscard]] constexpr std::size_t card(std::uint32_t node) const noexcept {
    return round_up(life(nodes_ + 1), page_bytes) + page_bytes * node;
  }
  /// A bit for each node that this one has sent to.
  [[nodiscard]] constexpr std::size_t links(std::uint32_t node) const noexcept {
    return card(nodes_) + node * round_up(node_words() * 8, line);
  }
  [[nodiscard]] constexpr std::size_t traffic(std::uint32_t node) const noexcept {
    const std::size_t each = round_up(impl::link_count(nodes_) * sizeof(impl::Traffic), page_bytes);
    return round_up(links(nodes_), page_bytes) + node * each;
  }
  [[nodiscard]] constexpr std::size_t handler_counts(std::uint32_t node) const noexcept {
    return traffic(nodes_) + node * round_up(max_handlers * handler_counts_bytes, page_bytes);
  }
  [[nodiscard]] constexpr std::size_t handler_names() const noexcept { return handler_counts(nodes_); }
  /// End of what every process of the job maps.
  [[nodiscard]] constexpr std::size_t board_bytes() const noexcept {
    return handler_names() + round_up(max_handlers * handler_name_bytes, page_bytes);
  }
  [[nodiscard]] constexpr std::size_t region(unsigned number) const noexcept {
    return round_up(board_bytes(), stride) + number * stride;
  }
  [[nodiscard]] constexpr std::size_t user(std::uint32_t node) const noexcept {
    return region(regions) + std::size_t{node} * stride;
  }
  [[nodiscard]] constexpr std::size_t file_bytes() const noexcept { return user(nodes_); }

  // As board.hpp has them; it checks that.
  static constexpr std::size_t handler_counts_bytes = 32;
  static constexpr std::size_t handler_name_bytes = 128;

 private:
  std::uint32_t nodes_;
};

}  // namespace am::host
