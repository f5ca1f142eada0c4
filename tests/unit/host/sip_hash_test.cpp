#include "host/sip_hash.hpp"

#include <gtest/gtest.h>

#include <array>

#include "support/random.hpp"

namespace am::host {
namespace sip_hash_test {

/// The paper's key: bytes 0 to 15; its texts: as many bytes from 0 on as they are long.
constexpr SipKey key = {0x0706'0504'0302'0100, 0x0f0e'0d0c'0b0a'0908};

std::uint64_t hash_of_first(std::size_t bytes) {
  std::array<std::byte, 64> text{};
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<std::byte>(i);
  return sip_hash(key, std::span(text).first(bytes));
}

/// Appendix A (15 bytes), and what OpenSSL 3 says of the others (openssl mac -macopt hexkey:... -macopt size:8 SIPHASH).
TEST(SipHash, IsWhatThePaperSays) {
  EXPECT_EQ(hash_of_first(15), 0xa129'ca61'49be'45e5u);
  EXPECT_EQ(hash_of_first(0), 0x726f'db47'dd0e'0e31u);
  EXPECT_EQ(hash_of_first(8), 0x93f5'f579'9a93'2462u);
  EXPECT_EQ(hash_of_first(24), 0xb8ad'50c6'f649'af94u);
}

TEST(SipHash, ChangesWithEachBitOfKeyAndText) {
  test::Random random(test::seed());
  for (int i = 0; i < 1000; ++i) {
    SipKey one = {random(), random()};
    std::array<std::uint64_t, 3> text = {random(), random(), random()};
    const std::uint64_t before = sip_hash(one, std::as_bytes(std::span(text)));
    EXPECT_EQ(sip_hash(one, std::as_bytes(std::span(text))), before);
    const std::uint64_t bit = random.below(5 * 64);
    std::uint64_t& word = bit < 128 ? one[bit / 64] : text[bit / 64 - 2];
    word ^= std::uint64_t{1} << bit % 64;
    EXPECT_NE(sip_hash(one, std::as_bytes(std::span(text))), before) << "bit " << bit;
  }
}

}  // namespace sip_hash_test
}  // namespace am::host
