#include "transports/trust/crypto.hpp"

#include <am/error.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <string>

#include "host/late_library.hpp"

namespace am::trust {

/// The library's functions, with the types that its headers give them.
struct Crypto::Functions {
  decltype(&HMAC) hmac;
  decltype(&EVP_sha256) sha256;
  decltype(&CRYPTO_memcmp) compare;
};

Crypto::Crypto() {
  constexpr const char* mend = "apt-get install libssl3 on every host";
  const host::LateLibrary library(
      "libcrypto.so.3", {.what = "open a network between hosts", .when_missing = mend, .when_too_old = mend});
  Functions functions{};
  library.find("HMAC", functions.hmac);
  library.find("EVP_sha256", functions.sha256);
  library.find("CRYPTO_memcmp", functions.compare);
  functions_ = std::make_unique<const Functions>(functions);
  // Now, not when it is first used: it asks to be taken down at exit, and whoever asks for that after this is called before.
  decltype(&OPENSSL_init_crypto) begin = nullptr;
  library.find("OPENSSL_init_crypto", begin);
  static_cast<void>(
      begin(OPENSSL_INIT_LOAD_CRYPTO_STRINGS, nullptr));  // with nothing to load it would not ask
}
Crypto::~Crypto() = default;

std::optional<Digest> Crypto::hmac_sha256(std::span<const std::byte> key,
                                          std::span<const std::byte> text) const noexcept {
  Digest digest{};
  unsigned length = 0;
  const unsigned char* const made =
      functions_->hmac(functions_->sha256(), key.data(), static_cast<int>(key.size()),
                       reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                       reinterpret_cast<unsigned char*>(digest.data()), &length);
  if (made == nullptr || length != digest.size()) return std::nullopt;
  return digest;
}

bool Crypto::equal(const Digest& a, const Digest& b) const noexcept {
  return functions_->compare(a.data(), b.data(), a.size()) == 0;
}

}  // namespace am::trust
