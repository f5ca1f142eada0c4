// What a channel carries in one go: a flit, the unit of buffers and credits, as one word. The head of a packet says where it is
// going; the others follow it on the channels that it has taken. What a packet carries does not travel: the flits name it.
#pragma once

#include <cstdint>

namespace am::kit {

class Flit {
 public:
  constexpr Flit() = default;  ///< none
  struct Parts {
    std::uint32_t packet = 0;
    std::uint16_t destination = 0;  ///< a node
    std::uint8_t vc = 0;            ///< the virtual channel that it is on
    bool head = false;
    bool tail = false;
  };
  explicit constexpr Flit(const Parts& parts) noexcept
      : bits_(std::uint64_t{parts.packet} | std::uint64_t{parts.destination} << 32 |
              std::uint64_t{parts.vc} << vc_at | (parts.head ? head_bit : 0) | (parts.tail ? tail_bit : 0) |
              some_bit) {}

  explicit constexpr operator bool() const noexcept { return bits_ != 0; }
  [[nodiscard]] constexpr std::uint32_t packet() const noexcept { return static_cast<std::uint32_t>(bits_); }
  [[nodiscard]] constexpr std::uint32_t destination() const noexcept { return bits_ >> 32 & 0xffff; }
  [[nodiscard]] constexpr unsigned vc() const noexcept { return bits_ >> vc_at & 0x7f; }
  /// The class of virtual channels that its packet keeps on a ring; 0 elsewhere.
  [[nodiscard]] constexpr unsigned vc_class() const noexcept { return bits_ >> class_at & 1; }
  [[nodiscard]] constexpr bool is_head() const noexcept { return (bits_ & head_bit) != 0; }
  [[nodiscard]] constexpr bool is_tail() const noexcept { return (bits_ & tail_bit) != 0; }
  /// The same on another channel.
  [[nodiscard]] constexpr Flit on(unsigned vc, unsigned vc_class = 0) const noexcept {
    Flit flit = *this;
    flit.bits_ = (bits_ & ~(std::uint64_t{0xff} << vc_at)) | std::uint64_t{vc} << vc_at |
                 std::uint64_t{vc_class} << class_at;
    return flit;
  }
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  constexpr bool operator==(const Flit&) const = default;

 private:
  static constexpr int vc_at = 48;
  static constexpr int class_at = 55;
  static constexpr std::uint64_t head_bit = std::uint64_t{1} << 56;
  static constexpr std::uint64_t tail_bit = std::uint64_t{1} << 57;
  static constexpr std::uint64_t some_bit = std::uint64_t{1} << 63;

  std::uint64_t bits_ = 0;
};

}  // namespace am::kit
