// The bits of the T1's status register (T1 report, A.2.5 to A.2.7 and A.8.2).
//
// Figures 6 to 8 and 17, which have the positions, are lost from the text of the report. Assumed: the order in which it lists the
// fields, and bit 17 for `lpa`, which the code of its Figure 18 shifts into the sign. The same as in am/registers.hpp.
#pragma once

#include <cstdint>

namespace am::t1::nistat {

inline constexpr std::uint32_t pend = 1u << 31;     ///< EP & EM is not empty. Read-only
inline constexpr std::uint32_t nicond = 1u << 30;   ///< the last SEND was accepted
inline constexpr std::uint32_t onicond = 1u << 29;  ///< nicond as the low event that runs found it
inline constexpr std::uint32_t hpmp = 1u << 27;     ///< EP, read-only: a high message has arrived
inline constexpr std::uint32_t lpmp = 1u << 26;     ///< a low message has
inline constexpr std::uint32_t op = 1u << 25;       ///< lpa and hpa
inline constexpr std::uint32_t tp = 1u << 24;       ///< Count has come to timec
inline constexpr std::uint32_t hpmm = 1u << 23;     ///< EM: which of these four may cause an event
inline constexpr std::uint32_t lpmm = 1u << 22;
inline constexpr std::uint32_t om = 1u << 21;
inline constexpr std::uint32_t tm = 1u << 20;
inline constexpr std::uint32_t lpee = 1u << 19;  ///< low events enabled
inline constexpr std::uint32_t hpa = 1u << 18;   ///< a high message would be accepted. Read-only
inline constexpr std::uint32_t lpa = 1u << 17;   ///< a low one would. Read-only
inline constexpr std::uint32_t ame = 1u << 16;   ///< active messages enabled

inline constexpr std::uint32_t mcst = 1u << 15;  ///< the message that is handled was multicast
inline constexpr std::uint32_t pri = 1u << 14;   ///< it has high priority
constexpr std::uint32_t slen(std::uint32_t value) noexcept { return value >> 8 & 31; }  ///< its scalar words
constexpr std::uint32_t vlen(std::uint32_t value) noexcept {
  return value & 63;
}  ///< the words of its vector
constexpr std::uint32_t lengths(std::uint32_t slen, std::uint32_t vlen) noexcept { return slen << 8 | vlen; }

inline constexpr std::uint32_t pending = hpmp | lpmp | op | tp;
inline constexpr std::uint32_t masks = hpmm | lpmm | om | tm;
inline constexpr std::uint32_t masks_below_pending = 4;  ///< bits between the two fields
inline constexpr std::uint32_t writable = nicond | onicond | masks | lpee | ame;

}  // namespace am::t1::nistat
