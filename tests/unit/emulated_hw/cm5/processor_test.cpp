// The processor of a CM-5 node, its write buffer and its cache: criteria CM-2 to CM-4 (von Eicken 1993, 3.2.1, Figure 3-8).
#include "emulated_hw/cm5/processor.hpp"

#include <gtest/gtest.h>

#include "emulated_hw/cm5/machine.hpp"

namespace am::cm5::processor_test {

/// Runs a program on node 0 of two, and has it take the time of what it does.
class Timed {
 public:
  explicit Timed(std::size_t words = 0) : machine(2, words) {}
  template <class F>
  void run(F program) {
    machine.node(0).run(program);
    machine.run_or_throw([this] { return machine.node(0).has_ended(); });
  }
  void lap() {
    took.push_back(machine.node(0).spent().all - begun_);
    begun_ += took.back();
  }
  Machine machine;
  std::vector<Cycle> took;

 private:
  Cycle begun_ = 0;
};

/// CM-2, CM-3 [P]: one store takes 3 cycles, or 4; the bus 4 more, and a load waits for that; alone it takes 7, or 8. The fifth of stores
/// back to back waits for the bus.
TEST(Cm5Processor, AccessesTheInterfaceInThePrintedTimes) {
  Timed timed;
  const Header header{.length = 2};
  timed.run([&](Processor& cpu) -> Program {
    (void)co_await cpu.status(Side::left);
    timed.lap();
    co_await cpu.send_first(Side::left, header, 0);
    timed.lap();
    co_await cpu.send_data(Side::left, {1, 2});
    timed.lap();
    (void)co_await cpu.status(Side::left);
    timed.lap();
    co_await cpu.cycles(10);
    timed.lap();
    (void)co_await cpu.receive_two(Side::left);
    timed.lap();
    for (int i = 0; i < 15; ++i) {
      co_await cpu.send_data(Side::left, 3);
      timed.lap();
    }
  });
  EXPECT_EQ(timed.took,
            (std::vector<Cycle>{7, 3, 4, 7 + 2, 10, 8, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4}))
      << "the bus does a store in 4: the buffer is full after 13 of 3";
}

/// CM-4 [D]: five words are sent in 19 cycles, and 2 in which the load waits for the last store; they are received in 30.
TEST(Cm5Processor, SendsFiveWordsIn19CyclesAndReceivesThemIn30) {
  Timed timed;
  std::vector<Word> got;
  timed.run([&](Processor& cpu) -> Program {
    co_await cpu.send_first(Side::right, {.length = 5, .tag = 3}, 0, 10);
    co_await cpu.send_data(Side::right, {20, 30});
    co_await cpu.send_data(Side::right, {40, 50});
    const Status sent = co_await cpu.status(Side::right);
    timed.lap();
    EXPECT_TRUE(sent.send_ok);
    co_await cpu.cycles(10);
    timed.lap();
    const Status come = co_await cpu.status(Side::right);
    const Processor::TwoWords first = co_await cpu.receive_two(Side::right);
    const Processor::TwoWords second = co_await cpu.receive_two(Side::right);
    const Word last = co_await cpu.receive(Side::right);
    timed.lap();
    EXPECT_TRUE(come.receive_ok && come.receive_length == 5 && come.receive_tag == 3);
    got = {first[0], first[1], second[0], second[1], last};
  });
  EXPECT_EQ(timed.took, (std::vector<Cycle>{4 + 8 + 7 + 2, 10, 7 + 8 + 8 + 7}));
  EXPECT_EQ(got, (std::vector<Word>{10, 20, 30, 40, 50}));
}

/// CM-2 [P]: reads of 2 and 3 cycles in the cache, 22 more for a line; writes of 3 and 4, of which memory takes 18, or 10 for a double
/// word. What is 64 KB away has the same place in the cache.
TEST(Cm5Processor, AccessesMemoryInThePrintedTimes) {
  Timed timed(1 << 15);
  timed.machine.node(0).memory()[1] = 77;
  Word read = 0;
  timed.run([&](Processor& cpu) -> Program {
    read = co_await cpu.load(1);
    timed.lap();
    (void)co_await cpu.load_two(6);
    timed.lap();
    (void)co_await cpu.load(1 << 14);
    timed.lap();
    read += co_await cpu.load(1);
    timed.lap();
    co_await cpu.store_two(8, {5, 6});
    timed.lap();
    (void)co_await cpu.load(0);
    timed.lap();
    for (int i = 0; i < 6; ++i) {
      co_await cpu.store(9, static_cast<Word>(i));
      timed.lap();
    }
    bool thrown = false;
    try {
      (void)co_await cpu.load(1 << 15);
    } catch (const std::out_of_range&) {
      thrown = true;
    }
    EXPECT_TRUE(thrown);
  });
  EXPECT_EQ(timed.took, (std::vector<Cycle>{24, 3, 24, 24, 4, 2, 3, 3, 3, 3, 14, 18}))
      << "a load that hits waits for no store; stores go at 18 each when the buffer is full";
  EXPECT_EQ(read, 154u);
  EXPECT_EQ(timed.machine.node(0).memory()[8], 5u);
  EXPECT_EQ(timed.machine.node(0).memory()[9], 5u);
}

}  // namespace am::cm5::processor_test
