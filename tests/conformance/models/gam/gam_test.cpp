// <am/gam.h>: each row of the reference's table of calls, on every network and mode; the names are gam_, as the am_ ones are macros.
#include <am/gam.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "support/job.hpp"

namespace gam_test {

using test::check;
using test::check_equal;
using test::rounds;

using Gam = test::OnANode;

void ok(int answer, std::string_view what,
        const std::source_location& where = std::source_location::current()) {
  check_equal(answer, 0, what, where);
}

/// GAM from its first call to its last, on a node of the job.
struct Enabled {
  Enabled() { ok(enabled, "gam_enable"); }
  ~Enabled() { gam_disable(); }
  const int enabled = gam_enable();  // before the others
  const int me = gam_my_proc();
  const int n = gam_procs();
  const int right = (me + 1) % n;
};

/// What one node's handlers have seen: they run on its own thread.
struct Seen {
  int requests = 0;
  int replies = 0;
  int wrong = 0;
  volatile int flag = 0;
  std::vector<int> answers{};
};
thread_local Seen seen;

std::byte pattern(std::size_t i, int salt) {
  return static_cast<std::byte>(i * 5 + static_cast<std::size_t>(salt));
}

void replied(vnn_t from, long a, long b, long c, long d, long e) {
  ++seen.replies;
  seen.wrong += from == (gam_my_proc() + 1) % gam_procs() ? 0 : 1;
  const std::array<long, 5> words{a, b, c, d, e};
  long count = 0;
  while (count < 5 && words[static_cast<std::size_t>(count)] == -(count + 1)) ++count;
  seen.flag = seen.flag + static_cast<int>(count);
  for (auto i = static_cast<std::size_t>(count); i < 5; ++i) seen.wrong += words[i] == 0 ? 0 : 1;
}
template <int count>
void asked(vnn_t from, int a, int b, int c, int d, int e) {
  ++seen.requests;
  const std::array<int, 5> words{a, b, c, d, e};
  for (int i = 0; i < 5; ++i)
    seen.wrong += words[static_cast<std::size_t>(i)] == (i < count ? -i - 1 : 0) ? 0 : 1;
  switch (count) {
    case 0:
      return ok(gam_reply_0(from, replied), "gam_reply_0");
    case 1:
      return ok(gam_reply_1(from, replied, -1), "gam_reply_1");
    case 2:
      return ok(gam_reply_2(from, replied, -1, -2), "gam_reply_2");
    case 3:
      return ok(gam_reply3(from, replied, -1, -2, -3), "gam_reply3");
    case 4:
      return ok(gam_reply_4(from, replied, -1, -2, -3, -4), "gam_reply_4");
    default:
      return ok(gam_reply_5(from, replied, -1, -2, -3, -4, -5), "gam_reply_5");
  }
}

TEST_P(Gam, WordsOfEveryCount) {
  run(3, [](am::Node&) {
    seen = {};
    const Enabled gam;
    const auto times = static_cast<int>(rounds(200));
    for (int i = 0; i < times; ++i) {
      ok(gam_request_0(gam.right, asked<0>), "gam_request_0");
      ok(gam_request_1(gam.right, asked<1>, -1), "gam_request_1");
      ok(gam_request2(gam.right, asked<2>, -1, -2), "gam_request2");
      ok(gam_request_3(gam.right, asked<3>, -1, -2, -3), "gam_request_3");
      ok(gam_request_4(gam.right, asked<4>, -1, -2, -3, -4), "gam_request_4");
      ok(gam_request_5(gam.right, asked<5>, -1, -2, -3, -4, -5), "gam_request_5");
    }
    ok(gam_wait(&seen.flag, 15 * times), "gam_wait");
    gam_wait_for(seen.replies == 6 * times);
    check_equal(seen.flag, 0, "what gam_wait leaves");
    gam_wait_for(seen.requests == 6 * times);
    check_equal(seen.wrong, 0, "wrong words");
  });
}

void raises(vnn_t /*from*/, volatile int* flag) { *flag = *flag + 1; }
void pongs(vnn_t from, volatile int* flag) {
  ok(gam_reply_4(from, raises, flag), "gam_reply_4 with one word");
}

TEST_P(Gam, KAndRCallersLeaveWordsOutAndSendPointers) {
  run(2, [](am::Node&) {
    const Enabled gam;
    volatile int flag = 0;
    for (int i = 0; i < 100; ++i) {
      ok(gam_request_4(gam.right, pongs, &flag), "gam_request_4 with one word");
      ok(gam_wait(&flag, 1), "gam_wait");
    }
    check_equal(flag, 0, "what is left");
  });
}

TEST_P(Gam, WaitsTakeOffWhatTheyWaitedFor) {
  run(1, [](am::Node&) {
    const Enabled gam;
    volatile int flag = 5;
    ok(gam_wait(&flag, 3), "gam_wait");
    check_equal(flag, 2, "after gam_wait");
    ok(gam_poll_wait(&flag, 2), "gam_poll_wait");
    check_equal(flag, 0, "after gam_poll_wait");
    // gam_wait polls at least once, gam_poll_wait need not.
    ok(gam_poll_wait(&flag, 0), "gam_poll_wait");
    ok(gam_request_1(0, raises, &flag), "gam_request_1");
    ok(gam_wait(&flag, 1), "gam_wait");
    check_equal(flag, 0, "after both");
  });
}

void double_replied(vnn_t /*from*/, long a, int b, double d) {
  ++seen.replies;
  seen.wrong += a == -7 && b == 8 && d == 2.5 ? 0 : 1;
}
void double_first(vnn_t from, double d, int a, long b) {
  seen.wrong += a == -1 && b == 1L << 40 && d == 0.1 ? 0 : 1;
  ok(gam_reply_fd(from, double_replied, 2.5, -7, 8), "gam_reply_fd");
}
void double_last(vnn_t from, int a, long b, double d) {
  seen.wrong += a == -1 && b == 1L << 40 && d == 0.1 ? 0 : 1;
  ok(gam_reply_df(from, double_replied, -7, 8, 2.5), "gam_reply_df");
}

TEST_P(Gam, Doubles) {
  run(2, [](am::Node&) {
    seen = {};
    const Enabled gam;
    ok(gam_request_df(gam.right, double_last, -1, 1L << 40, 0.1), "gam_request_df");
    ok(gam_request_fd(gam.right, double_first, 0.1, -1, 1L << 40), "gam_request_fd");
    gam_wait_for(seen.replies == 2);
    check_equal(seen.wrong, 0, "wrong words");
  });
}

void medium_replied(vnn_t /*from*/, char* buf, int nbytes, int a, long b) {
  ++seen.replies;
  bool right = b == -3 && a == nbytes;
  for (int i = 0; i < nbytes; ++i)
    right = right && buf[i] == static_cast<char>(pattern(static_cast<std::size_t>(i), nbytes) ^ std::byte{1});
  seen.wrong += right ? 0 : 1;
}
void medium_asked(vnn_t from, char* buf, int nbytes, int a, int b) {
  seen.wrong += a == nbytes && b == 3 ? 0 : 1;
  for (int i = 0; i < nbytes; ++i) buf[i] = static_cast<char>(buf[i] ^ 1);  // it may write there
  ok(gam_reply(from, medium_replied, buf, nbytes, nbytes, -3), "gam_reply");
}

TEST_P(Gam, MediumMessages) {
  run(3, [](am::Node&) {
    seen = {};
    const Enabled gam;
    const std::vector<int> sizes = {0, 1, 8, 37, 1024, 1025, gam_max_size()};
    for (const int bytes : sizes) {
      std::vector<std::byte> data(static_cast<std::size_t>(bytes) + 1);
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = pattern(i, bytes);
      ok(gam_request(gam.right, medium_asked, data.data(), bytes, bytes, 3), "gam_request");
    }
    gam_wait_for(seen.replies == static_cast<int>(sizes.size()));
    check_equal(seen.wrong, 0, "wrong ones");
  });
}

// -- bulk: at all alignments, with guards, as the old transfer test does

constexpr std::size_t room = 200'000;
thread_local std::array<std::byte*, 3> areas;  // of each node, as it has said
void here_is(vnn_t from, std::byte* area) {
  areas[static_cast<std::size_t>(from)] = area;
  ++seen.requests;
}
void count_store(vnn_t from, std::byte* address, int nbytes, void* argument) {
  seen.wrong += argument == areas[static_cast<std::size_t>(gam_my_proc())] && address != nullptr ? 0 : 1;
  seen.flag = seen.flag + 1;
  static_cast<void>(nbytes);
  ok(gam_reply_0(from, replied), "a store's handler may reply");
}
void count_get(vnn_t from, std::byte* address, int nbytes, volatile int* flag) {
  seen.wrong += from == (gam_my_proc() + 1) % gam_procs() && address != nullptr && nbytes > 0 ? 0 : 1;
  seen.answers = {gam_reply_0(from, replied), gam_request_0(from, replied),
                  gam_store(from, address, address, 0, nullptr, nullptr)};
  *flag = *flag + 1;
}

TEST_P(Gam, StoresAndGetsAtEveryAlignment) {
  run(3, [](am::Node&) {
    seen = {};
    const Enabled gam;
    std::vector<std::byte> mine(room);
    std::vector<std::byte> back(room);
    for (int to = 0; to < gam.n; ++to) ok(gam_request_1(to, here_is, mine.data()), "gam_request_1");
    gam_wait_for(seen.requests == 3);
    ok(gam_barrier(), "gam_barrier");
    std::byte* const theirs = areas[static_cast<std::size_t>(gam.right)];
    const int max = gam_max_size();
    int stored = 0;
    for (const int bytes : {1, 4, 16, 37, max / 4, max, 2 * max, 10 * max}) {
      std::vector<std::byte> data(static_cast<std::size_t>(bytes) + 4);
      const std::size_t ways = bytes > max ? 1 : rounds(16);  // of 4 x 4 alignments
      for (std::size_t way = 0; way < ways; ++way) {
        const std::size_t from = way % 4;
        const std::size_t to = (way + way / 4) % 4;
        for (std::size_t i = 0; i < static_cast<std::size_t>(bytes); ++i)
          data[from + i] = pattern(i, ++stored);
        std::fill(back.begin(), back.end(), std::byte{});
        volatile int flag = 0;
        std::byte* const there = theirs + 8 + to;
        ok(gam_store(gam.right, data.data() + from, there, bytes, count_store, theirs), "gam_store");
        gam_wait_for(seen.replies > 0);
        seen.replies = 0;
        ok(gam_get(gam.right, there, back.data() + 8 + from, bytes, count_get, &flag), "gam_get");
        ok(gam_wait(&flag, 1), "gam_wait");
        check(std::memcmp(data.data() + from, back.data() + 8 + from, static_cast<std::size_t>(bytes)) == 0,
              "what was stored is what was got");
        const std::size_t end = 8 + from + static_cast<std::size_t>(bytes);
        check(back[7 + from] == std::byte{} && back[end] == std::byte{}, "guards");
        check(seen.answers == std::vector<int>({-1, -1, -1}), "the handler of a get sends nothing");
      }
    }
    ok(gam_barrier(), "gam_barrier");
    check_equal(seen.wrong, 0, "wrong handlers");
    check(mine[7] == std::byte{}, "the guard before");
  });
}

thread_local std::vector<void*> ends;
void ended(vnn_t /*to*/, void* address, int nbytes, void* argument) {
  seen.wrong += nbytes == 100 ? 0 : 1;
  ends = {address, argument};
}

TEST_P(Gam, AsyncStoresNullHandlersAndCounters) {
  run(2, [](am::Node&) {
    seen = {};
    const Enabled gam;
    std::vector<std::byte> mine(200);
    for (int to = 0; to < gam.n; ++to) ok(gam_request_1(to, here_is, mine.data()), "gam_request_1");
    gam_wait_for(seen.requests == 2);
    std::byte* const theirs = areas[static_cast<std::size_t>(gam.right)];
    WAITCNTR(outstanding);
    std::vector<std::byte> data(100, std::byte{7});
    CNTR_INCR_BY(outstanding, 3);
    int argument = 0;
    ok(gam_store_async(gam.right, data.data(), theirs, 100, r_cntr_decr_reply_mem, outstanding, ended,
                       &argument),
       "gam_store_async");
    check(ends == std::vector<void*>({data.data(), &argument}), "the end, before the call returns");
    ok(gam_store(gam.right, data.data(), theirs + 100, 50, r_cntr_decr_reply_mem, outstanding), "gam_store");
    ok(gam_store(gam.right, data.data(), theirs + 150, 50, nullptr, nullptr), "gam_store without a handler");
    ok(gam_get(gam.right, theirs, data.data(), 100, r_cntr_decr_mem, outstanding), "gam_get");
    CNTR_WAIT_FOR_ZERO(outstanding);
    TA_SEMAPHORE(sema);
    ok(gam_get(gam.right, theirs, data.data(), 1, r_ta_sema_signal_mem, sema), "gam_get");
    TA_SEMA_WAIT(sema);
    ok(gam_store(gam.right, data.data(), theirs, 0, gam_dummy, nullptr), "a store of nothing");
    ok(gam_barrier(), "gam_barrier");
    gam_wait_for(mine[199] == std::byte{7});
    check(std::count(mine.begin(), mine.end(), std::byte{7}) == 200, "all of it");
    check_equal(seen.wrong, 0, "wrong ends");
  });
}

// What the neighbour has for others: its counters and some memory.
struct Offered {
  cntr_t counter = nullptr;
  ta_sema_t by_request = nullptr;
  ta_sema_t by_store = nullptr;
  std::byte* area = nullptr;
};
thread_local Offered offered;
void offers(vnn_t /*from*/, cntr_t counter, ta_sema_t by_request, ta_sema_t by_store, std::byte* area) {
  offered = {counter, by_request, by_store, area};
  ++seen.requests;
}
unsigned long value_of(cntr_t counter) { return *static_cast<volatile unsigned long*>(counter); }

TEST_P(Gam, HandlersThatCountAndSignal) {
  run(2, [](am::Node&) {
    seen = {};
    const Enabled gam;
    WAITCNTR(here);
    TA_SEMAPHORE(by_request);
    TA_SEMAPHORE(by_store);
    std::array<std::byte, 8> area{};
    ok(gam_request_4(gam.right, offers, here, by_request, by_store, area.data()), "gam_request_4");
    gam_wait_for(seen.requests == 1);
    ok(gam_barrier(), "gam_barrier");
    const Offered there = offered;
    std::byte byte{1};

    // On the node that gets them. No count is taken off before both have seen all that were added.
    for (int i = 0; i < 3; ++i) ok(gam_request_1(gam.right, r_cntr_incr, there.counter), "r_cntr_incr");
    for (int i = 0; i < 2; ++i)
      ok(gam_store(gam.right, &byte, there.area, 1, r_cntr_incr_mem, there.counter), "r_cntr_incr_mem");
    gam_wait_for(value_of(here) >= 5);
    check_equal(value_of(here), 5ul, "three requests and two stores");
    ok(gam_barrier(), "gam_barrier");
    for (int i = 0; i < 4; ++i) ok(gam_request_1(gam.right, r_cntr_decr, there.counter), "r_cntr_decr");
    ok(gam_store(gam.right, &byte, there.area, 1, r_cntr_decr_mem, there.counter), "r_cntr_decr_mem");
    CNTR_WAIT_FOR_ZERO(here);

    // On the node that has sent the store, by a reply; or that has asked.
    WAITCNTR(mine);
    for (int i = 0; i < 3; ++i)
      ok(gam_store(gam.right, &byte, there.area, 1, r_cntr_incr_reply_mem, mine), "r_cntr_incr_reply_mem");
    ok(gam_get(gam.right, there.area, &byte, 1, r_cntr_incr_mem, mine), "r_cntr_incr_mem of a get");
    gam_wait_for(value_of(mine) >= 4);
    check_equal(value_of(mine), 4ul, "three stores and a get");
    for (int i = 0; i < 4; ++i)
      ok(gam_store(gam.right, &byte, there.area, 1, r_cntr_decr_reply_mem, mine), "r_cntr_decr_reply_mem");
    CNTR_WAIT_FOR_ZERO(mine);

    check_equal(value_of(by_request), 1ul, "a semaphore that nobody has signalled");
    ok(gam_barrier(), "gam_barrier");  // so that it was looked at before
    ok(gam_request_1(gam.right, r_ta_sema_signal, there.by_request), "r_ta_sema_signal");
    TA_SEMA_WAIT(by_request);
    ok(gam_store(gam.right, &byte, there.area, 1, r_ta_sema_signal_mem, there.by_store),
       "r_ta_sema_signal_mem");
    TA_SEMA_WAIT(by_store);
    TA_SEMAPHORE(by_reply);
    ok(gam_store(gam.right, &byte, there.area, 1, r_ta_sema_signal_reply_mem, by_reply),
       "r_ta_sema_signal_reply_mem");
    TA_SEMA_WAIT(by_reply);
    ok(gam_barrier(), "gam_barrier");
  });
}

TEST_P(Gam, CountersAndSemaphoresOfOnesOwn) {
  run(1, [](am::Node&) {
    const Enabled gam;
    WAITCNTR(mine);
    check(CNTR_IS_ZERO(mine), "as it is made");
    CNTR_INCR(mine);
    CNTR_INCR(mine);
    check_equal(value_of(mine), 2ul, "CNTR_INCR twice");
    CNTR_INCR_BY(mine, 5);
    CNTR_DECR_BY(mine, 4);
    CNTR_DECR(mine);
    check_equal(value_of(mine), 2ul, "less four and one of seven");
    CNTR_DECR(mine);
    CNTR_DECR(mine);
    CNTR_WAIT_FOR_ZERO(mine);
    TA_SEMAPHORE(sema);
    check(!CNTR_IS_ZERO(sema), "as it is made");
    TA_SEMA_SIGNAL(sema);
    TA_SEMA_WAIT(sema);
    check_equal(value_of(sema), 0ul, "it stays signalled");
  });
}

// -- to oneself, where the ranges may overlap: they are copied by way of a message

TEST_P(Gam, RangesOfOnesOwnMayOverlap) {
  run(2, [](am::Node&) {
    const Enabled gam;
    for (const int bytes : {1, 37, 1000, gam_max_size(), 4 * gam_max_size()}) {
      const auto size = static_cast<std::size_t>(bytes);
      for (const std::size_t apart : {std::size_t{0}, std::size_t{1}, std::size_t{20}, size - 1}) {
        std::vector<std::byte> memory(size + apart + 2);
        for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = pattern(i, bytes);
        std::vector<std::byte> expected = memory;
        std::byte* const low = memory.data() + 1;
        std::byte* const high = low + apart;
        volatile int flag = 0;
        const auto count =
            +[](vnn_t /*from*/, void* /*address*/, int /*nbytes*/, volatile int* its) { *its = *its + 1; };
        const auto as_expected = [&](std::size_t from, std::size_t to, std::string_view what) {
          ok(gam_wait(&flag, 1), "gam_wait");
          std::memmove(expected.data() + 1 + to, expected.data() + 1 + from, size);
          check(memory == expected, what);
        };
        ok(gam_store(gam.me, low, high, bytes, count, &flag), "gam_store");
        as_expected(0, apart, "a store upwards");
        for (std::size_t i = 0; i < memory.size(); ++i) expected[i] = memory[i] = pattern(i, bytes + 1);
        ok(gam_store(gam.me, high, low, bytes, count, &flag), "gam_store");
        as_expected(apart, 0, "a store downwards");
        for (std::size_t i = 0; i < memory.size(); ++i) expected[i] = memory[i] = pattern(i, bytes + 2);
        ok(gam_get(gam.me, low, high, bytes, count, &flag), "gam_get");
        as_expected(0, apart, "a get upwards");
        for (std::size_t i = 0; i < memory.size(); ++i) expected[i] = memory[i] = pattern(i, bytes + 3);
        ok(gam_get(gam.me, high, low, bytes, count, &flag), "gam_get");
        as_expected(apart, 0, "a get downwards");
      }
    }
    ok(gam_barrier(), "gam_barrier");
  });
}

TEST_P(Gam, AGetNeedsNoHandler) {
  run(2, [](am::Node&) {
    seen = {};
    const Enabled gam;
    std::byte mine{7};
    for (int to = 0; to < gam.n; ++to) ok(gam_request_1(to, here_is, &mine), "gam_request_1");
    gam_wait_for(seen.requests == 2);
    volatile std::byte got{};
    ok(gam_get(gam.right, areas[static_cast<std::size_t>(gam.right)], const_cast<std::byte*>(&got), 1,
               nullptr, nullptr),
       "gam_get");
    gam_wait_for(got == std::byte{7});
    ok(gam_barrier(), "gam_barrier");
  });
}

void xfer_came(vnn_t /*from*/, std::byte* address, int nbytes, void* argument) {
  ++seen.replies;
  seen.wrong += address == argument && nbytes == 5000 ? 0 : 1;
}
void xfer_back(vnn_t from, std::byte* address, int nbytes, void* there) {
  ok(gam_reply_xfer(from, address, there, nbytes, xfer_came, there), "gam_reply_xfer");
}

TEST_P(Gam, ReplyXferFromAStoresHandler) {
  run(2, [](am::Node&) {
    seen = {};
    const Enabled gam;
    std::vector<std::byte> mine(5000);
    for (int to = 0; to < gam.n; ++to) ok(gam_request_1(to, here_is, mine.data()), "gam_request_1");
    gam_wait_for(seen.requests == 2);
    std::vector<std::byte> data(5000);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = pattern(i, 3);
    std::vector<std::byte> back(5000);
    ok(gam_store(gam.right, data.data(), areas[static_cast<std::size_t>(gam.right)], 5000, xfer_back,
                 back.data()),
       "gam_store");
    gam_wait_for(seen.replies == 1);
    check(back == data, "what came back");
    ok(gam_barrier(), "gam_barrier");
    check_equal(seen.wrong, 0, "wrong ones");
  });
}

// -- where calls are refused

void tries_everything(vnn_t from, volatile int* flag) {
  seen.answers = {gam_request_0(from, replied), gam_wait(flag, 0), gam_barrier(),
                  gam_store(from, &seen, &seen, 1, nullptr, nullptr), gam_sleep()};
  gam_poll();  // which does nothing here
  seen.wrong += gam_errno() == GAM_EHANDLER ? 0 : 1;
  ok(gam_reply_1(from, raises, flag), "gam_reply_1");
  ok(gam_reply_1(from, raises, flag), "a second reply");
}

TEST_P(Gam, RefusalsSayWhy) {
  run(2, [](am::Node&) {
    seen = {};
    check_equal(gam_request_0(0, replied), -1, "before gam_enable");
    check_equal(gam_errno(), GAM_ENOTENABLED, "why");
    const Enabled gam;
    for (const int to : {-1, 2, 1 << 30}) {
      check_equal(gam_request_0(to, replied), -1, "no such node");
      check_equal(gam_errno(), GAM_EBADNODE, "why");
    }
    char byte = 0;
    check_equal(gam_store(0, &byte, &byte, -1, nullptr, nullptr), -1, "fewer than no bytes");
    check_equal(gam_errno(), GAM_EBADARG, "why");
    check_equal(gam_store(0, &byte, nullptr, 1, nullptr, nullptr), -1, "to nowhere");
    check_equal(gam_get(0, nullptr, &byte, 1, nullptr, nullptr), -1, "from nowhere");
    check_equal(gam_reply_0(0, replied), -1, "a reply outside of handlers");
    check_equal(gam_errno(), GAM_EHANDLER, "why");
    check_equal(gam_isalive(gam.right), 1, "the neighbour");
    check_equal(gam_isalive(5), 0, "nobody");
    check_equal(gam_enable(), 0, "a second time");
    volatile int flag = 0;
    ok(gam_request_1(gam.right, tries_everything, &flag), "gam_request_1");
    ok(gam_wait(&flag, 2), "gam_wait");
    gam_wait_for(!seen.answers.empty());
    check(seen.answers == std::vector<int>({-1, -1, -1, -1, -1}), "what a handler is answered");
    check_equal(seen.wrong, 0, "why");
  });
}

// Floods in both directions, and to itself.
void echoes(vnn_t from, long number, volatile int* flag) {
  ++seen.requests;
  static_cast<void>(number);
  ok(gam_reply_1(from, raises, flag), "gam_reply_1");
}

TEST_P(Gam, FloodsAllToAll) {
  run(3, [](am::Node&) {
    seen = {};
    const Enabled gam;
    const auto times = static_cast<int>(rounds(3000));
    volatile int flag = 0;
    for (int i = 0; i < times; ++i) {
      for (int to = 0; to < gam.n; ++to) ok(gam_request_2(to, echoes, i, &flag), "gam_request_2");
    }
    ok(gam_wait(&flag, 3 * times), "gam_wait");
    gam_wait_for(seen.requests == 3 * times);
    check_equal(flag, 0, "more answers than questions");
    check_equal(lam_sync_all(), 1, "lam_sync_all");
  });
}

TEST_P(Gam, SleepsUntilSomethingRan) {
  run(2, [](am::Node&) {
    seen = {};
    const Enabled gam;
    volatile int flag = 0;
    ok(gam_request_1(gam.right, pongs, &flag), "gam_request_1");
    while (flag == 0) {
      ok(gam_sleep(), "gam_sleep");
      gam_poll();
    }
    check_equal(flag, 1, "answers");
  });
}

INSTANTIATE_TEST_SUITE_P(Models, Gam, test::cells_of<Gam>(), test::name_of);

}  // namespace gam_test
