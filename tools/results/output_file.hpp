// A file of results: complete, or as it was before.

#pragma once

#include <string>

namespace results {

// Before anything is measured; touches nothing. Throws UsageError where `file` cannot be written.
void be_able_to_write(const std::string& file);

// Into a new file beside it, which takes its name when it is complete. What is no plain file (a pipe, /dev/null) is written
// as it is. Throws std::runtime_error.
void write_file(const std::string& file, const std::string& text);

// What is printed has been written. Throws std::runtime_error where it cannot be.
void flush_output();

}  // namespace results
