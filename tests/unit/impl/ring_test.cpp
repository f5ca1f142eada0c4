// The ring, line by line: whatever sizes follow each other, whatever bytes payloads hold, the consumer sees what the
// producer committed, in order, and nothing else.
#include <gtest/gtest.h>
#include <am/impl/ring.hpp>

#include <algorithm>
#include <deque>
#include <vector>

#include "support/random.hpp"

namespace am::impl::ring_test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t share = 10;  // of the rounds: a sanitizer makes each dear
#else
constexpr std::uint64_t share = 1;
#endif

const Packet* next_of(Consumer& consumer) {
  Header header;
  return consumer.receive(header);
}

/// The shared memory of a ring, both ends, and what the tests do with them.
class Ring {
 public:
  explicit Ring(std::uint32_t lines) : lines_(lines) {
    producer.connect(lines_.data(), lines, &control_);
    consumer.connect(lines_.data(), lines, &control_, lines / 4);
  }

  [[nodiscard]] Packet* lines() { return lines_.data(); }

  Producer producer;
  Consumer consumer;

 private:
  std::vector<Packet> lines_;
  RingControl control_{};
};

/// A header that would pass for a packet of this ring if it lay where one is expected: laps around that of the packet
/// which carries it, any number of lines.
std::uint64_t decoy(std::uint64_t near_lap, test::Random& random) {
  const auto lap = static_cast<std::uint16_t>(near_lap + random.below(4) - 1);
  return Header::make(666, random.below(7), random.below(4), random.one_in(4) ? flag::pad : 0)
      .with_lap(lap)
      .bits;
}

void fill_with_decoys(Packet& packet, std::size_t lines, std::uint64_t near_lap, test::Random& random) {
  auto* words = reinterpret_cast<std::uint64_t*>(packet.payload(0, 1));
  for (std::size_t i = 0; i < (lines - 1) * line_bytes / 8; ++i) words[i] = decoy(near_lap, random);
}

/// A packet with its number in the first word, decoys in all others.
void write(Packet& packet, std::uint64_t number, std::size_t lines, std::uint64_t near_lap) {
  test::Random random(number);
  packet.words[0] = number;
  packet.words[1] = near_lap;
  for (std::size_t i = 2; i < max_words; ++i) packet.words[i] = decoy(near_lap, random);
  fill_with_decoys(packet, lines, near_lap, random);
}

/// Whether it is the packet of that number, and whole.
testing::AssertionResult holds(const Packet& packet, std::uint64_t number, std::size_t lines) {
  test::Random random(number);
  const std::uint64_t near_lap = packet.words[1];
  if (packet.head().lines() != lines)
    return testing::AssertionFailure() << packet.head().lines() << " lines instead of " << lines;
  if (packet.words[0] != number)
    return testing::AssertionFailure() << "packet " << packet.words[0] << " instead of " << number;
  for (std::size_t i = 2; i < max_words; ++i) {
    if (packet.words[i] != decoy(near_lap, random))
      return testing::AssertionFailure() << "word " << i << " differs";
  }
  const auto* words = reinterpret_cast<const std::uint64_t*>(packet.payload(0, 1));
  for (std::size_t i = 0; i < (lines - 1) * line_bytes / 8; ++i) {
    if (words[i] != decoy(near_lap, random))
      return testing::AssertionFailure() << "payload word " << i << " differs";
  }
  return testing::AssertionSuccess();
}

TEST(Ring, GivesCreditBackWithEveryQuarterAndWhenAsked) {
  Ring ring(16);
  const auto release = [&](int lines) {
    for (int i = 0; i < lines; ++i) {
      ASSERT_NE(next_of(ring.consumer), nullptr);
      ring.consumer.release(1);
    }
  };
  for (int i = 0; i < 16; ++i) ring.producer.commit(ring.producer.claim(1), Header::make(0, 0, 0, 0));
  EXPECT_EQ(ring.producer.queued(), 16u);
  EXPECT_EQ(ring.producer.claim_line(), nullptr);
  release(3);
  EXPECT_EQ(ring.producer.claim(1), nullptr);
  ring.consumer.publish();
  EXPECT_NE(ring.producer.claim(3), nullptr);
  EXPECT_EQ(ring.producer.claim(4), nullptr);
  release(4);
  EXPECT_NE(ring.producer.claim(6), nullptr);
}

TEST(Ring, TellsWhenAStarvedProducerHasToBeWoken) {
  Ring ring(4);
  ring.producer.commit(ring.producer.claim(1), Header::make(0, 0, 0, 0));
  ASSERT_NE(next_of(ring.consumer), nullptr);
  ring.producer.control().starved = 1;
  EXPECT_TRUE(ring.consumer.release(1));
  EXPECT_FALSE(ring.consumer.publish()) << "nothing new to publish";
}

/// Both ends step by step against a queue that remembers what was committed.
class Checked {
 public:
  explicit Checked(std::uint32_t lines) : ring_(lines) {}

  /// False while there is no room.
  bool send(std::size_t lines) {
    Packet* packet = lines == 1 ? ring_.producer.claim_line() : nullptr;
    if (packet == nullptr) packet = ring_.producer.claim(lines);
    if (packet == nullptr) return false;
    write(*packet, sent_, lines, lap());
    const Header header = Header::make(static_cast<HandlerId>(sent_), max_words, lines - 1, 0);
    ring_.producer.commit(packet, header);
    expected_.push_back({sent_++, lines});
    return true;
  }

  /// A claim that is filled in but not committed, as a dropped draft.
  void send_nothing(std::size_t lines, test::Random& random) {
    Packet* packet = ring_.producer.claim(lines);
    if (packet != nullptr) fill_with_decoys(*packet, lines, lap(), random);
  }

  /// False when nothing waits.
  bool receive() {
    const Packet* packet = next_of(ring_.consumer);
    if (packet == nullptr) {
      EXPECT_TRUE(expected_.empty()) << "packet " << expected_.front().number << " is lost";
      ring_.consumer.publish();
      return false;
    }
    if (expected_.empty()) {
      ADD_FAILURE() << "a packet that nobody sent";
      return false;
    }
    const auto& [number, lines] = expected_.front();
    EXPECT_TRUE(holds(*packet, number, lines));
    EXPECT_EQ(packet->head().handler(), static_cast<HandlerId>(number));
    EXPECT_EQ(next_of(ring_.consumer), packet) << "the same until it is released";
    expected_.pop_front();
    ring_.consumer.release(packet->head().lines());
    return true;
  }

  void drain() {
    while (receive()) {
    }
  }
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }

 private:
  struct Sent {
    std::uint64_t number;
    std::size_t lines;
  };

  /// Of what the producer writes next, by the rules: 0 is never used.
  [[nodiscard]] std::uint64_t lap() const {
    return 1 + ring_.producer.position() / ring_.producer.capacity() % 0xffff;
  }

  Ring ring_;
  std::uint64_t sent_ = 0;
  std::deque<Sent> expected_;
};

class RingOfAnySize : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RingOfAnySize, AgreesWithAQueueUnderRandomLoad) {
  test::Random random(test::seed() + GetParam());
  Checked ring(GetParam());
  const std::size_t longest = std::min<std::size_t>(GetParam() / 2, max_packet_lines);
  const std::uint64_t packets = 1'000'000 / share / longest;
  while (ring.sent() < packets && !HasFailure()) {
    // Long spells of one kind reach the fast path, the full and the empty ring; short ones mix.
    const std::uint64_t spell = 1 + random.below(random.one_in(8) ? 4 * GetParam() : 4);
    const std::uint64_t kind = random.below(5);
    for (std::uint64_t i = 0; i < spell; ++i) {
      switch (kind) {
        case 0:
          ring.send(1);
          break;
        case 1:
          ring.send(1 + random.below(longest));
          break;
        case 2:
          ring.send_nothing(1 + random.below(longest), random);
          break;
        default:
          ASSERT_TRUE(ring.receive() || ring.send(1 + random.below(longest))) << "an empty ring is full";
          break;
      }
    }
  }
  ring.drain();
}

INSTANTIATE_TEST_SUITE_P(Lines, RingOfAnySize, testing::Values(2, 4, 5, 8, 16, 64, 170));

/// A header that nothing overwrites for a whole round of lap numbers, which ends with 65535, until its own number comes again.
TEST(Ring, AHeaderOfTheSameLapNumberOneRoundAgoIsNoPacket) {
  Ring ring(4);
  const auto pass = [&ring](HandlerId handler, std::size_t lines) {  // whose payload lines are not written
    ring.producer.commit(ring.producer.claim(lines), Header::make(handler, 0, lines - 1, 0));
    const Packet* packet = next_of(ring.consumer);
    ASSERT_NE(packet, nullptr);
    ASSERT_EQ(packet->head().handler(), handler);
    ring.consumer.release(lines);
    ring.consumer.publish();
  };
  pass(1, 1);
  pass(2, 1);  // in line 1, lap 1: its header stays there
  pass(3, 2);
  for (int lap = 2; lap <= 0xffff; ++lap) {
    pass(4, 2);
    pass(5, 2);
  }
  pass(6, 1);  // in line 0, lap 1 again
  EXPECT_EQ(next_of(ring.consumer), nullptr);
}

/// Any bits as headers, of a producer that is not what it should be: no packet begins or ends outside the ring.
TEST(Ring, NobodyIsLedOutOfItByWhatStandsThere) {
  constexpr std::uint32_t count = 16;
  test::Random random(test::seed());
  for (std::uint64_t round = 0; round < 20'000 / share; ++round) {
    Ring ring(count);
    std::uint16_t lap = 1;
    std::size_t at = 0;  // where the consumer is
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto lines = random.one_in(2) ? random.below(4) : random.below(0x10000);
      const auto flags = static_cast<std::uint16_t>(random.one_in(2) ? flag::pad : random.below(0x800));
      const auto laps = static_cast<std::uint16_t>(1 + random.below(2));
      ring.lines()[i].header = Header::make(7, random.below(16), lines, flags).with_lap(laps).bits;
    }
    for (std::uint32_t step = 0; step < 4 * count; ++step) {
      static_cast<void>(ring.consumer.waits(nullptr));
      Header header;
      const Packet* const packet = ring.consumer.receive(header);
      if (packet == nullptr) break;
      ASSERT_GE(packet, ring.lines());
      at = static_cast<std::size_t>(packet - ring.lines());
      ASSERT_LT(at, count);
      const bool fits = header.lines() <= count - at;
      ASSERT_EQ((header.flags() & flag::misfit) == 0, fits)
          << "line " << at << ", " << header.lines() << " lines";
      if (!fits) break;  // whoever is told so does not go on
      ASSERT_EQ(header.lap(), lap);
      ring.consumer.release(header.lines());
      if (at + header.lines() == count) ++lap;
    }
  }
}

}  // namespace am::impl::ring_test
