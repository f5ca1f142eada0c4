// <am/compat/gam/am.h>, and its other names: what old sources call am_ is the gam_ call that it stands for, word by word.
#include <string_view>
#include <type_traits>
#include <vector>

#include "support/job.hpp"

// Last, as it has macros of short names: barrier() is one. Old sources include "am.h", "gam.h" or "lam.h", some of them twice.
#include <am/compat/gam/am.h>
#include <am/compat/gam/gam.h>
#include <am/compat/gam/lam.h>

namespace gam_old_names_test {

using test::check;
using test::check_equal;

// -- aliases of functions

#define SAME(old, own) static_assert(std::is_same_v<decltype(&(old)), decltype(&(own))> && &(old) == &(own))
SAME(am_enable, gam_enable);
SAME(am_disable, gam_disable);
SAME(am_exit, gam_exit);
SAME(am_my_proc, gam_my_proc);
SAME(am_procs, gam_procs);
SAME(am_max_size, gam_max_size);
SAME(am_errno, gam_errno);
SAME(am_isalive, gam_isalive);
SAME(am_poll, gam_poll);
SAME(am_thread_poll, gam_poll);
SAME(am_sleep, gam_sleep);
SAME(am_barrier, gam_barrier);
SAME(am_wait, gam_wait);
SAME(am_poll_wait, gam_poll_wait);
SAME(am_dummy, gam_dummy);

// -- aliases of macros: what the old name becomes, as text, is what the new one becomes

#define TEXT(...) std::string_view(#__VA_ARGS__)
#define EXPANDED(...) TEXT(__VA_ARGS__)
#define STANDS_FOR(old, own) \
  static_assert(EXPANDED(old) == EXPANDED(own) && EXPANDED(old) != std::string_view(#old))
STANDS_FOR(am_wait_for(c), gam_wait_for(c));
STANDS_FOR(am_request_0(to, h), gam_request_0(to, h));
STANDS_FOR(am_request_1(to, h, a), gam_request_1(to, h, a));
STANDS_FOR(am_request_2(to, h, a, b), gam_request_2(to, h, a, b));
STANDS_FOR(am_request_3(to, h, a, b, c), gam_request_3(to, h, a, b, c));
STANDS_FOR(am_request_4(to, h, a, b, c, d), gam_request_4(to, h, a, b, c, d));
STANDS_FOR(am_request_5(to, h, a, b, c, d, e), gam_request_5(to, h, a, b, c, d, e));
STANDS_FOR(am_request_df(to, h, a, b, d), gam_request_df(to, h, a, b, d));
STANDS_FOR(am_request_fd(to, h, d, a, b), gam_request_fd(to, h, d, a, b));
STANDS_FOR(am_reply_0(to, h), gam_reply_0(to, h));
STANDS_FOR(am_reply_1(to, h, a), gam_reply_1(to, h, a));
STANDS_FOR(am_reply_2(to, h, a, b), gam_reply_2(to, h, a, b));
STANDS_FOR(am_reply_3(to, h, a, b, c), gam_reply_3(to, h, a, b, c));
STANDS_FOR(am_reply_4(to, h, a, b, c, d), gam_reply_4(to, h, a, b, c, d));
STANDS_FOR(am_reply_5(to, h, a, b, c, d, e), gam_reply_5(to, h, a, b, c, d, e));
STANDS_FOR(am_reply_df(to, h, a, b, d), gam_reply_df(to, h, a, b, d));
STANDS_FOR(am_reply_fd(to, h, d, a, b), gam_reply_fd(to, h, d, a, b));
STANDS_FOR(am_reply_xfer(to, l, r, n, h, arg), gam_reply_xfer(to, l, r, n, h, arg));
STANDS_FOR(am_store(to, l, r, n, h, arg), gam_store(to, l, r, n, h, arg));
STANDS_FOR(am_store_async(to, l, r, n, h, arg, e, earg), gam_store_async(to, l, r, n, h, arg, e, earg));
STANDS_FOR(am_get(to, r, l, n, h, arg), gam_get(to, r, l, n, h, arg));
STANDS_FOR(AM_PROCS, gam_procs());
STANDS_FOR(AM_MY_PROC, gam_my_proc());
STANDS_FOR(barrier(), gam_barrier());
STANDS_FOR(splitc_poll(), gam_poll());

// Those that have no underscore are names of <am/gam.h> itself.
STANDS_FOR(gam_request0(to, h), gam_request_0(to, h));
STANDS_FOR(gam_request1(to, h, a), gam_request_1(to, h, a));
STANDS_FOR(gam_request2(to, h, a, b), gam_request_2(to, h, a, b));
STANDS_FOR(gam_request3(to, h, a, b, c), gam_request_3(to, h, a, b, c));
STANDS_FOR(gam_request4(to, h, a, b, c, d), gam_request_4(to, h, a, b, c, d));
STANDS_FOR(gam_reply0(to, h), gam_reply_0(to, h));
STANDS_FOR(gam_reply1(to, h, a), gam_reply_1(to, h, a));
STANDS_FOR(gam_reply2(to, h, a, b), gam_reply_2(to, h, a, b));
STANDS_FOR(gam_reply3(to, h, a, b, c), gam_reply_3(to, h, a, b, c));
STANDS_FOR(gam_reply4(to, h, a, b, c, d), gam_reply_4(to, h, a, b, c, d));

// -- a program with the types of pSather's handlers: each is sent by the alias of its number of words

struct Seen {
  std::vector<long> words{};
  double number = 0;
  volatile int replies = 0;
};
thread_local Seen seen;

void saw(vnn_t from, const std::vector<long>& words) {
  seen.words.insert(seen.words.end(), words.begin(), words.end());
  check_equal(am_reply_0(from, static_cast<handler_0_t>([](vnn_t) { seen.replies = seen.replies + 1; })), 0,
              "am_reply_0");
}
void asks_0(vnn_t from) { saw(from, {0}); }
void asks_1(vnn_t from, long a) { saw(from, {a}); }
void asks_2(vnn_t from, long a, long b) { saw(from, {a, b}); }
void asks_3(vnn_t from, long a, long b, long c) { saw(from, {a, b, c}); }
void asks_4(vnn_t from, long a, long b, long c, long d) { saw(from, {a, b, c, d}); }
void asks_df(vnn_t from, long a, long b, double d) {
  seen.number = d;
  saw(from, {a, b});
}
void asks_mem(vnn_t from, void* /*address*/, int nbytes, void* /*argument*/) { saw(from, {nbytes}); }

using GamOldNames = test::OnANode;

TEST_P(GamOldNames, HandlersOfEachType) {
  run(1, [](am::Node&) {
    seen = {};
    check_equal(am_enable(1), 0, "am_enable");
    const handler_0_t none = asks_0;
    const handler_1_t one = asks_1;
    const handler_2_t two = asks_2;
    const handler_3_t three = asks_3;
    const handler_4_t four = asks_4;
    const handler_df_t with_double = asks_df;
    const handler_mem_t mem = asks_mem;
    const auto any = reinterpret_cast<handler_t>(asks_1);
    check_equal(AM_PROCS, 1, "AM_PROCS");
    const int me = AM_MY_PROC;
    // Each has run before the next is sent, also where the network holds messages back.
    auto answered = [before = 0]() mutable {
      ++before;
      while (seen.replies < before) splitc_poll();
    };
    check_equal(am_request_0(me, none), 0, "am_request_0");
    answered();
    check_equal(am_request_1(me, one, 1), 0, "am_request_1");
    answered();
    check_equal(am_request_2(me, two, 2, 3), 0, "am_request_2");
    answered();
    check_equal(am_request_3(me, three, 4, 5, 6), 0, "am_request_3");
    answered();
    check_equal(am_request_4(me, four, 7, 8, 9, 10), 0, "am_request_4");
    answered();
    check_equal(am_request_df(me, with_double, 11, 12, 0.25), 0, "am_request_df");
    answered();
    check_equal(am_request_1(me, any, 13), 0, "am_request_1 of any handler");
    answered();
    char byte = 1;
    check_equal(am_store(me, &byte, &byte, 1, mem, nullptr), 0, "am_store");
    answered();
    check(seen.words == std::vector<long>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 1}), "their words");
    check(seen.number == 0.25, "the double");
    check_equal(barrier(), 0, "barrier");
    check_equal(am_disable(), 0, "am_disable");
  });
}
INSTANTIATE_TEST_SUITE_P(Models, GamOldNames, test::cells_of<GamOldNames>(), test::name_of);

}  // namespace gam_old_names_test
