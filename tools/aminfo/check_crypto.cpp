// Nodes of different hosts prove the job's key to each other by OpenSSL's libcrypto, which is loaded only then.
#include <am/error.hpp>

#include <cstddef>
#include <string>

#include "aminfo/doctor.hpp"
#include "transports/trust/crypto.hpp"

namespace aminfo {

Finding check_crypto() {
  const std::string subject = "OpenSSL";
  const std::string follows = ": a job on several hosts cannot start";
  try {
    const am::trust::Crypto crypto;
    constexpr std::byte any[1]{};
    if (!crypto.hmac_sha256(any, any))
      return {Level::warn, subject, "libcrypto makes no HMAC-SHA-256" + follows,
              "look into openssl.cnf: does it forbid it?"};
    return {Level::ok, subject, "libcrypto can be loaded, for jobs on several hosts", ""};
  } catch (const am::Error& error) {
    return {Level::warn, subject, error.why() + follows, error.remedy()};
  }
}

}  // namespace aminfo
