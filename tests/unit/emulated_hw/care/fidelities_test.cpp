// The two-event fidelity beside that of words: criteria CA-24 to CA-27 (Byrd, Nakano and Delagi 1987, 5).

#include "random_lists.hpp"

namespace am::care::fidelities_test {

using Transmission = PacketSource::Transmission;

/// A source by two events with a packet of so many words. What downstream says: f free, o open, w wait.
struct Source {
  explicit Source(std::uint32_t words, bool as_printed = true)
      : options{.fidelity = Fidelity::two_events, .delays_as_printed = as_printed} {
    source.push({.kind = Word::Kind::target, .last = true, .packet = 1, .words = words});
    source.push(Terminator::end_of_packet);
  }
  void step(std::string_view says) {
    for (const char one : says)
      source.step(one == 'f' ? Status::free : one == 'o' ? Status::open : Status::wait, now++);
  }
  /// The cycle in which the terminator is shown, if it is open from now on.
  Cycle end() {
    while (source.packet_out().terminator == Terminator::none && now < 100) step("o");
    return now - 1;
  }

  Options options;
  PacketSource source{options};
  Cycle now = 0;
};

/// CA-24: the terminator follows the front by the transit time. CA-25, the rows of Figure 10: free -F/send-> busy, busy -DONE-> done,
/// done -OND/term-> free.
TEST(CareTwoEvents, TheTerminatorFollowsAfterTheTransitTime) {
  Source one(3);
  EXPECT_EQ(one.source.places(), 2u) << "a packet or a terminator takes one";
  one.step("f");
  EXPECT_TRUE(one.source.packet_out().word.is_target());
  EXPECT_EQ(one.source.places(), 1u);
  EXPECT_EQ(one.source.transmission(), Transmission::busy);
  one.step("ooo");
  EXPECT_EQ(one.source.transmission(), Transmission::busy);
  EXPECT_EQ(one.source.packet_out().terminator, Terminator::none);
  one.step("o");
  EXPECT_EQ(one.source.transmission(), Transmission::free);
  EXPECT_EQ(one.source.packet_out().terminator, Terminator::end_of_packet);
}

/// CA-25: busy -W/lwnow-> busy, busy -O/delay-> busy, done -O/busy-> busy: waits add up.
TEST(CareTwoEvents, WaitsDelayTheTerminator) {
  EXPECT_EQ(Source(5).end(), 99u) << "nobody was free";
  Source none(5);
  none.step("f");
  EXPECT_EQ(none.end(), 6u);
  Source two(5);
  two.step("fwwow");
  EXPECT_EQ(two.end(), 6u + 2 + 1);
  Source late(5);
  late.step("fooooow");
  EXPECT_EQ(late.source.transmission(), Transmission::done) << "done has occurred in the middle of a wait";
}

/// CA-25 (5.2): a wait that lasts over `done` adds all of itself, as printed. What was left to transmit would be exact.
TEST(CareTwoEvents, AWaitOverTheEndDelaysByAllOfItAsPrinted) {
  for (const bool as_printed : {true, false}) {
    Source one(5, as_printed);
    one.step("foooowwww");  // from 5 to 8; done at 6
    EXPECT_EQ(one.end(), 9u + (as_printed ? 4 : 1));
    Source all(5, as_printed);
    all.step("fooooowwww");  // from 6 on
    EXPECT_EQ(all.end(), 10u + (as_printed ? 4 : 0));
  }
}

/// CA-24 (5.2): a buffer does not fill up in mid-packet.
TEST(CareTwoEvents, BuffersDoNotFillUpInMidPacket) {
  const Options options{.fidelity = Fidelity::two_events, .buffer_size = 1};
  Counts counts;
  FifoBuffer one(options, counts, 0);
  Cycle now = 0;
  for (int i = 0; i < 4; ++i)
    one.step_input({.word = {.kind = Word::Kind::target, .last = i == 3, .packet = 1}}, now++);
  EXPECT_TRUE(one.machine().is(buffer::State::open));
  EXPECT_EQ(one.queue().places(), 1u);
  one.step_input({.terminator = Terminator::end_of_packet}, now++);
  EXPECT_TRUE(one.machine().is(buffer::State::done_wait));
}

/// CA-27: both deliver at the same times, under any load, unicasts and multicasts. Not where a packet is cut short by an abort, which the
/// two-event fidelity cannot know; nor with the delays as printed, which add up without end where packets
/// block each other.
TEST(CareTwoEvents, DeliverWhenWordsDo) {
  const auto run = [](Fidelity fidelity, const RandomLists::Load& load, bool as_printed, Counts& counts) {
    RandomLists lists(kit::Grid{{4}, {4}}, {.fidelity = fidelity, .delays_as_printed = as_printed}, load,
                      Preferences::nearer_only);
    while (lists.machine().now() < 1500) lists.cycle();
    lists.finish();
    EXPECT_EQ(lists.lost() + lists.unexpected(), 0u);
    counts = lists.machine().counts();
    return lists.times();
  };
  const auto agree = [&](const RandomLists::Load& load, bool as_printed, Counts& words) {
    Counts events;
    return run(Fidelity::words, load, as_printed, words) ==
           run(Fidelity::two_events, load, as_printed, events);
  };
  Counts counts;
  std::uint64_t splits = 0;
  for (std::uint64_t seed = test::seed(); seed < test::seed() + 20; ++seed) {
    EXPECT_TRUE(agree({seed, 1, 8, 1}, false, counts)) << "unicasts at saturation, " << seed;
    const bool same = agree({seed, 6, 20, 2000}, false, counts);
    if (counts.aborts + counts.partial_finds != 0) continue;
    EXPECT_TRUE(same) << "multicasts, " << seed;
    splits += counts.splits;
  }
  EXPECT_GT(splits, 20u);
}

/// CA-27: two events for each component on the way, against its words.
TEST(CareTwoEvents, NeedTwoEventsAPacketAndComponent) {
  constexpr std::uint32_t words = 50;
  for (const Fidelity fidelity : {Fidelity::words, Fidelity::two_events}) {
    Machine machine(kit::Grid{{8}}, {.fidelity = fidelity});
    machine.send(0, {{7}}, std::vector<std::uint32_t>(words));
    machine.run_or_throw([&] { return machine.is_empty(); });
    EXPECT_EQ(machine.link_words(), 7u * (fidelity == Fidelity::words ? 2 + words : 2));
    EXPECT_EQ(machine.delivered(7).at(0).words, words);
  }
}

}  // namespace am::care::fidelities_test
