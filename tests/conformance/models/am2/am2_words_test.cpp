// <am/am2.h>: the words of a message. Each kind has calls for 0 to 16 of them: requests and their replies, short, medium and bulk,
// those that do not wait, and gets: on every network and mode. How wide a word is; and what the older names of the calls stand for.

#include "support/am2_job.hpp"

// Old sources include "am.h", "amudp.h" or "ammpi.h", and the second one again.
#include <am/compat/am2/am.h>
#include <am/compat/am2/ammpi.h>
#include <am/compat/am2/ammpi_spmd.h>
#include <am/compat/am2/amudp.h>
#include <am/compat/am2/amudp_spmd.h>

namespace am2_words_test {

using namespace test;

using Am2Counts = test::OnAmx;

enum : handler_t {
  short_request = 1,
  short_reply,
  medium_request,
  medium_reply,
  bulk_request,
  bulk_reply,
  got = quiet + 1
};

// The first word is their number, so that a handler knows how many it has; then -2, 3, -4 ...: as int in these handlers.
#define WORDS1(n) n
#define WORDS2(n) WORDS1(n), -2
#define WORDS3(n) WORDS2(n), 3
#define WORDS4(n) WORDS3(n), -4
#define WORDS5(n) WORDS4(n), 5
#define WORDS6(n) WORDS5(n), -6
#define WORDS7(n) WORDS6(n), 7
#define WORDS8(n) WORDS7(n), -8
#define WORDS9(n) WORDS8(n), 9
#define WORDS10(n) WORDS9(n), -10
#define WORDS11(n) WORDS10(n), 11
#define WORDS12(n) WORDS11(n), -12
#define WORDS13(n) WORDS12(n), 13
#define WORDS14(n) WORDS13(n), -14
#define WORDS15(n) WORDS14(n), 15
#define WORDS16(n) WORDS15(n), -16
#define EACH_COUNT(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)

/// So that WORDS4(4) is four arguments before the macro counts them.
#define CALL(f, ...) f(__VA_ARGS__)

/// How many words were sent. They are as they were sent, and those behind are zero, up to eight.
int right_words(const std::array<int, 16>& words) {
  const int count = words[0];
  if (count < 0 || count > 16) {
    ++seen.wrong;
    return 0;
  }
  for (int i = 1; i < std::max(count, 8); ++i) {
    const int sent = i % 2 == 0 ? i + 1 : -i - 1;
    seen.wrong += words[static_cast<std::size_t>(i)] != (i < count ? sent : 0) ? 1 : 0;
  }
  return count;
}
#define SIXTEEN                                                                                              \
  int a0, int a1, int a2, int a3, int a4, int a5, int a6, int a7, int a8, int a9, int a10, int a11, int a12, \
      int a13, int a14, int a15
#define OF_SIXTEEN \
  { a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15 }

void replies_short(void* token, SIXTEEN) {
  ++seen.requests;
  switch (right_words(OF_SIXTEEN)) {
#define REPLY_SHORT(n) \
  case n:              \
    return ok(CALL(AM_Reply##n, token, short_reply, WORDS##n(n)), "AM_Reply");
    EACH_COUNT(REPLY_SHORT)
  }
  ok(AM_Reply0(token, short_reply), "AM_Reply0");
}
void short_replied(void* /*token*/, SIXTEEN) {
  ++seen.replies;
  seen.sum += right_words(OF_SIXTEEN);
}

/// One is wrong where bytes are not as they were sent: so many, and behind them as many as the words.
void check_bytes(const void* buf, int nbytes, int sent, int words) {
  const bool right = nbytes == sent + words && is_patterned(buf, static_cast<std::size_t>(nbytes), words);
  seen.wrong += right ? 0 : 1;
}

constexpr int medium_bytes = 1000;
void replies_medium(void* token, void* buf, int nbytes, SIXTEEN) {
  ++seen.requests;
  const int n = right_words(OF_SIXTEEN);
  check_bytes(buf, nbytes, medium_bytes, n);
  seen.wrong += reinterpret_cast<std::uintptr_t>(buf) % 8 == 0 ? 0 : 1;
  switch (n) {
#define REPLY_MEDIUM(m) \
  case m:               \
    return ok(CALL(AM_ReplyI##m, token, medium_reply, buf, nbytes, WORDS##m(m)), "AM_ReplyI");
    EACH_COUNT(REPLY_MEDIUM)
  }
  ok(AM_ReplyI0(token, medium_reply, buf, nbytes), "AM_ReplyI0");
}
void medium_replied(void* /*token*/, void* buf, int nbytes, SIXTEEN) {
  ++seen.replies;
  const int n = right_words(OF_SIXTEEN);
  seen.sum += n;
  check_bytes(buf, nbytes, medium_bytes, n);
}

constexpr int bulk_bytes = 10'000;
void replies_bulk(void* token, void* buf, int nbytes, SIXTEEN) {
  ++seen.requests;
  const int n = right_words(OF_SIXTEEN);
  seen.wrong += buf == seen.segment.data() + 64 * n ? 0 : 1;
  check_bytes(buf, nbytes, bulk_bytes, n);
  const auto back = static_cast<unsigned long>(20'000 + 64 * n);
  switch (n) {
#define REPLY_BULK(m) \
  case m:             \
    return ok(CALL(AM_ReplyXfer##m, token, back, bulk_reply, buf, nbytes, WORDS##m(m)), "AM_ReplyXfer");
    EACH_COUNT(REPLY_BULK)
  }
  ok(AM_ReplyXfer0(token, back, bulk_reply, buf, nbytes), "AM_ReplyXfer0");
}
void bulk_replied(void* /*token*/, void* buf, int nbytes, SIXTEEN) {
  ++seen.replies;
  const int n = right_words(OF_SIXTEEN);
  seen.sum += n;
  seen.wrong += buf == seen.segment.data() + 20'000 + 64 * n ? 0 : 1;
  check_bytes(buf, nbytes, bulk_bytes, n);
}
void got_it(void* /*token*/, void* buf, int nbytes, SIXTEEN) {
  ++seen.replies;
  const int n = right_words(OF_SIXTEEN);
  seen.sum += n;
  seen.wrong += buf == seen.segment.data() + 40'000 && nbytes == 1234 && is_patterned(buf, 1234, 99) ? 0 : 1;
}

/// Before anybody sends: the handlers, and what all get of each other.
void prepare(const Job& job) {
  set_handler(job.endpoint, short_request, replies_short);
  set_handler(job.endpoint, short_reply, short_replied);
  set_handler(job.endpoint, medium_request, replies_medium);
  set_handler(job.endpoint, medium_reply, medium_replied);
  set_handler(job.endpoint, bulk_request, replies_bulk);
  set_handler(job.endpoint, bulk_reply, bulk_replied);
  set_handler(job.endpoint, got, got_it);
  const std::vector<std::byte> data = patterned(1234, 99);
  std::copy(data.begin(), data.end(), seen.segment.begin() + 300);
  Job::barrier();
}

/// Every node has sent to its right neighbour and heard from it: counts 0 .. 16, as often as said.
void check_all_counts(const Job& job, int times) {
  job.until([&] { return seen.replies == 17 * times; });
  Job::barrier();
  check_equal(seen.requests, 17 * times, "requests");
  check_equal(seen.sum, 136L * times, "the words of all replies");
}

TEST_P(Am2Counts, ShortOnes) {
  run_amx(3, [](const Job& job) {
    prepare(job);
    const auto times = static_cast<int>(rounds(50));
    for (int i = 0; i < times; ++i) {
      ok(AM_Request0(job.endpoint, job.right, short_request), "AM_Request0");
#define SEND(n) ok(CALL(AM_Request##n, job.endpoint, job.right, short_request, WORDS##n(n)), "AM_Request");
      EACH_COUNT(SEND)
    }
    check_all_counts(job, times);
  });
}

TEST_P(Am2Counts, MediumOnes) {
  run_amx(3, [](const Job& job) {
    prepare(job);
    ok(AM_RequestMedium0(job.endpoint, job.right, medium_request, patterned(medium_bytes, 0).data(),
                         medium_bytes),
       "AM_RequestMedium0");
#define SEND_MEDIUM(n)                                                                                    \
  ok(CALL(AM_RequestI##n, job.endpoint, job.right, medium_request, patterned(medium_bytes + n, n).data(), \
          medium_bytes + n, WORDS##n(n)),                                                                 \
     "AM_RequestI");
    EACH_COUNT(SEND_MEDIUM)
    check_all_counts(job, 1);
  });
}

/// Until there is room: what does not wait is answered AM_ERR_NOT_SENT.
template <class F>
void send_async(const Job& job, F send) {
  int status = AM_ERR_NOT_SENT;
  while ((status = send()) == AM_ERR_NOT_SENT) ok(AM_Poll(job.bundle), "AM_Poll");
  ok(status, "an Async call");
}

/// Bulk ones overlap in the segment, so each is answered before the next is sent.
TEST_P(Am2Counts, BulkOnesThatWaitAndThatDoNot) {
  run_amx(3, [](const Job& job) {
    prepare(job);
    std::vector<std::byte> data;
    auto answered = [&, sent = 0]() mutable {
      std::fill(data.begin(), data.end(), std::byte{});  // it may be used again
      job.until([now = ++sent] { return seen.replies == now; });
    };
    data = patterned(bulk_bytes, 0);
    ok(AM_RequestLong0(job.endpoint, job.right, 0, bulk_request, data.data(), bulk_bytes), "AM_RequestLong0");
    answered();
#define SEND_BULK(n)                                                                                     \
  data = patterned(bulk_bytes + n, n);                                                                   \
  ok(CALL(AM_RequestXfer##n, job.endpoint, job.right, 64 * n, bulk_request, data.data(), bulk_bytes + n, \
          WORDS##n(n)),                                                                                  \
     "AM_RequestXfer");                                                                                  \
  answered();
    EACH_COUNT(SEND_BULK)
    data = patterned(bulk_bytes, 0);
    send_async(job, [&] {
      return AM_RequestXferAsync0(job.endpoint, job.right, 0, bulk_request, data.data(), bulk_bytes);
    });
    answered();
#define SEND_ASYNC(n)                                                                               \
  data = patterned(bulk_bytes + n, n);                                                              \
  send_async(job, [&] {                                                                             \
    return CALL(AM_RequestXferAsync##n, job.endpoint, job.right, 64 * n, bulk_request, data.data(), \
                bulk_bytes + n, WORDS##n(n));                                                       \
  });                                                                                               \
  answered();
    EACH_COUNT(SEND_ASYNC)
    check_all_counts(job, 2);
  });
}

TEST_P(Am2Counts, GetsThatWaitAndThatDoNot) {
  run_amx(3, [](const Job& job) {
    prepare(job);
    const auto check_gets = [&](int replies, long words) {
      job.until([=] { return seen.replies == replies; });
      check_equal(seen.sum, words, "words");
    };
    ok(AM_GetXfer0(job.endpoint, job.right, 300, got, 40'000, 1234), "AM_GetXfer0");
#define GET(n) \
  ok(CALL(AM_GetXfer##n, job.endpoint, job.right, 300, got, 40'000, 1234, WORDS##n(n)), "AM_GetXfer");
    EACH_COUNT(GET)
    check_gets(17, 136);
    send_async(job, [&] { return AM_GetXferAsynch0(job.endpoint, job.right, 300, got, 40'000, 1234); });
#define GET_ASYNC(n)                                                                                \
  send_async(job, [&] {                                                                             \
    return CALL(AM_GetXferAsynch##n, job.endpoint, job.right, 300, got, 40'000, 1234, WORDS##n(n)); \
  });
    EACH_COUNT(GET_ASYNC)
    check_gets(34, 272);
    for (int sent = 0; sent < 50;) {
      if (AM_GetXferAsynch1(job.endpoint, job.right, 300, got, 40'000, 1234, 1) == AM_OK) ++sent;
      ok(AM_Poll(job.bundle), "AM_Poll");
    }
    check_gets(84, 322);
  });
}
INSTANTIATE_TEST_SUITE_P(Models, Am2Counts, test::cells_of<Am2Counts>(), test::name_of);

thread_local void* word_seen;
void sees_pointer(void* /*token*/, void* word) { word_seen = word; }

TEST(Am2Words, AreAsWideAsPointers) {
  run_am2_alone([] {
    const Place place;
    ok(AM_Map(place.endpoint, 0, place.name, 5), "AM_Map");
    set_handler(place.endpoint, 1, sees_pointer);
    ok(AM_Request1(place.endpoint, 0, 1, &word_seen), "AM_Request1");
    check(word_seen == &word_seen, "a pointer, which ran inside the call as it goes to its own node");
  });
}

// -- older names: what such a one becomes, as text, is what the new one becomes, the call with as many words as its name says

#define TEXT(...) std::string_view(#__VA_ARGS__)
#define EXPANDED(...) TEXT(__VA_ARGS__)
#define STANDS_FOR(old, own) \
  static_assert(EXPANDED(old) == EXPANDED(own) && EXPANDED(own).starts_with("am2_re"))

#define OLDER(n, ...)                                                                   \
  STANDS_FOR(AM_RequestMedium##n(ep, to, h, src, nbytes __VA_OPT__(, ) __VA_ARGS__),    \
             AM_RequestI##n(ep, to, h, src, nbytes __VA_OPT__(, ) __VA_ARGS__));        \
  STANDS_FOR(AM_RequestLong##n(ep, to, at, h, src, nbytes __VA_OPT__(, ) __VA_ARGS__),  \
             AM_RequestXfer##n(ep, to, at, h, src, nbytes __VA_OPT__(, ) __VA_ARGS__)); \
  STANDS_FOR(AM_ReplyMedium##n(token, h, src, nbytes __VA_OPT__(, ) __VA_ARGS__),       \
             AM_ReplyI##n(token, h, src, nbytes __VA_OPT__(, ) __VA_ARGS__));           \
  STANDS_FOR(AM_ReplyLong##n(token, at, h, src, nbytes __VA_OPT__(, ) __VA_ARGS__),     \
             AM_ReplyXfer##n(token, at, h, src, nbytes __VA_OPT__(, ) __VA_ARGS__))

OLDER(0);
#define OLDER_OF(n) OLDER(n, WORDS##n(n));
EACH_COUNT(OLDER_OF)
static_assert(EXPANDED(AM_Unmap) == EXPANDED(AM_UnMap));

}  // namespace am2_words_test
