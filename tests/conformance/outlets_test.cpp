// Outlets (clause 6): a function that runs whenever both networks can take a message and nothing else waits. One that
// neither sends nor disables is called again; while a network is full it rests, and it starts again by itself.
#include "support/job.hpp"

namespace outlets_test {

using namespace test;
using Outlets = test::OnEverySubstrate;
// They tell what a poll runs and what not: in the other modes much has run before.
using PolledOutlets = test::OnSubstrates<test::Suite{.asynchronous = false, .about = test::About::node}>;

struct Sink {
  std::uint64_t lows = 0;
  std::uint64_t highs = 0;
  bool go = false;
  bool ended = false;
  std::uint64_t expected = 0;
};
void expect_high(am::Request& request, std::uint64_t highs) { request.state<Sink>().expected = highs; }
void take(am::Request& request, std::uint64_t number) {
  check_equal(number, request.state<Sink>().lows++, "the number of a request");
}
void take_high(am::Reply& reply, std::uint64_t number) {
  check_equal(number, reply.state<Sink>().highs++, "the number of a reply");
}
void go(am::Reply& reply) { reply.state<Sink>().go = true; }
void end(am::Request& request) { request.state<Sink>().ended = true; }

TEST_P(PolledOutlets, ThatNeitherSendNorDisableAreCalledAgain) {
  run(1, [](am::Node& node) {
    std::uint64_t calls = 0;
    node.on_outlet([&](am::LowEvent&) { ++calls; });
    for (std::uint64_t polls = 1; polls <= 1000; ++polls) {
      node.poll();
      check_equal(calls, polls, "calls: one a poll");
    }
    node.enable_event(am::Event::outlet, false);
    node.poll();
    check_equal(calls, 1000u, "calls while masked");
    node.enable_event(am::Event::outlet, true);
    node.poll();
    check_equal(calls, 1001u, "calls when it is unmasked");
    node.on_outlet({});
    node.poll();
    check_equal(calls, 1001u, "calls of an outlet that was taken away");
  });
}

TEST_P(PolledOutlets, MayReplaceThemselves) {
  run(1, [](am::Node& node) {
    std::string calls;
    node.on_outlet([&](am::LowEvent& event) {
      calls += 'a';
      event.node().on_outlet([&](am::LowEvent& second) {
        calls += 'b';
        second.node().on_outlet({});
      });
    });
    for (int i = 0; i < 10; ++i) node.poll();
    check_equal(calls, "ab", "calls");
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, PolledOutlets, test::cells_of<PolledOutlets>(), test::name_of);

// The use it was made for (T1 report, A.10): a transfer in the background, while the computation goes on.
TEST_P(Outlets, ABackgroundTransferEnds) {
  run<Sink>(3, [](am::Node& node, Sink& sink) {
    const std::uint64_t blocks = rounds(100'000);
    std::uint64_t sent = 0;
    const auto transfer = [&](am::LowEvent& event) {
      if (event.try_request<take>(1, sent) == am::Status::ok) ++sent;
      if (sent == blocks) event.node().on_outlet({});
    };
    if (node.id() == 0) node.on_outlet(transfer);
    // Meanwhile, both ways and at the other priority.
    for (std::uint64_t i = 0; i < rounds(20'000); ++i)
      check_ok(node.reply_to<take_high>((node.id() + 1) % 3, i));
    node.wait_until(
        [&] { return sent == (node.id() == 0 ? blocks : 0) && sink.lows == (node.id() == 1 ? blocks : 0); });
    node.wait_until([&] { return sink.highs == rounds(20'000); });
    node.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Outlets, test::cells_of<Outlets>(), test::name_of);

using FullNetwork = test::OnFaultlessSubstrates;

TEST_P(FullNetwork, TheOutletRestsWhileItIsFullAndStartsAgain) {
  run<Sink>(2, [](am::Node& node, Sink& sink) {
    if (node.id() == 0) {
      std::uint64_t calls = 0;
      std::uint64_t sent = 0;
      bool refused = false;
      node.on_outlet([&](am::LowEvent& event) {
        ++calls;
        const bool ok = event.try_request<take>(1, sent) == am::Status::ok;
        sent += ok ? 1 : 0;
        refused = refused || !ok;
      });
      node.wait_until([&] { return refused; });
      const std::uint64_t before = calls;
      for (int i = 0; i < 1000; ++i) node.poll();
      check_equal(calls, before, "calls while the low network is full");
      const std::uint64_t full = sent;  // before there is room: then the outlet changes it
      check_ok(node.reply_to<go>(1));
      node.wait_until([&] { return sent > 2 * full; });
      node.on_outlet({});
      check_ok(node.request<end>(1));  // behind all that the outlet has sent
    } else {
      node.enable_event(am::Event::low_message, false);
      node.wait_until([&] { return sink.go; });
      node.enable_event(am::Event::low_message, true);
      node.wait_until([&] { return sink.ended; });
    }
    node.barrier();
  });
}

TEST_P(FullNetwork, TheOutletNeedsBothNetworks) {
  run<Sink>(2, [](am::Node& node, Sink& sink) {
    if (node.id() == 0) {
      std::uint64_t highs = 0;
      while (node.try_reply_to<take_high>(1, highs) == am::Status::ok) ++highs;
      std::uint64_t calls = 0;
      node.on_outlet([&](am::LowEvent&) { ++calls; });
      for (int i = 0; i < 1000; ++i) node.poll();
      check_equal(calls, 0u, "calls while the high network is full");
      check_ok(node.request<expect_high>(1, highs));
      node.wait_until([&] { return calls != 0; });
      node.on_outlet({});
    } else {
      node.enable_event(am::Event::high_message, false);
      node.wait_until([&] { return sink.expected != 0; });
      node.enable_event(am::Event::high_message, true);
      node.wait_until([&] { return sink.highs == sink.expected; });
    }
    node.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, FullNetwork, test::cells_of<FullNetwork>(), test::name_of);

}  // namespace outlets_test
