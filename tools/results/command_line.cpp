#include "results/command_line.hpp"

#include <getopt.h>

#include <charconv>
#include <cstddef>
#include <system_error>

#include "results/no_such.hpp"
#include "results/usage_error.hpp"

namespace results {

namespace {

// What getopt gives for the first long option: no character, so that what was typed can be told.
constexpr int first_long = 256;

std::vector<option> long_options(const std::vector<Option>& known) {
  std::vector<option> all;
  for (std::size_t i = 0; i < known.size(); ++i)
    all.push_back({known[i].name, known[i].has_value ? required_argument : no_argument, nullptr,
                   first_long + static_cast<int>(i)});
  all.push_back({nullptr, 0, nullptr, 0});
  return all;
}

// That an option without its value is told by ':'.
std::string letters_of(const std::vector<Option>& known) {
  std::string letters = ":";
  for (const Option& one : known) {
    if (one.letter != 0) letters.append(1, one.letter).append(one.has_value ? ":" : "");
  }
  return letters;
}

const Option& found(int code, const std::vector<Option>& known) {
  if (code >= first_long) return known[static_cast<std::size_t>(code - first_long)];
  for (const Option& one : known) {
    if (one.letter == code) return one;
  }
  throw UsageError(std::string("-") + static_cast<char>(code) + ": no such option");
}

// `code` is what getopt found wrong, `argument` the last that it took.
std::string complaint(int code, const std::string& argument, const std::vector<Option>& known) {
  if (code >= first_long)
    return "'" + argument + "': " + argument.substr(0, argument.find('=')) + " takes no value";
  if (code != 0) return std::string("-") + static_cast<char>(code) + ": no such option";
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const Option& one : known) names.push_back(std::string("--") + one.name);
  return no_such("option", argument.substr(0, argument.find('=')), {names.begin(), names.end()});
}

}  // namespace

Option flag(const char* name, bool& is_there, char letter) {
  return {name, false, [&is_there](const std::string&) { is_there = true; }, letter};
}

Option file(const char* name, std::string& path) {
  return {name, true, [name, &path](const std::string& value) {
            if (value.empty())
              throw UsageError(std::string("--") + name + " takes a name, which is empty here");
            path = value;
          }};
}

Option number(const char* name, int& value, int least, int most, char letter) {
  const std::string typed = letter != 0 ? std::string{'-', letter} : std::string("--") + name;
  return {name, true,
          [=, &value](const std::string& text) {
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
              throw UsageError(typed + " takes a number from " + std::to_string(least) + " to " +
                               std::to_string(most) + ", not '" + text + "'");
          },
          letter};
}

std::vector<std::string> read_options(int argc, char** argv, const std::vector<Option>& known) {
  const std::vector<option> all = long_options(known);
  const std::string letters = letters_of(known);
  opterr = 0;
  for (int code = 0; (code = getopt_long(argc, argv, letters.c_str(), all.data(), nullptr)) != -1;) {
    if (code == ':') throw UsageError(std::string(argv[optind - 1]) + " needs a value");
    if (code == '?') throw UsageError(complaint(optopt, argv[optind - 1], known));
    found(code, known).take(optarg != nullptr ? optarg : "");
  }
  return {argv + optind, argv + argc};
}

}  // namespace results
