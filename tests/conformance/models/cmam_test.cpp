// CMAM and CMAML, call by call, as <am/cmam.h> gives them: on every network, in threads (which share their globals, so each node has
// a place of its own in them) and in processes (whose code lies elsewhere in each).
#include <am/cmam.h>
#include <sys/mman.h>
#include <am/am.hpp>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <new>
#include <numeric>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/models/cmam_words.h"
#include "support/check.hpp"
#include "support/job.hpp"
#include "support/random.hpp"

namespace {

using test::check;
using test::check_equal;
using Cmam = test::OnEverySubstrate;

/// What a node's handlers write.
struct Place {
  volatile int flag = 0;
  volatile int second = 0;
  std::array<am_word, 4> words{};
  double number = 0;
  int segment = -1;
  void* base = nullptr;
  void* info = nullptr;
  std::uint64_t sum = 0;
};
std::array<Place, 8> places;
Place& mine() { return places[static_cast<std::size_t>(CMMD_self_address())]; }
int me() { return CMMD_self_address(); }
int next() { return (CMMD_self_address() + 1) % CMMD_partition_size(); }

/// Forgets what a test before has left.
void begin() {
  mine() = {};
  CMMD_sync_with_nodes();
}
void end() { CMMD_sync_with_nodes(); }

void keep(am_word a0, am_word a1, am_word a2, am_word a3) {
  mine().words = {a0, a1, a2, a3};
  mine().flag = mine().flag + 1;
}
void keep_two(int a0, const char* a1) {
  mine().words = {a0, reinterpret_cast<am_word>(a1), 0, 0};
  mine().flag = mine().flag + 1;
}
void count_one() { mine().flag = mine().flag + 1; }

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

// -- signs: what nodes tell each other without a call --------------------------------------------------------------------------------

/// In memory that threads and forked processes share.
struct Signs {
  std::atomic<int> computes = 0;  ///< rounds in which node 1 is out of all calls
  std::atomic<int> sent = 0;      ///< rounds for which node 0 has sent its message
  std::atomic<int> ran = 0;       ///< handlers of such messages
  std::atomic<int> inside = -1;   ///< what the last of them was told of where it runs
  std::atomic<int> seen = 0;      ///< rounds that are over for node 1
};
Signs& signs =
    *new (mmap(nullptr, sizeof(Signs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Signs;

int told_inside() { return CMAML_inside_interrupt_handler() * 10 + CMMD_inside_interrupt_handler(); }
void runs() {
  signs.inside = told_inside();
  ++signs.ran;
}
void wait_without_calls(const std::atomic<int>& sign, int round) {
  while (sign < round) std::this_thread::yield();
}
void wait_polling(const std::atomic<int>& sign, int round) {
  while (sign < round) {
    CMAM_poll();
    std::this_thread::yield();
  }
}
/// Node 0's part of a round: to send when node 1 is out of all calls, and to go on polling for what a network holds back.
template <class Send>
void send_to_one_that_computes(int round, Send send) {
  wait_polling(signs.computes, round);
  send();
  signs.sent = round;
  wait_polling(signs.seen, round);
}

using CmamPolling = test::OnSubstrates<test::Suite{.asynchronous = false}>;

TEST_P(CmamPolling, PollsForRepliesLeaveRequestsAlone) {
  new (&signs) Signs;
  run(2, [](am::Node&) {
    begin();
    int round = 0;
    for (void (*const reply_poll)() : {CMAM_reply_poll, CMAML_reply_poll}) {
      ++round;
      if (me() == 0) {
        send_to_one_that_computes(round, [] {
          CMAM_4(1, runs);
          CMAM_reply_4(1, count_one);
        });
      } else {
        signs.computes = round;
        wait_without_calls(signs.sent, round);
        while (mine().flag == 0) reply_poll();
        for (int i = 0; i < 100; ++i) reply_poll();
        check_equal(signs.ran.load(), round - 1, "the request waits");
        wait_polling(signs.ran, round);
        check_equal(signs.ran.load(), round, "until all is polled for");
        mine().flag = 0;
        signs.seen = round;
      }
    }
    end();
  });
}
INSTANTIATE_TEST_SUITE_P(Models, CmamPolling, test::cells_of<CmamPolling>(), test::name_of);

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

// -- segments ---------------------------------------------------------------------------------------------------------------------

void segment_is(int segment) {
  mine().segment = segment;
  mine().second = 1;
}
void transfer_is_over(void* info, void* base) {
  mine().info = info;
  mine().base = base;
  count_one();
}

int exchange_segments(void* base, int bytes, void* info) {
  const int segment = CMAM_open_segment(base, bytes, reinterpret_cast<void (*)(...)>(transfer_is_over), info);
  check(segment >= 0, "a segment is free");
  CMAM_4(next(), segment_is, segment);
  CMAM_wait(&mine().second, 1);
  return segment;
}

TEST_P(Cmam, ATransferFillsASegmentAndEnds) {
  run(2, [](am::Node&) {
    begin();
    test::Random random(test::seed() + static_cast<unsigned>(me()));
    const std::size_t most = 700'000 / test::rounds(4);
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{16}, std::size_t{4099}, most}) {
      std::vector<unsigned char> into(bytes + 1, 0xee);
      std::vector<unsigned char> from(bytes);
      for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<unsigned char>(i * 7 + bytes);
      exchange_segments(into.data(), static_cast<int>(bytes), &random);
      // In parts, the last ones first: any order fills it.
      for (std::size_t end = bytes; end > 0;) {
        const std::size_t part = 1 + random.below(end);
        CMAM_xfer(next(), mine().segment + static_cast<int>(end - part), from.data() + end - part,
                  static_cast<int>(part));
        end -= part;
      }
      CMAM_wait(&mine().flag, 1);
      check(std::memcmp(into.data(), from.data(), bytes) == 0, "every byte in its place");
      check_equal(into[bytes], 0xee, "none behind it");
      check(mine().info == &random && mine().base == into.data(), "the end function gets info and base");
      CMMD_sync_with_nodes();
    }
    end();
  });
}

TEST_P(Cmam, SegmentsCountShortenAndGo) {
  run(2, [](am::Node&) {
    begin();
    std::array<char, 64> into{};
    std::array<char, 64> from{};
    from.fill('f');
    const int segment =
        CMAM_open_segment(into.data(), 64, reinterpret_cast<void (*)(...)>(transfer_is_over), nullptr);
    check_equal(CMAM_query_segment(segment), 64, "awaits all");
    CMAM_4(next(), segment_is, segment);
    CMAM_wait(&mine().second, 1);
    CMAM_xfer(next(), mine().segment, from.data(), 24);
    CMMD_sync_with_nodes();
    while (CMAM_query_segment(segment) != 40) CMAM_poll();
    CMAM_shorten_segment(segment, 30);
    check_equal(CMAM_query_segment(segment), 10, "shorter by 30");
    CMMD_sync_with_nodes();
    CMAM_xfer(next(), mine().segment + 24, from.data(), 10);
    CMAM_wait(&mine().flag, 1);
    check_equal(CMAM_query_segment(segment), 0, "closed at zero");
    check_equal(std::count(into.begin(), into.end(), 'f'), 34, "no more than was sent");
    const int killed = CMAM_open_segment(into.data(), 64, nullptr, nullptr);
    check(killed != segment, "a number is not given out again at once");
    CMAM_kill_segment(killed);
    const int last =
        CMAM_open_segment(into.data(), 8, reinterpret_cast<void (*)(...)>(transfer_is_over), nullptr);
    CMAM_shorten_segment(last, 8);
    check_equal(static_cast<int>(mine().flag), 1, "what is shortened to nothing ends");
    end();
  });
}

TEST_P(Cmam, AnEmptyTransferEndsAnEmptySegment) {
  run(2, [](am::Node&) {
    begin();
    exchange_segments(nullptr, 0, nullptr);
    CMAM_xfer(next(), mine().segment, nullptr, 0);
    CMAM_wait(&mine().flag, 1);
    end();
  });
}

TEST_P(Cmam, SegmentsAreCounted) {
  run(1, [](am::Node&) {
    begin();
    std::vector<int> open;
    char byte = 0;
    for (int segment = 0; segment >= 0;) {
      segment = CMAM_open_segment(&byte, 1, nullptr, nullptr);
      if (segment >= 0) open.push_back(segment);
    }
    check_equal(open.size(), std::size_t{256}, "as many as there are; then -1");
    for (const int segment : open) CMAM_kill_segment(segment);
    check_equal(CMAM_open_segment(&byte, -1, nullptr, nullptr), -1, "no size");
    check_equal(CMAM_open_segment(nullptr, 8, nullptr, nullptr), -1, "no memory");
    const int large = CMAM_open_segment(&byte, 0x7fffff00, nullptr, nullptr);
    check(large >= 0, "nearly all the numbers at once");
    check_equal(CMAM_open_segment(&byte, 0x1000, nullptr, nullptr), -1, "then no room for another");
    CMAM_kill_segment(large);
    end();
  });
}

struct Block {
  std::array<char, 3000> bytes;
};
std::array<Block, 8> blocks;

void send_block(int to, int segment) {
  CMAM_reply_xfer(to, segment, blocks[static_cast<std::size_t>(me())].bytes.data(), 3000);
}
void send_block_by_xfer(int to, int segment) {
  CMAM_xfer(to, segment, blocks[static_cast<std::size_t>(me())].bytes.data(), 3000);
}
void ended_and_sends(void* info, void*) {
  const int to = static_cast<int>(reinterpret_cast<am_word>(info));
  CMAML_rpc(to, count_one);
  CMAM_4(to, count_one);
  CMAML_reply(to, count_one);
  mine().second = 1;
}

/// Transfers out of a request handler arrive as replies; their end may send all the same.
TEST_P(Cmam, AHandlerMayTransferAndAnEndMaySend) {
  run(2, [](am::Node&) {
    begin();
    for (const auto handler : {send_block, send_block_by_xfer}) {
      Block into{};
      blocks[static_cast<std::size_t>(me())].bytes.fill(static_cast<char>('a' + me()));
      CMMD_sync_with_nodes();
      const am_word who = next();
      const int segment =
          CMAM_open_segment(into.bytes.data(), 3000, reinterpret_cast<void (*)(...)>(ended_and_sends),
                            reinterpret_cast<void*>(who));
      CMAM_request_4(next(), handler, me(), segment);
      CMAM_wait(&mine().second, 1);
      CMAM_wait(&mine().flag, 3);
      check_equal(std::count(into.bytes.begin(), into.bytes.end(), 'a' + next()), 3000, "all of the block");
      CMMD_sync_with_nodes();
    }
    end();
  });
}

/// memmove of bytes inside a node's own memory, by way of itself; the source may be written to while parts are still to be sent.
void check_moves(const std::function<void(unsigned char* to, unsigned char* from, int bytes)>& move) {
  for (const int bytes : {64, 3000, 100'000, 700'000}) {
    for (const auto& [to, from] : {std::pair{0, 13}, std::pair{13, 0}}) {
      std::vector<unsigned char> memory(static_cast<std::size_t>(bytes) + 13);
      for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<unsigned char>(i * 7 + i / 256);
      std::vector<unsigned char> expected = memory;
      std::memmove(expected.data() + to, expected.data() + from, static_cast<std::size_t>(bytes));
      move(memory.data() + to, memory.data() + from, bytes);
      CMAM_wait(&mine().flag, 1);
      check(memory == expected, "every byte as it was at first");
    }
  }
}

TEST_P(Cmam, ATransferToItselfMayOverlap) {
  run(1, [](am::Node&) {
    begin();
    check_moves([](unsigned char* to, unsigned char* from, int bytes) {
      const int segment =
          CMAM_open_segment(to, bytes, reinterpret_cast<void (*)(...)>(transfer_is_over), nullptr);
      CMAM_xfer(me(), segment, from, bytes);
    });
    end();
  });
}

// -- receive ports ----------------------------------------------------------------------------------------------------------------

void port_is(int port) {
  mine().segment = port;
  mine().second = 1;
}
void port_is_full(int port, void* argument) {
  mine().info = argument;
  check_equal(CMAML_free_rport(port), 1, "the handler frees its port");
  count_one();
}
/// Panda's protocol: the port is asked for, and comes back as a reply.
void give_port(int to, int bytes) {
  static std::array<std::array<char, 70'000>, 8> buffers;
  const int port = CMAML_allocate_rport();
  mine().base = buffers[static_cast<std::size_t>(me())].data();
  CMAML_set_rport_addr(port, mine().base);
  CMAML_set_rport_byte_counter(port, bytes);
  CMAML_set_rport_total_nbytes(port, bytes);
  CMAML_set_rport_handler(port, reinterpret_cast<void (*)(...)>(port_is_full));
  CMAML_set_rport_handler_arg2(port, &mine());
  CMAML_reply(to, port_is, port);
}
void was_sent(void* counter) { ++*static_cast<int*>(counter); }

TEST_P(Cmam, ScopiesFillAPort) {
  run(2, [](am::Node&) {
    begin();
    std::vector<char> from(70'000);
    std::iota(from.begin(), from.end(), static_cast<char>(me()));
    CMAML_request(next(), give_port, me(), 70'000);
    CMAM_wait(&mine().second, 1);
    int sent = 0;
    for (const int offset : {35'000, 0}) {
      check_equal(CMAML_scopy(next(), mine().segment, 4, offset, from.data() + offset, 35'000,
                              reinterpret_cast<void (*)(...)>(was_sent), &sent),
                  1, "TRUE");
    }
    check_equal(sent, 2, "the sender's handler ran for each");
    CMAM_wait(&mine().flag, 1);
    check(mine().info == &mine(), "the handler's second argument");
    const auto* got = static_cast<const char*>(mine().base);
    for (std::size_t i = 0; i < from.size(); ++i)
      check(static_cast<unsigned char>(got[i] - next()) == static_cast<unsigned char>(from[i] - me()),
            "every byte");
    check_equal(CMAML_number_of_free_rports(), 128, "it is free");
    end();
  });
}

TEST_P(Cmam, AScopyToItselfMayOverlap) {
  run(1, [](am::Node&) {
    begin();
    check_moves([](unsigned char* to, unsigned char* from, int bytes) {
      const int port = CMAML_allocate_rport();
      CMAML_set_rport_addr(port, to);
      CMAML_set_rport_byte_counter(port, bytes);
      CMAML_set_rport_handler(port, reinterpret_cast<void (*)(...)>(port_is_full));
      CMAML_scopy(me(), port, 0, 0, from, bytes, nullptr, nullptr);
    });
    end();
  });
}

void send_to_port(int to, int port) {
  CMAML_scopy(to, port, 0, 0, &blocks[static_cast<std::size_t>(me())], 3000, nullptr, nullptr);
}

/// Olden's "please send me this block", with a stride.
TEST_P(Cmam, AHandlerMayScopyAndElementsGoApart) {
  run(2, [](am::Node&) {
    begin();
    blocks[static_cast<std::size_t>(me())].bytes.fill('s');
    std::vector<char> into(6000, '.');
    const int port = CMAML_allocate_rport();
    CMAML_set_rport_addr(port, into.data());
    CMAML_set_rport_byte_counter(port, 3000);
    CMAML_set_rport_esize(port, 100);
    CMAML_set_rport_estride(port, 200);
    CMAML_set_rport_ecount(port, 30);
    CMAML_set_rport_handler(port, reinterpret_cast<void (*)(...)>(port_is_full));
    CMMD_sync_with_nodes();
    CMAML_request(next(), send_to_port, me(), port);
    CMAM_wait(&mine().flag, 1);
    for (std::size_t i = 0; i < into.size(); ++i)
      check_equal(into[i], i / 100 % 2 == 0 ? 's' : '.', "each second stretch of a hundred");
    end();
  });
}

TEST_P(Cmam, PortsAreCountedAndRemember) {
  run(1, [](am::Node&) {
    begin();
    check_equal(CMAML_number_of_rports(), 128, "as many as a CM-5 had");
    check_equal(CMAML_allocate_this_rport(5), 5, "a chosen one");
    check_equal(CMAML_allocate_this_rport(5), -1, "once");
    check_equal(CMAML_allocate_this_rport(128), -1, "there is none");
    check_equal(CMAML_allocate_this_rport(-1), -1, "there is none");
    for (int i = 0; i < 127; ++i) check(CMAML_allocate_rport() >= 0, "one is free");
    check_equal(CMAML_allocate_rport(), -1, "none is free");
    CMAML_set_rport_addr(5, &places);
    CMAML_set_rport_byte_counter(5, 11);
    CMAML_set_rport_total_nbytes(5, 12);
    CMAML_set_rport_handler(5, reinterpret_cast<void (*)(...)>(port_is_full));
    CMAML_set_rport_handler_arg2(5, &blocks);
    CMAML_set_rport_esize(5, 13);
    CMAML_set_rport_estride(5, 14);
    CMAML_set_rport_ecount(5, 15);
    check(CMAML_get_rport_addr(5) == &places && CMAML_get_rport_handler_arg2(5) == &blocks, "pointers");
    check_equal(CMAML_get_rport_byte_counter(5) * 100 + CMAML_get_rport_total_nbytes(5), 1112, "counters");
    check_equal(
        CMAML_get_rport_esize(5) * 10000 + CMAML_get_rport_estride(5) * 100 + CMAML_get_rport_ecount(5),
        131415, "elements");
    check(CMAML_get_rport_handler(5) == reinterpret_cast<am_code>(port_is_full), "the handler");
    for (int port = 0; port < 128; ++port) check_equal(CMAML_free_rport(port), 1, "was allocated");
    check_equal(CMAML_free_rport(5), 0, "is free already");
    check_equal(CMAML_number_of_free_rports(), 128, "all of them");
    end();
  });
}

// -- interrupts -------------------------------------------------------------------------------------------------------------------

TEST_P(Cmam, CallsTellWhetherInterruptsAreOn) {
  new (&signs) Signs;
  run(2, [](am::Node& node) {
    begin();
    const bool interrupts = node.dispatch() != am::Dispatch::poll;
    const int at_first = CMAML_interrupt_status();
    check_equal(at_first, interrupts ? 1 : 0, "on where there are any");
    check_equal(told_inside(), 0, "not in a handler");
    if (me() == 0) CMAM_4(1, runs);
    wait_polling(signs.ran, 1);
    check_equal(signs.inside.load(), interrupts ? 11 : 0, "in a handler, where there are interrupts");
    check_equal(CMAML_disable_interrupts(), at_first, "tells what was before");
    check_equal(CMMD_disable_interrupts(), 0, "off");
    check_equal(CMMD_interrupt_status(), 0, "off");
    CMAM_enable_interrupt();
    check_equal(CMMD_interrupt_status(), 1, "on");
    CMAM_disable_interrupt();
    check_equal(CMAML_enable_interrupts(), 0, "off before");
    check_equal(CMMD_enable_interrupts(), 1, "on before");
    end();
  });
}

/// A handler may run late, which time would have to show: so a fault may get by here in one of many runs, and none is made up.
TEST_P(Cmam, InterruptsOffMeansInCallsOnly) {
  new (&signs) Signs;
  run(2, [](am::Node&) {
    begin();
    void (*const ways[])() = {CMAM_disable_interrupt, [] { CMAML_disable_interrupts(); },
                              [] { CMMD_disable_interrupts(); }};
    int round = 0;
    for (void (*const disable)() : ways) {
      ++round;
      if (me() == 1) disable();
      CMMD_sync_with_nodes();  // a call that opens for handlers, and closes again
      if (me() == 0) {
        send_to_one_that_computes(round, [] { CMAM_4(1, runs); });
      } else {
        signs.computes = round;
        wait_without_calls(signs.sent, round);
        for (int i = 0; i < 50; ++i) {
          check_equal(signs.ran.load(), round - 1, "the computation is undisturbed");
          std::this_thread::yield();
        }
        wait_polling(signs.ran, round);  // calls bring it all the same
        signs.seen = round;
        CMAM_enable_interrupt();
      }
    }
    end();
  });
}

using CmamInterrupts = test::OnAsynchronousSubstrates;

TEST_P(CmamInterrupts, InterruptsOnMeansWithoutACall) {
  new (&signs) Signs;
  run(2, [](am::Node&) {
    begin();
    void (*const ways[])() = {[] {},  // they are on at first
                              [] {
                                CMAML_disable_interrupts();
                                CMAM_enable_interrupt();
                              },
                              [] {
                                CMAM_disable_interrupt();
                                CMAML_enable_interrupts();
                              },
                              [] {
                                CMAM_disable_interrupt();
                                CMMD_enable_interrupts();
                              }};
    int round = 0;
    for (void (*const enable)() : ways) {
      ++round;
      if (me() == 0) {
        send_to_one_that_computes(round, [] { CMAM_4(1, runs); });
      } else {
        enable();
        signs.computes = round;
        while (signs.ran < round) {  // computes
        }
        check_equal(signs.inside.load(), 11, "told where it runs");
        check_equal(told_inside(), 0, "not the computation");
        signs.seen = round;
      }
    }
    end();
  });
}
INSTANTIATE_TEST_SUITE_P(Models, CmamInterrupts, test::cells_of<CmamInterrupts>(), test::name_of);

// -- CMMD -------------------------------------------------------------------------------------------------------------------------

TEST_P(Cmam, CollectivesOfCmmd) {
  run(3, [](am::Node& node) {
    begin();
    check_equal(static_cast<am::NodeId>(CMMD_self_address()), node.id(), "who");
    check_equal(CMMD_partition_size(), 3, "how many");
    check_equal(CMMD_reduce_int(me() - 5, CMMD_combiner_add), -12, "sum");
    check_equal(CMMD_reduce_int(0x7fffffff, CMMD_combiner_add), 0x7ffffffd, "wraps around");
    check_equal(CMMD_reduce_int(-me(), CMMD_combiner_min), -2, "least");
    check_equal(CMMD_reduce_uint(static_cast<unsigned>(me()), CMMD_combiner_max), 2U, "most");
    check_equal(CMMD_reduce_luint(1UL << me(), CMMD_combiner_ior), 7UL, "or");
    check_equal(CMMD_reduce_lint(3L << me(), CMMD_combiner_xor), 9L, "xor");
    check_equal(CMMD_reduce_int(6 + me(), CMMD_combiner_and), 0, "and");
    check_equal(CMMD_reduce_double(0.5, CMMD_combiner_add), 1.5, "doubles");
    check_equal(CMMD_reduce_float(static_cast<float>(me()), CMMD_combiner_max), 2.0F, "floats");
    int value = me() == 1 ? 77 : 0;
    if (me() == 1) {
      CMMD_bc_to_nodes(&value, sizeof value);
    } else {
      CMMD_receive_bc_from_node(&value, sizeof value);
    }
    check_equal(value, 77, "broadcast");
    const int own = me() * 11;
    std::array<int, 3> all{};
    CMMD_concat_with_nodes(const_cast<int*>(&own), all.data(), sizeof own);
    check(all == std::array<int, 3>{0, 11, 22}, "concatenation");
    for (int round = 0; round < 20; ++round) {
      CMMD_sync_with_nodes_start();
      if (round % 3 == me()) {
        while (CMMD_sync_done() == 0) {
        }
      }
      CMMD_sync_with_nodes_finish();
      check_equal(CMMD_sync_done(), 1, "over");
    }
    end();
  });
}

/// NESL's "all my messages have been handled": the global OR, then sums of what was sent and received until that is 0.
TEST_P(Cmam, TheGlobalOrSaysWhenAllAreDone) {
  run(3, [](am::Node&) {
    begin();
    check_equal(CMMD_set_global_or(1), 0, "was clear");
    check_equal(CMMD_set_global_or(1), 1, "was set");
    CMMD_sync_with_nodes();
    while (CMMD_get_global_or() == 0) CMAML_poll();
    int sent = 0;
    for (int i = 0; i < 50 * (me() + 1); ++i, ++sent)
      CMAML_rpc((me() + i) % CMMD_partition_size(), count_one);
    CMMD_set_global_or(0);
    while (CMMD_get_global_or() != 0) CMAML_poll();
    const auto received = [] {
      const am::CriticalSection quiet(*am::this_node());
      return mine().flag;
    };
    while (CMMD_reduce_int(sent - received(), CMMD_combiner_add) != 0) CMAML_poll();
    check_equal(CMMD_reduce_int(received(), CMMD_combiner_add), 300, "every message");
    end();
  });
}

TEST_P(Cmam, TimersRun) {
  run(1, [](am::Node&) {
    check_equal(CMMD_node_timer_clear(3), 0, "cleared");
    check_equal(CMMD_node_timer_start(3), 0, "started");
    check_equal(CMMD_node_timer_start(3), -1, "runs already");
    const double before = CMMD_node_timer_elapsed(3);
    double later = before;
    while (later == before) later = CMMD_node_timer_elapsed(3);
    check(later > before, "time passes");
    check_equal(CMMD_node_timer_stop(3), 0, "stopped");
    check_equal(CMMD_node_timer_stop(3), -1, "stands already");
    check_equal(CMMD_node_timer_elapsed(3), CMMD_node_timer_elapsed(3), "time stands");
    check(CMMD_node_timer_busy(3) + CMMD_node_timer_idle(3) >= 0, "shares");
  });
}

INSTANTIATE_TEST_SUITE_P(Models, Cmam, test::cells_of<Cmam>(), test::name_of);

}  // namespace
