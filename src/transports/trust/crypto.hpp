// The little cryptography that networks between hosts need, from OpenSSL's libcrypto: opened when the first of them is made,
// so that a program whose nodes share one host neither loads nor needs it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace am::trust {

/// What HMAC-SHA-256 (RFC 2104) makes of a text and a key.
using Digest = std::array<std::byte, 32>;

class Crypto {
 public:
  /// Throws am::Error where there is no libcrypto.
  Crypto();
  ~Crypto();
  Crypto(const Crypto&) = delete;
  Crypto& operator=(const Crypto&) = delete;

  /// None when the library refuses or has no memory. Any thread.
  [[nodiscard]] std::optional<Digest> hmac_sha256(std::span<const std::byte> key,
                                                  std::span<const std::byte> text) const noexcept;
  /// Takes as long wherever the two differ.
  [[nodiscard]] bool equal(const Digest& a, const Digest& b) const noexcept;

 private:
  struct Functions;
  std::unique_ptr<const Functions> functions_;
};

}  // namespace am::trust
