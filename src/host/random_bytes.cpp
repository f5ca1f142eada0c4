#include "host/random_bytes.hpp"

#include <sys/random.h>
#include <am/error.hpp>

#include <cerrno>
#include <system_error>

namespace am::host {

void fill_random(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = getrandom(bytes.data(), bytes.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      throw Error("make a key", "getrandom: " + std::generic_category().message(errno),
                  "run aminfo --doctor");
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

}  // namespace am::host
