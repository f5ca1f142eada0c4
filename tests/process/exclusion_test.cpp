// Critical sections against arrivals, where handlers run beside the computation or in the middle of it: what both change
// stays whole. Three nodes do a mix of everything, by a seed, and nobody waits before a change.
#include <am/draft.hpp>

#include "support/job.hpp"

namespace exclusion_test {

using namespace test;
using Exclusion = test::OnAsynchronousSubstrates;

/// Changed by handlers and in critical sections. Not atomic: ThreadSanitizer sees what the numbers do not show.
struct Shared {
  std::uint64_t a = 0;
  std::uint64_t b = ~std::uint64_t{0};  // always ~a
  std::uint64_t broken = 0;
  std::uint64_t order_broken = 0;
  std::uint64_t changes = 0;
  std::uint64_t ran = 0;        // handlers
  std::uint64_t too_early = 0;  // events that were disabled
  std::uint64_t answers = 0;
  std::uint64_t bytes = 0;
  bool lows_disabled = false;
  std::array<std::uint64_t, 3> next{};  // by sender: the number that its next request has

  void change() noexcept {
    if (b != ~a) ++broken;
    a += 0x1234567;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    b = ~a;
    ++changes;
  }
  /// In the interrupt mode a high handler preempts low ones: what both change, low ones change in a section.
  void change_in_low(am::Node& node) {
    const am::CriticalSection quiet(node);
    change();
    ++ran;
    too_early += lows_disabled ? 1 : 0;
  }
  void low(am::Request& request, std::uint64_t number) {
    change_in_low(request.node());
    if (next[request.from()]++ != number) ++order_broken;
    check(request.reply<&Shared::answer>() == am::Status::ok, "reply");
  }
  void answer(am::Reply&) {
    change();
    ++ran;
    ++answers;
  }
  void bring(am::Request& request, am::Payload payload) {
    change_in_low(request.node());
    bytes += payload.size();
  }
};

/// Reads and writes in several steps, with time in between for whoever wants to come between.
void change_slowly(Shared& shared, test::Random& random) {
  const std::uint64_t a = shared.a;
  for (volatile std::uint64_t pause = random.below(100); pause != 0;) pause = pause - 1;
  check_equal(shared.a, a, "changed by a handler in a critical section");
  shared.change();
}

TEST_P(Exclusion, HoldsInCriticalSections) {
  run(3, [](am::Node& node) {
    static thread_local Shared shared;  // outlives the node: what is on its way when the test ends changes it
    shared = {};
    node.attach(shared);
    node.barrier();
    test::Random random(test::mix(test::seed(), node.id()));
    const std::vector<std::byte> bytes(5000);
    std::array<std::uint64_t, 3> sent{};
    std::uint64_t asked = 0;
    std::uint64_t brought = 0;
    std::uint64_t own = 0;
    for (std::uint64_t i = 0; i < rounds(100'000); ++i) {
      const auto to = static_cast<am::NodeId>(random.below(3));
      switch (random.below(16)) {
        case 0: {
          const am::CriticalSection quiet(node);
          change_slowly(shared, random);
          const am::CriticalSection nested(node);
          change_slowly(shared, random);
          own += 2;
          break;
        }
        case 1: {
          const am::CriticalSection quiet(node);
          change_slowly(shared, random);
          ++own;
          if (node.try_request<&Shared::low>(to, sent[to]) == am::Status::ok) {
            ++sent[to];
            ++asked;
          }
          change_slowly(shared, random);
          ++own;
          break;
        }
        case 2:
        case 3:
          check(node.request<&Shared::low>(to, sent[to]) == am::Status::ok, "request");
          ++sent[to];
          ++asked;
          break;
        case 4: {
          const std::size_t size = random.below(random.one_in(20) ? bytes.size() : 64);
          if (node.try_request<&Shared::bring>(to, am::Payload(bytes.data(), size)) == am::Status::ok)
            brought += size;
          break;
        }
        case 5: {
          am::Draft draft = node.try_prepare<&Shared::bring>(to, 16);
          if (!draft) break;
          if (random.one_in(4)) break;  // thrown away
          draft.commit();
          brought += 16;
          break;
        }
        case 6:
          node.poll();
          break;
        case 7:
          if (random.one_in(50)) node.wait_until([&] { return shared.answers == asked; });
          break;
        case 8: {
          node.enable_low_events(false);
          {
            const am::CriticalSection quiet(node);
            shared.lows_disabled = true;
          }
          for (volatile std::uint64_t pause = random.below(200); pause != 0;) pause = pause - 1;
          {
            const am::CriticalSection quiet(node);
            shared.lows_disabled = false;
          }
          node.enable_low_events(true);
          break;
        }
        case 9:
          node.enable_event(am::Event::low_message, false);
          node.enable_event(am::Event::high_message, false);
          for (volatile std::uint64_t pause = random.below(200); pause != 0;) pause = pause - 1;
          node.enable_event(am::Event::high_message, true);
          node.enable_event(am::Event::low_message, true);
          break;
        case 10:
          if (random.one_in(10)) node.post([](am::Node& its) { its.poll(); });
          break;
        case 11:
          if (random.one_in(10))
            node.on_timelet(node.count() + random.below(100'000),
                            [](am::LowEvent& event) { event.state<Shared>().change_in_low(event.node()); });
          break;
        default:
          for (volatile std::uint64_t pause = random.below(100); pause != 0;) pause = pause - 1;
      }
    }
    node.wait_until([&] { return shared.answers == asked; });
    node.barrier();
    const am::CriticalSection quiet(node);
    check_equal(shared.broken, 0u, "broken");
    check_equal(shared.order_broken, 0u, "requests out of order");
    check_equal(shared.too_early, 0u, "low events that were disabled");
    check_equal(shared.changes, shared.ran + own, "changes");
    static_cast<void>(brought);
  });
}

// The shortest sections that there are, against the shortest messages.
TEST_P(Exclusion, HoldsInTinySections) {
  run(2, [](am::Node& node) {
    static thread_local struct Pair {  // as above
      std::uint64_t a = 0;
      std::uint64_t b = 0;
      bool ended = false;
      void both(am::Request&) { ++a, ++b; }
      void end(am::Reply&) { ended = true; }
    } pair;
    pair = {};
    node.attach(pair);
    node.barrier();
    if (node.id() == 0) {
      for (bool ended = false; !ended;) {
        static_cast<void>(node.try_request<&Pair::both>(1));
        const am::CriticalSection quiet(node);
        ended = pair.ended;
      }
    } else {
      for (std::uint64_t i = 0; i < rounds(1'000'000); ++i) {
        const am::CriticalSection quiet(node);
        if (++pair.a != ++pair.b) check(false, "not excluded");
      }
      check(node.reply_to<&Pair::end>(0) == am::Status::ok, "reply_to");
    }
    node.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Modes, Exclusion, test::cells_of<Exclusion>(), test::name_of);

}  // namespace exclusion_test
