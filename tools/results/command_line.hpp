// The options of a command line, as getopt_long understands them: --name value, --name=value, --na value; -n value.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace results {

struct Option {
  const char* name;  // --NAME
  bool has_value;
  std::function<void(const std::string& value)> take;  // called where it is there
  char letter = 0;                                     // -L is the same; 0: there is none
};

// An option without a value: it is there.
Option flag(const char* name, bool& is_there, char letter = 0);
// An option whose value names a file or a folder.
Option file(const char* name, std::string& path);
// An option whose value is a number from `least` to `most`.
Option number(const char* name, int& value, int least, int most, char letter = 0);

// The words that are neither options nor their values. Throws UsageError.
std::vector<std::string> read_options(int argc, char** argv, const std::vector<Option>& known);

}  // namespace results
