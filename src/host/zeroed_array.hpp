// An array with an entry per node whose memory is touched only where it is used: a job of thousands of nodes of which
// each talks to a few must not pay for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
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
  explicit ZeroedArray(std::size_t count)
      : room_(count * sizeof(T) + alignof(T)), memory_(std::calloc(1, room_)) {
    if (memory_ == nullptr) throw std::bad_alloc();
    void* begin = memory_.get();
    data_ = static_cast<T*>(std::align(alignof(T), count * sizeof(T), begin, room_));
  }
  [[nodiscard]] T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] T* get() const noexcept { return data_; }

 private:
  struct Free {
    void operator()(void* p) const noexcept { std::free(p); }
  };
  std::size_t room_;
  std::unique_ptr<void, Free> memory_;
  T* data_ = nullptr;
};

}  // namespace am::host
