// <am/compat/gam/am.h>, and its other names: what old sources call am_ is the gam_ call that it stands for, word by word; and the
// types of handlers.
#include <gtest/gtest.h>

#include <string_view>
#include <type_traits>

// Old sources include "am.h", "gam.h" or "lam.h", some of them twice.
#include <am/compat/gam/am.h>
#include <am/compat/gam/gam.h>
#include <am/compat/gam/lam.h>

namespace gam_old_names_test {

// What the old names become, as text, and what they shall be.
#define TEXT(...) std::string_view(#__VA_ARGS__)
#define EXPANDED(...) TEXT(__VA_ARGS__)

TEST(GamOldNames, StandForTheNewOnes) {
  EXPECT_EQ(
      EXPANDED(am_enable, am_disable, am_exit, am_my_proc, am_procs, am_max_size, am_errno, am_isalive,
               am_poll, am_sleep, am_barrier, am_wait, am_wait_for, am_poll_wait, am_dummy, am_request_0,
               am_request_1, am_request_2, am_request_3, am_request_4, am_request_5, am_request_df,
               am_request_fd, am_reply_0, am_reply_1, am_reply_2, am_reply_3, am_reply_4, am_reply_5,
               am_reply_df, am_reply_fd, am_reply_xfer, am_store, am_store_async, am_get),
      TEXT(gam_enable, gam_disable, gam_exit, gam_my_proc, gam_procs, gam_max_size, gam_errno, gam_isalive,
           gam_poll, gam_sleep, gam_barrier, gam_wait, gam_wait_for, gam_poll_wait, gam_dummy, gam_request_0,
           gam_request_1, gam_request_2, gam_request_3, gam_request_4, gam_request_5, gam_request_df,
           gam_request_fd, gam_reply_0, gam_reply_1, gam_reply_2, gam_reply_3, gam_reply_4, gam_reply_5,
           gam_reply_df, gam_reply_fd, gam_reply_xfer, gam_store, gam_store_async, gam_get));
  EXPECT_EQ(EXPANDED(am_thread_poll, AM_PROCS, AM_MY_PROC, barrier(), splitc_poll()),
            TEXT(gam_poll, gam_procs(), gam_my_proc(), gam_barrier(), gam_poll()));
  // Those that have no underscore are names of <am/gam.h> itself.
  EXPECT_EQ(EXPANDED(gam_request0, gam_request1, gam_request2, gam_request3, gam_request4, gam_reply0,
                     gam_reply1, gam_reply2, gam_reply3, gam_reply4),
            TEXT(gam_request_0, gam_request_1, gam_request_2, gam_request_3, gam_request_4, gam_reply_0,
                 gam_reply_1, gam_reply_2, gam_reply_3, gam_reply_4));
}

// The types of pSather's handlers: each is taken by the alias of its number of words.
[[maybe_unused]] int sends_each(handler_0_t none, handler_1_t one, handler_2_t two, handler_3_t three,
                                handler_4_t four, handler_df_t with_double, handler_mem_t mem,
                                handler_t any) {
  char byte = 1;
  return am_request_0(0, none) + am_request_1(0, one, 1) + am_request_2(0, two, 2, 3) +
         am_request_3(0, three, 4, 5, 6) + am_request_4(0, four, 7, 8, 9, 10) +
         am_request_df(0, with_double, 11, 12, 0.25) + am_reply_0(0, none) + am_request_1(0, any, 13) +
         am_store(0, &byte, &byte, 1, mem, nullptr);
}
static_assert(std::is_same_v<handler_0_t, void (*)(vnn_t)>);
static_assert(std::is_same_v<handler_1_t, void (*)(vnn_t, long)>);
static_assert(std::is_same_v<handler_2_t, void (*)(vnn_t, long, long)>);
static_assert(std::is_same_v<handler_3_t, void (*)(vnn_t, long, long, long)>);
static_assert(std::is_same_v<handler_4_t, void (*)(vnn_t, long, long, long, long)>);
static_assert(std::is_same_v<handler_df_t, void (*)(vnn_t, long, long, double)>);
static_assert(std::is_same_v<handler_mem_t, void (*)(vnn_t, void*, int, void*)>);

}  // namespace gam_old_names_test
