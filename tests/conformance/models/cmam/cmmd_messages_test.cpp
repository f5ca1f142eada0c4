// CMMD's messages (<am/cmmd.h>): which receive takes which send, in every order of the two; lengths; what calls tell; handlers.
#include <am/cmmd.h>
#include <sys/mman.h>
#include <am/am.hpp>

#include "support/cmam.hpp"
#include "support/patterns.hpp"

namespace cmmd_messages_test {

using namespace test;
using CmmdMessages = test::OnCmam<test::OnEverySubstrate>;

using Bytes = std::vector<std::byte>;
constexpr std::byte guard{0x5a};

Bytes text_of(int from, int tag, std::size_t bytes) { return patterned(bytes, from * 1000 + tag); }
int size_of(const Bytes& bytes) { return static_cast<int>(bytes.size()); }

/// The order of n things.
std::vector<int> shuffled(int n, Random& random) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

/// What a receive has found.
void check_received(int from, int tag, const Bytes& buffer, std::size_t bytes) {
  check_equal(CMMD_msg_sender(), from, "who");
  check_equal(CMMD_msg_tag(), tag, "tag");
  check_equal(CMMD_bytes_received(), static_cast<int>(bytes), "how many");
  check(is_patterned(buffer.data(), bytes, from * 1000 + tag), "the bytes");
  check(std::ranges::all_of(std::span(buffer).subspan(bytes), [](std::byte b) { return b == guard; }),
        "and no others");
}

/// All send to all, in one order of tags, and receive in another one, by node, by tag, by both or by neither.
TEST_P(CmmdMessages, AnyOrderOfNodesAndTags) {
  const std::uint64_t run_seed = seed();
  run_cmam(3, [&] {
    constexpr int tags = 12;
    Random random(run_seed + static_cast<std::uint64_t>(me()));
    const auto bytes_of = [](int tag) { return static_cast<std::size_t>(tag % 4 * 700); };
    for (std::uint64_t round = 0; round < rounds(20); ++round) {
      for (const int tag : shuffled(tags, random)) {
        for (int to = 0; to < CMMD_partition_size(); ++to) {
          const Bytes text = text_of(me(), tag, bytes_of(tag));
          check_equal(CMMD_send_noblock(to, tag, text.data(), size_of(text)), 0, "sent");
        }
      }
      std::vector<std::pair<int, int>> missing;
      for (int from = 0; from < CMMD_partition_size(); ++from)
        for (int tag = 0; tag < tags; ++tag) missing.emplace_back(from, tag);
      while (!missing.empty()) {
        const auto [node, tag] = missing[random.below(missing.size())];
        Bytes buffer(3000, guard);
        CMMD_receive_block(random.one_in(2) ? node : CMMD_ANY_NODE, random.one_in(2) ? tag : CMMD_ANY_TAG,
                           buffer.data(), size_of(buffer));
        const std::pair<int, int> found(CMMD_msg_sender(), CMMD_msg_tag());
        check_received(found.first, found.second, buffer, bytes_of(found.second));
        check_equal(std::erase(missing, found), std::size_t{1}, "each once");
      }
      CMMD_sync_with_nodes();  // who is ahead sends nothing for this round
    }
  });
}

TEST_P(CmmdMessages, OneTagKeepsItsOrder) {
  run_cmam(2, [] {
    constexpr int count = 200;
    if (me() == 0) {
      for (int i = 0; i < count; ++i) CMMD_send_noblock(1, i % 2, &i, sizeof i);
      CMMD_all_msgs_wait();
    } else {
      for (int tag : {1, 0}) {
        for (int i = 0; i < count / 2; ++i) {
          int number = -1;
          CMMD_receive_block(i % 3 == 0 ? CMMD_ANY_NODE : 0, tag, &number, sizeof number);
          check_equal(number, 2 * i + tag, "in order");
        }
      }
    }
  });
}

/// Also longer than a piece of the network's, and longer or shorter than the buffer.
TEST_P(CmmdMessages, AnyLength) {
  run_cmam(2, [] {
    const std::size_t large = std::size_t{700} << 10;
    int tag = 0;
    for (const auto& [sent, room] : {std::pair<std::size_t, std::size_t>{0, 0},
                                     {0, 9},
                                     {1, 1},
                                     {9, 0},
                                     {8, 9},
                                     {10, 9},
                                     {large, large},
                                     {large, large - 1},
                                     {large - 1, large}}) {
      ++tag;
      const int expected = sent > room ? CMMD_ERRVAL : 0;
      const std::size_t taken = std::min(sent, room);
      if (me() == 0) {
        const Bytes text = text_of(0, tag, sent);
        check_equal(CMMD_send_block(1, tag, text.data(), size_of(text)), expected, "whether it fitted");
        check_equal(CMMD_bytes_sent(), static_cast<int>(taken), "how many were taken");
      } else {
        Bytes buffer(room + 16, guard);
        check_equal(CMMD_receive_block(0, tag, buffer.data(), static_cast<int>(room)), expected, "likewise");
        check_received(0, tag, buffer, taken);
      }
    }
    check_equal(CMMD_get_errno(), 0, "no error of memory");
  });
}

void set_second(int value) { mine().second = value; }
void count_back(int node) { CMAM_reply_4(node, count_one); }

/// A send waits for its receive, and serves handlers meanwhile.
TEST_P(CmmdMessages, ASendThatBlocksWaitsForItsReceive) {
  run_cmam(2, [] {
    int number = 17;
    if (me() == 0) {
      CMMD_send_block(1, 3, &number, sizeof number);
      check_equal(int{mine().second}, 5, "the receive has come before, and a handler has run");
    } else {
      while (CMMD_msg_pending(0, 3) == FALSE) {
      }
      CMAM_4(0, set_second, 5);
      CMAM_request_4(0, count_back, 1);
      CMAM_wait(&mine().flag, 1);
      CMMD_receive_block(0, 3, &number, sizeof number);
    }
  });
}

TEST_P(CmmdMessages, ToOneself) {
  run_cmam(1, [] {
    Bytes buffer(2000, guard);
    const Bytes text = text_of(0, 4, 1500);
    CMMD_send_noblock(0, 4, text.data(), size_of(text));
    CMMD_receive_block(0, 4, buffer.data(), size_of(buffer));
    check_received(0, 4, buffer, text.size());
    const CMMD_mcb receive =
        CMMD_receive_async(CMMD_ANY_NODE, 4, buffer.data(), size_of(buffer), nullptr, nullptr);
    CMMD_send_block(0, 4, text.data(), 700);
    CMMD_msg_wait(receive);
    check_equal(CMMD_mcb_bytes(receive), 700, "bytes");
    CMMD_free_mcb(receive);
    int values[2] = {1, 2};
    const CMMD_mcb any = CMMD_receive_async(CMMD_ANY_NODE, CMMD_ANY_TAG, buffer.data(), 4, nullptr, nullptr);
    CMMD_swap(0, &values[0], sizeof(int), &values[1], sizeof(int));
    check(values[0] == 2 && values[1] == 2, "swapped with itself");
    check_equal(CMMD_msg_done(any), FALSE, "a swap is for no other receive");
    CMMD_send_block(0, 0, text.data(), 4);
    CMMD_msg_wait(any);
    CMMD_free_mcb(any);
  });
}

/// No node receives before it has sent, and none polls for the others: the same buffer goes out and is overwritten.
TEST_P(CmmdMessages, BothAtOnce) {
  run_cmam(3, [] {
    const int n = CMMD_partition_size();
    std::vector<int> values(60'000);
    for (int shift = 0; shift < n; ++shift) {
      std::fill(values.begin(), values.end(), me());
      const int bytes = static_cast<int>(values.size() * sizeof(int));
      const int from = (me() + n - shift) % n;
      check_equal(
          CMMD_send_and_receive(from, 8, values.data(), bytes, (me() + shift) % n, 8, values.data(), bytes),
          TRUE, "over");
      check(std::all_of(values.begin(), values.end(), [&](int value) { return value == from; }), "a ring");
      check_equal(CMMD_msg_sender(), from, "the received one is told of");
    }
    if (me() == 2) return;
    std::array<int, 3> both{me(), me() + 10, -1};
    check_equal(CMMD_swap(1 - me(), both.data(), 8, both.data(), 8), 0, "over");
    check(both == std::array<int, 3>{1 - me(), 11 - me(), -1}, "in one place");
    check_equal(CMMD_swap(1 - me(), both.data(), 4, both.data(), 8), CMMD_ERRVAL, "too long");
  });
}

/// A column becomes a row, a row every second element of a column; the last one backwards.
TEST_P(CmmdMessages, Strides) {
  run_cmam(2, [] {
    using Matrix = std::array<std::array<int, 4>, 4>;
    constexpr int row = 4 * sizeof(int);
    Matrix matrix{};
    if (me() == 0) {
      for (int i = 0; i < 16; ++i)
        matrix[static_cast<std::size_t>(i / 4)][static_cast<std::size_t>(i % 4)] = i;
      CMMD_send_block_v(1, 1, &matrix[0][1], sizeof(int), row, 4);
      CMMD_send_v(1, 2, matrix[2].data(), sizeof(int), sizeof(int), 2);
      CMMD_send_noblock_v(1, 3, &matrix[3][3], sizeof(int), -int{sizeof(int)}, 4);
      CMMD_free_mcb(CMMD_send_async_v(1, 4, &matrix[0][0], 8, row, 2, nullptr, nullptr));
      CMMD_all_msgs_wait();
    } else {
      CMMD_receive_block(0, 1, matrix[0].data(), row);
      check(matrix[0] == std::array<int, 4>{1, 5, 9, 13}, "a column as a row");
      CMMD_receive_block_v(0, 2, &matrix[0][3], sizeof(int), 2 * row, 2);
      check(matrix[0][3] == 8 && matrix[2][3] == 9 && matrix[1][3] == 0, "a row as a column");
      CMMD_receive_v(0, 3, matrix[1].data(), sizeof(int), sizeof(int), 4);
      check(matrix[1] == std::array<int, 4>{15, 14, 13, 12}, "backwards");
      const CMMD_mcb block = CMMD_receive_async_v(0, 4, &matrix[2][0], 8, row, 2, nullptr, nullptr);
      CMMD_msg_wait(block);
      CMMD_free_mcb(block);
      check(matrix[2][1] == 1 && matrix[3][1] == 5, "elements of two");
    }
    std::array<int, 4> line{me(), 7, me() + 2, 7};
    CMMD_swap_v(1 - me(), line.data(), 4, 8, 2, line.data(), 4, 8, 2);
    check(line == std::array<int, 4>{1 - me(), 7, 3 - me(), 7}, "swapped");
    CMMD_send_and_receive_v(1 - me(), 5, line.data(), 4, 4, 2, 1 - me(), 5, line.data() + 2, 4, 4, 2);
    check(line == std::array<int, 4>{2 + me(), 7, 3 - me(), 7}, "sent and received");
  });
}

TEST_P(CmmdMessages, WhatWaitsIsToldOf) {
  run_cmam(2, [] {
    if (me() == 0) {
      check_equal(CMMD_msg_pending(CMMD_ANY_NODE, CMMD_ANY_TAG), FALSE, "none");
      check_equal(CMMD_mcb_pending(1, 9), 0, "none");
      CMMD_sync_with_nodes();
      while (CMMD_msg_pending(CMMD_ANY_NODE, 9) == FALSE) {
      }
      check(CMMD_msg_sender() == 1 && CMMD_msg_tag() == 9 && CMMD_bytes_received() == 300, "of tag 9");
      const CMMD_mcb pending = CMMD_mcb_pending(1, CMMD_ANY_TAG);
      check(CMMD_mcb_bytes(pending) == 200 && CMMD_mcb_tag(pending) == 7, "the first of any tag");
      check(CMMD_mcb_source(pending) == 1 && CMMD_mcb_dest(pending) == 0, "from whom");
      CMMD_free_mcb(pending);
      Bytes buffer(300);
      CMMD_receive_block(CMMD_ANY_NODE, CMMD_ANY_TAG, buffer.data(), 300);
      check_received(1, 7, Bytes(buffer.begin(), buffer.begin() + 200), 200);
      check_equal(CMMD_msg_pending(CMMD_ANY_NODE, 7), FALSE, "taken");
      CMMD_receive(1, 9, buffer.data(), 300);
      check_received(1, 9, buffer, 300);
    } else {
      CMMD_sync_with_nodes();
      CMMD_send_noblock(0, 7, text_of(1, 7, 200).data(), 200);
      CMMD_send(0, 9, text_of(1, 9, 300).data(), 300);
      CMMD_all_msgs_wait();
    }
  });
}

/// What a handler of a message counts, and where it goes on.
struct Chain {
  int left;
  int sum;
  int value;
};
void goes_on(const CMMD_mcb* mcb, Chain* chain) {
  chain->sum += chain->value * CMMD_mcb_bytes(*mcb);
  CMMD_free_mcb(*mcb);
  if (--chain->left > 0) CMMD_receive_async(0, 6, &chain->value, sizeof(int), goes_on, chain);
}
void was_sent(const CMMD_mcb* mcb, const int* tag) {
  mine().sum += CMMD_mcb_tag(*mcb) == *tag && CMMD_mcb_node(*mcb) == 1 ? 1 : 0;
  count_one();
}

TEST_P(CmmdMessages, HandlersOfMessages) {
  run_cmam(2, [] {
    constexpr int count = 30;
    static const int tag = 6;
    std::array<int, count> values{};
    if (me() == 0) {
      for (int i = 0; i < count; ++i) {
        values[static_cast<std::size_t>(i)] = i;
        CMMD_free_mcb(CMMD_send_async(1, tag, &values[static_cast<std::size_t>(i)], sizeof(int), was_sent,
                                      const_cast<int*>(&tag)));
      }
      CMAM_wait(&mine().flag, count);
      check_equal(mine().sum, std::uint64_t{count}, "each told of itself");
      check_equal(CMMD_all_sends_done(), TRUE, "all are sent");
    } else {
      Chain chain{count, 0, 0};
      CMMD_receive_async(0, tag, &chain.value, sizeof(int), goes_on, &chain);
      am::this_node()->wait_until([&] { return chain.left == 0; });
      check_equal(chain.sum, 4 * count * (count - 1) / 2, "one after another");
      check_equal(CMMD_all_msgs_done(), TRUE, "none is left");
    }
  });
}

TEST_P(CmmdMessages, NumbersOfMessages) {
  run_cmam(2, [] {
    std::array<int, 4> values{};
    std::array<CMMD_mcb, 4> mcbs{};
    if (me() == 0) {
      for (int i = 0; i < 4; ++i)
        mcbs[static_cast<std::size_t>(i)] =
            CMMD_receive_async(1, i, &values[static_cast<std::size_t>(i)], sizeof(int), nullptr, nullptr);
      check_equal(CMMD_all_receives_done(), FALSE, "nothing is sent");
      check_equal(CMMD_msg_done(mcbs[2]), FALSE, "likewise");
      CMMD_sync_with_nodes();
      for (const int i : {3, 0, 2, 1}) {
        const CMMD_mcb mcb = mcbs[static_cast<std::size_t>(i)];
        while (CMMD_msg_done(mcb) == FALSE) {
        }
        check(CMMD_msg_tag() == i && CMMD_mcb_len(mcb) == 4 && CMMD_mcb_node(mcb) == 1, "itself");
        check(CMMD_mcb_buffer(mcb) == &values[static_cast<std::size_t>(i)], "its buffer");
        CMMD_free_mcb(mcb);
      }
      check(values == std::array<int, 4>{0, 1, 2, 3}, "each its own");
    } else {
      CMMD_sync_with_nodes();
      for (int i = 3; i >= 0; --i) CMMD_send_noblock(0, i, &i, sizeof i);
      while (CMMD_all_msgs_done() == FALSE) {
      }
    }
  });
}

/// More than there is memory for at first, both ways at once, before anybody receives.
TEST_P(CmmdMessages, ManyBeforeAnyReceive) {
  run_cmam(2, [] {
    const auto count = static_cast<int>(std::min<std::uint64_t>(700, 100 + rounds(600)));
    for (int i = 0; i < count; ++i) CMMD_send_noblock(1 - me(), i, &i, sizeof i);
    for (int i = count - 1; i >= 0; --i) {
      int number = -1;
      CMMD_receive_block(1 - me(), i, &number, sizeof number);
      check_equal(number, i, "its own");
    }
    CMMD_all_msgs_wait();
  });
}
INSTANTIATE_TEST_SUITE_P(Models, CmmdMessages, test::cells_of<CmmdMessages>(), test::name_of);

// A network that refuses now and then may leave a message to the sender's next call.
using CmmdInterrupts = test::OnCmam<
    test::OnSubstrates<test::Suite{.faults = false, .polling = false, .about = test::About::node}>>;

/// In memory that threads and forked processes share.
struct Signs {
  std::atomic<int> receives = 0;  ///< rounds whose receive is waiting
  std::atomic<int> polls = 0;     ///< rounds in which the sender has come to a call
  std::atomic<int> seen = 0;      ///< rounds whose message has come
};
Signs& signs =
    *new (mmap(nullptr, sizeof(Signs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Signs;

/// With interrupts on the sender computes while its message goes; with interrupts off it goes in the sender's next call.
TEST_P(CmmdInterrupts, AMessageGoesWithoutACallOnlyWithInterruptsOn) {
  new (&signs) Signs;
  run_cmam(2, [] {
    std::vector<int> values(100'000, me());
    const int bytes = static_cast<int>(values.size() * sizeof(int));
    for (int round = 1; round <= 4; ++round) {
      const bool on = round % 2 != 0;
      if (me() == 0) {
        (on ? CMMD_enable_interrupts : CMMD_disable_interrupts)();
        const CMMD_mcb sent = CMMD_send_async(1, 2, values.data(), bytes, nullptr, nullptr);
        while (signs.seen < round) {  // computes until the other has asked for it
          if (!on && signs.receives == round) break;
        }
        if (!on) {
          check(signs.seen < round, "nothing goes");
          signs.polls = round;
        }
        CMMD_msg_wait(sent);
        CMMD_free_mcb(sent);
      } else {
        while (CMMD_msg_pending(0, 2) == FALSE) {
        }
        const CMMD_mcb received = CMMD_receive_async(0, 2, values.data(), bytes, nullptr, nullptr);
        for (int i = 0; i < 100; ++i) CMMD_poll();
        signs.receives = round;
        CMMD_msg_wait(received);
        check(on || signs.polls == round, "not before the sender's call");
        CMMD_free_mcb(received);
        check(values.front() == 0 && values.back() == 0, "the bytes");
        signs.seen = round;
      }
      CMMD_sync_with_nodes();
    }
    CMMD_enable_interrupts();
  });
}
INSTANTIATE_TEST_SUITE_P(Models, CmmdInterrupts, test::cells_of<CmmdInterrupts>(), test::name_of);

}  // namespace cmmd_messages_test
