// Requesters as in arbiter.hpp, but more than a word has bits.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "emulated_hw/kit/arbiter.hpp"

namespace am::kit {

template <unsigned Words>
class WideRequests {
 public:
  static constexpr unsigned most = 64 * Words;

  constexpr WideRequests() = default;  // of these it says nothing; WideRequests{} is none of them
  /// The lowest ones are a word's.
  explicit constexpr WideRequests(Requests low) noexcept : words_{low} {}

  static constexpr WideRequests only(unsigned who, bool yes) noexcept {
    WideRequests one{};
    one.words_[who / 64] = Requests{yes} << who % 64;
    return one;
  }

  constexpr bool operator==(const WideRequests&) const = default;
  constexpr WideRequests& operator|=(const WideRequests& other) noexcept {
    for (unsigned i = 0; i < Words; ++i) words_[i] |= other.words_[i];
    return *this;
  }
  constexpr WideRequests& operator&=(const WideRequests& other) noexcept {
    for (unsigned i = 0; i < Words; ++i) words_[i] &= other.words_[i];
    return *this;
  }
  friend constexpr WideRequests operator|(WideRequests one, const WideRequests& other) noexcept {
    return one |= other;
  }
  friend constexpr WideRequests operator&(WideRequests one, const WideRequests& other) noexcept {
    return one &= other;
  }
  constexpr WideRequests operator~() const noexcept {
    WideRequests others;
    for (unsigned i = 0; i < Words; ++i) others.words_[i] = ~words_[i];
    return others;
  }
  /// Each is another one, so many numbers further.
  constexpr WideRequests operator<<(unsigned places) const noexcept {
    WideRequests moved{};
    const unsigned whole = places / 64, rest = places % 64;
    for (unsigned i = whole; i < Words; ++i) {
      moved.words_[i] = words_[i - whole] << rest;
      if (rest != 0 && i > whole) moved.words_[i] |= words_[i - whole - 1] >> (64 - rest);
    }
    return moved;
  }
  [[nodiscard]] constexpr bool has(unsigned who) const noexcept {
    return (words_[who / 64] >> who % 64 & 1) != 0;
  }
  /// Of at least one.
  [[nodiscard]] constexpr unsigned first() const noexcept {
    unsigned word = 0;
    while (words_[word] == 0) ++word;
    return 64 * word + static_cast<unsigned>(std::countr_zero(words_[word]));
  }
  [[nodiscard]] constexpr bool is_one() const noexcept {
    int count = 0;
    for (const Requests word : words_) count += std::popcount(word);
    return count == 1;
  }
  template <class F>
  constexpr void for_each(F f) const {
    for (unsigned i = 0; i < Words; ++i) kit::for_each(words_[i], [&](unsigned who) { f(64 * i + who); });
  }

 private:
  std::array<Requests, Words> words_;
};

// The same names for both.
template <unsigned Words>
constexpr bool has(const WideRequests<Words>& requests, unsigned who) noexcept {
  return requests.has(who);
}
template <unsigned Words>
constexpr unsigned first_of(const WideRequests<Words>& requests) noexcept {
  return requests.first();
}
template <unsigned Words>
constexpr bool is_one(const WideRequests<Words>& requests) noexcept {
  return requests.is_one();
}
template <unsigned Words, class F>
constexpr void for_each(const WideRequests<Words>& requests, F f) {
  requests.for_each(f);
}

/// Of 64 requesters for each word: one word is Requests.
template <unsigned Words>
using RequestsOf = std::conditional_t<Words == 1, Requests, WideRequests<Words>>;

/// One of them, if `yes`; else none.
template <class Some>
constexpr Some only(unsigned who, bool yes = true) noexcept {
  if constexpr (std::is_same_v<Some, Requests>) {
    return Requests{yes} << who;
  } else {
    return Some::only(who, yes);
  }
}

}  // namespace am::kit
