// <am/am2.h>: what comes back and why: tags, entries, endpoints, nodes, handlers, ranges and lengths that are not there, or not any
// more, of requests and of replies; and what a call refuses at once.

#include "models/am2/state.hpp"
#include "support/am2_job.hpp"

namespace am2_refused_test {

using namespace test;

/// Each node has a known endpoint, of tag 77 and a segment of 100 bytes; entry 0 is the other node's.
constexpr int port = 7;
struct Here {
  explicit Here(am::Node& node) : other(1 - static_cast<int>(node.id())) {
    seen = {};
    ok(AM_AllocateKnownEndpoint(place.bundle, &known, nullptr, port), "AM_AllocateKnownEndpoint");
    ok(AM_SetTag(known, 77), "AM_SetTag");
    set_handler(known, 0, keep_returned);
    set_handler(known, quiet, sees_quietly);
    ok(AM_SetSeg(known, memory.data(), memory.size()), "AM_SetSeg");
    ok(AM_Map(known, 0, am2_known_name(other, port), 77), "AM_Map");
  }
  int other;
  std::array<std::byte, 100> memory{};
  Place place{};
  ep_t known = nullptr;
};

/// The next one that comes back.
am2_returned_t check_back(const Place& place, int status, op_t opcode, int handler,
                          const std::vector<long>& words) {
  const Returned back = place.come_back();
  check_equal(back.status, status, "why it came back");
  check_equal(back.opcode, opcode | static_cast<op_t>(words.size()) << 8, "what it was");
  check_equal(back.block.handler, handler, "for which handler");
  check_equal(static_cast<std::size_t>(back.block.count), words.size(), "how many words");
  check(std::equal(words.begin(), words.end(), back.block.words), "its words");
  return back.block;
}

using Am2Refused = test::OnANode;

TEST_P(Am2Refused, ComeBackThroughHandler0) {
  run(2, [](am::Node& node) {
    const Here here(node);
    const ep_t from = here.known;
    ok(AM_Map(from, 1, am2_known_name(here.other, port), 78), "another tag");
    ok(AM_Map(from, 2, am2_known_name(here.other, 8), 77), "no endpoint");
    ok(AM_Map(from, 3, am2_known_name(9, port), 77), "no node");
    node.barrier();
    const auto expect = [&](int status, op_t opcode, int handler) {
      check_back(here.place, status, opcode, handler, {10, 20});
      check(returned.empty(), "once");
    };
    struct Request {
      int entry;
      handler_t handler;
      int status;
    };
    for (const auto& [entry, handler, status] :
         {Request{1, quiet, EBADTAG}, Request{2, quiet, EBADENDPOINT}, Request{3, quiet, EBADENDPOINT},
          Request{4, quiet, EBADENTRY}, Request{0, 100, EBADHANDLER}, Request{0, 0, EBADHANDLER}}) {
      ok(AM_Request2(from, entry, handler, 10, 20), "AM_Request2");
      expect(status, AM_REQUEST_M, handler);
    }
    const char bytes[101] = {};
    ok(AM_RequestI2(from, 1, quiet, bytes, 50, 10, 20), "AM_RequestI2");
    expect(EBADTAG, AM_REQUEST_IM, quiet);
    for (const unsigned long offset : {0ul, 1ul, 100ul, ~0ul, ~0ul - 100}) {
      ok(AM_RequestXfer2(from, 0, offset, quiet, bytes, 101, 10, 20), "AM_RequestXfer2");
      expect(EBADSEGOFF, AM_REQUEST_XFER_M, quiet);
      ok(AM_GetXfer2(from, 0, offset, quiet, 0, 101, 10, 20), "AM_GetXfer2");
      expect(EBADSEGOFF, AM_GET_XFER_M, quiet);
    }
    check_equal(AM_Request0(from, -1, quiet), AM_ERR_BAD_ARG, "no index");
    check_equal(AM_Request0(from, 256, quiet), AM_ERR_BAD_ARG, "no index");
    check_equal(AM_Request0(from, 0, 256), AM_ERR_BAD_ARG, "no handler");
    check_equal(AM_RequestI0(from, 0, quiet, bytes, -1), AM_ERR_BAD_ARG, "no length");
    check_equal(AM_RequestI0(from, 0, quiet, bytes, AM_MaxMedium() + 1), AM_ERR_BAD_ARG, "too long");
    check_equal(AM_RequestXfer0(from, 0, 0, quiet, bytes, AM_MaxLong() + 1), AM_ERR_BAD_ARG, "too long");
    check_equal(AM_RequestI0(from, 0, quiet, nullptr, 1), AM_ERR_BAD_ARG, "no memory");
    check_equal(am2_request(from, 0, quiet, 17), AM_ERR_BAD_ARG, "too many words");
    // Nothing of all that ran a handler; and what is right does. The second one is sent when the first has come, the last of all
    // that the other node sends before: it needs this one no more.
    ok(AM_Request1(from, 0, quiet, 5), "AM_Request1");
    here.place.until([] { return seen.requests >= 1; });
    ok(AM_Request1(from, 0, quiet, 6), "AM_Request1");
    here.place.until([] { return seen.requests == 2; });
    check_equal(seen.sum, 11L, "the words of the two that were right");
    check(here.memory == std::array<std::byte, 100>{}, "the segment");
    node.barrier();
  });
}

TEST_P(Am2Refused, TagsOfAllAndNone) {
  run(1, [](am::Node&) {
    const Place place;
    seen = {};
    set_handler(place.endpoint, quiet, sees_quietly);
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
    const Place here;
    const Place there;
    ok(AM_Map(here.endpoint, 0, there.name, 1), "AM_Map");
    for (int i = 0; i < 3; ++i) ok(AM_Request1(here.endpoint, 0, quiet, i), "AM_Request1");
    ok(AM_Poll(here.bundle), "AM_Poll");
    ok(AM_FreeEndpoint(there.endpoint), "AM_FreeEndpoint");
    for (int i = 0; i < 3; ++i) {
      const Returned back = here.come_back();
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
    const Place here;
    const Place there;
    seen = {};
    set_handler(there.endpoint, 1, replies_late);
    ok(AM_Map(here.endpoint, 0, there.name, 1), "AM_Map");
    ok(AM_Request1(here.endpoint, 0, 1, 1), "AM_Request1");
    ok(AM_FreeEndpoint(here.endpoint), "AM_FreeEndpoint");
    check_back(there, EREPLYREJECTED, AM_REPLY_M, quiet, {3, 4});
    check_equal(seen.requests, 1, "requests");
  });
}

enum : handler_t { asks_short = 1, asks_medium, asks_bulk, asks_bulk_for_no_handler, counts, unset = 99 };

char bytes[50];
void replies_short(void* token) { ok(AM_Reply1(token, unset, 5), "AM_Reply1"); }
void replies_medium(void* token) { ok(AM_ReplyI2(token, unset, bytes, 50, 5, 6), "AM_ReplyI2"); }
void replies_bulk(void* token) { ok(AM_ReplyXfer3(token, 51, counts, bytes, 50, 5, 6, 7), "AM_ReplyXfer3"); }
void replies_bulk_for_no_handler(void* token) {
  ok(AM_ReplyXfer0(token, 50, unset, bytes, 50), "AM_ReplyXfer0");
}
void counts_one(void* /*token*/) { ++seen.requests; }

// Node 0 asks; what node 1 answers is refused by node 0, and handler 0 of node 1 is told. Node 0 is told nothing, and its credit,
// which is for one request, is back.
TEST_P(Am2Refused, RepliesOfEachKind) {
  run(2, [](am::Node& node) {
    const Here here(node);
    set_handler(here.known, asks_short, replies_short);
    set_handler(here.known, asks_medium, replies_medium);
    set_handler(here.known, asks_bulk, replies_bulk);
    set_handler(here.known, asks_bulk_for_no_handler, replies_bulk_for_no_handler);
    set_handler(here.known, counts, counts_one);
    ok(AM_SetExpectedResources(here.known, 1, 1), "AM_SetExpectedResources");
    node.barrier();
    if (node.id() == 0) {
      for (const handler_t asks : {asks_short, asks_medium, asks_bulk, asks_bulk_for_no_handler})
        ok(AM_Request0(here.known, 0, asks), "AM_Request0");
      ok(AM_GetXfer4(here.known, 0, 0, unset, 50, 50, 1, 2, 3, 4), "AM_GetXfer4 for no handler");
      ok(AM_GetXfer0(here.known, 0, 0, counts, 50, 50), "AM_GetXfer0, which is right");
      ok(AM_GetXfer1(here.known, 0, 0, counts, 51, 50, 1), "AM_GetXfer1 to outside of the segment");
      // Node 1 says when it has had all that comes back to it.
      here.place.until([] { return seen.requests == 2; });
      check(returned.empty(), "nothing comes back to who has asked");
    } else {
      const auto expect = [&](int status, op_t opcode, int handler, unsigned long nbytes,
                              const std::vector<long>& words) {
        const am2_returned_t back = check_back(here.place, status, opcode, handler, words);
        check_equal(back.nbytes, nbytes, "its bytes");
        check_equal(AMX_enEqual(back.endpoint, am2_known_name(0, port)), 1, "to whom");
      };
      expect(EBADHANDLER, AM_REPLY_M, unset, 0, {5});
      expect(EBADHANDLER, AM_REPLY_IM, unset, 50, {5, 6});
      expect(EBADSEGOFF, AM_REPLY_XFER_M, counts, 50, {5, 6, 7});
      expect(EBADHANDLER, AM_REPLY_XFER_M, unset, 50, {});
      expect(EBADHANDLER, AM_GET_XFER_REPLY_M, unset, 50, {1, 2, 3, 4});
      expect(EBADSEGOFF, AM_GET_XFER_REPLY_M, counts, 50, {1});
      ok(AM_Request0(here.known, 0, counts), "AM_Request0");
    }
    // Neither leaves while the other one polls for it.
    node.barrier();
  });
}

// AM_GetXfer refuses such a length itself. A build whose AM_MaxLong is more sends it, and gets it back: no memory is read for it.
TEST_P(Am2Refused, ALengthThatIsTooLongHere) {
  run(2, [](am::Node& node) {
    namespace models = am::models::am2;
    const Here here(node);
    set_handler(here.known, counts, counts_one);
    check_equal(AM_GetXfer0(here.known, 0, 0, counts, 0, AM_MaxLong() + 1), AM_ERR_BAD_ARG, "by the call");
    node.barrier();
    const std::array<am2_word_t, 2> words{10, 20};
    models::Outgoing get;
    get.to = 1 - node.id();
    get.to_endpoint = get.from_endpoint = port;
    get.tag = 77;
    get.head = {.kind = models::Kind::get, .count = 2, .handler = counts};
    get.fields = {0, 0, static_cast<std::uint64_t>(AM_MaxLong()) + 1};
    get.field_count = 3;
    get.words = words.data();
    check(node.own<models::State>().send_request(get, false) == am::Status::ok, "it is sent");
    check_back(here.place, EBADLENGTH, AM_GET_XFER_M, counts, {10, 20});
    // Each says when it has had its own back, and answers the other one until then.
    ok(AM_Request0(here.known, 0, counts), "AM_Request0");
    here.place.until([] { return seen.requests == 1; });
    node.barrier();
  });
}
INSTANTIATE_TEST_SUITE_P(Models, Am2Refused, test::cells_of<Am2Refused>(), test::name_of);

// A node that has left: its messages come back, also from one that waits for credit; see docs/contract.md, 11.
using Am2Leaving = test::OnSubstrates<test::Suite{.faults = false, .about = test::About::node}>;
TEST_P(Am2Leaving, IsUnreachable) {
  run(2, [](am::Node& node) {
    const Place place;
    node.barrier();
    if (node.id() == 1) return;
    ok(AM_Map(place.endpoint, 0, {1, place.name.endpoint}, 1), "AM_Map");
    // Until it has left it may still say that its endpoint is gone.
    int status = EBADENDPOINT;
    while (status == EBADENDPOINT) {
      ok(AM_Request1(place.endpoint, 0, quiet, 1), "AM_Request1");
      ok(AM_Poll(place.bundle), "AM_Poll");
      if (!returned.empty()) status = returned.back().status;
    }
    check_equal(status, EUNREACHABLE, "why");
  });
}
INSTANTIATE_TEST_SUITE_P(Models, Am2Leaving, test::cells_of<Am2Leaving>(), test::name_of);

}  // namespace am2_refused_test
