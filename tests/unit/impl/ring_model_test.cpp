// The ring, every interleaving: the library's own Producer and Consumer (support/modelled_ring.hpp) in tiny rings, with
// every sequence of sizes, dropped claims, payloads that look like headers, and every answer that C++ lets a load
// get. Whatever happens, each packet arrives once, in order, whole, and nothing else does.
//
// The producer's step is claim, fill, commit; the consumer's is receive, read, release. Each is loads before stores, so
// that one step hides nothing (support/model_access.hpp).
#include "support/modelled_ring.hpp"

#include <cstring>

#include "support/explorer.hpp"

namespace ring_model_test {

using modelled::Fault;
using modelled::am::impl::Consumer;
using modelled::am::impl::Header;
using modelled::am::impl::Packet;
using modelled::am::impl::Producer;
using modelled::am::impl::RingControl;
using namespace test;

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t fewer = 1;  // claims: a sanitizer makes each state dear
#else
constexpr std::size_t fewer = 0;
#endif

constexpr std::size_t most_lines = 8;
constexpr std::size_t most_packets = 8;

// Only their addresses count: the values are in the Memory.
alignas(64) Packet lines[most_lines];
RingControl control;

struct Shape {
  std::size_t lines;    // of the ring
  std::size_t long_;    // lines of a packet that is not of one line
  std::size_t packets;  // to send; dropped claims count
};

Location header_at(std::size_t line) { return static_cast<Location>(2 * line); }
Location content_at(std::size_t line) { return static_cast<Location>(2 * line + 1); }
std::size_t line_of(const Packet* packet) { return static_cast<std::size_t>(packet - lines); }

class RingModel {
 public:
  explicit RingModel(const Shape& shape) : shape_(shape) {
    producer_.connect(lines, static_cast<std::uint32_t>(shape.lines), &control);
    consumer_.connect(lines, static_cast<std::uint32_t>(shape.lines), &control,
                      static_cast<std::uint32_t>(shape.lines) / 4);
  }

  [[nodiscard]] bool runs(unsigned thread) const {
    return thread == 0 ? tries_ < shape_.packets : !good_end();
  }
  [[nodiscard]] bool good_end() const { return tries_ == shape_.packets && received_ == sent_; }

  void step(unsigned thread, Access& access) {
    modelled::words.access = &access;
    thread == 0 ? send(access) : receive(access);
  }

  void fold(test::Digest& digest) const {
    fold_bytes(digest, producer_);
    fold_bytes(digest, consumer_);
    for (std::size_t i = received_; i < sent_; ++i) digest.add(sizes_[i]);
    digest.add(tries_ << 32 | sent_ << 16 | received_);
    digest.add(position_);
  }

 private:
  enum What { one_line, one_line_slowly, long_packet, dropped, number_of_kinds };

  void send(Access& access) {
    const unsigned what = access.choose(number_of_kinds);
    const std::size_t size = what == long_packet || what == dropped ? shape_.long_ : 1;
    Packet* packet = what == one_line ? producer_.claim_line() : nullptr;
    if (packet == nullptr) packet = producer_.claim(size);
    if (packet == nullptr) return access.tell("full");
    ++tries_;
    const std::size_t line = line_of(packet);
    if (line < position_ % shape_.lines) position_ += shape_.lines - position_ % shape_.lines;  // padded
    if (position_ + size > consumer_.position() + shape_.lines)
      access.fail("lines claimed that are not released");
    access.write(content_at(line), 1 + sent_);
    if (size > 1) {
      // The payload has the bits of a packet of one line, of this lap or of the next: where a header may be expected.
      const Word lap = 1 + position_ / shape_.lines + access.choose(2);
      for (std::size_t i = 1; i < size; ++i) {
        access.write(header_at(line + i),
                     Header::make(666, 0, 0, 0).with_lap(static_cast<std::uint16_t>(lap)).bits);
        access.write(content_at(line + i), 1 + sent_);
      }
    }
    if (what == dropped) return access.tell("dropped");
    const Header header = Header::make(static_cast<std::uint16_t>(1 + sent_), 0, size - 1, 0);
    producer_.commit(packet, header);
    sizes_[sent_++] = static_cast<std::uint8_t>(size);
    position_ += size;
  }

  void receive(Access& access) {
    // As Inbox::describe does, or as its other callers do, without asking first.
    if (access.choose(2) == 1 && !consumer_.ready()) return access.tell("not ready");
    Header header;
    const Packet* packet = consumer_.receive(header);
    if (packet == nullptr) {
      if (access.choose(2) == 1) consumer_.publish();  // as Inbox::found_empty does
      return;
    }
    if (received_ == sent_) return access.fail("a packet that nobody sent");
    const std::size_t size = sizes_[received_];
    const std::size_t line = line_of(packet);
    for (std::size_t i = 0; i < size; ++i) {
      if (access.read(content_at(line + i)) != 1 + received_) return access.fail("the wrong content");
      if (i != 0) access.read(header_at(line + i));
    }
    if (header.handler() != 1 + received_ || header.lines() != size) return access.fail("the wrong packet");
    consumer_.release(header.lines());
    ++received_;
  }

  /// Padding may differ between equals: that costs a state, no more.
  template <class T>
  static void fold_bytes(test::Digest& digest, const T& value) {
    static_assert(sizeof(T) % sizeof(Word) == 0);
    Word image[sizeof(T) / sizeof(Word)];
    std::memcpy(image, static_cast<const void*>(&value), sizeof value);
    for (const Word word : image) digest.add(word);
  }

  Shape shape_;
  Producer producer_;
  Consumer consumer_;
  std::size_t tries_ = 0;
  std::size_t sent_ = 0;
  std::size_t received_ = 0;
  std::size_t position_ = 0;  // of the producer, counted by the rules
  std::uint8_t sizes_[most_packets] = {};
};

test::Verdict explore_ring(const Shape& shape, Fault fault) {
  std::vector<Memory::Declaration> words;
  modelled::words = {};
  modelled::words.fault = fault;
  for (std::size_t i = 0; i < shape.lines; ++i) {
    words.push_back({"header " + std::to_string(i), Memory::Kind::line});
    words.push_back({"content " + std::to_string(i), Memory::Kind::content});
    modelled::words.headers[&lines[i].header] = header_at(i);
  }
  modelled::words.released = &control.released;
  modelled::words.released_location = static_cast<Location>(words.size());
  words.push_back({"released"});
  return test::explore(RingModel(shape), Memory(2, words));
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  return out << shape.lines << " lines, packets of 1 and " << shape.long_ << ", " << shape.packets
             << " claims";
}

class EveryRing : public testing::TestWithParam<Shape> {};

TEST_P(EveryRing, DeliversEveryPacketOnceInOrderAndWhole) {
  expect_holds(explore_ring(GetParam(), Fault::none));
}

INSTANTIATE_TEST_SUITE_P(Shapes, EveryRing,
                         testing::Values(Shape{4, 2, 6 - fewer}, Shape{5, 2, 5}, Shape{6, 3, 6 - fewer},
                                         Shape{8, 4, 5 - fewer}));

class BrokenRing : public testing::TestWithParam<std::pair<Fault, const char*>> {};

TEST_P(BrokenRing, IsFoundOut) {
  const auto& [fault, why] = GetParam();
  expect_refuted(explore_ring({4, 2, 5}, fault), why);
}

INSTANTIATE_TEST_SUITE_P(
    Faults, BrokenRing,
    testing::Values(std::pair{Fault::commit_relaxed, "race"}, std::pair{Fault::receive_relaxed, "race"},
                    std::pair{Fault::publish_relaxed, "race"}, std::pair{Fault::refresh_relaxed, "race"},
                    std::pair{Fault::no_clearing, "packet"}, std::pair{Fault::line_too_many, "not released"},
                    std::pair{Fault::no_padding, "no good end"}));

}  // namespace ring_model_test
