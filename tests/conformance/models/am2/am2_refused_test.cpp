// <am/am2.h>: what comes back and why: tags, entries, endpoints, nodes, handlers and ranges that are not there, or not any more; and
// what a call refuses at once. am2_returned_test.cpp has the replies, by what they were.
#include <array>
#include <numeric>
#include <vector>

#include "support/am2_job.hpp"

namespace am2_refused_test {

using test::check;
using test::check_equal;
using test::handler;
using test::ok;
using test::Place;
using test::quiet;
using test::seen;
using test::sees_quietly;

using Am2Refused = test::OnANode;

TEST_P(Am2Refused, ComeBackThroughHandler0) {
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

TEST_P(Am2Refused, TagsOfAllAndNone) {
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

TEST_P(Am2Refused, WhatWaitsForAFreedEndpointComesBack) {
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

TEST_P(Am2Refused, AReplyToAFreedEndpointComesBack) {
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

TEST_P(Am2Refused, AReplyForNoHandlerComesBack) {
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
INSTANTIATE_TEST_SUITE_P(Models, Am2Refused, test::cells_of<Am2Refused>(), test::name_of);

// A node that has left: its messages come back, also from one that waits for credit; see docs/contract.md, 11.
using Am2Leaving = test::OnSubstrates<test::Suite{.faults = false, .about = test::About::node}>;
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

}  // namespace am2_refused_test
