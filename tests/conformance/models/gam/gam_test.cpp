// <am/gam.h>: each row of the reference's table of calls, on every network and mode; the names are gam_, as the am_ ones are macros.
#include <am/gam.h>
#include <am/am.hpp>

#include "support/job.hpp"
#include "support/patterns.hpp"

namespace gam_test {

using namespace test;

void ok(int answer, std::string_view what,
        const std::source_location& where = std::source_location::current()) {
  check_equal(answer, 0, what, where);
}

/// What one node's handlers have seen: they run on its own thread.
struct Seen {
  int requests = 0;
  int replies = 0;
  int wrong = 0;
  volatile int flag = 0;
  std::vector<int> answers{};
};
thread_local Seen seen;

/// GAM from its first call to its last, on a node of the job.
struct Enabled {
  Enabled() { ok(enabled, "gam_enable"); }
  ~Enabled() { gam_disable(); }
  const int enabled = gam_enable();  // before the others
  const int me = gam_my_proc();
  const int n = gam_procs();
  const int right = (me + 1) % n;
};

class Gam : public test::OnANode {
 protected:
  /// No handler has seen anything wrong in the end.
  static void run_gam(am::NodeId n, const std::function<void(const Enabled& gam)>& body) {
    run(n, [&](am::Node&) {
      seen = {};
      body(Enabled());
      check_equal(seen.wrong, 0, "what was wrong");
    });
  }
};

/// How many words were sent: -1, -2 ... and those behind are zero.
template <class Word>
int count_of(const std::array<Word, 5>& words) {
  int count = 0;
  while (count < 5 && words[static_cast<std::size_t>(count)] == -count - 1) ++count;
  const bool right = std::all_of(words.begin() + count, words.end(), [](Word word) { return word == 0; });
  seen.wrong += right ? 0 : 1;
  return count;
}
void replied(vnn_t from, long a, long b, long c, long d, long e) {
  ++seen.replies;
  seen.wrong += from == (gam_my_proc() + 1) % gam_procs() ? 0 : 1;
  seen.flag = seen.flag + count_of<long>({a, b, c, d, e});
}
void asked(vnn_t from, int a, int b, int c, int d, int e) {
  ++seen.requests;
  switch (count_of<int>({a, b, c, d, e})) {
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
  run_gam(3, [](const Enabled& gam) {
    const auto times = static_cast<int>(rounds(200));
    for (int i = 0; i < times; ++i) {
      ok(gam_request_0(gam.right, asked), "gam_request_0");
      ok(gam_request_1(gam.right, asked, -1), "gam_request_1");
      ok(gam_request2(gam.right, asked, -1, -2), "gam_request2");
      ok(gam_request_3(gam.right, asked, -1, -2, -3), "gam_request_3");
      ok(gam_request_4(gam.right, asked, -1, -2, -3, -4), "gam_request_4");
      ok(gam_request_5(gam.right, asked, -1, -2, -3, -4, -5), "gam_request_5");
    }
    ok(gam_wait(&seen.flag, 15 * times), "gam_wait");
    gam_wait_for(seen.replies == 6 * times);
    check_equal(seen.flag, 0, "what gam_wait leaves");
    gam_wait_for(seen.requests == 6 * times);
  });
}

void raises(vnn_t /*from*/, volatile int* flag) { *flag = *flag + 1; }
void pongs(vnn_t from, volatile int* flag) {
  ok(gam_reply_4(from, raises, flag), "gam_reply_4 with one word");
}

TEST_P(Gam, KAndRCallersLeaveWordsOutAndSendPointers) {
  run_gam(2, [](const Enabled& gam) {
    volatile int flag = 0;
    for (int i = 0; i < 100; ++i) {
      ok(gam_request_4(gam.right, pongs, &flag), "gam_request_4 with one word");
      ok(gam_wait(&flag, 1), "gam_wait");
    }
    check_equal(flag, 0, "what is left");
    ok(gam_request_1(gam.right, pongs, &flag), "gam_request_1");
    while (flag == 0) {
      ok(gam_sleep(), "gam_sleep");  // until something ran
      gam_poll();
    }
    check_equal(flag, 1, "answers");
  });
}

TEST_P(Gam, WaitsTakeOffWhatTheyWaitedFor) {
  run_gam(1, [](const Enabled&) {
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
  run_gam(2, [](const Enabled& gam) {
    ok(gam_request_df(gam.right, double_last, -1, 1L << 40, 0.1), "gam_request_df");
    ok(gam_request_fd(gam.right, double_first, 0.1, -1, 1L << 40), "gam_request_fd");
    gam_wait_for(seen.replies == 2);
  });
}

void medium_replied(vnn_t /*from*/, char* buf, int nbytes, int a, long b) {
  ++seen.replies;
  bool right = b == -3 && a == nbytes;
  for (int i = 0; i < nbytes; ++i)
    right = right &&
            buf[i] == static_cast<char>(test::pattern(static_cast<std::size_t>(i), nbytes) ^ std::byte{1});
  seen.wrong += right ? 0 : 1;
}
void medium_asked(vnn_t from, char* buf, int nbytes, int a, int b) {
  seen.wrong += a == nbytes && b == 3 ? 0 : 1;
  seen.wrong += static_cast<int>(8 - std::count(buf + nbytes, buf + nbytes + 8, '\0'));  // the slack behind
  for (int i = 0; i < nbytes; ++i) buf[i] = static_cast<char>(buf[i] ^ 1);               // it may write there
  ok(gam_reply(from, medium_replied, buf, nbytes, nbytes, -3), "gam_reply");
}

TEST_P(Gam, MediumMessages) {
  run_gam(3, [](const Enabled& gam) {
    const std::vector<int> sizes = {0, 1, 8, 37, 1024, 1025, gam_max_size()};
    for (const int bytes : sizes) {
      const std::vector<std::byte> data = test::patterned(static_cast<std::size_t>(bytes) + 1, bytes);
      ok(gam_request(gam.right, medium_asked, data.data(), bytes, bytes, 3), "gam_request");
    }
    gam_wait_for(seen.replies == static_cast<int>(sizes.size()));
  });
}

// -- bulk: at all alignments, with guards, as the old transfer test does

constexpr std::size_t room = 200'000;
thread_local std::array<std::byte*, 3> areas;  // of each node, as it has said
void here_is(vnn_t from, std::byte* area) {
  areas[static_cast<std::size_t>(from)] = area;
  ++seen.requests;
}
/// Tells all nodes of an area here, and gives that of the neighbour.
std::byte* exchange_areas(const Enabled& gam, std::byte* mine) {
  for (int to = 0; to < gam.n; ++to) ok(gam_request_1(to, here_is, mine), "gam_request_1");
  gam_wait_for(seen.requests == gam.n);
  ok(gam_barrier(), "gam_barrier");
  return areas[static_cast<std::size_t>(gam.right)];
}
void count_store(vnn_t from, std::byte* address, int /*nbytes*/, void* argument) {
  seen.wrong += argument == areas[static_cast<std::size_t>(gam_my_proc())] && address != nullptr ? 0 : 1;
  seen.flag = seen.flag + 1;
  ok(gam_reply_0(from, replied), "a store's handler may reply");
}
void count_get(vnn_t from, std::byte* address, int nbytes, volatile int* flag) {
  seen.wrong += from == (gam_my_proc() + 1) % gam_procs() && address != nullptr && nbytes > 0 ? 0 : 1;
  seen.answers = {gam_reply_0(from, replied), gam_request_0(from, replied),
                  gam_store(from, address, address, 0, nullptr, nullptr)};
  *flag = *flag + 1;
}

TEST_P(Gam, StoresAndGetsAtEveryAlignment) {
  run_gam(3, [](const Enabled& gam) {
    std::vector<std::byte> mine(room);
    std::vector<std::byte> back(room);
    std::byte* const theirs = exchange_areas(gam, mine.data());
    const int max = gam_max_size();
    int stored = 0;
    for (const int bytes : {1, 4, 16, 37, max / 4, max, 2 * max, 10 * max}) {
      const auto size = static_cast<std::size_t>(bytes);
      const std::size_t ways = bytes > max ? 1 : rounds(16);  // of 4 x 4 alignments
      for (std::size_t way = 0; way < ways; ++way) {
        const std::size_t from = way % 4;
        const std::size_t to = (way + way / 4) % 4;
        const std::vector<std::byte> data = test::patterned(size + 4, ++stored);
        std::fill(back.begin(), back.end(), std::byte{});
        volatile int flag = 0;
        std::byte* const there = theirs + 8 + to;
        ok(gam_store(gam.right, data.data() + from, there, bytes, count_store, theirs), "gam_store");
        gam_wait_for(seen.replies > 0);
        seen.replies = 0;
        ok(gam_get(gam.right, there, back.data() + 8 + from, bytes, count_get, &flag), "gam_get");
        ok(gam_wait(&flag, 1), "gam_wait");
        check(std::memcmp(data.data() + from, back.data() + 8 + from, size) == 0,
              "what was stored is what was got");
        const std::size_t end = 8 + from + size;
        check(back[7 + from] == std::byte{} && back[end] == std::byte{}, "guards");
        check(seen.answers == std::vector<int>({-1, -1, -1}), "the handler of a get sends nothing");
      }
    }
    ok(gam_barrier(), "gam_barrier");
    check(mine[7] == std::byte{}, "the guard before");
  });
}

thread_local std::vector<void*> ends;
void ended(vnn_t /*to*/, void* address, int nbytes, void* argument) {
  seen.wrong += nbytes == 100 ? 0 : 1;
  ends = {address, argument};
}

TEST_P(Gam, AsyncStoresNullHandlersAndCounters) {
  run_gam(2, [](const Enabled& gam) {
    std::vector<std::byte> mine(200);
    std::byte* const theirs = exchange_areas(gam, mine.data());
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
    volatile std::byte got{};
    ok(gam_barrier(), "gam_barrier");
    ok(gam_get(gam.right, theirs, const_cast<std::byte*>(&got), 1, nullptr, nullptr), "without a handler");
    gam_wait_for(got == std::byte{7});
    ok(gam_barrier(), "gam_barrier");
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
  run_gam(2, [](const Enabled& gam) {
    WAITCNTR(here);
    TA_SEMAPHORE(by_request);
    TA_SEMAPHORE(by_store);
    std::byte area{};
    ok(gam_request_4(gam.right, offers, here, by_request, by_store, &area), "gam_request_4");
    gam_wait_for(seen.requests == 1);
    ok(gam_barrier(), "gam_barrier");
    const Offered there = offered;
    const auto request = [&](int times, void (*handler)(vnn_t, long), cntr_t counter) {
      for (; times > 0; --times) ok(gam_request_1(gam.right, handler, counter), "gam_request_1");
    };
    const auto store = [&](int times, handler_mem_t handler, cntr_t counter) {
      std::byte byte{1};
      for (; times > 0; --times)
        ok(gam_store(gam.right, &byte, there.area, 1, handler, counter), "gam_store");
    };

    // On the node that gets them. No count is taken off before both have seen all that were added.
    request(3, r_cntr_incr, there.counter);
    store(2, r_cntr_incr_mem, there.counter);
    gam_wait_for(value_of(here) >= 5);
    check_equal(value_of(here), 5ul, "three requests and two stores");
    ok(gam_barrier(), "gam_barrier");
    request(4, r_cntr_decr, there.counter);
    store(1, r_cntr_decr_mem, there.counter);
    CNTR_WAIT_FOR_ZERO(here);

    // On the node that has sent the store, by a reply; or that has asked.
    WAITCNTR(mine);
    store(3, r_cntr_incr_reply_mem, mine);
    std::byte got{};
    ok(gam_get(gam.right, there.area, &got, 1, r_cntr_incr_mem, mine), "gam_get");
    gam_wait_for(value_of(mine) >= 4);
    check_equal(value_of(mine), 4ul, "three stores and a get");
    store(4, r_cntr_decr_reply_mem, mine);
    CNTR_WAIT_FOR_ZERO(mine);

    check_equal(value_of(by_request), 1ul, "a semaphore that nobody has signalled");
    ok(gam_barrier(), "gam_barrier");  // so that it was looked at before
    request(1, r_ta_sema_signal, there.by_request);
    TA_SEMA_WAIT(by_request);
    store(1, r_ta_sema_signal_mem, there.by_store);
    TA_SEMA_WAIT(by_store);
    TA_SEMAPHORE(by_reply);
    store(1, r_ta_sema_signal_reply_mem, by_reply);
    TA_SEMA_WAIT(by_reply);
    ok(gam_barrier(), "gam_barrier");
  });
}

TEST_P(Gam, CountersAndSemaphoresOfOnesOwn) {
  run_gam(1, [](const Enabled&) {
    WAITCNTR(mine);
    check(CNTR_IS_ZERO(mine), "as it is made");
    CNTR_INCR(mine);
    CNTR_INCR(mine);
    check_equal(value_of(mine), 2ul, "CNTR_INCR twice");
    CNTR_INCR_BY(mine, 5);
    CNTR_DECR_BY(mine, 4);
    CNTR_DECR(mine);
    check_equal(value_of(mine), 2ul, "less four and one of seven");
    CNTR_DECR_BY(mine, 2);
    CNTR_WAIT_FOR_ZERO(mine);
    TA_SEMAPHORE(sema);
    check(!CNTR_IS_ZERO(sema), "as it is made");
    TA_SEMA_SIGNAL(sema);
    TA_SEMA_WAIT(sema);
    check_equal(value_of(sema), 0ul, "it stays signalled");
    // As functions.
    cntr_incr(mine);
    cntr_incr_by(mine, 5);
    check_equal(cntr_is_zero(mine), 0, "six");
    cntr_decr(mine);
    cntr_decr_by(mine, 3);
    check_equal(value_of(mine), 2ul, "less four");
    ok(gam_request_1(0, r_cntr_decr, mine), "gam_request_1");
    ok(gam_request_1(0, r_cntr_decr, mine), "gam_request_1");
    cntr_wait_for_zero(mine);
    check_equal(cntr_is_zero(mine), 1, "none");
    TA_SEMAPHORE(other);
    ta_sema_signal(other);
    ta_sema_wait(other);
  });
}

// -- to oneself, where the ranges may overlap: they are copied by way of a message

void counts_up(vnn_t /*from*/, void* /*address*/, int /*nbytes*/, volatile int* its) { *its = *its + 1; }

TEST_P(Gam, RangesOfOnesOwnMayOverlap) {
  run_gam(2, [](const Enabled& gam) {
    volatile int flag = 0;
    const auto sizes = {1, 37, 1000, gam_max_size(), 4 * gam_max_size()};
    const auto store = [&](std::byte* to, std::byte* from, int bytes) {
      ok(gam_store(gam.me, from, to, bytes, counts_up, &flag), "gam_store");
      ok(gam_wait(&flag, 1), "gam_wait");
    };
    const auto get = [&](std::byte* to, std::byte* from, int bytes) {
      ok(gam_get(gam.me, from, to, bytes, counts_up, &flag), "gam_get");
      ok(gam_wait(&flag, 1), "gam_wait");
    };
    test::check_copies(sizes, store, "a store");
    test::check_copies(sizes, get, "a get");
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
  run_gam(2, [](const Enabled& gam) {
    std::vector<std::byte> mine(5000);
    std::vector<std::byte> back(5000);
    const std::vector<std::byte> data = test::patterned(5000, 3);
    std::byte* const theirs = exchange_areas(gam, mine.data());
    ok(gam_store(gam.right, data.data(), theirs, 5000, xfer_back, back.data()), "gam_store");
    gam_wait_for(seen.replies == 1);
    check(back == data, "what came back");
    ok(gam_barrier(), "gam_barrier");
  });
}

void counts_store(vnn_t /*from*/, void* /*address*/, int /*nbytes*/, void* /*argument*/) { ++seen.requests; }

// In LAM and TCPAM a barrier's messages follow the others on their channels.
TEST_P(Gam, ABarrierComesBehindWhatWasSent) {
  run_gam(3, [](const Enabled& gam) {
    std::vector<std::byte> mine(5000);
    std::vector<std::byte> back(5000);
    std::byte* const theirs = exchange_areas(gam, mine.data());
    seen.requests = 0;
    ok(gam_barrier(), "gam_barrier");
    for (std::size_t round = 0; round < rounds(50); ++round) {
      volatile int got = 0;
      for (const int bytes : {8, 512, 5000, 8}) {
        ok(gam_get(gam.right, theirs, back.data(), bytes, counts_up, &got), "gam_get");
        ok(gam_store(gam.right, back.data(), theirs, bytes, counts_store, nullptr), "gam_store");
      }
      ok(gam_barrier(), "gam_barrier");
      check_equal(got, 4, "what was asked for");
      check_equal(seen.requests, 4, "what was stored here");
      seen.requests = 0;  // before anybody stores the next one
      ok(gam_barrier(), "gam_barrier");
    }
  });
}

void native(am::Request& request) { request.node().state<int>() += 1; }

TEST_P(Gam, NativeCallsGoOnBesideIt) {
  run_gam(2, [](const Enabled& gam) {
    am::Node& node = *am::this_node();
    int come = 0;
    node.attach(come);
    ok(gam_barrier(), "gam_barrier");
    check(node.dispatch() == am::Dispatch::poll, "it polls, in every mode");
    for (int round = 1; round <= 20; ++round) {
      node.request<native>(static_cast<am::NodeId>(gam.right));
      node.wait_until([&] { return come >= round; });
    }
    check_equal(am::all_reduce(node, 1, std::plus<>()), 2, "a collective");
    ok(gam_barrier(), "gam_barrier");
  });
}

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
void echoes(vnn_t from, long /*number*/, volatile int* flag) {
  ++seen.requests;
  ok(gam_reply_1(from, raises, flag), "gam_reply_1");
}

TEST_P(Gam, FloodsAllToAll) {
  run_gam(3, [](const Enabled& gam) {
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

INSTANTIATE_TEST_SUITE_P(Models, Gam, test::cells_of<Gam>(), test::name_of);

}  // namespace gam_test
