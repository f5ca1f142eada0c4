// One of amrun's own outputs, which it must not wait for: its parts are to be heard meanwhile.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "host/descriptor.hpp"

namespace amrun {

class Outlet {
 public:
  explicit Outlet(int fd);

  // To poll.
  [[nodiscard]] int descriptor() const { return fd_; }
  // As write does. Waits for little at most: what the poll that found it ready says of it may not hold any more.
  [[nodiscard]] ssize_t write_some(std::string_view text) const;

  std::string pending{};
  std::vector<std::size_t> owed{};  // bytes, to each part
  int error = 0;                    // nobody takes it any more

 private:
  am::host::Descriptor own_;
  int fd_;
};

}  // namespace amrun
