#include "core/messages/members.hpp"

#include <cstdint>

namespace am::core {

bool split(Payload& payload, Members& members) noexcept {
  members = {};
  if (payload.empty()) return true;
  std::uint32_t count = 0;
  if (payload.size() < sizeof count) return false;
  std::memcpy(&count, payload.data() + payload.size() - sizeof count, sizeof count);
  const std::size_t tail = (std::size_t{count} + 1) * sizeof(NodeId);
  if (payload.size() < tail) return false;
  members = {payload.data() + payload.size() - tail, count};
  payload = Payload(payload.data(), payload.size() - tail);
  return true;
}

void write_list(std::byte* to, Payload payload, const Members& members) noexcept {
  if (bytes_with_list(payload, members) == 0) return;
  const auto count = static_cast<std::uint32_t>(members.count);
  const std::size_t list = members.count * sizeof(NodeId);
  if (!payload.empty()) std::memcpy(to, payload.data(), payload.size());
  if (list != 0) std::memcpy(to + payload.size(), members.first, list);
  std::memcpy(to + payload.size() + list, &count, sizeof count);
}

}  // namespace am::core
