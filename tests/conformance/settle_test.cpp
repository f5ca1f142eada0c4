// The end of a phase of messages that nobody answers (am/settle.hpp).
#include <am/settle.hpp>

#include <am/global.hpp>

#include "support/catching.hpp"
#include "support/job.hpp"

namespace settle_test {

using am::Node;
using am::NodeId;
using namespace test;
using Settle = test::OnEverySubstrate;

struct Refused {};

/// How much has come to a node, in its global memory, where the others see it.
struct Came {
  explicit Came(Node& node) : place(am::allocate_symmetric<std::uint64_t>(node)) { node.attach(*this); }

  void add(std::uint64_t much) const { std::atomic_ref(*place.local()) += much; }
  void take(am::Request& /*request*/, std::uint64_t much) { add(much); }
  void take_long(am::Request& /*request*/, am::Payload payload) { add(payload.size()); }
  void refuse(am::Request& /*request*/) {
    add(1);
    throw Refused();
  }
  /// Whether all has come of this phase and those before it, of which there was so much.
  [[nodiscard]] auto since(std::uint64_t before) const {
    return [this, before](std::uint64_t all) { return std::atomic_ref(*place.local()) - before >= all; };
  }

  am::GlobalPtr<std::uint64_t> place;
};

/// To anybody, itself as well: how much to each.
std::vector<std::uint64_t> send_some(Node& node, test::Random& random) {
  std::vector<std::uint64_t> sent(node.size());
  for (std::uint64_t n = random.below(30); n != 0; --n) {
    const auto to = static_cast<NodeId>(random.below(node.size()));
    const std::uint64_t much = 1 + random.below(3000);
    const std::vector<std::byte> bytes(much);
    const am::Status status = random.one_in(4) ? node.request<&Came::take_long>(to, std::span(bytes))
                                               : node.request<&Came::take>(to, much);
    check_ok(status);
    sent[to] += much;
  }
  return sent;
}

TEST_P(Settle, ReturnsWhenAllHasComeEverywhere) {
  run(3, [](Node& node) {
    const Came came(node);
    test::Random random(test::mix(test::seed(), node.id() + 1));
    std::vector<std::uint64_t> until_now(node.size());
    node.barrier();
    for (std::uint64_t round = 0; round < rounds(40); ++round) {
      std::vector<std::uint64_t> sent(node.size());
      if (!random.one_in(4)) sent = send_some(node, random);
      am::settle(node, sent, came.since(until_now[node.id()]));
      for (NodeId other = 0; other < node.size(); ++other) {
        until_now[other] += sent[other];
        check(am::get(node, came.place.on(other)) >= until_now[other], "what was sent is there");
      }
    }
    node.barrier();
    check_equal(*came.place.local(), until_now[node.id()], "and no more");
    node.barrier();
  });
}

TEST_P(Settle, AsksNobodyWhereNothingWasSentAndWantsANumberForEachNode) {
  run(2, [](Node& node) {
    for (int i = 0; i < 3; ++i) {
      std::array<std::uint64_t, 2> none{};
      am::settle(node, none, [](std::uint64_t) { return false; });
    }
    std::array<std::uint64_t, 1> few{};
    check_throws<am::Error>([&] { am::settle(node, few, [](std::uint64_t) { return true; }); },
                            "1 number for 2 nodes");
    node.barrier();
  });
}

/// It comes out when it is complete, with the sums in place: so all go on with the next one together.
TEST_P(Settle, IsCompleteWhenAHandlerThrows) {
  run(3, [](Node& node) {
    const Came came(node);
    std::uint64_t before = 0;
    std::uint64_t thrown = 0;
    const auto meanwhile = [&](const auto& step) { thrown += test::catches<Refused>(node, step) ? 1 : 0; };
    meanwhile([&] { node.barrier(); });
    for (std::uint64_t round = 0; round < rounds(20); ++round) {
      std::array<std::uint64_t, 3> sent{};
      if (node.id() != 0) {
        check_ok(node.request<&Came::refuse>(0));
        sent[0] = 1;
      }
      meanwhile([&] { am::settle(node, sent, came.since(before)); });
      check_equal(sent[0], 2u, "both have sent one");
      before += sent[node.id()];
      check(am::get(node, came.place.on(0)) >= 2 * (round + 1), "which have come");
      meanwhile([&] { node.barrier(); });
    }
    check_equal(thrown > 0, node.id() == 0, "at the node of the handler");
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Settle, test::cells_of<Settle>(), test::name_of);

/// It does not enter, or has entered and dies before all has come.
TEST(SettleOfTheDead, SaysWhoIsMissing) {
  for (const bool enters : {false, true}) {
    test::run_with_killed(2, 1, [enters](Node& node) {
      node.on_peer_death([](Node&, NodeId) {});
      node.barrier();
      if (node.id() == 1 && !enters) std::raise(SIGKILL);
      std::array<std::uint64_t, 2> sent{1, 1};
      const auto come = [&](std::uint64_t) {
        if (node.id() == 1) std::raise(SIGKILL);
        return false;
      };
      check_throws<am::Error>([&] { am::settle(node, sent, come); }, "node 1");
    });
  }
}

}  // namespace settle_test
