// Wrong use of a command line: one line for the user, exit code 2.

#pragma once

#include <stdexcept>

namespace results {

class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace results
