// The CM-5's control network live: criterion CM-25 (von Eicken 1993, 3.2.3). Operations of random words, by several threads; and carriers that
// are stopped, or killed, before any of their accesses: whoever waits does their work.
#include "emulated_hw/cm5/live_control.hpp"

#include <thread>

#include "support/steps.hpp"
#include "unit/emulated_hw/kit/live_network.hpp"

namespace cm5_live_control_test {

using namespace am::cm5;
using namespace test;
using Kind = ControlOperation::Kind;
using Part = LiveControl::Part;
using am::kit::Word;

class Control final : public LiveControl::Nodes {
 public:
  explicit Control(NodeNumber nodes)
      : nodes_(nodes),
        memory_(LiveControl::bytes(nodes) / sizeof(Line)),
        told_(nodes),
        net_(nodes, memory_.front().bytes, *this) {}
  void has_result(NodeNumber node) noexcept override { ++told_[node]; }
  [[nodiscard]] NodeNumber nodes() const { return nodes_; }
  [[nodiscard]] LiveControl& net() { return net_; }
  [[nodiscard]] unsigned told(NodeNumber node) const { return told_[node]; }

 private:
  const NodeNumber nodes_;
  std::vector<Line> memory_;
  std::vector<std::atomic<unsigned>> told_;
  LiveControl net_;
};

ControlOperation random_operation(Random& random, NodeNumber nodes) {
  const auto root = static_cast<NodeNumber>(random.below(nodes));
  return {.kind = static_cast<Kind>(random.below(4)),
          .combiner = static_cast<Combiner>(random.below(8)),
          .descends = random.one_in(2),
          .root = random.one_in(2) ? ControlOperation::all : root,
          .more = 4};
}
Part random_part(Random& random, const ControlOperation& operation) {
  return {operation.bits(), random(), !random.one_in(5), random.one_in(5)};
}

/// What a node gets, one part after the other.
std::optional<Word> expected(const ControlOperation& operation, const std::vector<Part>& parts,
                             NodeNumber node) {
  if (operation.kind == Kind::broadcast) return parts[operation.root].value;
  std::optional<Word> all;
  const auto last = static_cast<NodeNumber>(parts.size() - 1);
  for (NodeNumber i = 0; i <= last; ++i) {
    const NodeNumber from = operation.descends ? last - i : i;
    if (operation.kind == Kind::scan && from == node) return all;
    const Part& its = parts[from];
    if (its.cut && operation.kind == Kind::scan) all.reset();
    if (its.any) all = all ? combined(operation.combiner, *all, its.value) : its.value;
  }
  return all;
}

/// The same on each thread that asks: by number.
struct Plan {
  Plan(Word number, NodeNumber nodes, std::uint64_t seed) {
    Random random(mix(seed, number));
    operation = random_operation(random, nodes);
    if (operation.kind == Kind::broadcast && operation.root == ControlOperation::all) operation.root = 0;
    const bool waited_for = number % 16 == 0;
    if (waited_for) operation = {.kind = Kind::reduction, .root = ControlOperation::all};
    for (NodeNumber node = 0; node < nodes; ++node) {
      parts.push_back(random_part(random, operation));
      if (operation.kind != Kind::scan) parts.back().cut = false;
    }
  }
  ControlOperation operation;
  std::vector<Part> parts;
};

void expect_result(const Part& result, const Plan& plan, NodeNumber node) {
  const auto right = expected(plan.operation, plan.parts, node);
  ASSERT_EQ(result.what, plan.operation.bits());
  ASSERT_EQ(plan.operation.kind == Kind::broadcast || result.any, right.has_value());
  EXPECT_EQ(result.value, right.value_or(result.value));
}
bool waits(const ControlOperation& its, NodeNumber node) {
  if (its.kind == Kind::broadcast) return node != its.root;
  return its.kind != Kind::reduction || its.root == ControlOperation::all || its.root == node;
}

// CM-25: every kind, in every number of nodes, the last of which finds all. An absent leaf is not waited for.
TEST(Cm5LiveControl, CombinesUpAndSpreadsDown) {
  Random random(test::seed());
  for (const NodeNumber nodes : {1u, 2u, 4u, 5u, 17u, 70u}) {
    Control control(nodes);
    for (Word number = 1; number <= 200; ++number) {
      const Plan plan(number, nodes, 11);
      const auto first = static_cast<NodeNumber>(random.below(nodes));
      const unsigned told = control.told(first);
      for (NodeNumber i = 0; i < nodes; ++i) {
        const NodeNumber node = (first + i) % nodes;
        EXPECT_FALSE(plan.operation.kind != Kind::broadcast && control.net().result(first, number));
        control.net().take_part(node, number, plan.parts[node]);
        EXPECT_EQ(*control.net().what_of(node, number), plan.operation.bits());
      }
      for (NodeNumber node = 0; node < nodes; ++node) {
        const auto result = control.net().result(node, number);
        ASSERT_TRUE(result);
        expect_result(*result, plan, node);
      }
      EXPECT_EQ(control.told(first) - told, waits(plan.operation, first) ? 1u : 0u);
    }
  }
}

// CM-25: not without agreement. The root of a broadcast does not wait, and those who get its word may get that before.
TEST(Cm5LiveControl, TellsThoseWhoDoNotAgree) {
  Control control(6);
  const ControlOperation one{.kind = Kind::reduction, .root = ControlOperation::all};
  ControlOperation other = one;
  other.combiner = Combiner::maximum;
  for (NodeNumber node = 0; node < 6; ++node)
    control.net().take_part(node, 1, {(node == 4 ? other : one).bits(), 1});
  for (NodeNumber node = 0; node < 6; ++node) {
    EXPECT_EQ(control.net().result(node, 1)->what, 0u);
    EXPECT_EQ(control.told(node), 1u);
  }
  const ControlOperation broadcast{.kind = Kind::broadcast, .root = 5};
  control.net().take_part(0, 2, {broadcast.bits()});
  EXPECT_FALSE(control.net().result(0, 2));
  control.net().take_part(5, 2, {broadcast.bits(), 7});
  for (const NodeNumber node : {0u, 1u}) EXPECT_EQ(control.net().result(node, 2)->value, 7u);
  EXPECT_EQ(control.told(0), 2u);
  EXPECT_EQ(control.told(1), 1u) << "it has not come yet";
}

// Threads, each of which is several nodes, and waits only where it has to.
TEST(Cm5LiveControl, KeepsOperationsApartWhileNodesRunAhead) {
  for (const NodeNumber nodes : {2u, 3u, 9u}) {
    Control control(nodes);
    std::vector<std::jthread> threads;
    for (NodeNumber node = 0; node < nodes; ++node) {
      threads.emplace_back([&control, nodes, node] {
        for (Word number = 1; number <= 2'000; ++number) {
          const Plan plan(number, nodes, 12);
          control.net().take_part(node, number, plan.parts[node]);
          if (!waits(plan.operation, node)) continue;
          auto result = control.net().result(node, number);
          for (; !result; result = control.net().result(node, number)) std::this_thread::yield();
          expect_result(*result, plan, node);
        }
      });
    }
  }
}

// A node that was stopped or killed once it has come keeps nobody waiting: not one who goes up again himself.
TEST(Cm5LiveControlStops, AnotherGoesOnWhereACarrierWasStoppedOrKilled) {
  for (const bool killed : {false, true}) {
    for (const Word number : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
      const Plan plan(number, 6, 13);
      const bool by_root = plan.operation.kind == Kind::broadcast;
      at_each_access([&](unsigned at, bool& ended) {
        Control control(6);
        for (const NodeNumber node : {0u, 1u, 2u, 4u, 5u})
          control.net().take_part(node, number, plan.parts[node]);
        Steps::One last(
            [&](Steps::One& one) { control.net().take_part(3, number, plan.parts[3], Stops{&one}); });
        ended = !last.go(at);
        const bool has_come = control.net().what_of(3, number).has_value();
        if (killed) last.kill();
        for (const NodeNumber node : {0u, 5u}) {
          control.net().carry(node, number);
          if (has_come) control.net().carry(3, number);  // a node of its switch
          EXPECT_FALSE(!has_come && !by_root && control.net().result(node, number));
          if (!has_come || (plan.operation.kind == Kind::broadcast && plan.operation.root == 3)) continue;
          ASSERT_TRUE(control.net().result(node, number));
          expect_result(*control.net().result(node, number), plan, node);
        }
        if (killed) return;
        last.finish();
        for (NodeNumber node = 0; node < 6; ++node)
          expect_result(*control.net().result(node, number), plan, node);
      });
    }
  }
}

}  // namespace cm5_live_control_test
