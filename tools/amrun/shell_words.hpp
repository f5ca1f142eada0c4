// Words as shells have them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace amrun {

// The words of a line: between blanks; quotes of both sorts and backslashes keep blanks within a word. Nothing is expanded. Throws
// Fault (wrong_usage) where a quote is not closed.
std::vector<std::string> shell_words(std::string_view line);

// As a shell takes it for one word.
std::string in_shell_quotes(std::string_view word);

}  // namespace amrun
