#include "amrun/shell_words.hpp"

#include <optional>
#include <utility>

#include "amrun/fault.hpp"
#include "core/settings/setting_value.hpp"

namespace amrun {

std::vector<std::string> shell_words(std::string_view line) {
  std::vector<std::string> words;
  std::optional<std::string> word;  // that has begun
  char quote = 0;                   // that is open
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    const bool is_blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == 0 && is_blank) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    // Within double quotes a backslash is one, unless what follows would mean something there.
    const char next = at + 1 < line.size() ? line[at + 1] : 0;
    const bool escapes =
        quote == 0 || (quote == '"' && std::string_view("\"\\$`").find(next) != std::string_view::npos);
    if (c == '\\' && next != 0 && escapes) {
      *word += next;
      ++at;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (quote == c) {
      quote = 0;
    } else {
      *word += c;
    }
  }
  if (quote != 0) throw Fault(wrong_usage, "a quote is not closed in " + am::core::in_quotes(line));
  if (word) words.push_back(*std::move(word));
  return words;
}

std::string in_shell_quotes(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted += "'";
}

}  // namespace amrun
