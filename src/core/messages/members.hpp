// The list at the end of a multicast's payload: ids of nodes in ascending order, then their number, 32 bits each. Where both the list and
// the user's payload are empty, there is none.
//
// Pure functions.
#pragma once

#include <am/payload.hpp>
#include <am/types.hpp>
#include <cstddef>
#include <cstring>
#include <span>

namespace am::core {

/// The list; the rest of the payload is the user's.
struct Members {
  const std::byte* first = nullptr;
  std::size_t count = 0;

  Members() = default;
  Members(const std::byte* bytes, std::size_t how_many) noexcept : first(bytes), count(how_many) {}
  explicit Members(std::span<const NodeId> ids) noexcept
      : first(reinterpret_cast<const std::byte*>(ids.data())), count(ids.size()) {}

  [[nodiscard]] NodeId operator[](std::size_t i) const noexcept {
    NodeId id = 0;
    std::memcpy(&id, first + i * sizeof id, sizeof id);
    return id;
  }
  /// All of them, from `least` on and below `end`: whom it is passed on to relies on that, too.
  [[nodiscard]] bool ascend(NodeId least, NodeId end) const noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      const NodeId id = (*this)[i];
      if (id < least || id >= end) return false;
      least = id + 1;
    }
    return true;
  }
  /// The same list, or as empty.
  [[nodiscard]] bool is_same(const Members& other) const noexcept {
    return count == other.count && (count == 0 || first == other.first);
  }
  [[nodiscard]] Members part(std::size_t from, std::size_t to) const noexcept {
    return {first + from * sizeof(NodeId), to - from};
  }
};

/// Takes the list off a payload that came. False when there is none.
[[nodiscard]] bool split(Payload& payload, Members& members) noexcept;

/// What a payload and a list take.
[[nodiscard]] inline std::size_t bytes_with_list(Payload payload, const Members& members) noexcept {
  return payload.empty() && members.count == 0 ? 0 : payload.size() + (members.count + 1) * sizeof(NodeId);
}
/// Writes both, bytes_with_list of them.
void write_list(std::byte* to, Payload payload, const Members& members) noexcept;

}  // namespace am::core
