#include "core/settings/setting_value.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <numeric>
#include <span>
#include <system_error>
#include <vector>

namespace am::core {
namespace {

struct Unit {
  std::string_view suffix;
  std::uint64_t factor;
};

// Largest first: formatting takes the first that divides the value.
constexpr std::array<Unit, 4> size_units = {{
    {"TiB", std::uint64_t{1} << 40},
    {"GiB", std::uint64_t{1} << 30},
    {"MiB", std::uint64_t{1} << 20},
    {"KiB", std::uint64_t{1} << 10},
}};

constexpr std::array<Unit, 6> duration_units = {{
    {"h", 3'600'000'000'000},
    {"min", 60'000'000'000},
    {"s", 1'000'000'000},
    {"ms", 1'000'000},
    {"us", 1'000},
    {"ns", 1},
}};

// Not std::tolower: its answer depends on the locale.
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

struct Quantity {
  std::uint64_t number;
  std::string_view suffix;
};

std::optional<Quantity> split_quantity(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  return Quantity{number, std::string_view(rest, static_cast<std::size_t>(end - rest))};
}

std::optional<std::uint64_t> scaled(std::uint64_t number, std::uint64_t factor, std::uint64_t most) {
  if (number > most / factor) return std::nullopt;
  return number * factor;
}

std::string in_largest_unit(std::uint64_t value, std::span<const Unit> units, std::string_view otherwise) {
  if (value == 0) return "0";
  for (const Unit& unit : units) {
    if (value % unit.factor == 0) return std::to_string(value / unit.factor).append(unit.suffix);
  }
  return std::to_string(value).append(otherwise);
}

}  // namespace

std::optional<int> parse_integer(std::string_view text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const auto quantity = split_quantity(text);
  if (!quantity) return std::nullopt;
  const std::string_view suffix = quantity->suffix;
  if (suffix.empty() || same_ignoring_case(suffix, "B")) return scaled(quantity->number, 1, max_size_bytes);
  for (const Unit& unit : size_units) {
    if (same_ignoring_case(suffix, unit.suffix) || same_ignoring_case(suffix, unit.suffix.substr(0, 1))) {
      return scaled(quantity->number, unit.factor, max_size_bytes);
    }
  }
  return std::nullopt;
}

std::string nearest_size(std::string_view text) {
  const auto quantity = split_quantity(text);
  if (!quantity) return {};
  std::string_view suffix = quantity->suffix;
  suffix.remove_prefix(std::min(suffix.find_first_not_of(' '), suffix.size()));
  for (const Unit& unit : size_units) {
    if (suffix.empty() || lower(suffix[0]) != lower(unit.suffix[0])) continue;
    std::string nearest = std::to_string(quantity->number).append(unit.suffix);
    return parse_size(nearest) ? nearest : std::string();
  }
  return {};
}

std::string format_size(std::uint64_t bytes) { return in_largest_unit(bytes, size_units, "B"); }

std::optional<std::uint64_t> parse_duration(std::string_view text) {
  if (text == "0") return 0;
  const auto quantity = split_quantity(text);
  if (!quantity) return std::nullopt;
  for (const Unit& unit : duration_units) {
    if (quantity->suffix == unit.suffix) return scaled(quantity->number, unit.factor, max_duration_ns);
  }
  return std::nullopt;
}

std::string format_duration(std::uint64_t duration_ns) {
  return in_largest_unit(duration_ns, duration_units, "ns");
}

std::optional<bool> parse_switch(std::string_view text) {
  for (const std::string_view yes : {"1", "true", "yes", "on"}) {
    if (same_ignoring_case(text, yes)) return true;
  }
  for (const std::string_view no : {"0", "false", "no", "off"}) {
    if (same_ignoring_case(text, no)) return false;
  }
  return std::nullopt;
}

std::string format_switch(bool value) { return value ? "yes" : "no"; }

std::optional<int> parse_signal(std::string_view text) {
  if (same_ignoring_case(text.substr(0, 3), "SIG")) text.remove_prefix(3);
  std::optional<int> signal = parse_integer(text);
  if (same_ignoring_case(text.substr(0, 6), "RTMIN+")) {
    signal = parse_integer(text.substr(6));
    if (signal && (*signal < 0 || *signal > SIGRTMAX - SIGRTMIN)) return std::nullopt;
    if (signal) *signal += SIGRTMIN;
  }
  for (int each = 1; !signal && each < SIGRTMIN; ++each) {
    const char* name = sigabbrev_np(each);
    if (name != nullptr && same_ignoring_case(text, name)) signal = each;
  }
  if (same_ignoring_case(text, "IO")) signal = SIGIO;  // which the C library calls POLL
  const bool can_be_handled = signal && *signal > 0 && *signal <= SIGRTMAX && *signal != SIGKILL &&
                              *signal != SIGSTOP && (*signal < 32 || *signal >= SIGRTMIN);
  return can_be_handled ? signal : std::nullopt;
}

std::string format_signal(int signal) {
  if (signal == 0) return "";
  if (signal >= SIGRTMIN) return "RTMIN+" + std::to_string(signal - SIGRTMIN);
  if (signal == SIGIO) return "IO";
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? name : std::to_string(signal);
}

// Levenshtein's distance, one row of the matrix at a time: row[j] is the distance from the part of `a` seen
// so far to the first j characters of `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 80;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string shown = "\"";
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      shown += '\\';
      shown += c;
    } else if (byte >= 0x20 && byte < 0x7f) {
      shown += c;
    } else {
      shown += "\\x";
      shown += digits[byte >> 4];
      shown += digits[byte & 0xf];
    }
  }
  if (text.size() > longest) shown += "...";
  shown += '"';
  return shown;
}

}  // namespace am::core
