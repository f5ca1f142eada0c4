// How the value of a setting is written: text to value and back. Pure functions, any thread.
//
// Every parser takes the whole text or nothing: no blanks around it, no sign but the minus of an integer,
// nothing left over, no overflow. What a format function writes, the parser of the same kind reads as the
// same value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace am::core {

// Bounds which leave room for arithmetic: a deadline is now + duration, the space for segments is size *
// nodes. A segment has to fit into the room of one node (stride in host/layout.hpp).
inline constexpr std::uint64_t max_duration_ns = INT64_MAX;              // 292 years
inline constexpr std::uint64_t max_size_bytes = std::uint64_t{1} << 40;  // 1 TiB

// "-1", "12"
std::optional<int> parse_integer(std::string_view text);

// "4096", "4096B", "64KiB", "64k", "1GiB"; K, M, G and T are powers of 1024, upper or lower case. "64MB" is
// refused: it could mean either. At most max_size_bytes.
std::optional<std::uint64_t> parse_size(std::string_view text);
// What somebody who wrote "64MB" or "64 MiB" may have meant: "64MiB". Empty where that is not to be seen.
std::string nearest_size(std::string_view text);
std::string format_size(std::uint64_t bytes);

// "0" or a whole number with ns, us, ms, s, min or h. At most max_duration_ns.
std::optional<std::uint64_t> parse_duration(std::string_view text);
std::string format_duration(std::uint64_t duration_ns);

// 0, 1, true, false, yes, no, on, off; upper or lower case.
std::optional<bool> parse_switch(std::string_view text);
std::string format_switch(bool value);

// A signal that a program can handle, by name, with or without SIG, or by number: URG, SIGUSR2, RTMIN+3, 23.
std::optional<int> parse_signal(std::string_view text);
std::string format_signal(int signal);

// How many characters have to be inserted, removed or replaced to make one text of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The text in quotation marks for a message: what does not print is shown as \xNN, a long text is cut with
// "...".
std::string in_quotes(std::string_view text);

}  // namespace am::core
