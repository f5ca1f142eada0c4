// Clause 9 of the contract: with active messages disabled a default handler gets every message, sees the handler that it named, its words
// and its payload, and can run it. What libam's own operations send is no message of the program: it is done as ever.
#include <am/collectives.hpp>
#include <am/global.hpp>

#include "support/job.hpp"

namespace default_handler_test {

using namespace test;
using DefaultHandler = test::OnEverySubstrate;
using DefaultHandlerOfANode = test::OnANode;

/// Each level has its own: in the interrupt mode high handlers preempt low ones.
struct State {
  std::uint64_t ran = 0;
  std::uint64_t seen = 0;
  std::uint64_t highs = 0;
  std::uint64_t highs_seen = 0;
};
void plain(am::Request& request, std::uint64_t a, std::uint32_t b) {
  check(a == 7 && b == 9, "arguments of the handler that was named");
  ++request.state<State>().ran;
}
void with_payload(am::Reply& reply, std::uint64_t size, am::Payload payload) {
  check_equal(payload.size(), size, "the payload of the handler that was named");
  ++reply.state<State>().highs;
}

TEST_P(DefaultHandler, SeesEveryMessageAndCanRunIt) {
  run<State>(2, [](am::Node& node, State& state) {
    const am::NodeId to = 1 - node.id();
    const std::vector<std::size_t> sizes = {0, 1, 1024, 1025, 50'000};
    node.on_default([&](am::Incoming& incoming) {
      ++(incoming.priority() == am::Priority::low ? state.seen : state.highs_seen);
      check_equal(incoming.from(), to, "who sent it");
      check(&incoming.node() == &node, "the node");
      check(!incoming.is_multicast(), "it was sent to this node alone");
      if (incoming.names<plain>()) {
        check(!incoming.names<with_payload>(), "it names one handler");
        check(incoming.priority() == am::Priority::low, "its priority");
        check_equal(incoming.words().size(), 2u, "its words");
        check_equal(incoming.words()[0], 7u, "its first word");
        check(incoming.handler_name().find("plain") != std::string_view::npos, "its name");
      } else {
        check(incoming.names<with_payload>(), "it names the other handler");
        check(incoming.priority() == am::Priority::high, "its priority");
        check_equal(incoming.payload().size(), incoming.words()[0], "its payload");
        check(incoming.handler_name().find("with_payload") != std::string_view::npos, "its name");
      }
      incoming.run();
    });
    node.enable_active_messages(false);
    node.barrier();
    for (std::uint64_t i = 0; i < rounds(500); ++i) {
      check_ok(node.request<plain>(to, 7u, 9u));
      const std::vector<std::byte> bytes(sizes[i % sizes.size()]);
      check_ok(node.reply_to<with_payload>(to, bytes.size(), bytes));
    }
    node.wait_until([&] { return state.seen == rounds(500) && state.highs_seen == rounds(500); });
    check_equal(state.ran, rounds(500), "request handlers that the default handler ran");
    check_equal(state.highs, rounds(500), "reply handlers that it ran");
    node.barrier();
    node.enable_active_messages(true);
    node.barrier();
    check_ok(node.request<plain>(to, 7u, 9u));
    node.wait_until([&] { return state.ran == rounds(500) + 1; });
    check_equal(state.seen, rounds(500), "what the default handler sees while active messages are enabled");
    node.barrier();
  });
}

// It runs at the level of the message: a request's may wait to reply, and is a level of its own.
TEST_P(DefaultHandler, RunsAtTheLevelOfItsMessage) {
  run<State>(2, [](am::Node& node, State& state) {
    constexpr auto high = [](am::Reply& reply) { ++reply.state<State>().highs; };
    constexpr auto low = [](am::Request& request) {
      ++request.state<State>().ran;
      for (int i = 0; i < 200; ++i) check_ok(request.reply<high>());
    };
    int depth[2] = {};
    node.on_default([&](am::Incoming& incoming) {
      const auto level = static_cast<std::size_t>(incoming.priority());
      check_equal(++depth[level], 1, "default handlers of one level inside each other");
      check(level == 1 || depth[1] == 0, "a low one inside a high one");
      incoming.run();
      --depth[level];
    });
    node.enable_active_messages(false);
    for (std::uint64_t i = 0; i < rounds(100); ++i) check_ok(node.request<low>(1 - node.id()));
    node.wait_until([&] { return state.ran == rounds(100) && state.highs == 200 * rounds(100); });
    node.barrier();
  });
}

TEST_P(DefaultHandlerOfANode, MayReplaceItselfAndEnableActiveMessages) {
  run<State>(1, [](am::Node& node, State& state) {
    std::string order;
    node.on_default(
        [&order, long_enough_to_live_on_the_heap = std::string(100, 'x')](am::Incoming& incoming) {
          order += 'a';
          incoming.node().on_default([&order](am::Incoming& second) {
            order += 'b';
            second.node().enable_active_messages(true);
          });
          order += long_enough_to_live_on_the_heap.front();
        });
    node.enable_active_messages(false);
    for (int i = 0; i < 3; ++i) check_ok(node.request<plain>(0, 7u, 9u));
    node.wait_until([&] { return state.ran == 1; });
    check_equal(order, "axb", "who got the messages");
  });
}

// Nodes put, get, change and combine while one of them, or all, have active messages disabled.
TEST_P(DefaultHandler, DoesNotGetWhatGlobalMemoryAndCollectivesSend) {
  run<State>(3, [](am::Node& node, State& state) {
    node.on_default([&](am::Incoming& incoming) {
      check(incoming.names<plain>(), incoming.handler_name());
      ++state.seen;
      incoming.run();
    });
    for (am::NodeId disabled = 0; disabled <= node.size(); ++disabled) {
      node.enable_active_messages(disabled != node.id() && disabled != node.size());
      const auto words = am::allocate_symmetric<std::uint64_t>(node, 20'000);
      const auto sum = am::allocate_symmetric<std::uint64_t>(node);
      const am::NodeId right = (node.id() + 1) % node.size();
      const std::vector<std::uint64_t> values(20'000, node.id() + 1);
      am::put(node, words.on(right), values);
      am::put(node, words.on(right), am::get(node, words.on(right) + 1));
      std::vector<std::uint64_t> back(values.size());
      am::get(node, words.on(right), back);
      check(back == values, "the range that was put");
      for (am::NodeId to = 0; to < node.size(); ++to) am::fetch_add(node, sum.on(to), node.id() + 1);
      check_ok(node.request<plain>(right, 7u, 9u));
      check_equal(am::all_reduce(node, node.id(), std::plus<>()), 3u, "all_reduce");
      check_equal(am::broadcast(node, node.id(), disabled % node.size()), disabled % node.size(),
                  "broadcast");
      check_equal(am::all_gather(node, node.id())[right], right, "all_gather");
      node.barrier();
      check_equal(*sum.local(node), 6u, "the sum of what all added");
      node.wait_until([&] { return state.ran == disabled + 1; });
      node.barrier();
    }
    check_equal(state.seen, 2u, "messages of the program that the default handler got");
    node.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, DefaultHandler, test::cells_of<DefaultHandler>(), test::name_of);
INSTANTIATE_TEST_SUITE_P(Contract, DefaultHandlerOfANode, test::cells_of<DefaultHandlerOfANode>(),
                         test::name_of);

}  // namespace default_handler_test
