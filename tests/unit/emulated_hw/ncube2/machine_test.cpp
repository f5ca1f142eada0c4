// Nodes of an nCUBE/2 under one clock: criteria C-2 to C-4.
#include "emulated_hw/ncube2/machine.hpp"

#include <gmock/gmock.h>

#include "emulated_hw/ncube2/programs/cmam.hpp"
#include "unit/emulated_hw/orders.hpp"

namespace am::ncube2::machine_test {

/// All nodes send to all others, and are answered.
struct AllToAll {
  AllToAll() : machine(2), cmam(machine, 4 * machine.nodes()) {
    const Word pong = cmam.place([this](Processor&, Cmam::Incoming& in) -> Program {
      answers += in.arguments[3] == in.from;
      co_return;
    });
    const Word ping = cmam.place([this, pong](Processor& cpu, Cmam::Incoming& in) -> Program {
      co_await cmam.reply(cpu, in, pong, {0, 0, 0, cpu.node()});
    });
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      machine.node(node).run([this, ping](Processor& cpu) -> Program {
        for (NodeNumber i = 1; i < machine.nodes(); ++i)
          co_await cmam.request(cpu, (cpu.node() + i) % machine.nodes(), ping, {1, 2, 3, 4});
      });
    }
  }
  [[nodiscard]] bool is_done() const { return answers == machine.nodes() * (machine.nodes() - 1); }

  Machine machine;
  Cmam cmam;
  unsigned answers = 0;
};

/// C-2: the order within a cycle cannot be seen; nor that nodes sleep, which they do where no order is given.
TEST(Ncube2Machine, LooksTheSameInWhateverOrderItIsStepped) {
  test::expect_the_same_in_any_order(4, 100, [](auto next) {
    AllToAll all;
    while (all.machine.now() < 6'000) all.machine.step(next());
    EXPECT_TRUE(all.is_done());
    return all.machine.fingerprint();
  });
}

/// C-3: where nothing is under way and a program waits for ever; or all have ended.
TEST(Ncube2Machine, SaysWhoWaitsForWhatDoesNotCome) {
  Machine machine(1);
  EXPECT_THAT([&] { machine.run_or_throw([] { return false; }, 100); },
              testing::ThrowsMessage<std::runtime_error>(
                  "ncube2: no message has been under way for 101 cycles:\nall programs have ended\n"));
  Machine waiting(1);
  waiting.node(1).run([](Processor& cpu) -> Program {
    co_await cpu.cycles(3'000);
    co_await cpu.halt();
  });
  EXPECT_THAT([&] { waiting.run_or_throw([] { return false; }, 100); },
              testing::ThrowsMessage<std::runtime_error>(
                  testing::HasSubstr("node 1: its program waits for an interrupt\n")));
  EXPECT_EQ(waiting.now(), 3'000u) << "it computes, which is no reason to give it up";
}

}  // namespace am::ncube2::machine_test
