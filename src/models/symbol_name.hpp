// The name of what lies at an address of this process, for messages that end a program. The dynamic linker knows exported names
// alone, and handlers of C programs are seldom that: so the file of the object is read.
//
// Any thread, any handler; maps a file, allocates nothing.
#pragma once

#include <cstdint>
#include <string_view>

namespace am::models {

class SymbolName {
 public:
  /// "add_up (./app, offset 0x11f0)"; without a symbol "offset 0x11f0 of ./app"; in no object "0x7ffd0010, which is in no
  /// program or library".
  explicit SymbolName(std::uintptr_t address) noexcept;

  [[nodiscard]] std::string_view text() const noexcept { return text_; }

 private:
  char text_[320]{};
};

}  // namespace am::models
