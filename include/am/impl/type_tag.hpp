// A value that tells types apart without run-time type information.
#pragma once

namespace am::impl {

template <class T>
const void* type_tag() noexcept {
  static constinit char tag = 0;
  return &tag;
}

}  // namespace am::impl
