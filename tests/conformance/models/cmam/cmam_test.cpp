// CMAM and CMAML, call by call, as <am/cmam.h> gives them: on every network, in threads (which share their globals, so each node has
// a place of its own in them) and in processes (whose code lies elsewhere in each). Here: requests and replies with their words,
// what handlers may send and wait for, polls and waits. Transfers, interrupts and CMMD have files beside this one.
#include <am/cmam.h>
#include <am/am.hpp>

#include <array>
#include <functional>

#include "conformance/models/cmam/cmam_words.h"
#include "support/check.hpp"
#include "support/cmam.hpp"
#include "support/job.hpp"

namespace cmam_test {

using test::begin;
using test::check;
using test::check_equal;
using test::count_one;
using test::end;
using test::me;
using test::mine;
using test::next;
using test::places;
using Cmam = test::OnANode;

void keep(am_word a0, am_word a1, am_word a2, am_word a3) {
  mine().words = {a0, a1, a2, a3};
  mine().flag = mine().flag + 1;
}
void keep_two(int a0, const char* a1) {
  mine().words = {a0, reinterpret_cast<am_word>(a1), 0, 0};
  mine().flag = mine().flag + 1;
}

TEST_P(Cmam, WordsArriveWholeAndMissingOnesAreZero) {
  run(2, [](am::Node&) {
    begin();
    const am_word wide = static_cast<am_word>(0x123456789abcdef0);
    CMAM_4(next(), keep, wide, -1, &places, 'x');
    CMAM_wait(&mine().flag, 1);
    check_equal(mine().words[0], wide, "as wide as a pointer");
    check_equal(mine().words[1], -1, "a sign is kept");
    check_equal(mine().words[3], 'x', "narrow ones widen");
    CMMD_sync_with_nodes();
    CMAM_4(next(), keep, 7);
    CMAM_wait(&mine().flag, 1);
    check(mine().words == std::array<am_word, 4>{7, 0, 0, 0}, "what is missing is 0");
    CMMD_sync_with_nodes();
    CMAM_2(next(), keep_two, -5, nullptr);
    CMAM_wait(&mine().flag, 1);
    check(mine().words == std::array<am_word, 4>{-5, 0, 0, 0}, "a handler may take fewer, and narrower ones");
    end();
  });
}

void sends_one(int back) { CMAM_reply_1(back, keep, 1); }
void sends_two(int back) { CMAM_reply_2(back, keep, 1, 2); }
void sends_three(int back) { CMAM_reply_3(back, keep, 1, 2, 3); }

TEST_P(Cmam, EachShortFormSendsItsWordsAndZeros) {
  run(2, [](am::Node&) {
    begin();
    const auto sends = [](const std::function<void()>& send, am_word words, const char* form) {
      CMAM_4(next(), keep, 9, 9, 9, 9);  // what is left where words stand
      CMAM_wait(&mine().flag, 1);
      CMMD_sync_with_nodes();
      send();
      CMAM_wait(&mine().flag, 1);
      for (am_word i = 0; i < 4; ++i)
        check_equal(mine().words[static_cast<std::size_t>(i)], i < words ? i + 1 : 0, form);
      CMMD_sync_with_nodes();
    };
    sends([] { CMAM_1(next(), keep, 1); }, 1, "CMAM_1");
    sends([] { CMAM_2(next(), keep, 1, 2); }, 2, "CMAM_2");
    sends([] { CMAM_3(next(), keep, 1, 2, 3); }, 3, "CMAM_3");
    sends([] { CMAM_request_1(next(), keep, 1); }, 1, "CMAM_request_1");
    sends([] { CMAM_request_2(next(), keep, 1, 2); }, 2, "CMAM_request_2");
    sends([] { CMAM_request_3(next(), keep, 1, 2, 3); }, 3, "CMAM_request_3");
    sends([] { CMAM_request_1(next(), sends_one, me()); }, 1, "CMAM_reply_1");
    sends([] { CMAM_request_1(next(), sends_two, me()); }, 2, "CMAM_reply_2");
    sends([] { CMAM_request_1(next(), sends_three, me()); }, 3, "CMAM_reply_3");
    end();
  });
}

TEST_P(Cmam, ANodeIsEnabledFromItsFirstCallOn) {
  run(2, [](am::Node& node) {
    CMAM_enable();
    begin();
    check_equal(static_cast<am::NodeId>(me()), node.id(), "a node by its first call");
    const int interrupts = CMAML_interrupt_status();
    for (void (*const call)() : {CMAM_enable, CMAM_disable, CMAM_disable, CMAM_enable}) {
      call();
      check_equal(CMAML_interrupt_status(), interrupts, "of interrupts there are other calls");
      CMAM_4(next(), count_one);
      CMAM_wait(&mine().flag, 1);
      CMMD_sync_with_nodes();
    }
    end();
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
  run(2, [](am::Node&) {
    begin();
    CMAML_rpc(next(), keep_sum, 1.0, 2, 3.0F, 4.5);
    CMAM_wait(&mine().flag, 1);
    check_equal(mine().number, 1234.5, "wherever they stand");
    double answer = 0;
    CMAM_request_4(next(), answer_number, me(), 0.25, &answer);
    CMAM_wait(&mine().flag, 1);
    check_equal(answer, -0.25, "in replies, too");
    end();
  });
}

/// What C's macros make of doubles is not what C++ makes of them: cmam_words.c has the calls.
TEST_P(Cmam, DoublesAreWordsInCToo) {
  run(2, [](am::Node&) {
    begin();
    send_doubles_from_c(next(), reinterpret_cast<am_code>(keep_sum));
    CMAM_wait(&mine().flag, 1);
    check_equal(mine().number, 1234.5, "wherever they stand");
    check_equal(negated_by_c_on(next(), 0.25), -0.25, "in replies, too");
    end();
  });
}

TEST_P(Cmam, AnOldCallerMayLeaveWordsOut) {
  run(2, [](am::Node&) {
    begin();
    count_from_c(next(), reinterpret_cast<am_code>(count_one));
    CMAM_wait(&mine().flag, 1);
    const am_word wide = static_cast<am_word>(0xfedcba9876543210);
    check_equal(returned_by_c_on(next(), wide), wide, "those that it has arrive");
    end();
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
  run(3, [](am::Node&) {
    begin();
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
    end();
  });
}

void reply_elsewhere(int third) { CMAM_reply_4(third, count_one); }

TEST_P(Cmam, ARepliesDestinationIsTheProgramsToSay) {
  run(3, [](am::Node&) {
    begin();
    if (me() == 0) CMAM_request_4(1, reply_elsewhere, 2);
    if (me() == 2) CMAM_wait(&mine().flag, 1);
    end();
    check_equal(static_cast<int>(mine().flag), 0, "nobody else");
    end();
  });
}

TEST_P(Cmam, WaitsSubtractAndPollsDoNot) {
  run(2, [](am::Node&) {
    begin();
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
    end();
  });
}

TEST_P(Cmam, PollsRunHandlers) {
  run(2, [](am::Node&) {
    begin();
    void (*const polls[])() = {CMAM_poll, CMAML_poll, CMAM_request_poll, CMAML_request_poll};
    for (void (*const poll)() : polls) {
      CMAM_4(next(), count_one);
      const auto arrived = [] {
        const am::CriticalSection quiet(*am::this_node());
        return mine().flag >= 1;
      };
      while (!arrived()) poll();
      CMAM_wait(&mine().flag, 1);
      CMMD_sync_with_nodes();
    }
    void (*const reply_polls[])() = {CMAM_reply_poll, CMAML_reply_poll};
    for (void (*const poll)() : reply_polls) {
      CMAM_reply_4(next(), count_one);
      const auto arrived = [] {
        const am::CriticalSection quiet(*am::this_node());
        return mine().flag >= 1;
      };
      while (!arrived()) poll();
      CMAM_wait(&mine().flag, 1);
      CMMD_sync_with_nodes();
    }
    end();
  });
}

void flush_then_reply(int to) {
  CMAML_poll_while_lt(&mine().second, 1);  // what a reply sets
  CMAML_reply(to, count_one);
}
void set_second() { mine().second = 1; }

/// Olden's flush of its cache: a request handler that waits for a reply.
TEST_P(Cmam, ARequestHandlerMayWaitForReplies) {
  run(3, [](am::Node&) {
    begin();
    if (me() == 0) {
      CMAML_request(1, flush_then_reply, me());
      CMAML_poll_while_lt(&mine().flag, 1);
    } else if (me() == 2) {
      CMAML_reply(1, set_second);
    }
    end();
  });
}

void one_more_chain() { mine().second = mine().second + 1; }
void pass_on(am_word hops) {
  mine().sum += 1;
  if (hops > 0) {
    CMAM_request_4(next(), pass_on, hops - 1);
  } else {
    for (int to = 0; to < CMMD_partition_size(); ++to) CMAML_reply(to, one_more_chain);
  }
}

/// Requests out of request handlers: there is no room in the network for all of them, and none may wait.
TEST_P(Cmam, RequestHandlersMayRequest) {
  run(3, [](am::Node&) {
    begin();
    for (int i = 0; i < 60; ++i) CMAM_4(next(), count_one);
    CMAM_request_4(next(), pass_on, 50);
    CMAML_poll_while_lt(&mine().second, 3);
    CMAM_wait(&mine().flag, 60);
    end();
  });
}

void flood_from_handler(int to) {
  for (int i = 0; i < 300; ++i) CMAM_request_4(to, count_one);
}

TEST_P(Cmam, WhatFindsNoRoomInAHandlerGoesLater) {
  run(2, [](am::Node&) {
    begin();
    CMAM_request_4(next(), flood_from_handler, me());
    CMAM_wait(&mine().flag, 300);
    end();
  });
}
INSTANTIATE_TEST_SUITE_P(Models, Cmam, test::cells_of<Cmam>(), test::name_of);

}  // namespace cmam_test
