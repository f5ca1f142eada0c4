// Messages that the GTLB does not know, of several threads at once (thesis, 3.3.1, 4.2.1, 4.2.3): none is lost, and ordered ones keep
// their order.
#include "emulated_hw/mmachine/programs/gtlb_misses.hpp"

#include <gtest/gtest.h>

#include "emulated_hw/mmachine/machine.hpp"
#include "emulated_hw/mmachine/programs/handlers.hpp"
#include "support/random.hpp"

namespace gtlb_misses_test {

using namespace am::mmachine;

constexpr std::uint64_t take_address = 0x100;
constexpr std::uint64_t first_of_others = 1'000'000;
constexpr unsigned regions = 9;  // of a page each, all on node 1; the GTLB holds four
constexpr std::uint64_t messages = 1000;
std::uint64_t page_of(std::uint64_t number) { return test::mix(test::seed(), number) % regions; }
Word on_page(std::uint64_t page) { return pointer_to(PointerType::read_write, page << Gtlb::page_bits); }
const Word handler = pointer_to(PointerType::execute_message, take_address);

/// Sends without waiting for the message before: from the integer and the floating-point registers in turns.
Program send(Thread& thread, bool ordered, std::uint64_t first) {
  test::Random random(test::seed() + first);
  for (const unsigned condition : {0u, 1u}) thread.fill(condition);
  for (std::uint64_t number = 0; number < messages; ++number) {
    const auto floating = static_cast<unsigned>(number % 2);
    co_await thread.full(floating);
    (floating != 0 ? thread.floating : thread.integers)[0] = {first + number, false};
    co_await thread.cycles(static_cast<unsigned>(1 + random.below(30)));
    const Send integer = ordered ? Send::isnd0o : Send::isnd0;
    co_await thread.send({.instruction = floating != 0 ? (ordered ? Send::fsnd0o : Send::fsnd0) : integer,
                          .destination = on_page(page_of(first + number)),
                          .handler = handler,
                          .argcount = 1,
                          .condition = floating});
  }
}

/// Each comes with its own address. An unordered message that has missed lets the flag be cleared that holds ordered ones, while one of these has missed behind it.
TEST(GtlbMisses, OrderedMessagesKeepTheirOrderBehindUnorderedOnesThatMiss) {
  Machine machine({.width = 2});
  Chip& sender = machine.chip(0);
  GtlbMisses misses([](std::uint64_t address) -> std::optional<Gtlb::Entry> {
    const std::uint64_t page = address >> Gtlb::page_bits;
    if (page >= regions) return {};
    return Gtlb::Entry{.valid = true, .base = {1, 0}, .tag = page, .mask = ~std::uint64_t{0}};
  });
  sender.thread(Chip::event_cluster, Chip::reserved_slot)
      .run([&](Thread& thread) { return misses.serve(thread); }, Privilege::system);
  std::vector<std::uint64_t> ordered;
  std::size_t others = 0;
  machine.chip(1).place(take_address, [&](Thread& thread) -> Program {
    for (int skipped = 0; skipped < 2; ++skipped) co_await thread.msg_body();
    const Word address = co_await thread.msg_body();
    const std::uint64_t number = (co_await thread.msg_body()).bits;
    EXPECT_EQ(address, on_page(page_of(number)));
    sender.output().give_back_buffer();
    if (number < first_of_others) {
      ordered.push_back(number);
    } else {
      ++others;
    }
    co_await thread.cycles(1);
  });
  for (unsigned cluster = 0; cluster < Chip::clusters; ++cluster) {
    sender.thread(cluster, 0)
        .run([cluster](Thread& thread) { return send(thread, cluster == 0, cluster * first_of_others); },
             Privilege::user);
  }
  ASSERT_TRUE(machine.run_until([&] { return ordered.size() + others == 3 * messages; }));
  EXPECT_EQ(ordered.size(), messages);
  EXPECT_TRUE(std::ranges::is_sorted(ordered));
  EXPECT_GT(misses.sent(), messages);
  EXPECT_EQ(sender.output().buffers(), Machine::usual_buffers);

  // An address that nobody has.
  Thread& lost = sender.thread(2, 1);
  lost.run(
      [](Thread& thread) -> Program {
        co_await thread.send({Send::isnd0o, on_page(regions), handler, 0, 7});
        co_await thread.full(7);
      },
      Privilege::user);
  ASSERT_TRUE(machine.run_until([&] { return misses.dropped() == 1 && !sender.output().has_missed(); }));
  EXPECT_EQ(sender.output().buffers(), Machine::usual_buffers) << "given back";
  EXPECT_FALSE(lost.has_ended());
}

}  // namespace gtlb_misses_test
