#include "models/cmam/rports.hpp"

#include <algorithm>
#include <cstring>

namespace am::models::cmam {

bool Rport::takes(std::int64_t offset, std::size_t bytes) const noexcept {
  const auto n = static_cast<std::int64_t>(bytes);
  if (buffer == nullptr || offset < 0 || n > awaited) return false;
  const std::int64_t elements = std::int64_t{element_bytes} * element_count;
  if (total_bytes > 0 && offset + n > total_bytes) return false;
  return elements <= 0 || offset + n <= elements;
}

void Rport::write(std::int64_t offset, std::span<const std::byte> bytes) const noexcept {
  if (bytes.empty()) return;
  if (element_bytes <= 0) {
    std::memcpy(buffer + offset, bytes.data(), bytes.size());
    return;
  }
  while (!bytes.empty()) {
    const std::int64_t element = offset / element_bytes;
    const std::int64_t within = offset % element_bytes;
    const auto piece = std::min(bytes.size(), static_cast<std::size_t>(element_bytes - within));
    std::memcpy(buffer + element * element_stride + within, bytes.data(), piece);
    bytes = bytes.subspan(piece);
    offset += static_cast<std::int64_t>(piece);
  }
}

int Rports::allocate() noexcept {
  for (int number = 0; number < count; ++number) {
    if (allocate_this(number) >= 0) return number;
  }
  return -1;
}

int Rports::allocate_this(int number) noexcept {
  if (number < 0 || number >= count) return -1;
  Rport& port = ports_[static_cast<std::size_t>(number)];
  if (port.allocated) return -1;
  port = {.allocated = true};
  return number;
}

bool Rports::free(int number) noexcept {
  Rport* const port = find(number);
  if (port == nullptr) return false;
  *port = {};
  return true;
}

int Rports::free_ports() const noexcept {
  return static_cast<int>(
      std::count_if(ports_.begin(), ports_.end(), [](const Rport& port) { return !port.allocated; }));
}

Rport* Rports::find(std::int64_t number) noexcept {
  if (number < 0 || number >= count) return nullptr;
  Rport& port = ports_[static_cast<std::size_t>(number)];
  return port.allocated ? &port : nullptr;
}

}  // namespace am::models::cmam
