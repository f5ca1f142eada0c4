// HMAC-SHA-256 against the test cases of RFC 4231.
#include "transports/trust/crypto.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "host/random_bytes.hpp"

namespace am::trust {
namespace crypto_test {

std::vector<std::byte> bytes(const std::string& text) {
  std::vector<std::byte> all(text.size());
  std::transform(text.begin(), text.end(), all.begin(), [](char c) { return static_cast<std::byte>(c); });
  return all;
}

std::vector<std::byte> times(std::size_t n, int byte) {
  return std::vector<std::byte>(n, static_cast<std::byte>(byte));
}

std::string hex(const Digest& digest) {
  std::string text;
  for (const std::byte byte : digest) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[std::to_integer<std::size_t>(byte >> 4)];
    text += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

TEST(Crypto, MakesTheDigestsOfRfc4231) {
  struct Case {
    std::vector<std::byte> key;
    std::vector<std::byte> text;
    const char* digest;
  };
  const Case cases[] = {
      {times(20, 0x0b), bytes("Hi There"),
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {bytes("Jefe"), bytes("what do ya want for nothing?"),
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {times(20, 0xaa), times(50, 0xdd), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {times(131, 0xaa), bytes("Test Using Larger Than Block-Size Key - Hash Key First"),
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
  };
  const Crypto crypto;
  for (const Case& one : cases) {
    const std::optional<Digest> digest = crypto.hmac_sha256(one.key, one.text);
    ASSERT_TRUE(digest);
    EXPECT_EQ(hex(*digest), one.digest);
  }
}

TEST(Crypto, TellsDigestsApartAtEveryByte) {
  const Crypto crypto;
  Digest a;
  host::fill_random(a);
  EXPECT_TRUE(crypto.equal(a, Digest(a)));
  for (std::size_t at = 0; at < a.size(); ++at) {
    Digest b = a;
    b[at] ^= std::byte{1};
    EXPECT_FALSE(crypto.equal(a, b)) << "byte " << at;
  }
}

}  // namespace crypto_test
}  // namespace am::trust
