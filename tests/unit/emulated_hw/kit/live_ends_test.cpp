// Packets with several ends on their way through one live router, by carriers that are stopped or killed before any of their accesses.
// tests/models/live_ends.pml tries every order of these accesses; here are the words, which come again, and the code itself.
#include "emulated_hw/kit/live_ends.hpp"

#include "support/steps.hpp"

namespace live_ends_test {

using namespace am::kit;
using namespace test;
using enum EndRule;

constexpr unsigned ways = 3;  ///< into the router, and out of it

/// A packet: its ends, a letter by which it is known, and the ends that its fate names.
struct Packet {
  std::uint32_t bits;
  static constexpr Packet of(unsigned letter, Requests channels, bool node, EndRule rule) {
    return {letter | static_cast<std::uint32_t>(channels) << 8 | std::uint32_t{node} << 12 |
            static_cast<std::uint32_t>(rule) << 13};
  }
  [[nodiscard]] constexpr unsigned letter() const { return bits & 15; }
  [[nodiscard]] constexpr EndSet ends() const {
    return {bits >> 8 & 15, (bits >> 12 & 1) != 0, static_cast<EndRule>(bits >> 13 & 3)};
  }
  [[nodiscard]] constexpr Requests fate() const { return bits >> 16; }
};

struct Router {
  std::array<HeldChannel, ways> in;
  std::array<HeldChannel, ways> out;
  std::atomic<Word> node = 0;
};

template <class Pause = Stops>
struct Carrier {
  Router& router;
  Pause pause;
  [[nodiscard]] Word see(const std::atomic<Word>& word) const {
    pause();
    return word.load();
  }
  bool change(std::atomic<Word>& word, Word seen, Word to) const {
    pause();
    return word.compare_exchange_strong(seen, to);
  }
  static constexpr unsigned inputs() { return ways; }
  [[nodiscard]] HeldChannel& input(unsigned number) const { return router.in[number]; }
  [[nodiscard]] HeldChannel& channel(unsigned output) const { return router.out[output]; }
  [[nodiscard]] std::atomic<Word>& node(unsigned /*input*/, std::uint32_t /*packet*/) const {
    return router.node;
  }
  [[nodiscard]] static EndSet ends(unsigned /*input*/, std::uint32_t packet) { return Packet{packet}.ends(); }
  [[nodiscard]] static std::uint32_t packet_at(unsigned /*output*/, std::uint32_t packet, Requests fate) {
    return packet | static_cast<std::uint32_t>(fate) << 16;
  }
  void has_come(unsigned /*output*/) const {}
  void has_come_to_node(unsigned /*input*/, std::uint32_t /*packet*/) const {}
  void has_moved(unsigned /*input*/, Requests /*outputs*/, bool /*to_node*/) const {}
  void has_left(unsigned /*input*/, Word /*number*/) const {}
  /// The first packet of an input, if there is one.
  Moved move(unsigned its_input, Requests& full) {
    const HeldChannel::First first =
        input(its_input).first([this](const std::atomic<Word>& word) { return see(word); });
    return first.is_there ? LiveEndsMove<Carrier>(*this).run(its_input, first, full) : Moved::already;
  }
};

/// Packets a to f, two of each input.
using Six = std::array<EndSet, 2 * ways>;
constexpr EndSet nothing{};

/// A router through which so many packets have passed at each of its ends.
class Scene {
 public:
  explicit Scene(const Six& packets, Word passed = 0) : packets_(packets) {
    for (auto* channels : {&router.in, &router.out}) {
      for (HeldChannel& channel : *channels) begin(channel, passed);
    }
    router.node = passed << 44;
    for (unsigned letter = 0; letter < packets.size(); ++letter) {
      const EndSet& ends = packets[letter];
      if (ends.channels != 0 || ends.node)
        put(router.in[letter / 2], passed + letter % 2,
            Packet::of(letter, ends.channels, ends.node, ends.rule).bits);
    }
    node_before_ = passed;
  }
  Router router;

  /// Each input, again and again, until nothing moves: beginning with one.
  std::function<void(Steps::One&)> carrier(unsigned first) {
    return [this, first](Steps::One& one) { carry(Stops{&one}, first); };
  }
  template <class Pause>
  void carry(Pause pause, unsigned first) {
    Carrier<Pause> carrier{router, pause};
    Requests full = 0;
    for (bool any = true; any;) {
      any = false;
      for (unsigned i = 0; i < ways; ++i) any = carrier.move((first + i) % ways, full) == Moved::yes || any;
    }
  }
  /// The next router takes out what has come.
  void take(unsigned output) {
    HeldChannel& channel = router.out[output];
    for (;;) {
      const HeldChannel::First first = channel.first(Look());
      if (!first.is_there) return;
      const Packet its{first.packet};
      got_[its.letter()] |= request(output);
      fate_[its.letter()] = its.fate();
      ++taken_[output];
      ++copies_;
      channel.head = first.head.left().word;
    }
  }
  /// Everything moves, and each packet is where its rule wants it, once.
  void all_has_come() {
    for (int i = 0; i < 8; ++i) {
      for (unsigned output = 0; output < ways; ++output) take(output);
      carry(NoStop{}, 2);
    }
    unsigned expected = 0;
    Word at_node = 0;
    for (unsigned letter = 0; letter < packets_.size(); ++letter) {
      const EndSet& ends = packets_[letter];
      const Requests got = got_[letter];
      SCOPED_TRACE(letter);
      expected += static_cast<unsigned>(std::popcount(got));
      at_node += ends.node ? 1 : 0;
      EXPECT_EQ(got & ~ends.channels, 0u);
      EXPECT_TRUE(ends.rule != all || got == ends.channels) << got;
      const Requests keeper = std::bit_floor(ends.channels);
      EXPECT_TRUE(ends.rule != one || is_one(got)) << got;
      EXPECT_TRUE(ends.rule != keep || (got & keeper) != 0 || got == (ends.channels ^ keeper)) << got;
      EXPECT_TRUE(!ends.are_several() || got == fate_[letter]) << "the copy says who has got it";
    }
    EXPECT_EQ(copies_, expected) << "each once";
    for (unsigned output = 0; output < ways; ++output)
      EXPECT_EQ((HeldEntry{router.out[output].entries}.count() - node_before_) & 0xfffff, taken_[output]);
    EXPECT_EQ((HeldEntry{router.node}.count() - node_before_) & 0xfffff, at_node);
  }
  [[nodiscard]] Requests got(unsigned letter) const { return got_[letter]; }

 private:
  struct NoStop {
    void operator()() const {}
  };
  static void begin(HeldChannel& channel, Word passed) {
    channel.entries = passed << 44;
    channel.head = Head::of(passed, passed).word;
    for (Word number = passed - HeldChannel::slots; number != passed; ++number) put(channel, number, 0);
  }
  static void put(HeldChannel& channel, Word number, std::uint32_t packet) {
    const std::uint32_t lap = number >> 63 != 0 ? 0 : LiveChannel::lap_of_number(number);
    channel.slot[number % HeldChannel::slots] = LiveChannel::filled(packet, lap);
  }

  const Six packets_;
  Word node_before_;
  std::array<Requests, 2 * ways> got_{};
  std::array<Requests, 2 * ways> fate_{};
  std::array<unsigned, ways> taken_{};
  unsigned copies_ = 0;
};

/// Each rule, rivals for each end, and the node.
constexpr std::array scenes = {Six{EndSet{3, false, all},
                                   {7, true, all},
                                   {6, false, all},
                                   {3, true, all},
                                   {2, false, all},
                                   {0, true, all}},
                               Six{EndSet{7, false, keep},
                                   {3, true, keep},
                                   {6, false, all},
                                   {7, false, keep},
                                   {2, true, all},
                                   {1, false, all}},
                               Six{EndSet{3, false, one},
                                   {7, false, one},
                                   {7, true, one},
                                   {6, false, all},
                                   {1, false, all},
                                   {2, false, all}}};
/// Words that are about to come again.
constexpr std::array<Word, 4> passed_before = {0, (1 << Head::number_bits) - 1, (1 << 20) - 1,
                                               (Word{1} << 37) - 1};

TEST(LiveEnds, AnotherGoesOnWhereACarrierWasStoppedOrKilled) {
  for (const Six& packets : scenes) {
    for (const Word passed : passed_before) {
      for (const bool killed : {false, true}) {
        at_each_access([&](unsigned at, bool& ended) {
          Scene scene(packets, passed);
          Steps::One one(scene.carrier(0));
          ended = !one.go(at);
          if (killed) one.kill();
          scene.all_has_come();
          one.finish();
          scene.all_has_come();
        });
      }
    }
  }
}

// It is told which end that is; the others stay free for other packets.
TEST(LiveEnds, EntersNowhereWhileAnEndHasNoRoom) {
  Scene scene({EndSet{7, true, all}, nothing, {6, false, one}, nothing, {7, false, keep}, nothing});
  Carrier<> carrier{scene.router, {}};
  const auto fill = [&](Requests outputs, bool are_full) {
    for_each(outputs, [&](unsigned output) {
      scene.router.out[output].entries = Word{are_full ? HeldChannel::slots : 0} << 44;
    });
  };
  const auto refused = [&](unsigned input) {
    Requests full = 0;
    EXPECT_EQ(carrier.move(input, full), Moved::no_room);
    for (const HeldChannel& channel : scene.router.out)
      EXPECT_EQ(HeldEntry{channel.entries}.count() % HeldChannel::slots, 0u);
    EXPECT_EQ(scene.router.node, 0u);
    return full;
  };
  fill(request(1), true);
  EXPECT_EQ(refused(0), request(1));
  fill(request(2), true);
  EXPECT_EQ(refused(1), request(1) | request(2));
  fill(request(0), true);
  EXPECT_EQ(refused(2), 7u);
  fill(request(0), false);
  EXPECT_EQ(refused(2), request(1) | request(2)) << "one of them has room, but nobody can keep a copy";
  fill(7, false);
  scene.all_has_come();
}

// Two are stopped, one after the other, anywhere; a third does all; then they go on in either order, or one is killed.
TEST(LiveEnds, TwoWhoWereStoppedDoNoHarmEither) {
  Random random(seed());
  for (const Six& packets : scenes) {
    at_each_two_accesses([&](unsigned first_at, bool& first_ended, unsigned second_at, bool& second_ended) {
      Scene scene(packets);
      Steps::One first(scene.carrier(0));
      first_ended = !first.go(first_at);
      Steps::One second(scene.carrier(1));
      second_ended = !second.go(second_at);
      finish_somehow(first, second, random, [&] { scene.all_has_come(); });
      scene.all_has_come();
    });
  }
}

// Channels are full, and have room again while carriers are on their way.
TEST(LiveEnds, AnyOrderOfThreeCarriersIsAsGood) {
  Random random(seed());
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    Scene scene(scenes[random.below(scenes.size())]);
    std::deque<Steps::One> all;
    for (unsigned first = 0; first < ways; ++first) all.emplace_back(scene.carrier(first));
    finish_in_any_order(all, random, 4, [&] { scene.take(static_cast<unsigned>(random.below(ways))); });
    scene.all_has_come();
    if (HasFailure()) return;
  }
}

}  // namespace live_ends_test
