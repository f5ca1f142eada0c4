// Random numbers for tests: a seed that is printed with the test's output, and that TEST_SEED sets to repeat a run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace test {

/// The seed of this run. Printed when it is first asked for.
inline std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* given = std::getenv("TEST_SEED");  // NOLINT(concurrency-mt-unsafe): nobody sets it
    const std::uint64_t chosen =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::fprintf(stderr, "[ seed     ] TEST_SEED=%llu\n", static_cast<unsigned long long>(chosen));
    return chosen;
  }();
  return value;
}

/// Splitmix64: small, and two of them with different seeds have nothing in common.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t operator()() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  /// 0 .. n-1; n is small, so the bias does not matter.
  std::uint64_t below(std::uint64_t n) noexcept { return (*this)() % n; }
  bool one_in(std::uint64_t n) noexcept { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

/// A checksum over (who, which, what), and the way to fold a stream of values into one.
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t z = a * 0x9e3779b97f4a7c15u + b;
  z = (z ^ z >> 32) * 0xd6e8feb86659fd93u;
  return z ^ z >> 32;
}

}  // namespace test
