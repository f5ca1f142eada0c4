// Messages that the GTLB does not know, of several threads at once (thesis, 3.3.1, 4.2.1, 4.2.3): none is lost, and ordered ones keep
// their order.
#include "emulated_hw/mmachine/programs/gtlb_misses.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "emulated_hw/mmachine/machine.hpp"
#include "support/random.hpp"

namespace gtlb_misses_test {

using namespace am::mmachine;

constexpr std::uint64_t take_address = 0x100;
constexpr std::uint64_t first_of_others = 1'000'000;
constexpr unsigned regions = 9;  // of a page each, all on node 1; the GTLB holds four
constexpr std::uint64_t messages = 1000;

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
    const std::uint64_t page = random.below(regions);
    co_await thread.send(
        {.instruction = floating != 0 ? (ordered ? Send::fsnd0o : Send::fsnd0) : integer,
         .destination = {pointer_bits(PointerType::read_write, 0, page << Gtlb::page_bits), true},
         .handler = {pointer_bits(PointerType::execute_message, 0, take_address), true},
         .argcount = 1,
         .condition = floating});
  }
}

/// An unordered message that has missed lets the flag be cleared that holds ordered ones, while one of these has missed behind it.
TEST(GtlbMisses, OrderedMessagesKeepTheirOrderBehindUnorderedOnesThatMiss) {
  Machine machine({.width = 2});
  Chip& sender = machine.chip(0);
  GtlbMisses misses([](std::uint64_t address) -> std::optional<Gtlb::Entry> {
    return Gtlb::Entry{
        .valid = true, .base = {1, 0}, .tag = address >> Gtlb::page_bits, .mask = ~std::uint64_t{0}};
  });
  sender.thread(Chip::event_cluster, Chip::reserved_slot)
      .run([&](Thread& thread) { return misses.serve(thread); }, Privilege::system);
  std::vector<std::uint64_t> ordered;
  std::size_t others = 0;
  machine.chip(1).place(take_address, [&](Thread& thread) -> Program {
    for (int skipped = 0; skipped < 3; ++skipped) co_await thread.msg_body();
    const std::uint64_t number = (co_await thread.msg_body()).bits;
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
}

}  // namespace gtlb_misses_test
