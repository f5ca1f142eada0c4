// Copies of every length and alignment, beside each other in a page or not.
#include <am/impl/copy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/random.hpp"

namespace am::impl::copy_test {

constexpr std::size_t page = 4096;
constexpr std::size_t pages = 8;

std::byte* page_in(std::vector<std::byte>& memory) {
  const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
  return memory.data() + (page - at % page) % page;
}

TEST(Copies, BringEachByteAndNoOther) {
  test::Random random(test::seed());
  std::vector<std::byte> of_source((pages + 1) * page);
  std::vector<std::byte> of_place((pages + 1) * page);
  std::byte* const source = page_in(of_source);
  std::byte* const place = page_in(of_place);
  for (std::byte& byte : of_source) byte = static_cast<std::byte>(random());
  bool was_slow = false;
  bool was_usual = false;
  for (int i = 0; i < 600; ++i) {
    const std::size_t from = random.below(page);
    const std::size_t to = random.one_in(2) ? (from + random.below(40)) % page : random.below(page);
    const std::size_t bytes = random.below(random.one_in(3) ? 200 : (pages - 2) * page);
    (is_slow_to_copy(place + to, source + from, bytes) ? was_slow : was_usual) = true;
    std::ranges::fill(of_place, std::byte{0xee});
    copy_bytes(place + to, source + from, bytes);
    ASSERT_TRUE(std::equal(source + from, source + from + bytes, place + to))
        << from << " " << to << " " << bytes;
    ASSERT_EQ(std::count(of_place.data(), place + to, std::byte{0xee}), place + to - of_place.data());
    ASSERT_EQ(std::count(place + to + bytes, of_place.data() + of_place.size(), std::byte{0xee}),
              of_place.data() + of_place.size() - (place + to + bytes));
  }
  EXPECT_TRUE(was_slow && was_usual);
}

TEST(Copies, AreSlowJustBehindTheSourceInAPage) {
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); };
  constexpr std::uintptr_t source = 16 * page;
  constexpr std::uintptr_t place = 99 * page;
  for (const std::uintptr_t behind : {1, 16, 31}) {
    EXPECT_TRUE(is_slow_to_copy(at(place + behind), at(source), 2048)) << behind;
    EXPECT_TRUE(is_slow_to_copy(at(place), at(source + page - behind), 2048)) << behind;
    EXPECT_FALSE(is_slow_to_copy(at(place + behind), at(source), 2047)) << "short";
    EXPECT_FALSE(is_slow_to_copy(at(place + behind), at(source), 1 << 20)) << "long";
    EXPECT_FALSE(is_slow_to_copy(at(place), at(source + behind), 2048)) << "before it";
  }
  for (const std::uintptr_t behind : {0, 32, 64, 2048})
    EXPECT_FALSE(is_slow_to_copy(at(place + behind), at(source), 1 << 20)) << behind;
}

}  // namespace am::impl::copy_test
