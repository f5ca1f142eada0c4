#include "host/sip_hash.hpp"

#include <gtest/gtest.h>

namespace am::host::sip_hash_test {

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

}  // namespace am::host::sip_hash_test
