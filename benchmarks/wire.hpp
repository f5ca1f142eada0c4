// What carries the messages of --transport: which limit and which neighbours stand beside libam follows from that.
#pragma once

#include <string>

namespace ambench {

struct Wire {
  // mapped: memory that both nodes see.
  enum class Kind { mapped, sockets, libfabric };

  Kind kind = Kind::mapped;
  std::string provider{};  // of libfabric: that which libam takes on one host, by its full name

  // Of libfabric's shared memory alone there are no packets.
  [[nodiscard]] bool is_network() const {
    return kind == Kind::sockets || (kind == Kind::libfabric && provider != "shm");
  }
};

// Of an emulated machine: mapped. Throws am::Error where libfabric has no such provider, or there is no libfabric.
[[nodiscard]] Wire wire_of(const std::string& transport);

}  // namespace ambench
