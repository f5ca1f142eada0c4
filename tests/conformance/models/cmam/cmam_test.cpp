// CMAM and CMAML, call by call, as <am/cmam.h> gives them: on every network, in threads (which share their globals, so each node has
// a place of its own in them) and in processes (whose code lies elsewhere in each). Here: requests and replies with their words,
// what handlers may send and wait for, polls and waits. Transfers, interrupts and CMMD have files beside this one.
#include <am/cmam.h>
#include <am/am.hpp>

#include "conformance/models/cmam/cmam_words.h"
#include "support/cmam.hpp"

namespace cmam_test {

using namespace test;
using Cmam = test::OnCmam<test::OnEverySubstrate>;

using Words = std::array<am_word, 4>;

void keep(am_word a0, am_word a1, am_word a2, am_word a3) {
  mine().words = {a0, a1, a2, a3};
  count_one();
}
void keep_two(int a0, const char* a1) { keep(a0, reinterpret_cast<am_word>(a1), 0, 0); }
void sends_one(int back) { CMAM_reply_1(back, keep, 1); }
void sends_two(int back) { CMAM_reply_2(back, keep, 1, 2); }
void sends_three(int back) { CMAM_reply_3(back, keep, 1, 2, 3); }

/// Each node sends, and receives these words. None stays of what lay in their place before.
void check_words(const std::function<void()>& send, const Words& words, const char* what) {
  mine().words.fill(9);
  CMMD_sync_with_nodes();
  send();
  CMAM_wait(&mine().flag, 1);
  check(mine().words == words, what);
  CMMD_sync_with_nodes();
}

TEST_P(Cmam, WordsArriveWholeAndMissingOnesAreZero) {
  run_cmam(2, [] {
    const am_word wide = static_cast<am_word>(0x123456789abcdef0);
    const auto place = reinterpret_cast<am_word>(&places);
    check_words([&] { CMAM_4(next(), keep, wide, -1, &places, 'x'); }, {wide, -1, place, 'x'},
                "as wide as a pointer, with their signs");
    check_words([] { CMAM_4(next(), keep, 7); }, {7, 0, 0, 0}, "what is missing is 0");
    check_words([] { CMAM_2(next(), keep_two, -5, nullptr); }, {-5, 0, 0, 0}, "fewer, and narrower ones");
    check_words([] { CMAM_1(next(), keep, 1); }, {1}, "CMAM_1");
    check_words([] { CMAM_2(next(), keep, 1, 2); }, {1, 2}, "CMAM_2");
    check_words([] { CMAM_3(next(), keep, 1, 2, 3); }, {1, 2, 3}, "CMAM_3");
    check_words([] { CMAM_request_1(next(), keep, 1); }, {1}, "CMAM_request_1");
    check_words([] { CMAM_request_2(next(), keep, 1, 2); }, {1, 2}, "CMAM_request_2");
    check_words([] { CMAM_request_3(next(), keep, 1, 2, 3); }, {1, 2, 3}, "CMAM_request_3");
    check_words([] { CMAM_request_1(next(), sends_one, me()); }, {1}, "CMAM_reply_1");
    check_words([] { CMAM_request_1(next(), sends_two, me()); }, {1, 2}, "CMAM_reply_2");
    check_words([] { CMAM_request_1(next(), sends_three, me()); }, {1, 2, 3}, "CMAM_reply_3");
  });
}

TEST_P(Cmam, ANodeIsEnabledFromItsFirstCallOn) {
  run(2, [](am::Node& node) {
    CMAM_enable();
    mine() = {};
    CMMD_sync_with_nodes();
    check_equal(static_cast<am::NodeId>(me()), node.id(), "a node by its first call");
    const int interrupts = CMAML_interrupt_status();
    for (void (*const call)() : {CMAM_enable, CMAM_disable, CMAM_disable, CMAM_enable}) {
      call();
      check_equal(CMAML_interrupt_status(), interrupts, "of interrupts there are other calls");
      CMAM_4(next(), count_one);
      CMAM_wait(&mine().flag, 1);
      CMMD_sync_with_nodes();
    }
  });
}

void keep_number(volatile double* where, double number) {
  *where = number;
  count_one();
}
void keep_sum(double a, am_word n, double b, double c) {
  mine().number = a * 1000 + static_cast<double>(n) * 100 + b * 10 + c;
  count_one();
}
void answer_number(int back, double number, void* where) { CMAM_reply_4(back, keep_number, where, -number); }

TEST_P(Cmam, DoublesAreWords) {
  run_cmam(2, [] {
    CMAML_rpc(next(), keep_sum, 1.0, 2, 3.0F, 4.5);
    CMAM_wait(&mine().flag, 1);
    check_equal(mine().number, 1234.5, "wherever they stand");
    double answer = 0;
    CMAM_request_4(next(), answer_number, me(), 0.25, &answer);
    CMAM_wait(&mine().flag, 1);
    check_equal(answer, -0.25, "in replies, too");
  });
}

/// What C's macros make of doubles is not what C++ makes of them, and an old caller may leave words out: cmam_words.c has the calls.
TEST_P(Cmam, DoublesAreWordsInCToo) {
  run_cmam(2, [] {
    send_doubles_from_c(next(), reinterpret_cast<am_code>(keep_sum));
    CMAM_wait(&mine().flag, 1);
    check_equal(mine().number, 1234.5, "wherever they stand");
    check_equal(negated_by_c_on(next(), 0.25), -0.25, "in replies, too");
    CMMD_sync_with_nodes();
    count_from_c(next(), reinterpret_cast<am_code>(count_one));
    CMAM_wait(&mine().flag, 1);
    const am_word wide = static_cast<am_word>(0xfedcba9876543210);
    check_equal(returned_by_c_on(next(), wide), wide, "those that it has arrive");
  });
}

void keep_line(am_word index, am_word a, am_word b) {
  mine().sum += static_cast<std::uint64_t>(index * 1000 + a * 10 + b);
  count_one();
}
/// A line of memory in four replies, as Olden's cache does.
void send_line(int to) {
  for (int i = 0; i < 4; ++i) CMAML_reply(to, keep_line, i, i, i);
}
void send_line_cmam(int to) {
  for (int i = 0; i < 4; ++i) CMAM_reply_4(to, keep_line, i, i, i);
}

TEST_P(Cmam, SeveralRepliesToARequest) {
  run_cmam(3, [] {
    const int rounds = static_cast<int>(test::rounds(300));
    for (int i = 0; i < rounds; ++i) {
      for (int to = 0; to < CMMD_partition_size(); ++to) {
        CMAML_request(to, send_line, me());
        CMAM_request_4(to, send_line_cmam, me());
      }
    }
    const int expected = rounds * CMMD_partition_size() * 8;
    CMAML_poll_while_lt(&mine().flag, expected);
    check_equal(static_cast<int>(mine().flag), expected, "all of them, and no flag changed");
    check_equal(mine().sum, static_cast<std::uint64_t>(expected / 4) * (6000 + 66), "with their words");
  });
}

TEST_P(Cmam, WaitsSubtractAndPollsDoNot) {
  run_cmam(2, [] {
    for (int i = 0; i < 5; ++i) CMAM_4(next(), count_one);
    CMAML_poll_until_gte(&mine().flag, 5);
    check_equal(static_cast<int>(mine().flag), 5, "poll_until_gte changes nothing");
    CMAML_poll_while_lt_info(&mine().flag, 5, nullptr);
    CMAM_wait(&mine().flag, 2);
    check_equal(static_cast<int>(mine().flag), 3, "CMAM_wait takes its share");
    CMAML_wait(&mine().flag, 1);
    check_equal(static_cast<int>(mine().flag), 2, "CMAML_wait, too");
    CMAML_poll_wait(&mine().flag, 2);
    check_equal(static_cast<int>(mine().flag), 0, "and CMAML_poll_wait");
  });
}

void polls_until_it_came(void (*poll)()) {
  const auto came = [] {
    const am::CriticalSection quiet(*am::this_node());
    return mine().flag >= 1;
  };
  while (!came()) poll();
  CMAM_wait(&mine().flag, 1);
  CMMD_sync_with_nodes();
}

TEST_P(Cmam, PollsRunHandlers) {
  run_cmam(2, [] {
    for (void (*const poll)() : {CMAM_poll, CMAML_poll, CMAM_request_poll, CMAML_request_poll}) {
      CMAM_4(next(), count_one);
      polls_until_it_came(poll);
    }
    for (void (*const poll)() : {CMAM_reply_poll, CMAML_reply_poll}) {
      CMAM_reply_4(next(), count_one);
      polls_until_it_came(poll);
    }
  });
}

void flush_then_reply(int to) {
  CMAML_poll_while_lt(&mine().second, 1);  // what a reply sets
  CMAML_reply(to, count_one);
}
void set_second() { mine().second = 1; }

/// Olden's flush of its cache: a request handler that waits for a reply.
TEST_P(Cmam, ARequestHandlerMayWaitForReplies) {
  run_cmam(3, [] {
    if (me() == 0) {
      CMAML_request(1, flush_then_reply, me());
      CMAML_poll_while_lt(&mine().flag, 1);
    } else if (me() == 2) {
      CMAML_reply(1, set_second);
    }
  });
}

void one_more_chain() { mine().second = mine().second + 1; }
void pass_on(am_word hops) {
  if (hops > 0) {
    CMAM_request_4(next(), pass_on, hops - 1);
  } else {
    for (int to = 0; to < CMMD_partition_size(); ++to) CMAML_reply(to, one_more_chain);  // wherever it wants
  }
}
void flood_from_handler(int to) {
  for (int i = 0; i < 300; ++i) CMAM_request_4(to, count_one);
}

/// Requests out of request handlers: there is no room in the network for all of them, and none may wait; so some go later.
TEST_P(Cmam, RequestHandlersMayRequest) {
  run_cmam(3, [] {
    for (int i = 0; i < 60; ++i) CMAM_4(next(), count_one);
    CMAM_request_4(next(), pass_on, 50);
    CMAM_request_4(next(), flood_from_handler, me());
    CMAML_poll_while_lt(&mine().second, 3);
    CMAM_wait(&mine().flag, 360);
  });
}
INSTANTIATE_TEST_SUITE_P(Models, Cmam, test::cells_of<Cmam>(), test::name_of);

}  // namespace cmam_test
