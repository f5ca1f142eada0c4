// <am/am2.h>: messages of each kind, tokens, returned messages, bundles that are polled or not, waits: on every network and mode.
#include <am/collectives.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <vector>

#include "support/am2.hpp"

namespace {

using test::check;
using test::check_equal;
using test::handler;
using test::ok;
using test::Place;
using test::rounds;

using Am2Messages = test::OnEverySubstrate;

/// A job of AMX: one endpoint each, entry i is node i. What comes back is kept.
struct Job {
  Job() {
    test::returned.clear();
    ok(AMX_SPMDStartup(nullptr, nullptr, 0, nullptr, &bundle, &endpoint), "AMX_SPMDStartup");
    ok(AM_SetHandler(endpoint, 0, handler(test::keep_returned)), "AM_SetHandler");
    me = AMX_SPMDMyProc();
    n = AMX_SPMDNumProcs();
    right = (me + 1) % n;
  }
  /// Between setting up and traffic, and before the end.
  static void barrier() { ok(AMX_SPMDBarrier(), "AMX_SPMDBarrier"); }
  template <class P>
  void until(P pred) const {
    while (!pred()) {
      ok(AM_SetEventMask(bundle, AM_NOTEMPTY), "AM_SetEventMask");
      ok(AM_WaitSema(bundle), "AM_WaitSema");
      ok(AM_Poll(bundle), "AM_Poll");
    }
  }

  eb_t bundle{};
  ep_t endpoint{};
  int me = 0;
  int n = 0;
  int right = 0;
};

/// What the handlers of one node have seen. They run on its own thread, in every mode.
struct Seen {
  int requests = 0;
  int replies = 0;
  long sum = 0;
  int wrong = 0;
  ep_t endpoint = nullptr;
  std::vector<std::byte> segment{};
};
thread_local Seen seen;

std::byte pattern(std::size_t i, int salt) {
  return static_cast<std::byte>(i * 7 + static_cast<std::size_t>(salt));
}
std::vector<std::byte> patterned(std::size_t bytes, int salt) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = pattern(i, salt);
  return data;
}
bool is_patterned(const void* data, std::size_t bytes, int salt) {
  for (std::size_t i = 0; i < bytes; ++i)
    if (static_cast<const std::byte*>(data)[i] != pattern(i, salt)) return false;
  return true;
}

enum : handler_t {
  short_request = 1,
  short_reply,
  medium_request,
  medium_reply,
  bulk_request,
  bulk_reply,
  quiet,
  got
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

constexpr int medium_bytes = 1000;
void replies_medium(void* token, void* buf, int nbytes, SIXTEEN) {
  ++seen.requests;
  const int n = right_words(OF_SIXTEEN);
  seen.wrong += nbytes == medium_bytes + n && is_patterned(buf, static_cast<std::size_t>(nbytes), n) ? 0 : 1;
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
  seen.wrong += nbytes == medium_bytes + n && is_patterned(buf, static_cast<std::size_t>(nbytes), n) ? 0 : 1;
}

constexpr int bulk_bytes = 10'000;
void replies_bulk(void* token, void* buf, int nbytes, SIXTEEN) {
  ++seen.requests;
  const int n = right_words(OF_SIXTEEN);
  seen.wrong += buf == seen.segment.data() + 64 * n ? 0 : 1;
  seen.wrong += nbytes == bulk_bytes + n && is_patterned(buf, static_cast<std::size_t>(nbytes), n) ? 0 : 1;
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
  seen.wrong += nbytes == bulk_bytes + n && is_patterned(buf, static_cast<std::size_t>(nbytes), n) ? 0 : 1;
}
void got_it(void* /*token*/, void* buf, int nbytes, SIXTEEN) {
  ++seen.replies;
  const int n = right_words(OF_SIXTEEN);
  seen.sum += n;
  seen.wrong += buf == seen.segment.data() + 40'000 && nbytes == 1234 && is_patterned(buf, 1234, 99) ? 0 : 1;
}
void sees_quietly(void* /*token*/, long word) {
  ++seen.requests;
  seen.sum += word;
}

void set_handlers(const Job& job) {
  seen = {};
  seen.endpoint = job.endpoint;
  seen.segment.resize(64'000);
  ok(AM_SetSeg(job.endpoint, seen.segment.data(), seen.segment.size()), "AM_SetSeg");
  ok(AM_SetHandler(job.endpoint, short_request, handler(replies_short)), "AM_SetHandler");
  ok(AM_SetHandler(job.endpoint, short_reply, handler(short_replied)), "AM_SetHandler");
  ok(AM_SetHandler(job.endpoint, medium_request, handler(replies_medium)), "AM_SetHandler");
  ok(AM_SetHandler(job.endpoint, medium_reply, handler(medium_replied)), "AM_SetHandler");
  ok(AM_SetHandler(job.endpoint, bulk_request, handler(replies_bulk)), "AM_SetHandler");
  ok(AM_SetHandler(job.endpoint, bulk_reply, handler(bulk_replied)), "AM_SetHandler");
  ok(AM_SetHandler(job.endpoint, quiet, handler(sees_quietly)), "AM_SetHandler");
  ok(AM_SetHandler(job.endpoint, got, handler(got_it)), "AM_SetHandler");
}

/// Every node has sent to its right neighbour and heard from it: counts 0 .. 16, as often as said.
void check_all_counts(const Job& job, int times) {
  job.until([&] { return seen.replies == 17 * times; });
  Job::barrier();
  check_equal(seen.requests, 17 * times, "requests");
  check_equal(seen.sum, 136L * times, "the words of all replies");
  check_equal(seen.wrong, 0, "what was wrong");
  check(test::returned.empty(), "nothing comes back");
}

TEST_P(Am2Messages, ShortOnesOfEveryCount) {
  run(3, [](am::Node&) {
    const Job job;
    set_handlers(job);
    Job::barrier();
    const auto times = static_cast<int>(rounds(50));
    for (int i = 0; i < times; ++i) {
      ok(AM_Request0(job.endpoint, job.right, short_request), "AM_Request0");
#define SEND(n) ok(CALL(AM_Request##n, job.endpoint, job.right, short_request, WORDS##n(n)), "AM_Request");
      EACH_COUNT(SEND)
    }
    check_all_counts(job, times);
    ok(AM_Terminate(), "AM_Terminate");
  });
}

TEST_P(Am2Messages, MediumOnesOfEveryCount) {
  run(3, [](am::Node&) {
    const Job job;
    set_handlers(job);
    Job::barrier();
    ok(AM_RequestMedium0(job.endpoint, job.right, medium_request, patterned(medium_bytes, 0).data(),
                         medium_bytes),
       "0");
#define SEND_MEDIUM(n)                                                                                    \
  ok(CALL(AM_RequestI##n, job.endpoint, job.right, medium_request, patterned(medium_bytes + n, n).data(), \
          medium_bytes + n, WORDS##n(n)),                                                                 \
     "AM_RequestI");
    EACH_COUNT(SEND_MEDIUM)
    check_all_counts(job, 1);
    ok(AM_Terminate(), "AM_Terminate");
  });
}

TEST_P(Am2Messages, BulkOnesOfEveryCount) {
  run(3, [](am::Node&) {
    const Job job;
    set_handlers(job);
    Job::barrier();
    ok(AM_RequestLong0(job.endpoint, job.right, 0, bulk_request, patterned(bulk_bytes, 0).data(), bulk_bytes),
       "0");
#define SEND_BULK(n)                                                         \
  ok(CALL(AM_RequestXfer##n, job.endpoint, job.right, 64 * n, bulk_request,  \
          patterned(bulk_bytes + n, n).data(), bulk_bytes + n, WORDS##n(n)), \
     "AM_RequestXfer");                                                      \
  job.until([] { return seen.replies == n + 1; }); /* they overlap in the segment */
    EACH_COUNT(SEND_BULK)
    check_all_counts(job, 1);
    ok(AM_Terminate(), "AM_Terminate");
  });
}

/// Until there is room: what does not wait is answered AM_ERR_NOT_SENT.
template <class F>
void send_async(const Job& job, F send) {
  int status = AM_ERR_NOT_SENT;
  while ((status = send()) == AM_ERR_NOT_SENT) ok(AM_Poll(job.bundle), "AM_Poll");
  ok(status, "an Async call");
}

TEST_P(Am2Messages, AsyncBulkOnesOfEveryCount) {
  run(3, [](am::Node&) {
    const Job job;
    set_handlers(job);
    Job::barrier();
    std::vector<std::byte> data = patterned(bulk_bytes, 0);
    send_async(job, [&] {
      return AM_RequestXferAsync0(job.endpoint, job.right, 0, bulk_request, data.data(), bulk_bytes);
    });
#define SEND_ASYNC(n)                                                                               \
  data = patterned(bulk_bytes + n, n);                                                              \
  send_async(job, [&] {                                                                             \
    return CALL(AM_RequestXferAsync##n, job.endpoint, job.right, 64 * n, bulk_request, data.data(), \
                bulk_bytes + n, WORDS##n(n));                                                       \
  });                                                                                               \
  std::fill(data.begin(), data.end(), std::byte{}); /* it may be used again */                      \
  job.until([] { return seen.replies == n + 1; });  /* they overlap in the segment */
    EACH_COUNT(SEND_ASYNC)
    check_all_counts(job, 1);
    ok(AM_Terminate(), "AM_Terminate");
  });
}

/// What all nodes get of each other, before anybody does.
void offer_for_gets() {
  const std::vector<std::byte> data = patterned(1234, 99);
  std::copy(data.begin(), data.end(), seen.segment.begin() + 300);
  Job::barrier();
}
/// Of those with 0 to 16 words one has come each.
void check_gets_of_every_count(const Job& job) {
  job.until([] { return seen.replies == 17; });
  check_equal(seen.sum, 136L, "words");
  check_equal(seen.wrong, 0, "what was wrong");
}

TEST_P(Am2Messages, AsyncGetsOfEveryCount) {
  run(3, [](am::Node&) {
    const Job job;
    set_handlers(job);
    offer_for_gets();
    send_async(job, [&] { return AM_GetXferAsynch0(job.endpoint, job.right, 300, got, 40'000, 1234); });
#define GET_ASYNC(n)                                                                                \
  send_async(job, [&] {                                                                             \
    return CALL(AM_GetXferAsynch##n, job.endpoint, job.right, 300, got, 40'000, 1234, WORDS##n(n)); \
  });
    EACH_COUNT(GET_ASYNC)
    check_gets_of_every_count(job);
    check(test::returned.empty(), "nothing comes back");
    Job::barrier();
    ok(AM_Terminate(), "AM_Terminate");
  });
}

TEST_P(Am2Messages, GetsOfEveryCount) {
  run(3, [](am::Node&) {
    const Job job;
    set_handlers(job);
    offer_for_gets();
    ok(AM_GetXfer0(job.endpoint, job.right, 300, got, 40'000, 1234), "AM_GetXfer0");
#define GET(n) \
  ok(CALL(AM_GetXfer##n, job.endpoint, job.right, 300, got, 40'000, 1234, WORDS##n(n)), "AM_GetXfer");
    EACH_COUNT(GET)
    check_gets_of_every_count(job);
    for (int sent = 0; sent < 50;) {
      if (AM_GetXferAsynch1(job.endpoint, job.right, 300, got, 40'000, 1234, 1) == AM_OK) ++sent;
      ok(AM_Poll(job.bundle), "AM_Poll");
    }
    job.until([] { return seen.replies == 67; });
    check_equal(seen.wrong, 0, "what was wrong");
    Job::barrier();
    ok(AM_Terminate(), "AM_Terminate");
  });
}

// -- to oneself, where the ranges may overlap: they are copied by way of a message

/// Bytes of the own segment, to another place there.
struct Move {
  std::size_t from;
  std::size_t to;
  std::size_t bytes;
};
thread_local Move move_back;
void moves_back(void* token, const std::byte* buf, int nbytes) {
  ++seen.requests;
  seen.wrong += buf == seen.segment.data() + move_back.from ? 0 : 1;
  ok(AM_ReplyXfer0(token, move_back.to, quiet, buf, nbytes), "AM_ReplyXfer0");
}

TEST_P(Am2Messages, RangesOfOnesOwnSegmentMayOverlap) {
  run(2, [](am::Node&) {
    const Job job;
    set_handlers(job);
    ok(AM_SetHandler(job.endpoint, quiet, handler(+[](void*) { ++seen.replies; })), "AM_SetHandler");
    ok(AM_SetHandler(job.endpoint, 20, handler(moves_back)), "AM_SetHandler");
    ok(AM_SetHandler(job.endpoint, 21,
                     handler(+[](void* token) { ok(AM_Reply0(token, quiet), "AM_Reply0"); })),
       "AM_SetHandler");
    Job::barrier();
    const auto moved = [](std::vector<std::byte>& memory, const Move& move) {
      std::memmove(memory.data() + move.to, memory.data() + move.from, move.bytes);
    };
    int salt = 0;
    for (const std::size_t bytes : {1, 37, 1000, 50'000}) {
      for (const std::size_t apart : {std::size_t{0}, std::size_t{1}, std::size_t{20}, bytes - 1}) {
        if (8 + apart + bytes > seen.segment.size()) continue;
        const Move up{8, 8 + apart, bytes};
        const Move down{8 + apart, 8, bytes};
        for (const Move& move : {up, down}) {
          std::vector<std::byte> expected = patterned(seen.segment.size(), ++salt);
          const auto n = static_cast<int>(bytes);
          const auto become = [&](std::string_view what) {
            job.until([] { return seen.replies == 1; });
            seen.replies = 0;
            moved(expected, move);
            check(seen.segment == expected, what);
          };
          std::copy(expected.begin(), expected.end(), seen.segment.begin());
          ok(AM_RequestXfer0(job.endpoint, job.me, move.to, 21, seen.segment.data() + move.from, n),
             "AM_RequestXfer0");
          become("a request's bytes");
          ok(AM_GetXfer0(job.endpoint, job.me, move.from, quiet, move.to, n), "AM_GetXfer0");
          become("a get's bytes");
          // There and back again: the reply's bytes are read where the request has put them.
          move_back = {move.to, move.from, bytes};
          ok(AM_RequestXfer0(job.endpoint, job.me, move.to, 20, seen.segment.data() + move.from, n),
             "AM_RequestXfer0");
          moved(expected, move);
          job.until([] { return seen.replies == 1; });
          seen.replies = 0;
          moved(expected, move_back);
          check(seen.segment == expected, "a reply's bytes");
        }
      }
    }
    check_equal(seen.wrong, 0, "what was wrong");
    check(test::returned.empty(), "nothing comes back");
    Job::barrier();
    ok(AM_Terminate(), "AM_Terminate");
  });
}

thread_local void* word_seen;
void sees_pointer(void* /*token*/, void* word) { word_seen = word; }

TEST(Am2Words, AreAsWideAsPointers) {
  test::run_am2_alone([] {
    const Place place;
    ok(AM_Map(place.endpoint, 0, place.name, 5), "AM_Map");
    ok(AM_SetHandler(place.endpoint, 1, handler(sees_pointer)), "AM_SetHandler");
    ok(AM_Request1(place.endpoint, 0, 1, &word_seen), "AM_Request1");
    check(word_seen == &word_seen, "a pointer, which ran inside the call as it goes to its own node");
  });
}

// -- tokens

thread_local std::vector<int> statuses;
void asks_its_token(void* token) {
  en_t source{};
  ep_t endpoint = nullptr;
  tag_t tag = 0;
  int id = -1;
  ok(AM_GetSourceEndpoint(token, &source), "AM_GetSourceEndpoint");
  ok(AM_GetDestEndpoint(token, &endpoint), "AM_GetDestEndpoint");
  ok(AM_GetMsgTag(token, &tag), "AM_GetMsgTag");
  ok(AMX_GetSourceId(token, &id), "AMX_GetSourceId");
  check(tag != AM_NONE && tag != AM_ALL, "the tag that the message came with");
  check(endpoint == seen.endpoint, "the endpoint it came to");
  eb_t bundle = nullptr;
  ok(AM_AllocateBundle(AM_SEQ, &bundle), "a handler may set up");
  statuses = {AM_Reply1(nullptr, quiet, 1),
              AM_Reply1(&source, quiet, 1),
              AM_Reply1(token, 256, 1),
              AM_Reply1(token, quiet, 2),
              AM_Reply1(token, quiet, 4),
              AM_Poll(bundle),
              AM_Request0(endpoint, 0, quiet),
              AM_FreeEndpoint(endpoint),
              AM_WaitSema(bundle),
              AMX_SPMDBarrier(),
              AM_Terminate()};
  ++seen.requests;
  seen.sum += id;
}
void replies_to_a_reply(void* token, long /*word*/) {
  statuses.push_back(AM_Reply0(token, quiet));
  ++seen.replies;
}

TEST_P(Am2Messages, OneReplyToARequestAndNothingElseFromAHandler) {
  run(2, [](am::Node&) {
    const Job job;
    set_handlers(job);
    statuses.clear();
    ok(AM_SetHandler(job.endpoint, 20, handler(asks_its_token)), "AM_SetHandler");
    ok(AM_SetHandler(job.endpoint, quiet, handler(replies_to_a_reply)), "AM_SetHandler");
    Job::barrier();
    if (job.me == 0) {
      ok(AM_Request0(job.endpoint, 1, 20), "AM_Request0");
      job.until([] { return seen.replies == 1; });
      check_equal(statuses.back(), AM_ERR_RESOURCE, "a reply to a reply");
      check_equal(AM_Reply0(&seen, quiet), AM_ERR_BAD_ARG, "outside of handlers");
    } else {
      job.until([] { return seen.requests == 1; });
      const std::vector<int> expected = {AM_ERR_BAD_ARG,  AM_ERR_BAD_ARG,  AM_ERR_BAD_ARG,  AM_OK,
                                         AM_ERR_RESOURCE, AM_ERR_RESOURCE, AM_ERR_RESOURCE, AM_ERR_RESOURCE,
                                         AM_ERR_RESOURCE, AM_ERR_RESOURCE, AM_ERR_RESOURCE};
      check(statuses == expected, "what a handler is answered");
    }
    Job::barrier();
    ok(AM_Terminate(), "AM_Terminate");
  });
}

// -- what comes back

TEST_P(Am2Messages, ComeBackThroughHandler0) {
  run(2, [](am::Node& node) {
    const test::Am2 am2;
    const Place place(77);
    seen = {};
    std::array<std::byte, 100> memory{};
    ok(AM_SetSeg(place.endpoint, memory.data(), memory.size()), "AM_SetSeg");
    ok(AM_SetHandler(place.endpoint, quiet, handler(sees_quietly)), "AM_SetHandler");
    std::vector<en_t> names;
    node.barrier();
    // Names travel by AM-II's own means: known endpoints.
    ep_t known = nullptr;
    ok(AM_AllocateKnownEndpoint(place.bundle, &known, nullptr, 7), "AM_AllocateKnownEndpoint");
    ok(AM_SetTag(known, 77), "AM_SetTag");
    ok(AM_SetHandler(known, quiet, handler(sees_quietly)), "AM_SetHandler");
    ok(AM_SetSeg(known, memory.data(), memory.size()), "AM_SetSeg");
    node.barrier();
    const int other = 1 - static_cast<int>(node.id());
    ok(AM_Map(place.endpoint, 0, am2_known_name(other, 7), 77), "right in every way");
    ok(AM_Map(place.endpoint, 1, am2_known_name(other, 7), 78), "another tag");
    ok(AM_Map(place.endpoint, 2, am2_known_name(other, 8), 77), "no endpoint");
    ok(AM_Map(place.endpoint, 3, am2_known_name(9, 7), 77), "no node");
    const auto expect = [&](int status, op_t opcode, int handler_index) {
      const test::Returned back = place.come_back();
      check_equal(back.status, status, "why it came back");
      check_equal(back.opcode, opcode | 2 << 8, "what it was");
      check_equal(back.block.handler, handler_index, "for which handler");
      check_equal(back.block.count, 2, "its words");
      check(back.block.words[0] == 10 && back.block.words[1] == 20, "its words");
      check(test::returned.empty(), "once");
    };
    ok(AM_Request2(place.endpoint, 1, quiet, 10, 20), "AM_Request2");
    expect(EBADTAG, AM_REQUEST_M, quiet);
    ok(AM_Request2(place.endpoint, 2, quiet, 10, 20), "AM_Request2");
    expect(EBADENDPOINT, AM_REQUEST_M, quiet);
    ok(AM_Request2(place.endpoint, 3, quiet, 10, 20), "AM_Request2");
    expect(EBADENDPOINT, AM_REQUEST_M, quiet);
    ok(AM_Request2(place.endpoint, 4, quiet, 10, 20), "AM_Request2");
    expect(EBADENTRY, AM_REQUEST_M, quiet);
    ok(AM_Request2(place.endpoint, 0, 100, 10, 20), "AM_Request2");
    expect(EBADHANDLER, AM_REQUEST_M, 100);
    ok(AM_Request2(place.endpoint, 0, 0, 10, 20), "handler 0 is for nothing else");
    expect(EBADHANDLER, AM_REQUEST_M, 0);
    const char bytes[101] = {};
    ok(AM_RequestI2(place.endpoint, 1, quiet, bytes, 50, 10, 20), "AM_RequestI2");
    expect(EBADTAG, AM_REQUEST_IM, quiet);
    for (const unsigned long offset : {0ul, 1ul, 100ul, ~0ul, ~0ul - 100}) {
      ok(AM_RequestXfer2(place.endpoint, 0, offset, quiet, bytes, 101, 10, 20), "AM_RequestXfer2");
      expect(EBADSEGOFF, AM_REQUEST_XFER_M, quiet);
      ok(AM_GetXfer2(place.endpoint, 0, offset, quiet, 0, 101, 10, 20), "AM_GetXfer2");
      expect(EBADSEGOFF, AM_GET_XFER_M, quiet);
    }
    check_equal(AM_Request0(place.endpoint, -1, quiet), AM_ERR_BAD_ARG, "no index");
    check_equal(AM_Request0(place.endpoint, 256, quiet), AM_ERR_BAD_ARG, "no index");
    check_equal(AM_Request0(place.endpoint, 0, 256), AM_ERR_BAD_ARG, "no handler");
    check_equal(AM_RequestI0(place.endpoint, 0, quiet, bytes, -1), AM_ERR_BAD_ARG, "no length");
    check_equal(AM_RequestI0(place.endpoint, 0, quiet, bytes, AM_MaxMedium() + 1), AM_ERR_BAD_ARG,
                "too long");
    check_equal(AM_RequestXfer0(place.endpoint, 0, 0, quiet, bytes, AM_MaxLong() + 1), AM_ERR_BAD_ARG,
                "too long");
    check_equal(AM_RequestI0(place.endpoint, 0, quiet, nullptr, 1), AM_ERR_BAD_ARG, "no memory");
    check_equal(am2_request(place.endpoint, 0, quiet, 17), AM_ERR_BAD_ARG, "too many words");
    // Nothing of all that ran a handler; and one that is right does.
    ok(AM_Request1(place.endpoint, 0, quiet, 5), "AM_Request1");
    place.until([&] { return seen.requests >= 1; });
    // The other one's requests have come back to it before it gets here.
    place.until([&, told = false]() mutable {
      if (!told) ok(AM_Request1(place.endpoint, 0, quiet, 6), "done");
      told = true;
      return seen.requests == 2;
    });
    check_equal(seen.sum, 11L, "the words of the two that were right");
    check_equal(std::accumulate(memory.begin(), memory.end(), 0,
                                [](int a, std::byte b) { return a + static_cast<int>(b); }),
                0, "the segment");
    node.barrier();
  });
}

TEST_P(Am2Messages, TagsOfAllAndNone) {
  run(1, [](am::Node&) {
    const test::Am2 am2;
    const Place place;
    seen = {};
    ok(AM_SetHandler(place.endpoint, quiet, handler(sees_quietly)), "AM_SetHandler");
    ok(AM_Map(place.endpoint, 0, place.name, 12345), "AM_Map");
    ok(AM_Request1(place.endpoint, 0, quiet, 1), "AM_ALL takes every tag");
    place.until([] { return seen.requests == 1; });
    ok(AM_SetTag(place.endpoint, AM_NONE), "AM_SetTag");
    ok(AM_Map(place.endpoint, 1, place.name, AM_NONE), "AM_Map");
    for (const int entry : {0, 1}) {
      ok(AM_Request1(place.endpoint, entry, quiet, 1), "AM_Request1");
      check_equal(place.come_back().status, EBADTAG, "AM_NONE takes none");
    }
    ok(AM_SetTag(place.endpoint, 12345), "AM_SetTag");
    ok(AM_Request1(place.endpoint, 0, quiet, 1), "its tag");
    place.until([] { return seen.requests == 2; });
  });
}

// -- bundles

TEST_P(Am2Messages, ABundleThatIsNotPolledRunsNothing) {
  run(1, [](am::Node&) {
    const test::Am2 am2;
    const Place here;
    const Place there;
    Place third;
    seen = {};
    ok(AM_SetHandler(there.endpoint, quiet, handler(sees_quietly)), "AM_SetHandler");
    ok(AM_SetExpectedResources(here.endpoint, 1, 5), "AM_SetExpectedResources");
    ok(AM_Map(here.endpoint, 0, there.name, 1), "AM_Map");
    std::array<char, 1> byte{};
    ok(AM_SetSeg(there.endpoint, byte.data(), 1), "AM_SetSeg");
    for (int i = 0; i < 5; ++i) ok(AM_Request1(here.endpoint, 0, quiet, i), "AM_Request1");
    // The sixth has no credit, however often this bundle is polled.
    for (int i = 0; i < 20; ++i) {
      check_equal(AM_RequestXferAsync0(here.endpoint, 0, 0, quiet, byte.data(), 1), AM_ERR_NOT_SENT,
                  "a sixth");
      ok(AM_Poll(here.bundle), "AM_Poll");
    }
    check_equal(seen.requests, 0, "handlers that ran");
    ok(AM_SetEventMask(there.bundle, AM_NOTEMPTY), "AM_SetEventMask");
    ok(AM_WaitSema(there.bundle), "AM_WaitSema");
    int mask = -1;
    ok(AM_GetEventMask(there.bundle, &mask), "AM_GetEventMask");
    check_equal(mask, AM_NOEVENTS, "after the wait");
    check_equal(seen.requests, 0, "a wait runs none");
    ok(AM_MoveEndpoint(there.endpoint, there.bundle, third.bundle), "AM_MoveEndpoint");
    ok(AM_Poll(there.bundle), "AM_Poll");
    check_equal(seen.requests, 0, "they went with their endpoint");
    third.until([] { return seen.requests == 5; });  // the network may hold some back for a while
    check_equal(seen.sum, 10L, "their words");
    here.until([&] { return AM_RequestXferAsync0(here.endpoint, 0, 0, quiet, byte.data(), 1) == AM_OK; });
  });
}

void waits(void* token) {
  eb_t bundle = nullptr;
  ok(AM_AllocateBundle(AM_SEQ, &bundle), "AM_AllocateBundle");
  check_equal(AM_Wait(bundle), AM_ERR_RESOURCE, "AM_Wait in a handler");
  ok(AM_Reply1(token, quiet, 1), "AM_Reply1");
}

// AM_Wait is UDPAM's name. It sees a message, runs none, and clears the mask.
TEST_P(Am2Messages, AWaitByItsOtherName) {
  run(2, [](am::Node&) {
    const Job job;
    set_handlers(job);
    ok(AM_SetHandler(job.endpoint, 20, handler(waits)), "AM_SetHandler");
    Job::barrier();
    if (job.me == 0) {
      ok(AM_SetEventMask(job.bundle, AM_NOTEMPTY), "AM_SetEventMask");
      ok(AM_Request0(job.endpoint, 1, 20), "AM_Request0");
      ok(AM_Wait(job.bundle), "AM_Wait");
      check_equal(seen.requests, 0, "handlers that ran");
      int mask = -1;
      ok(AM_GetEventMask(job.bundle, &mask), "AM_GetEventMask");
      check_equal(mask, AM_NOEVENTS, "after the wait");
      ok(AM_Poll(job.bundle), "AM_Poll");
      check_equal(seen.requests, 1, "the reply that it waited for");
    }
    Job::barrier();
    ok(AM_Terminate(), "AM_Terminate");
  });
}

TEST_P(Am2Messages, WhatWaitsForAFreedEndpointComesBack) {
  run(1, [](am::Node&) {
    const test::Am2 am2;
    const Place here;
    const Place there;
    ok(AM_Map(here.endpoint, 0, there.name, 1), "AM_Map");
    for (int i = 0; i < 3; ++i) ok(AM_Request1(here.endpoint, 0, quiet, i), "AM_Request1");
    ok(AM_Poll(here.bundle), "AM_Poll");
    ok(AM_FreeEndpoint(there.endpoint), "AM_FreeEndpoint");
    for (int i = 0; i < 3; ++i) {
      const test::Returned back = here.come_back();
      check_equal(back.status, EBADENDPOINT, "why");
      check_equal(AMX_enEqual(back.block.endpoint, there.name), 1, "from where");
    }
    ok(AM_Request1(here.endpoint, 0, quiet, 9), "AM_Request1");
    check_equal(here.come_back().status, EBADENDPOINT, "one that is sent later");
  });
}

void replies_late(void* token, long /*word*/) {
  ++seen.requests;
  ok(AM_Reply2(token, quiet, 3, 4), "AM_Reply2");
}

TEST_P(Am2Messages, AReplyToAFreedEndpointComesBack) {
  run(1, [](am::Node&) {
    const test::Am2 am2;
    const Place here;
    const Place there;
    seen = {};
    ok(AM_SetHandler(there.endpoint, 1, handler(replies_late)), "AM_SetHandler");
    ok(AM_Map(here.endpoint, 0, there.name, 1), "AM_Map");
    ok(AM_Request1(here.endpoint, 0, 1, 1), "AM_Request1");
    ok(AM_FreeEndpoint(here.endpoint), "AM_FreeEndpoint");
    const test::Returned back = there.come_back();
    check_equal(back.status, EREPLYREJECTED, "why");
    check_equal(back.opcode, AM_REPLY_M | 2 << 8, "what");
    check_equal(seen.requests, 1, "requests");
  });
}

TEST_P(Am2Messages, AReplyForNoHandlerComesBack) {
  run(1, [](am::Node&) {
    const test::Am2 am2;
    const Place here;
    seen = {};
    ok(AM_SetHandler(here.endpoint, 1, handler(replies_late)), "AM_SetHandler");
    ok(AM_Map(here.endpoint, 0, here.name, 1), "AM_Map");
    ok(AM_Request1(here.endpoint, 0, 1, 1), "AM_Request1");
    check_equal(here.come_back().status, EBADHANDLER, "handler `quiet` was not set");
  });
}

// -- much of everything

thread_local std::vector<int> next_of;
void counts_in_order(void* token, long from, long number, long replies) {
  ++seen.requests;
  seen.wrong += next_of[static_cast<std::size_t>(from)]++ == number ? 0 : 1;
  if (replies != 0) ok(AM_Reply1(token, 31, number), "AM_Reply1");
}
void counts_replies(void* /*token*/, long number) {
  ++seen.replies;
  seen.sum += number;
}

// Floods of small windows and large ones, with and without replies, to all nodes and to itself; nothing is lost, nothing is
// overtaken between one endpoint and another.
TEST_P(Am2Messages, Floods) {
  run(3, [](am::Node&) {
    for (const int window : {1, 3, 200}) {
      const Job job;
      seen = {};
      next_of.assign(3, 0);
      ok(AM_SetExpectedResources(job.endpoint, 3, window), "AM_SetExpectedResources");
      ok(AM_SetHandler(job.endpoint, 30, handler(counts_in_order)), "AM_SetHandler");
      ok(AM_SetHandler(job.endpoint, 31, handler(counts_replies)), "AM_SetHandler");
      Job::barrier();
      const auto times = static_cast<int>(rounds(2000));
      test::Random random(test::seed() + static_cast<unsigned>(job.me));
      int asked = 0;
      long sum = 0;
      for (int i = 0; i < times; ++i) {
        for (int to = 0; to < job.n; ++to) {
          const bool replies = random() % 2 == 0;
          ok(AM_Request3(job.endpoint, to, 30, job.me, i, replies ? 1 : 0), "AM_Request3");
          asked += replies ? 1 : 0;
          sum += replies ? i : 0;
        }
      }
      job.until([&] { return seen.replies == asked && seen.requests == 3 * times; });
      check_equal(seen.sum, sum, "replies");
      check_equal(seen.wrong, 0, "requests out of order");
      Job::barrier();
      ok(AM_Terminate(), "AM_Terminate");
    }
  });
}

TEST_P(Am2Messages, BulkUpToTheLimit) {
  run(2, [](am::Node&) {
    const Job job;
    seen = {};
    std::vector<std::byte> segment(static_cast<std::size_t>(AM_MaxLong()) + 16);
    ok(AM_SetSeg(job.endpoint, segment.data(), segment.size()), "AM_SetSeg");
    ok(AM_SetHandler(job.endpoint, quiet, handler(+[](void*, void* buf, int nbytes, int salt) {
                       ++seen.requests;
                       seen.wrong += is_patterned(buf, static_cast<std::size_t>(nbytes), salt) ? 0 : 1;
                     })),
       "AM_SetHandler");
    Job::barrier();
    int sent = 0;
    for (const int bytes : {0, 1, 7, 8, 1023, 1024, 1025, 65'535, 65'536, AM_MaxLong() - 1, AM_MaxLong()}) {
      for (const unsigned long offset : {0ul, 1ul, 16ul}) {
        const std::vector<std::byte> data = patterned(static_cast<std::size_t>(bytes), ++sent);
        ok(AM_RequestXfer1(job.endpoint, job.right, offset, quiet, data.data(), bytes, sent),
           "AM_RequestXfer1");
        if (bytes <= AM_MaxMedium())
          ok(AM_RequestI1(job.endpoint, job.right, quiet, data.data(), bytes, sent), "AM_RequestI1");
      }
    }
    job.until([&] { return seen.requests == sent + 27; });
    check_equal(seen.wrong, 0, "wrong data");
    Job::barrier();
    ok(AM_Terminate(), "AM_Terminate");
  });
}

TEST_P(Am2Messages, AllGather) {
  run(3, [](am::Node&) {
    const Job job;
    for (const std::size_t bytes : {0u, 1u, 1000u}) {
      std::vector<std::byte> all(3 * bytes);
      ok(AMX_SPMDAllGather(patterned(bytes, job.me).data(), all.data(), bytes), "AMX_SPMDAllGather");
      for (std::size_t i = 0; i < 3; ++i)
        check(is_patterned(all.data() + i * bytes, bytes, static_cast<int>(i)), "its part");
    }
    Job::barrier();
    ok(AM_Terminate(), "AM_Terminate");
  });
}

INSTANTIATE_TEST_SUITE_P(Models, Am2Messages, test::cells_of<Am2Messages>(), test::name_of);

// A node that has left: its messages come back, also from one that waits for credit; see docs/contract.md, 11.
using Am2Leaving = test::OnFaultlessSubstrates;
TEST_P(Am2Leaving, IsUnreachable) {
  run(2, [](am::Node& node) {
    const test::Am2 am2;
    const Place place;
    node.barrier();
    if (node.id() == 1) return;
    ok(AM_Map(place.endpoint, 0, {1, place.name.endpoint}, 1), "AM_Map");
    // Until it has left it may still say that its endpoint is gone.
    int status = EBADENDPOINT;
    while (status == EBADENDPOINT) {
      ok(AM_Request1(place.endpoint, 0, quiet, 1), "AM_Request1");
      ok(AM_Poll(place.bundle), "AM_Poll");
      if (!test::returned.empty()) status = test::returned.back().status;
    }
    check_equal(status, EUNREACHABLE, "why");
  });
}
INSTANTIATE_TEST_SUITE_P(Models, Am2Leaving, test::cells_of<Am2Leaving>(), test::name_of);

}  // namespace
