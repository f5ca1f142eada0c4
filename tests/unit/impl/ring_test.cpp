// The ring, line by line: whatever sizes follow each other, whatever bytes payloads hold, the consumer sees what the
// producer committed, in order, and nothing else.
#include <gtest/gtest.h>
#include <am/impl/ring.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "support/random.hpp"

namespace am::impl {
namespace ring_test {

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
  explicit Ring(std::uint32_t lines, std::uint16_t lap = 1)
      : lines_(static_cast<Packet*>(::operator new[](lines * sizeof(Packet), std::align_val_t{line_bytes}))),
        count_(lines) {
    std::memset(static_cast<void*>(lines_.get()), 0, lines * sizeof(Packet));
    producer.connect(lines_.get(), lines, &control_);
    consumer.connect(lines_.get(), lines, &control_, lines / 4);
    for (std::uint16_t at = 1; at != lap; ++at) pass_lap();
  }

  /// A packet of every line of the ring, there and gone.
  void pass_lap() {
    for (std::uint32_t i = 0; i < count_; ++i) {
      producer.commit(producer.claim(1), Header::make(0, 0, 0, 0));
      consumer.release(next_of(consumer)->head().lines());
    }
    consumer.publish();
  }

  [[nodiscard]] Packet* lines() const { return lines_.get(); }

  Producer producer;
  Consumer consumer;

 private:
  struct Delete {
    void operator()(Packet* p) const noexcept { ::operator delete[](p, std::align_val_t{line_bytes}); }
  };
  std::unique_ptr<Packet, Delete> lines_;
  std::uint32_t count_;
  RingControl control_{};
};

/// Where the producer is, counted by the rules rather than asked of it.
class Place {
 public:
  explicit Place(std::uint32_t ring_lines, std::uint16_t lap = 1) noexcept
      : ring_lines_(ring_lines), lap_(lap) {}

  [[nodiscard]] std::uint16_t lap() const noexcept { return lap_; }
  /// A claim succeeded: it may have skipped the end of the ring.
  void claimed(std::size_t lines) noexcept {
    if (at_ + lines > ring_lines_) next_lap();
  }
  void committed(std::size_t lines) noexcept {
    at_ += lines;
    if (at_ == ring_lines_) next_lap();
  }

 private:
  void next_lap() noexcept {
    at_ = 0;
    if (++lap_ == 0) lap_ = 1;
  }

  std::size_t ring_lines_;
  std::size_t at_ = 0;
  std::uint16_t lap_;
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
  if (packet.head().lines() != lines) {
    return testing::AssertionFailure() << packet.head().lines() << " lines instead of " << lines;
  }
  if (packet.words[0] != number) {
    return testing::AssertionFailure() << "packet " << packet.words[0] << " instead of " << number;
  }
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

TEST(Ring, TakesAndGivesBackOneLine) {
  Ring ring(4);
  EXPECT_EQ(next_of(ring.consumer), nullptr);
  Packet* packet = ring.producer.claim_line();
  ASSERT_NE(packet, nullptr);
  packet->words[0] = 42;
  EXPECT_EQ(next_of(ring.consumer), nullptr);
  ring.producer.commit(packet, Header::make(7, 1, 0, flag::multicast));
  const Packet* received = next_of(ring.consumer);
  ASSERT_EQ(received, packet);
  EXPECT_EQ(next_of(ring.consumer), packet);  // the same until it is released
  EXPECT_EQ(received->head().handler(), 7);
  EXPECT_EQ(received->head().words(), 1u);
  EXPECT_EQ(received->head().flags(), flag::multicast);
  EXPECT_EQ(received->words[0], 42u);
  ring.consumer.release(1);
  EXPECT_EQ(next_of(ring.consumer), nullptr);
}

TEST(Ring, IsFullAndHasRoomAgainAfterARelease) {
  Ring ring(4);
  for (int i = 0; i < 4; ++i) {
    Packet* packet = ring.producer.claim(1);
    ASSERT_NE(packet, nullptr) << i;
    ring.producer.commit(packet, Header::make(0, 0, 0, 0));
  }
  EXPECT_EQ(ring.producer.claim_line(), nullptr);
  EXPECT_EQ(ring.producer.claim(1), nullptr);
  EXPECT_EQ(ring.producer.queued(), 4u);
  ASSERT_NE(next_of(ring.consumer), nullptr);
  ring.consumer.release(1);
  EXPECT_NE(ring.producer.claim(1), nullptr);
}

TEST(Ring, GivesCreditBackWithEveryQuarterAndWhenAsked) {
  Ring ring(16);
  for (int i = 0; i < 16; ++i) ring.producer.commit(ring.producer.claim(1), Header::make(0, 0, 0, 0));
  for (int i = 0; i < 3; ++i) {
    ASSERT_NE(next_of(ring.consumer), nullptr);
    ring.consumer.release(1);
  }
  EXPECT_EQ(ring.producer.claim(1), nullptr);
  ring.consumer.publish();
  EXPECT_NE(ring.producer.claim(1), nullptr);
}

TEST(Ring, TellsWhenAStarvedProducerHasToBeWoken) {
  Ring ring(4);
  ring.producer.commit(ring.producer.claim(1), Header::make(0, 0, 0, 0));
  ASSERT_NE(next_of(ring.consumer), nullptr);
  ring.producer.control().starved = 1;
  EXPECT_TRUE(ring.consumer.release(1));
  EXPECT_FALSE(ring.consumer.publish()) << "nothing new to publish";
}

TEST(Ring, KeepsOthersOutWhileItIsReserved) {
  Ring ring(8);
  ring.producer.reserve(true);
  EXPECT_EQ(ring.producer.claim_line(), nullptr);
  EXPECT_EQ(ring.producer.claim_unless_reserved(1), nullptr);
  EXPECT_EQ(ring.producer.claim_unless_reserved(2), nullptr);
  EXPECT_NE(ring.producer.claim(1), nullptr);
  EXPECT_EQ(ring.producer.claim_line(), nullptr) << "a claim must not open it to others";
  EXPECT_EQ(ring.producer.claim_unless_reserved(1), nullptr);
  ring.producer.reserve(false);
  EXPECT_NE(ring.producer.claim(1), nullptr);
  EXPECT_NE(ring.producer.claim_line(), nullptr);
  EXPECT_NE(ring.producer.claim_unless_reserved(2), nullptr);
}

TEST(Ring, NeverConnectedTakesNothing) {
  Producer producer;
  EXPECT_EQ(producer.claim_line(), nullptr);
  EXPECT_EQ(producer.claim(1), nullptr);
  EXPECT_EQ(producer.queued(), 0u);
}

/// Both ends step by step against a queue that remembers what was committed.
class Checked {
 public:
  explicit Checked(std::uint32_t lines, std::uint16_t lap = 1) : ring_(lines, lap), place_(lines, lap) {}

  /// False while there is no room.
  bool send(std::size_t lines) {
    Packet* packet = lines == 1 ? ring_.producer.claim_line() : nullptr;
    if (packet == nullptr) packet = ring_.producer.claim(lines);
    if (packet == nullptr) return false;
    place_.claimed(lines);
    write(*packet, sent_, lines, place_.lap());
    const Header header = Header::make(static_cast<HandlerId>(sent_), max_words, lines - 1, 0);
    ring_.producer.commit(packet, header);
    place_.committed(lines);
    expected_.push_back({sent_++, lines});
    return true;
  }

  /// A claim that is filled in but not committed, as a dropped draft.
  void send_nothing(std::size_t lines, test::Random& random) {
    Packet* packet = ring_.producer.claim(lines);
    if (packet == nullptr) return;
    place_.claimed(lines);
    fill_with_decoys(*packet, lines, place_.lap(), random);
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
    EXPECT_TRUE(holds(*packet, expected_.front().number, expected_.front().lines));
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

  Ring ring_;
  Place place_;
  std::uint64_t sent_ = 0;
  std::deque<Sent> expected_;
};

TEST(Ring, EverySequenceOfSizesInATinyRing) {
  constexpr int length = 6;
  for (int sequence = 0; sequence < 1 << 2 * length; ++sequence) {
    for (const bool fill_first : {false, true}) {
      Checked ring(8);
      for (int lap = 0; lap < 3; ++lap) {  // the second time round meets what the first has left behind
        for (int i = 0; i < length; ++i) {
          const std::size_t lines = 1 + (sequence >> 2 * i & 3);
          if (fill_first && ring.send(lines)) continue;
          ring.drain();
          ASSERT_TRUE(ring.send(lines) || fill_first) << "sequence " << sequence << ", packet " << i;
        }
      }
      ring.drain();
      ASSERT_FALSE(HasFailure()) << "sequence " << sequence
                                 << (fill_first ? ", filled first" : ", drained first");
    }
  }
}

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
          ring.receive();
          break;
      }
    }
  }
  ring.drain();
}

INSTANTIATE_TEST_SUITE_P(Lines, RingOfAnySize, testing::Values(2, 4, 5, 8, 16, 64, 170));

TEST(Ring, LapsComeRoundAfter65535) {
  test::Random random(test::seed());
  Checked ring(4, 0xfff0);
  for (int i = 0; i < 400'000 && !HasFailure(); ++i) {  // beyond the second time round
    if (random.one_in(8)) {
      ring.send_nothing(2, random);
    } else if (!ring.send(1 + random.below(2)) || random.one_in(2)) {
      ring.drain();
    }
  }
  ring.drain();
}

/// A header that nothing overwrites for a whole round of lap numbers, until its own number comes again.
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

void produce(Producer& producer, Place place, std::uint64_t packets, std::size_t longest,
             const std::atomic<bool>& stop) {
  test::Random random(test::seed());
  for (std::uint64_t number = 0; number < packets; ++number) {
    const std::size_t lines = random.one_in(2) ? 1 : 1 + random.below(longest);
    const bool drop = random.one_in(16);
    Packet* packet = lines == 1 ? producer.claim_line() : nullptr;
    while (packet == nullptr) {
      packet = producer.claim(lines);
      if (packet == nullptr) std::this_thread::yield();
      if (stop) return;
    }
    place.claimed(lines);
    write(*packet, number, lines, place.lap());
    if (drop) {  // claimed again below, for another size
      --number;
    } else {
      producer.commit(packet, Header::make(1, max_words, lines - 1, 0));
    }
    if (!drop) place.committed(lines);
  }
}

TEST(Ring, TwoThreadsSeeTheSamePackets) {
  for (const std::uint32_t lines : {4u, 64u, 184u}) {
    Ring ring(lines);
    const std::size_t longest = std::min<std::size_t>(lines / 2, max_packet_lines);
    const std::uint64_t packets = 1'000'000 / share / longest;
    std::atomic<bool> stop = false;
    std::thread producer([&] { produce(ring.producer, Place(lines), packets, longest, stop); });
    for (std::uint64_t number = 0; number < packets && !HasFailure();) {
      const Packet* packet = next_of(ring.consumer);
      if (packet == nullptr) {
        ring.consumer.publish();
        std::this_thread::yield();
        continue;
      }
      EXPECT_TRUE(holds(*packet, number, packet->head().lines()));
      ring.consumer.release(packet->head().lines());
      ++number;
    }
    stop = true;
    producer.join();
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(next_of(ring.consumer), nullptr);
  }
}

}  // namespace ring_test
}  // namespace am::impl
