// <am/am2.h>: replies that come back to the node that sent them, by what they were; and a length that no node of this build sends.
#include <array>
#include <vector>

#include "models/am2/state.hpp"
#include "support/am2.hpp"

namespace am2_returned_test {

using test::check;
using test::check_equal;
using test::handler;
using test::ok;

/// Each node has a known endpoint, and a segment of 100 bytes.
constexpr int port = 7;
struct Here {
  explicit Here(am::Node& node) {
    ok(AM_AllocateKnownEndpoint(place.bundle, &known, nullptr, port), "AM_AllocateKnownEndpoint");
    ok(AM_SetTag(known, 77), "AM_SetTag");
    ok(AM_SetHandler(known, 0, handler(test::keep_returned)), "AM_SetHandler");
    ok(AM_SetSeg(known, memory.data(), memory.size()), "AM_SetSeg");
    const auto other = 1 - static_cast<int>(node.id());
    ok(AM_Map(known, 0, am2_known_name(other, port), 77), "AM_Map");
  }
  std::array<std::byte, 100> memory{};
  test::Place place{};
  ep_t known = nullptr;
};

enum : handler_t { asks_short = 1, asks_medium, asks_bulk, asks_bulk_for_no_handler, counts, unset = 99 };

thread_local int counted;
char bytes[50];
void replies_short(void* token) { ok(AM_Reply1(token, unset, 5), "AM_Reply1"); }
void replies_medium(void* token) { ok(AM_ReplyI2(token, unset, bytes, 50, 5, 6), "AM_ReplyI2"); }
void replies_bulk(void* token) { ok(AM_ReplyXfer3(token, 51, counts, bytes, 50, 5, 6, 7), "AM_ReplyXfer3"); }
void replies_bulk_for_no_handler(void* token) {
  ok(AM_ReplyXfer0(token, 50, unset, bytes, 50), "AM_ReplyXfer0");
}

using Am2Returned = test::OnANode;

// Node 0 asks; what node 1 answers is refused by node 0, and handler 0 of node 1 is told. Node 0 is told nothing, and its credit,
// which is for one request, is back.
TEST_P(Am2Returned, RepliesOfEachKind) {
  run(2, [](am::Node& node) {
    const test::Am2 am2;
    const Here here(node);
    counted = 0;
    ok(AM_SetHandler(here.known, asks_short, handler(replies_short)), "AM_SetHandler");
    ok(AM_SetHandler(here.known, asks_medium, handler(replies_medium)), "AM_SetHandler");
    ok(AM_SetHandler(here.known, asks_bulk, handler(replies_bulk)), "AM_SetHandler");
    ok(AM_SetHandler(here.known, asks_bulk_for_no_handler, handler(replies_bulk_for_no_handler)),
       "AM_SetHandler");
    ok(AM_SetHandler(here.known, counts, handler(+[](void*) { ++counted; })), "AM_SetHandler");
    ok(AM_SetExpectedResources(here.known, 1, 1), "AM_SetExpectedResources");
    node.barrier();
    if (node.id() == 0) {
      ok(AM_Request0(here.known, 0, asks_short), "AM_Request0");
      ok(AM_Request0(here.known, 0, asks_medium), "AM_Request0");
      ok(AM_Request0(here.known, 0, asks_bulk), "AM_Request0");
      ok(AM_Request0(here.known, 0, asks_bulk_for_no_handler), "AM_Request0");
      ok(AM_GetXfer4(here.known, 0, 0, unset, 50, 50, 1, 2, 3, 4), "AM_GetXfer4 for no handler");
      ok(AM_GetXfer0(here.known, 0, 0, counts, 50, 50), "AM_GetXfer0, which is right");
      ok(AM_GetXfer1(here.known, 0, 0, counts, 51, 50, 1), "AM_GetXfer1 to outside of the segment");
      // Node 1 says when it has had all that comes back to it.
      here.place.until([] { return counted == 2; });
      check(test::returned.empty(), "nothing comes back to who has asked");
    } else {
      const auto expect = [&](int status, op_t opcode, int index, unsigned long nbytes, int words) {
        const test::Returned back = here.place.come_back();
        check_equal(back.status, status, "why it came back");
        check_equal(back.opcode, opcode | words << 8, "what it was");
        check_equal(back.block.handler, index, "for which handler");
        check_equal(back.block.nbytes, nbytes, "its bytes");
        check_equal(back.block.count, words, "how many words");
        check_equal(back.block.words[0], words == 0 ? 0L : opcode == AM_GET_XFER_REPLY_M ? 1L : 5L, "a word");
        check_equal(AMX_enEqual(back.block.endpoint, am2_known_name(0, port)), 1, "to whom");
      };
      expect(EBADHANDLER, AM_REPLY_M, unset, 0, 1);
      expect(EBADHANDLER, AM_REPLY_IM, unset, 50, 2);
      expect(EBADSEGOFF, AM_REPLY_XFER_M, counts, 50, 3);
      expect(EBADHANDLER, AM_REPLY_XFER_M, unset, 50, 0);
      expect(EBADHANDLER, AM_GET_XFER_REPLY_M, unset, 50, 4);
      expect(EBADSEGOFF, AM_GET_XFER_REPLY_M, counts, 50, 1);
      ok(AM_Request0(here.known, 0, counts), "AM_Request0");
    }
    // Neither leaves while the other one polls for it.
    node.barrier();
  });
}

// AM_GetXfer refuses such a length itself. A build whose AM_MaxLong is more sends it, and gets it back: no memory is read for it.
TEST_P(Am2Returned, ALengthThatIsTooLongHere) {
  run(2, [](am::Node& node) {
    namespace models = am::models::am2;
    const test::Am2 am2;
    const Here here(node);
    counted = 0;
    ok(AM_SetHandler(here.known, counts, handler(+[](void*) { ++counted; })), "AM_SetHandler");
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
    const test::Returned back = here.place.come_back();
    check_equal(back.status, EBADLENGTH, "why it came back");
    check_equal(back.opcode, AM_GET_XFER_M | 2 << 8, "what it was");
    check(back.block.words[0] == 10 && back.block.words[1] == 20, "its words");
    // Each says when it has had its own back, and answers the other one until then.
    ok(AM_Request0(here.known, 0, counts), "AM_Request0");
    here.place.until([] { return counted == 1; });
    node.barrier();
  });
}
INSTANTIATE_TEST_SUITE_P(Models, Am2Returned, test::cells_of<Am2Returned>(), test::name_of);

}  // namespace am2_returned_test
