// An array with an entry per node whose memory is touched only where it is used: a job of thousands of nodes of which
// each talks to a few must not pay for all of them.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace am::host {

/// T must be valid as all zero bits and need no destruction.
template <class T>
class ZeroedArray {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  explicit ZeroedArray(std::size_t count) : data_(static_cast<T*>(std::calloc(count, sizeof(T)))) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  [[nodiscard]] T& operator[](std::size_t i) const noexcept { return data_.get()[i]; }
  [[nodiscard]] T* get() const noexcept { return data_.get(); }

 private:
  struct Free {
    void operator()(T* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<T, Free> data_;
};

}  // namespace am::host
