// The barrier, every interleaving: nobody passes before all have arrived, everybody sees what the others did before
// they arrived, and nobody sleeps for ever in a barrier that is open.
//
// The steps are the accesses of src/core/together/barrier.cpp and of what it calls when it polls and sleeps, one each; the case
// labels say which. No messages, no deaths; sleeps have no end here.

#include "support/explorer.hpp"
#include "support/modelled_wake.hpp"

namespace barrier_model_test {

using namespace test;

using enum std::memory_order;

/// Which fence the sleeper has: the heavy one, or, where those who nudge fence as well, its own.
enum class Fence { heavy, own };

enum class Fault {
  none,
  arrive_relaxed,    // the arrival without release
  not_consistent,    // acquire and release where seq_cst is needed
  no_second_look,    // does not look at the counter after the announcement
  nobody_announced,  // sleeps without saying so
  no_count,          // wakes without counting the nudge
  no_fence           // the nudge has no fence, nor the sleeper a heavy one
};

constexpr unsigned most_nodes = 3;
enum Words : Location { arrived, sleepers, cards };  // then, by node: nudges, asleep, its data
constexpr Location nudges(unsigned node) { return static_cast<Location>(cards + 3 * node); }
constexpr Location asleep(unsigned node) { return static_cast<Location>(cards + 3 * node + 1); }
constexpr Location data(unsigned node) { return static_cast<Location>(cards + 3 * node + 2); }

struct Shape {
  unsigned nodes;
  unsigned barriers;
  unsigned sleepy;  // so many of them may sleep, the others poll until the barrier opens
  Fault fault;
  Fence fence = Fence::heavy;
};

/// One node: before each even barrier it writes its data, after it it reads those of the next node.
class Node {
 public:
  void step(Access& access, unsigned self, const Shape& shape, const Node* nodes) {
    const Fault fault = shape.fault;
    switch (at_) {
      case compute:
        if (passed_ % 2 == 0) access.write(data(self), 1 + passed_);
        at_ = arrive;
        break;
      case arrive:  // Barrier::arrive: barrier_arrived.fetch_add(1, seq_cst)
        target_ += shape.nodes;
        at_ = access.fetch_add(arrived, 1, order(fault, true)) + 1 == target_ ? any_asleep : look;
        break;
      case any_asleep:  // arrive: barrier_sleepers.load(seq_cst)
        to_nudge_ = 0;
        at_ = access.load(sleepers, fault == Fault::not_consistent ? acquire : seq_cst) != 0 ? nudge : look;
        if (at_ == nudge) next_nudge(self, shape.nodes);
        break;
      case nudge:  // host::nudge: nudges.fetch_add(1, release)
        if (fault != Fault::no_count) access.fetch_add(nudges(to_nudge_), 1, release);
        at_ = fault == Fault::no_fence ? wake : own_fence;
        break;
      case own_fence:  // nudge: own_fence()
        access.full_fence();
        at_ = wake;
        break;
      case wake:  // nudge: wake(node)
        if (!wake_.step(access, asleep(to_nudge_), to_nudge_)) break;
        ++to_nudge_;
        at_ = nudge;
        next_nudge(self, shape.nodes);
        break;
      case look:  // Barrier::is_open: barrier_arrived.load(seq_cst)
        if (is_open(access, fault)) {
          pass(access, shape, nodes);
        } else if (self >= shape.sleepy || access.choose(2) == 0) {
          at_ = look;  // the patience has not ended yet
        } else {
          at_ = announced_ || fault == Fault::nobody_announced ? look_again : announce;
          if (at_ == look_again && fault == Fault::no_second_look) at_ = sleepy;
        }
        break;
      case announce:  // Sleeper::announce: barrier_sleepers.fetch_add(1, seq_cst)
        access.fetch_add(sleepers, 1, fault == Fault::not_consistent ? std::memory_order_acq_rel : seq_cst);
        announced_ = true;
        at_ = fault == Fault::no_second_look ? sleepy : look_again;
        break;
      case look_again:  // Barrier::wait: is_open, once more
        at_ = sleepy;
        if (is_open(access, fault)) pass(access, shape, nodes);
        break;
      case sleepy:  // Engine::arm: Bell::set: alarm.store(sleeper, relaxed)
        access.store(asleep(self), 1, relaxed);
        at_ = fence;
        break;
      case fence:  // ShmTransport::arm: heavy_fence()
        modelled::heavy_fence(access, shape.fence == Fence::heavy && fault != Fault::no_fence);
        at_ = nudged;
        break;
      case nudged: {  // Engine::arm: Bell::nudged: nudges.load(acquire)
        const Word now = access.load(nudges(self), acquire);
        at_ = now != seen_ ? wake_up : sleep;
        seen_ = now;
        break;
      }
      case sleep:  // Bell::sleep: futex(FUTEX_WAIT, sleeper)
        access.futex_wait(asleep(self), 1);
        at_ = wake_up;
        break;
      case wake_up:  // Engine::disarm: Bell::clear: alarm.store(none, relaxed)
        access.store(asleep(self), 0, relaxed);
        at_ = look;
        break;
      case forget:  // ~Sleeper: barrier_sleepers.fetch_sub(1, relaxed)
        access.fetch_add(sleepers, ~Word{0}, relaxed);
        announced_ = false;
        after(access, self, shape);
        break;
      case read:
        after(access, self, shape);
        break;
    }
  }

  [[nodiscard]] bool has_ended(const Shape& shape) const { return passed_ == shape.barriers; }
  [[nodiscard]] Word target() const { return target_; }
  void fold(test::Digest& digest) const {
    digest.add(at_ | wake_.state() << 8 | to_nudge_ << 12 | passed_ << 16 | target_ << 24);
    digest.add((announced_ ? 1 : 0) + 2 * seen_);
  }

 private:
  enum At : unsigned {
    compute,
    arrive,
    any_asleep,
    nudge,
    own_fence,
    wake,
    look,
    announce,
    look_again,
    sleepy,
    fence,
    nudged,
    sleep,
    wake_up,
    forget,
    read
  };

  static std::memory_order order(Fault fault, bool arrival) {
    if (fault == Fault::arrive_relaxed && arrival) return relaxed;
    if (fault == Fault::not_consistent) return arrival ? std::memory_order_acq_rel : acquire;
    return seq_cst;
  }
  bool is_open(Access& access, Fault fault) const {
    return static_cast<std::int64_t>(access.load(arrived, order(fault, false)) - target_) >= 0;
  }
  void next_nudge(unsigned self, unsigned nodes) {
    if (to_nudge_ == self) ++to_nudge_;
    if (to_nudge_ < nodes) return;
    at_ = look;
    to_nudge_ = 0;
  }
  void pass(Access& access, const Shape& shape, const Node* nodes) {
    for (unsigned node = 0; node < shape.nodes; ++node) {
      if (nodes[node].target() < target_) access.fail("passed before all have arrived");
    }
    at_ = announced_ ? forget : read;
  }
  /// What a node does when it is through.
  void after(Access& access, unsigned self, const Shape& shape) {
    const unsigned next = (self + 1) % shape.nodes;
    if (passed_ % 2 == 0 && access.read(data(next)) != 1 + passed_) access.fail("the wrong data");
    ++passed_;
    at_ = compute;
  }

  At at_ = compute;
  bool announced_ = false;
  unsigned to_nudge_ = 0, passed_ = 0;
  Word target_ = 0, seen_ = 0;
  modelled::Wake wake_;
};

test::Verdict explore_barrier(const Shape& shape) {
  std::vector<Memory::Declaration> words{{"arrived"}, {"sleepers"}};
  for (unsigned node = 0; node < shape.nodes; ++node) {
    const std::string of = " of " + std::to_string(node);
    words.push_back({"nudges" + of});
    words.push_back({"asleep" + of});
    words.push_back({"data" + of, Memory::Kind::content});
  }
  return test::explore(test::AlikeNodes<Node, Shape, most_nodes>(shape), Memory(shape.nodes, words));
}

class EveryBarrier : public testing::TestWithParam<Shape> {};

TEST_P(EveryBarrier, OpensToAllWhenAllHaveArrived) { expect_holds(explore_barrier(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Shapes, EveryBarrier,
                         testing::Values(Shape{2, 1, 2, Fault::none}, Shape{2, 2, 2, Fault::none},
                                         Shape{2, 3, 1, Fault::none}, Shape{3, 1, 1, Fault::none},
                                         Shape{2, 2, 2, Fault::none, Fence::own}));

class BrokenBarrier : public testing::TestWithParam<std::pair<Fault, const char*>> {};

TEST_P(BrokenBarrier, IsFoundOut) {
  const auto& [fault, why] = GetParam();
  expect_refuted(explore_barrier({2, 2, 2, fault}), why);
}

INSTANTIATE_TEST_SUITE_P(Faults, BrokenBarrier,
                         testing::Values(std::pair{Fault::arrive_relaxed, "race"},
                                         std::pair{Fault::not_consistent, "no good end"},
                                         std::pair{Fault::no_second_look, "no good end"},
                                         std::pair{Fault::no_fence, "no good end"},
                                         std::pair{Fault::nobody_announced, "no good end"},
                                         std::pair{Fault::no_count, "no good end"}));

}  // namespace barrier_model_test
