// What shared memory promises beyond the contract, seen from a program: how much a peer may leave unread, and that it goes on
// for ever.
#include "support/job.hpp"

namespace through_nodes_test {

using test::check;
using test::check_equal;

struct Seen {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};
void take_low(am::Request& request, std::uint64_t number) {
  check_equal(number, request.state<Seen>().low++, "the number of a request");
}
void take_low_payload(am::Request& request, std::uint64_t number, am::Payload) {
  check_equal(number, request.state<Seen>().low++, "the number of a request with a payload");
}
void take_high(am::Reply& reply, std::uint64_t number) {
  check_equal(number, reply.state<Seen>().high++, "the number of a reply");
}

// What a peer may leave unread is bounded: 7.1 KiB of rings a direction, 2 MiB of long payloads, and one in pieces per priority.
TEST(SharedMemory, BoundsWhatAPeerDoesNotTake) {
  test::run_alone([](am::Node& node) {
    Seen seen;
    node.attach(seen);
    const std::vector<std::byte> bytes(1'000'000);
    std::uint64_t accepted = 0;
    while (node.try_request<take_low>(0, accepted) == am::Status::ok) ++accepted;
    check_equal(accepted, 68u, "short requests that fit");
    check(node.try_request<take_low_payload>(0, 68u, bytes) == am::Status::again, "nor does a long one fit");
    node.wait_until([&] { return seen.low == 68; });
    check(node.try_request<take_low_payload>(0, 68u, bytes) == am::Status::ok, "a long one");
    check(node.try_request<take_low_payload>(0, 69u, bytes) == am::Status::ok, "two of a megabyte");
    check(node.try_request<take_low_payload>(0, 70u, bytes) == am::Status::again,
          "three are more than 2 MiB");
    check(node.try_request<take_low>(0, 70u) == am::Status::ok, "for a short one there is room");
    node.wait_until([&] { return seen.low == 71; });
    const std::vector<std::byte> more(4'000'000);
    check(node.try_request<take_low_payload>(0, 71u, more) == am::Status::ok, "one in pieces is kept");
    check(node.try_request<take_low_payload>(0, 72u, more) == am::Status::again, "a second one is not");
    check(node.try_request<take_low>(0, 72u) == am::Status::again, "nor does a short one pass it");
    check(node.try_reply_to<take_high>(0, 0u) == am::Status::ok, "the high network does not mind");
    node.wait_until([&] { return seen.low == 72 && seen.high == 1; });
    check(node.try_request<take_low>(0, 72u) == am::Status::ok, "the link is free again");
    node.wait_until([&] { return seen.low == 73; });
  });
}

// More messages than a lap counter of 16 bits has values. (In a sanitized build the ring's own test has to do.)
TEST(SharedMemory, LapsWrap) {
  test::run_job({test::Nodes::threads}, 2, [](am::Node& node) {
    Seen seen;
    node.attach(seen);
    constexpr std::uint64_t lines_of_a_ring = 68;
    constexpr std::uint64_t laps = 70'000;
    const std::uint64_t messages = test::sanitized ? 10'000 : laps * lines_of_a_ring;
    for (std::uint64_t i = 0; node.id() == 0 && i < messages; ++i)
      check(node.request<take_low>(1, i) == am::Status::ok, "request");
    if (node.id() == 1) node.wait_until([&] { return seen.low == messages; });
    node.barrier();
  });
}

}  // namespace through_nodes_test
