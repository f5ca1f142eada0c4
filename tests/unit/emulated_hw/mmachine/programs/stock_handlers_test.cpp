// Fork, RemoteRead and RemoteWrite on an M-Machine (thesis, 5.2.3): what they do, and what guarded pointers keep them from.
#include "emulated_hw/mmachine/programs/stock_handlers.hpp"

#include <gtest/gtest.h>

#include "emulated_hw/mmachine/machine.hpp"
#include "emulated_hw/mmachine/programs/handlers.hpp"

namespace stock_handlers_test {

using namespace am::mmachine;
using enum PointerType;

constexpr StockHandlers::Addresses stock{.fork = 0x100, .remote_read = 0x200, .remote_write = 0x300};
constexpr std::uint64_t answered = 0x400;
constexpr std::uint64_t page = std::uint64_t{1} << Gtlb::page_bits;

using Messages = std::vector<std::pair<Thread::Sent, std::vector<Word>>>;

/// Two nodes; pages lie on them in turns.
class StockHandlersTest : public testing::Test {
 protected:
  StockHandlersTest() {
    for (unsigned node = 0; node < 2; ++node) {
      handlers_.push_back(std::make_unique<StockHandlers>(machine_.chip(node), memories_[node], stock));
      machine_.chip(node).output().gtlb().write(0, {.valid = true, .log_width = 1});
      machine_.chip(node).place(answered, [this](Thread& thread) -> Program {
        for (int skipped = 0; skipped < 3; ++skipped) co_await thread.msg_body();
        answers_.push_back(co_await thread.msg_body());
        co_await thread.give_back_buffer();
      });
    }
  }
  /// From node 0, one after the other.
  void send(const Messages& messages) {
    machine_.chip(0).thread(2, 0).run(
        [&messages](Thread& thread) -> Program {
          for (auto [what, body] : messages) {
            std::ranges::copy(body, thread.integers.begin());
            what.argcount = static_cast<unsigned>(body.size());
            co_await thread.send(what);
            co_await thread.full(0);
          }
        },
        Privilege::user);
    for (int cycle = 0; cycle < 1000; ++cycle) machine_.step();
    EXPECT_TRUE(machine_.chip(0).thread(2, 0).has_ended());
  }
  static Thread::Sent to(const Word& address, std::uint64_t handler) {
    return {
        .instruction = Send::isnd0o, .destination = address, .handler = pointer_to(execute_message, handler)};
  }

  Machine machine_{{.width = 2}};
  std::array<Memory, 2> memories_;
  std::vector<std::unique_ptr<StockHandlers>> handlers_;
  std::vector<Word> answers_;
  const Word answer_ = pointer_to(execute_message, answered);
};

TEST_F(StockHandlersTest, AWordIsWrittenAndReadThere) {
  const Word there = pointer_to(read_write, page + 8);  // node 1
  const Word secret = pointer_to(read_only, 77);
  send({{to(there, stock.remote_write), {secret, answer_, {1, false}}},
        {to(pointer_to(read_only, page + 8), stock.remote_read), {answer_, {2, false}}}});
  EXPECT_EQ(answers_, (std::vector<Word>{{1, false}, secret})) << "a pointer travels as one";
  EXPECT_EQ(memories_[1].load(there).word, secret);
  EXPECT_EQ(memories_[0].load(there).word, Word{});
  EXPECT_EQ(machine_.chip(0).output().buffers(), Machine::usual_buffers);
}

TEST_F(StockHandlersTest, AReadOnlyPointerDoesNotWriteAnywhere) {
  const Word there = pointer_to(read_only, page + 8);
  send({{to(there, stock.remote_write), {{5, false}, answer_, {1, false}}}});
  EXPECT_TRUE(answers_.empty());
  EXPECT_EQ(machine_.chip(1).exceptions(), 1u);
  EXPECT_EQ(memories_[1].load(there).word, Word{});
}

TEST_F(StockHandlersTest, AReplyGoesOnlyToAHandlerThatTheSenderMayName) {
  const Word there = pointer_to(read_write, page + 8);
  const std::vector<Word> forged = {
      {answer_.bits, false}, pointer_to(execute_system, answered), pointer_to(read_write, answered)};
  for (const Word& handler : forged) {
    send({{to(there, stock.remote_read), {handler, {1, false}}}});
  }
  EXPECT_TRUE(answers_.empty());
  EXPECT_EQ(machine_.chip(1).exceptions(), forged.size());
}

/// Shorter than its handler expects: it reads error values, and the next message is handled (5.2.4).
TEST_F(StockHandlersTest, AMessageThatIsTooShortHurtsNobody) {
  const Word there = pointer_to(read_write, page + 8);
  send({{to(there, stock.remote_read), {}},
        {to(there, stock.fork), {}},
        {to(there, stock.remote_write), {{5, false}, answer_}},
        {to(there, stock.remote_read), {answer_, {9, false}}}});
  EXPECT_EQ(machine_.chip(1).exceptions(), 2u);
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_EQ(answers_[0], past_the_tail()) << "the word that was not sent";
  EXPECT_EQ(answers_[1].bits, 5u);
}

/// More than there are slots, of which others have had some, and with threads that an exception ends on the way.
TEST_F(StockHandlersTest, ForksBeginInOrderWithTheirArgumentsWhateverEnds) {
  std::vector<std::uint64_t> ran, expected;
  constexpr std::uint64_t code = 0x800;
  machine_.chip(1).place(code, [&](Thread& thread) -> Program {
    EXPECT_EQ(thread.privilege(), Privilege::user);
    const std::uint64_t first = thread.integers[0].bits;
    EXPECT_EQ(thread.integers[7].bits, first + 7);
    ran.push_back(first);
    co_await thread.cycles(30);
    if (ran.size() % 2 == 0) co_await thread.give_back_buffer();  // a user may not
  });
  for (unsigned slot = 0; slot < Chip::reserved_slot; ++slot) {
    machine_.chip(1).thread(0, slot).run(
        [slot](Thread& thread) -> Program { co_await thread.cycles(50 + 20 * slot); }, Privilege::user);
  }
  const Thread::Sent fork = to(pointer_to(read_write, page), stock.fork);
  Messages messages;
  for (std::uint64_t n = 0; n < 12; ++n) {
    std::vector<Word> body{pointer_to(execute_user, code)};
    for (std::uint64_t i = 0; i < 8; ++i) body.push_back({n * 10 + i, false});
    messages.emplace_back(fork, body);
    expected.push_back(n * 10);
  }
  send(messages);
  EXPECT_EQ(ran, expected);
  EXPECT_EQ(handlers_[1]->waiting(), 0u);
  EXPECT_GT(handlers_[1]->broken_off(), 0u);

  send({{fork, {pointer_to(execute_system, code)}}, {fork, {pointer_to(execute_user, code + 8)}}});
  EXPECT_EQ(machine_.chip(1).exceptions(), 2u) << "a user does not begin the system's code, nor what is none";
}

}  // namespace stock_handlers_test
