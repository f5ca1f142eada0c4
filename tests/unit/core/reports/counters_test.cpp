// Counters: what a node reads of itself, and how it is printed. What an onlooker reads out of the segment:
// process/aminfo_stats_test.cpp.
#include "core/reports/counters.hpp"

#include <gmock/gmock.h>
#include <am/multicast.hpp>

#include "support/job.hpp"

namespace am::counters_test {

using namespace test;
using namespace testing;

void counted(Request& request, std::uint64_t) { request.state<int>() += 1; }
void counted_payload(Request& request, Payload) { request.state<int>() += 1; }
void counted_reply(Reply& reply, std::uint64_t, std::uint64_t) { reply.state<int>() += 1; }
void never_sent(Request&) {}

const HandlerCounters* find(const Counters& counters, std::string_view name) {
  for (const HandlerCounters& c : counters.handlers) {
    if (c.name.find(name) != std::string::npos) return &c;
  }
  return nullptr;
}

std::uint64_t runs(const Counters& counters, std::string_view name) {
  const HandlerCounters* handler = find(counters, name);
  return handler == nullptr ? 0 : handler->runs;
}

TEST(Counters, CountMessagesAndBytesPerPeerAndPriority) {
  test::run_job<int>({test::Nodes::threads}, 2, [](Node& node, const int& received) {
    check(counters(node).peers.empty() && counters(node).handlers.empty(), "nothing was counted");
    node.barrier();
    if (node.id() == 0) {
      for (int i = 0; i < 9; ++i) check(node.request<counted>(1, 1u) == Status::ok, "request");
      check(node.multicast<counted>(Group::all(node).without(0), 1u) == Status::ok, "multicast");
      for (const std::size_t size : {0u, 1u, 1024u, 1025u, 5000u})
        check(node.request<counted_payload>(1, std::vector<std::byte>(size)) == Status::ok, "payload");
      for (int i = 0; i < 3; ++i) check(node.reply_to<counted_reply>(1, 1u, 2u) == Status::ok, "reply");
    } else {
      node.wait_until([&] { return received == 18; });
    }
    node.barrier();
    const Counters now = counters(node);
    check(now.node == node.id() && now.nodes == 2, "whose they are");
    const bool sends = node.id() == 0;
    const auto expect = [&](Priority priority, std::uint64_t messages, std::uint64_t bytes) {
      const PeerCounters peer = now.peer(1 - node.id(), priority);
      check_equal(sends ? peer.sent_messages : peer.received_messages, messages, "messages");
      check_equal(sends ? peer.sent_bytes : peer.received_bytes, bytes, "bytes");
      check_equal(sends ? peer.received_messages : peer.sent_messages, 0u, "the other way");
    };
    expect(Priority::low, 15, 10 * 8 + 0 + 1 + 1024 + 1025 + 5000);
    expect(Priority::high, 3, 48);
    check_equal(runs(now, "counted_payload"), sends ? 0u : 5u, "runs of a handler");
    check_equal(runs(now, "counted_reply"), sends ? 0u : 3u, "runs of a handler");
    check_equal(now.handlers.size(), sends ? 0u : 3u, "handlers that ran");
    check(find(now, "never_sent") == nullptr, "a handler that did not run");
    check_equal(now.peer(node.id(), Priority::low).sent_messages, 0u, "messages to itself");
    node.barrier();
    if (node.id() == 2)
      static_cast<void>(node.try_request<never_sent>(0));  // so that it is one of the handlers
  });
}

TEST(Counters, CountEveryAgain) {
  test::run_alone<int>([](Node& node, const int& received) {
    std::uint64_t sent = 0;
    while (node.try_request<counted>(0, 1u) == Status::ok) ++sent;
    for (int i = 0; i < 4; ++i) check(node.try_request<counted>(0, 1u) == Status::again, "full");
    check(node.try_request<counted_payload>(0, std::vector<std::byte>(5000)) == Status::again, "full");
    const PeerCounters self = counters(node).peer(0, Priority::low);
    check_equal(self.again, 6u, "again");
    check_equal(self.sent_messages, sent, "sent");
    node.wait_until([&] { return received == static_cast<int>(sent); });
  });
}

TEST(Counters, TimeEverySixtyFourthRun) {
  test::run_alone<int>([](Node& node, const int& received) {
    for (int i = 0; i < 640; ++i) check(node.request<counted>(0, 1u) == Status::ok, "request");
    node.wait_until([&] { return received == 640; });
    const Counters now = counters(node);
    const HandlerCounters* handler = find(now, "counted");
    check(handler != nullptr, "it ran");
    check_equal(handler->runs, 640u, "runs");
    check_equal(handler->sampled_runs, 10u, "sampled runs");
    check_equal(handler->ns_each(), handler->sampled_ns / 10, "ns each");
    check_equal(HandlerCounters{}.ns_each(), 0u, "ns each of none");
  });
}

TEST(CountersText, HasATableOfPeersAndOneOfHandlers) {
  Counters c{.node = 3, .nodes = 8, .peers = {}, .handlers = {}};
  EXPECT_EQ(core::to_text(c), "am: node 3 of 8\n  no messages\n");
  c.refused_accesses = 3;
  c.peers.push_back({7, Priority::high, 1234567890123, 2, 3, 4, UINT64_MAX});
  c.handlers.push_back({"app::added", 100, 2, 400});
  c.handlers.push_back({"app::rare", 1, 0, 0});
  const std::string text = core::to_text(c);
  EXPECT_THAT(text, HasSubstr("am: node 3 of 8\n"));
  EXPECT_THAT(text, HasSubstr("1234567890123"));
  EXPECT_THAT(text, HasSubstr("  3 guarded accesses refused\n"));
  EXPECT_THAT(text, HasSubstr("18446744073709551615"));
  EXPECT_THAT(text, testing::ContainsRegex("100 +200 +app::added\n"));
  EXPECT_THAT(text, testing::ContainsRegex("1 +- +app::rare\n")) << "never timed is not 0 ns";
  EXPECT_THAT(text, Not(HasSubstr("no messages")));
}

}  // namespace am::counters_test
