// A queue with a fixed number of places, as hardware has them.
#pragma once

#include <array>
#include <cstddef>

namespace am::kit {

template <class T, std::size_t Places>
class Fifo {
 public:
  [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] constexpr const T& front() const noexcept { return items_[first_]; }
  /// The caller knows that there is room.
  constexpr void push(const T& item) noexcept { items_[(first_ + count_++) % Places] = item; }
  /// The caller knows that there is something.
  constexpr T pop() noexcept {
    const T item = items_[first_];
    first_ = (first_ + 1) % Places;
    --count_;
    return item;
  }
  /// The one that is `index` behind the first.
  [[nodiscard]] constexpr const T& operator[](std::size_t index) const noexcept {
    return items_[(first_ + index) % Places];
  }

 private:
  std::array<T, Places> items_{};
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace am::kit
