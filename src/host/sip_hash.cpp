#include "host/sip_hash.hpp"

#include <bit>

namespace am::host {

namespace {

class State {
 public:
  explicit State(const SipKey& key) noexcept
      : v0_(key[0] ^ 0x736f6d6570736575U),
        v1_(key[1] ^ 0x646f72616e646f6dU),
        v2_(key[0] ^ 0x6c7967656e657261U),
        v3_(key[1] ^ 0x7465646279746573U) {}

  void take(std::uint64_t word) noexcept {
    v3_ ^= word;
    mix(2);
    v0_ ^= word;
  }
  [[nodiscard]] std::uint64_t finish() noexcept {
    v2_ ^= 0xff;
    mix(4);
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  void mix(int rounds) noexcept {
    for (; rounds != 0; --rounds) {
      v0_ += v1_;
      v2_ += v3_;
      v1_ = std::rotl(v1_, 13) ^ v0_;
      v3_ = std::rotl(v3_, 16) ^ v2_;
      v0_ = std::rotl(v0_, 32);
      v2_ += v1_;
      v0_ += v3_;
      v1_ = std::rotl(v1_, 17) ^ v2_;
      v3_ = std::rotl(v3_, 21) ^ v0_;
      v2_ = std::rotl(v2_, 32);
    }
  }

  std::uint64_t v0_, v1_, v2_, v3_;
};

/// Up to eight bytes, the first one lowest.
std::uint64_t number(std::span<const std::byte> bytes) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) word |= std::to_integer<std::uint64_t>(bytes[i]) << 8 * i;
  return word;
}

}  // namespace

std::uint64_t sip_hash(const SipKey& key, std::span<const std::byte> text) noexcept {
  State state(key);
  const std::uint64_t length = text.size();
  for (; text.size() >= 8; text = text.subspan(8)) state.take(number(text.first(8)));
  state.take(number(text) | length << 56);
  return state.finish();
}

}  // namespace am::host
