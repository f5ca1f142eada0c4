// A call of the system that failed, while a job's memory is set up.
#pragma once

#include <am/error.hpp>
#include <cerrno>
#include <cstring>
#include <string>

namespace am::host {

/// Of `errno`.
[[nodiscard]] inline Error system_error(const std::string& what, const std::string& remedy) {
  return Error(what, std::strerror(errno), remedy);  // NOLINT(concurrency-mt-unsafe): set-up, one thread
}

}  // namespace am::host
