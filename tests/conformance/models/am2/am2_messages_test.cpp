// <am/am2.h>: messages to oneself, tokens, bundles that are polled or not, waits, floods and limits: on every network and mode.

#include "support/am2_job.hpp"

namespace am2_messages_test {

using namespace test;

using Am2Messages = test::OnAmx;

// -- to oneself, where the ranges may overlap: they are copied by way of a message

thread_local unsigned long moves_to;  // in the segment
void moves_on(void* token, const std::byte* buf, int nbytes) {
  ok(AM_ReplyXfer0(token, moves_to, quiet, buf, nbytes), "AM_ReplyXfer0");
}
void replies(void* token) { ok(AM_Reply0(token, quiet), "AM_Reply0"); }

TEST_P(Am2Messages, RangesOfOnesOwnSegmentMayOverlap) {
  run_amx(2, [](const Job& job) {
    set_handler(
        job.endpoint, quiet, +[](void*) { ++seen.replies; });
    set_handler(job.endpoint, 20, moves_on);
    set_handler(job.endpoint, 21, replies);
    Job::barrier();
    const auto check_moves = [&](auto move, std::string_view what) {
      const auto copy = [&](std::byte* to, std::byte* from, int bytes) {
        std::byte* const begin = std::min(to, from);
        ok(AM_SetSeg(job.endpoint, begin, static_cast<std::size_t>(std::max(to, from) - begin + bytes)),
           "AM_SetSeg");
        move(static_cast<unsigned long>(to - begin), static_cast<unsigned long>(from - begin), from, bytes);
        job.until([] { return seen.replies == 1; });
        seen.replies = 0;
      };
      check_copies({1, 37, 1000, 50'000}, copy, what);
    };
    const auto request = [&](unsigned long to, handler_t handler, const std::byte* from, int bytes) {
      ok(AM_RequestXfer0(job.endpoint, job.me, to, handler, from, bytes), "AM_RequestXfer0");
    };
    check_moves([&](auto to, auto, auto* bytes, int n) { request(to, 21, bytes, n); }, "a request's bytes");
    check_moves([&](auto to, auto from, auto*,
                    int n) { ok(AM_GetXfer0(job.endpoint, job.me, from, quiet, to, n), "AM_GetXfer0"); },
                "a get's bytes");
    // The reply's bytes are read where the request has put them: in their own place.
    check_moves(
        [&](auto to, auto from, auto* bytes, int n) {
          moves_to = to;
          request(from, 20, bytes, n);
        },
        "a reply's bytes");
  });
}

void replies_and_looks(void* token, int number) {
  ok(AM_Reply2(token, 31, 1, 2), "AM_Reply2");
  seen.wrong += seen.replies == number ? 0 : 1;  // when AM_Reply2 returns
  check_equal(AM_Reply2(token, 31, 1, 2), AM_ERR_RESOURCE, "a second one");
}

TEST_P(Am2Messages, ToOneselfRunWithinTheCallAndSoDoTheirReplies) {
  run_amx(2, [](const Job& job) {
    set_handler(job.endpoint, 30, replies_and_looks);
    set_handler(
        job.endpoint, 31, +[](void*, int, int) { ++seen.replies; });
    Job::barrier();
    for (int i = 1; i <= 100; ++i) {
      ok(AM_Request1(job.endpoint, job.me, 30, i), "AM_Request1");
      check_equal(seen.replies, i, "the answer");
      ok(AM_Request1(job.endpoint, job.right, quiet, 1), "AM_Request1");
    }
  });
}

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
              AM_Wait(bundle),
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
  run_amx(2, [](const Job& job) {
    statuses.clear();
    set_handler(job.endpoint, 20, asks_its_token);
    set_handler(job.endpoint, quiet, replies_to_a_reply);
    Job::barrier();
    if (job.me == 0) {
      ok(AM_Request0(job.endpoint, 1, 20), "AM_Request0");
      job.until([] { return seen.replies == 1; });
      check_equal(statuses.back(), AM_ERR_RESOURCE, "a reply to a reply");
      check_equal(AM_Reply0(&seen, quiet), AM_ERR_BAD_ARG, "outside of handlers");
    } else {
      job.until([] { return seen.requests == 1; });
      std::vector<int> expected = {AM_ERR_BAD_ARG, AM_ERR_BAD_ARG, AM_ERR_BAD_ARG, AM_OK};
      expected.resize(statuses.size(), AM_ERR_RESOURCE);
      check(statuses == expected, "what a handler is answered");
    }
  });
}

TEST_P(Am2Messages, ABundleThatIsNotPolledRunsNothing) {
  run(1, [](am::Node&) {
    const Place here;
    const Place there;
    Place third;
    seen = {};
    set_handler(there.endpoint, quiet, sees_quietly);
    ok(AM_SetExpectedResources(here.endpoint, 1, 5), "AM_SetExpectedResources");
    ok(AM_Map(here.endpoint, 0, there.name, 1), "AM_Map");
    char byte = 0;
    ok(AM_SetSeg(there.endpoint, &byte, 1), "AM_SetSeg");
    for (int i = 0; i < 5; ++i) ok(AM_Request1(here.endpoint, 0, quiet, i), "AM_Request1");
    // The sixth has no credit, however often this bundle is polled.
    for (int i = 0; i < 20; ++i) {
      check_equal(AM_RequestXferAsync0(here.endpoint, 0, 0, quiet, &byte, 1), AM_ERR_NOT_SENT, "a sixth");
      ok(AM_Poll(here.bundle), "AM_Poll");
    }
    check_equal(seen.requests, 0, "handlers that ran");
    ok(AM_SetEventMask(there.bundle, AM_NOTEMPTY), "AM_SetEventMask");
    ok(AM_Wait(there.bundle), "AM_Wait, which is UDPAM's name of AM_WaitSema");
    int mask = -1;
    ok(AM_GetEventMask(there.bundle, &mask), "AM_GetEventMask");
    check_equal(mask, AM_NOEVENTS, "after the wait");
    check_equal(seen.requests, 0, "a wait runs none");
    ok(AM_MoveEndpoint(there.endpoint, there.bundle, third.bundle), "AM_MoveEndpoint");
    ok(AM_Poll(there.bundle), "AM_Poll");
    check_equal(seen.requests, 0, "they went with their endpoint");
    third.until([] { return seen.requests == 5; });  // the network may hold some back for a while
    check_equal(seen.sum, 10L, "their words");
    here.until([&] { return AM_RequestXferAsync0(here.endpoint, 0, 0, quiet, &byte, 1) == AM_OK; });
  });
}

// What waits for an endpoint runs in its requests, also while others are unanswered: before four times as many as these were sent.
TEST_P(Am2Messages, RequestsPoll) {
  run(1, [](am::Node&) {
    const Place here;
    const Place there;
    const Place third;
    set_handler(here.endpoint, quiet, sees_quietly);
    set_handler(
        there.endpoint, quiet, +[](void*, long) {});
    ok(AM_Map(here.endpoint, 0, there.name, 1), "AM_Map");
    ok(AM_Map(third.endpoint, 0, here.name, 1), "AM_Map");
    for (const int unanswered : {0, 1, 2, 3, 5}) {
      seen = {};
      for (int i = 0; i < unanswered; ++i) ok(AM_Request1(here.endpoint, 0, quiet, i), "AM_Request1");
      ok(AM_Request1(third.endpoint, 0, quiet, 1), "AM_Request1");
      int sent = 0;
      for (; seen.requests == 0 && sent <= 4 * unanswered; ++sent)
        ok(AM_Request1(here.endpoint, 0, quiet, 1), "AM_Request1");
      check_equal(seen.requests, 1, "what has come");
      for (int i = 0; i < 2; ++i) ok(AM_Poll(there.bundle), "AM_Poll");
      ok(AM_Poll(here.bundle), "AM_Poll");
    }
  });
}

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
      set_handler(job.endpoint, 30, counts_in_order);
      set_handler(job.endpoint, 31, counts_replies);
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

void sees_pattern(void* /*token*/, void* buf, int nbytes, int salt) {
  ++seen.requests;
  seen.wrong += is_patterned(buf, static_cast<std::size_t>(nbytes), salt) ? 0 : 1;
}

TEST_P(Am2Messages, BulkUpToTheLimit) {
  run_amx(2, [](const Job& job) {
    std::vector<std::byte> segment(static_cast<std::size_t>(AM_MaxLong()) + 16);
    ok(AM_SetSeg(job.endpoint, segment.data(), segment.size()), "AM_SetSeg");
    set_handler(job.endpoint, quiet, sees_pattern);
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
  });
}

TEST_P(Am2Messages, AllGather) {
  run_amx(3, [](const Job& job) {
    for (const std::size_t bytes : {0u, 1u, 1000u}) {
      std::vector<std::byte> all(3 * bytes);
      ok(AMX_SPMDAllGather(patterned(bytes, job.me).data(), all.data(), bytes), "AMX_SPMDAllGather");
      for (std::size_t i = 0; i < 3; ++i)
        check(is_patterned(all.data() + i * bytes, bytes, static_cast<int>(i)), "its part");
    }
  });
}
thread_local int before_and_after;
void looks_before(amx_category_t category, int is_request, int handler, void* /*token*/, void* buffer,
                  unsigned long nbytes, int count, unsigned* words) {
  const bool right = category == amx_Medium && is_request == 1 && handler == 20 && buffer != nullptr &&
                     nbytes == 5 && count == 2 && words[0] == 7 && words[1] == 0xffffffff;
  before_and_after += right ? 1 : 100;
}
void looks_after(amx_category_t /*category*/, int /*is_request*/) { before_and_after += 10; }
void asks_where_from(void* token, void* /*buf*/, int /*nbytes*/, int /*a*/, int b) {
  int index = -1;
  seen.wrong += AMX_GetSourceId(token, &index) == AM_OK && index == 200 && b == -1 ? 0 : 1;
  ++seen.requests;
}
int request_va(ep_t endpoint, int to, int count, ...) {
  va_list words;
  va_start(words, count);
  const int status = AMX_RequestIVA(endpoint, to, 20, "data", 5, count, words);
  va_end(words);
  return status;
}

TEST_P(Am2Messages, NamesOfAmx) {
  run_amx(2, [](const Job& job) {
    before_and_after = 0;
    set_handler(job.endpoint, 20, asks_where_from);
    ok(AMX_SetHandlerCallbacks(job.endpoint, looks_before, looks_after), "AMX_SetHandlerCallbacks");
    en_t right{};
    ok(AM_GetTranslationName(job.endpoint, job.right, &right), "AM_GetTranslationName");
    ok(AM_UnMap(job.endpoint, job.right), "AM_UnMap");
    ok(AM_Map(job.endpoint, 200, right, 1), "AM_Map");
    tag_t tag = 0;
    ok(AM_GetTag(job.endpoint, &tag), "AM_GetTag");
    check_equal(AMX_SetTranslationTag(job.endpoint, job.right, tag), AM_ERR_RESOURCE, "of no entry");
    ok(AMX_SetTranslationTag(job.endpoint, 200, tag), "AMX_SetTranslationTag");
    int value = job.me == 1 ? 4711 : 0;
    ok(AMX_SPMDBroadcast(&value, sizeof value, 1), "AMX_SPMDBroadcast");
    check_equal(value, 4711, "what node 1 has");
    ok(AMX_ResetEndpointStatistics(job.endpoint), "AMX_ResetEndpointStatistics");
    Job::barrier();
    ok(request_va(job.endpoint, 200, 2, 7, -1), "AMX_RequestIVA");
    job.until([] { return seen.requests == 1; });
    check_equal(before_and_after, 11, "both callbacks");
    amx_stats_t stats = AMX_initial_stats;
    amx_stats_t sum = AMX_initial_stats;
    ok(AMX_GetEndpointStatistics(job.endpoint, &stats), "AMX_GetEndpointStatistics");
    ok(AMX_AggregateStatistics(&sum, &stats), "AMX_AggregateStatistics");
    check(sum.RequestsSent[amx_Medium] == 1 && sum.RequestsReceived[amx_Medium] == 1 &&
              sum.RequestDataBytesSent[amx_Medium] == 21 && sum.RepliesSent[amx_Short] == 0,
          AMX_DumpStatistics(nullptr, &sum, 0));
    const char* level = nullptr;
    check_equal(AMX_SPMDSetThreadMode(0, &level, nullptr, nullptr), AM_ERR_RESOURCE, "after the start");
  });
}
INSTANTIATE_TEST_SUITE_P(Models, Am2Messages, test::cells_of<Am2Messages>(), test::name_of);

}  // namespace am2_messages_test
