// Where the values of a message belong in a stream's ring: what a stranger may say of it leads nowhere else.
#include <gtest/gtest.h>
#include <am/impl/stream_ring.hpp>

#include <new>

namespace stream_ring_test {

using am::impl::StreamRing;

class StreamRingPlaces : public testing::Test {
 protected:
  static constexpr std::uint64_t capacity = 8;
  static constexpr std::uint32_t value_bytes = 24;

  StreamRingPlaces() : ring(*new (memory) StreamRing) {
    ring.capacity = capacity;
    ring.value_bytes = value_bytes;
  }
  /// The number of the place, or -1 for none.
  [[nodiscard]] std::int64_t place(std::uint64_t at, std::size_t bytes) {
    const std::byte* const found = ring.place_of(at, bytes);
    return found == nullptr ? -1 : (found - ring.values()) / value_bytes;
  }

  alignas(StreamRing) std::byte memory[sizeof(StreamRing) + capacity * value_bytes];
  StreamRing& ring;
};

TEST_F(StreamRingPlaces, AreTheWritersAndDoNotGoAround) {
  ring.read = 10;
  ring.written = 13;  // places 2, 3 and 4 are the reader's
  for (std::uint64_t at = 0; at < 30; ++at) {
    for (std::uint64_t count = 0; count < 12; ++count) {
      const bool is_free = at >= 13 && at + count <= 10 + capacity;
      const bool goes_around = at % capacity + count > capacity;
      const std::int64_t expected = is_free && !goes_around ? static_cast<std::int64_t>(at % capacity) : -1;
      EXPECT_EQ(place(at, count * value_bytes), expected) << at << ", " << count;
    }
  }
}

TEST_F(StreamRingPlaces, AreOfWholeValues) {
  EXPECT_EQ(place(0, value_bytes), 0);
  for (std::size_t bytes = 1; bytes < 3 * value_bytes; ++bytes)
    EXPECT_EQ(place(0, bytes), bytes % value_bytes == 0 ? 0 : -1) << bytes;
}

TEST_F(StreamRingPlaces, AreNoneForNumbersThatCannotBe) {
  ring.read = ring.written = 5;
  for (const std::uint64_t at :
       {~std::uint64_t{0}, ~std::uint64_t{0} - 5, std::uint64_t{1} << 63, std::uint64_t{4}})
    EXPECT_EQ(place(at, value_bytes), -1) << at;
  EXPECT_EQ(place(5, ~std::size_t{0} / value_bytes * value_bytes), -1);
}

}  // namespace stream_ring_test
