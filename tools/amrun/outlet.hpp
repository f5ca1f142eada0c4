// One of amrun's own outputs, which it must not wait for: its parts are to be heard meanwhile.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

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
  std::map<std::uint32_t, std::size_t> owed{};  // bytes, to parts by their number
  int error = 0;                                // nobody takes it any more

 private:
  am::host::Descriptor own_;
  int fd_;
};

}  // namespace amrun
