#include "results/output_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <system_error>

#include "results/usage_error.hpp"

namespace results {

namespace {

namespace fs = std::filesystem;

// Of the file itself where `file` is a link to one.
fs::path place_of(const std::string& file) {
  std::error_code missing;
  const fs::path place = fs::canonical(file, missing);
  return missing ? fs::absolute(file) : place;
}

void write_all(const fs::path& place, const std::string& text) {
  std::ofstream out(place);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + place.string() + ": " + std::strerror(errno));
}

}  // namespace

void be_able_to_write(const std::string& file) {
  std::error_code unknown;
  const bool exists = fs::exists(file, unknown);
  if (fs::is_directory(file, unknown)) throw UsageError("cannot write " + file + ": it is a folder");
  const bool plain = !exists || fs::is_regular_file(file, unknown);
  if (exists && access(file.c_str(), W_OK) != 0)
    throw UsageError("cannot write " + file + ": " + std::strerror(errno));
  if (plain && access(place_of(file).parent_path().c_str(), W_OK | X_OK) != 0)
    throw UsageError("cannot write into the folder of " + file + ": " + std::strerror(errno));
}

void write_file(const std::string& file, const std::string& text) {
  std::error_code unknown;
  const fs::path place = place_of(file);
  if (fs::exists(file, unknown) && !fs::is_regular_file(file, unknown)) return write_all(file, text);
  const fs::path part = place.string() + "." + std::to_string(getpid()) + ".part";
  try {
    write_all(part, text);
    fs::rename(part, place);
  } catch (const std::exception&) {
    fs::remove(part, unknown);
    throw;
  }
}

void flush_output() {
  if (!std::cout.flush()) throw std::runtime_error("cannot write to standard output");
}

}  // namespace results
