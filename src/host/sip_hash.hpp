// SipHash-2-4: a keyed hash of a short text. Whoever does not have the key can neither foretell the hash of a text that he has not been
// shown, nor find out the key from those that he has. Where a few dozen bytes are to be authenticated in some 20 ns it does
// what HMAC does in some 500.
//
// Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012), section 2; its test vectors are appendix A's.
//
// Any thread, also in a signal handler.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace am::host {

/// 128 bits: the first eight bytes of a key as one number, the lowest first, and the others.
using SipKey = std::array<std::uint64_t, 2>;

[[nodiscard]] std::uint64_t sip_hash(const SipKey& key, std::span<const std::byte> text) noexcept;

}  // namespace am::host
