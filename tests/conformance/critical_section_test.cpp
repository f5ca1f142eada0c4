// Clause 7 of the contract: handlers are atomic with respect to each other at one level and to critical sections. No
// event runs inside a section, none is lost, sections nest, and they work inside handlers.

#include <am/registers.hpp>

#include "support/job.hpp"

namespace critical_section_test {

using namespace test;
using CriticalSections = test::OnEverySubstrate;

struct Guarded {
  bool in_section = false;
  std::uint64_t lows = 0;
  std::atomic<std::uint64_t> ran = 0;  // of these, for who is not in the node
  std::uint64_t highs = 0;
  std::uint64_t inside = 0;
  bool all_highs_came = false;

  void event() { check(!in_section, "an event ran inside a critical section"); }
};
void low(am::Request& request) {
  request.state<Guarded>().ran = ++request.state<Guarded>().lows;  // first: somebody may spin on it
  request.state<Guarded>().event();
}
void high(am::Reply& reply) {
  reply.state<Guarded>().event();
  ++reply.state<Guarded>().highs;
}

TEST_P(CriticalSections, HoldOffEveryEventAndLoseNone) {
  run<Guarded>(3, [](am::Node& node, Guarded& guarded) {
    std::uint64_t timelets = 0;
    std::uint64_t timelets_asked = 0;
    node.on_outlet([&](am::LowEvent&) { guarded.event(); });
    const am::NodeId next = (node.id() + 1) % node.size();
    for (std::uint64_t i = 0; i < rounds(20'000); ++i) {
      check_ok(node.request<low>(next));
      check_ok(node.reply_to<high>(next));
      if (i % 16 == 0) {
        ++timelets_asked;
        node.on_timelet(node.count(), [&](am::LowEvent&) {
          guarded.event();
          ++timelets;
        });
      }
      const am::CriticalSection quiet(node);
      guarded.in_section = true;
      { const am::CriticalSection nested(node); }
      for (int polls = 0; polls < 4; ++polls)
        check_equal(node.poll(), 0u, "events that a poll ran in a section");
      guarded.in_section = false;
    }
    node.on_outlet({});
    node.wait_until([&] {
      return guarded.lows == rounds(20'000) && guarded.highs == rounds(20'000) && timelets == timelets_asked;
    });
    node.barrier();
  });
}

/// Whether a message that was taken in and waits is this thread's to run as it leaves the node: nobody else will be told of it.
bool is_told_of_by_nobody(am::Node& node) {
  am::core::Engine& engine = node.engine();
  return node.dispatch() == am::Dispatch::thread && !engine.attendant().thread_serves() &&
         !engine.network().still_armed({.high = true, .low = true});
}
/// Hardly ever yields: while a thread does, the network's descriptor tells of what it would have taken in.
template <class F>
void look_until(F seen) {
  for (std::uint64_t looks = 1; !seen(); ++looks) {
    if (looks % 1000 == 0) std::this_thread::yield();
  }
}

/// How one request waits.
struct Waits {
  bool is_masked = false;
  bool is_ours = false;  ///< this thread's to run, right when the section, or the node, is left
};
/// Node 1 asks for a request of node 0's, many times. wait_for_it(i) takes that in and leaves it waiting. It runs by itself, without
/// a call, unless it is masked.
template <class F>
void answers_run_by_themselves(am::Node& node, const Guarded& guarded, F wait_for_it) {
  node.barrier();  // events run from here on
  for (std::uint64_t i = 0; i < rounds(100); ++i) {
    if (node.id() == 0) {
      node.wait_until([&] { return guarded.lows == i + 1; });
      check_ok(node.request<low>(1));
    } else {
      const Waits waits = wait_for_it(i);
      if (waits.is_ours)
        check_equal(guarded.ran.load(), i + 1, "what ran as the section, or the node, was left");
      if (waits.is_masked) node.enable_event(am::Event::low_message, true);
      while (node.dispatch() != am::Dispatch::poll && guarded.ran.load() != i + 1) std::this_thread::yield();
      node.wait_until([&] { return guarded.lows == i + 1; });
    }
  }
  node.barrier();
}

// Whoever waits inside for something to come sees it in the status register, whatever brings it; and having been looked at,
// it still runs by itself where events run beside the computation. (A.2.7 of the T1 report)
TEST_P(CriticalSections, ShowWhatWaitsOutside) {
  const bool nothing_is_held_back = GetParam().nodes != test::Nodes::threads_with_faults;
  run<Guarded>(2, [=](am::Node& node, Guarded& guarded) {
    const am::Registers registers(node);
    const auto shows = [&](std::uint64_t bit) { return (registers.nistat() & bit) != 0; };
    answers_run_by_themselves(node, guarded, [&](std::uint64_t i) {
      const bool is_masked = i % 2 != 0;
      if (is_masked) node.enable_event(am::Event::low_message, false);
      const am::CriticalSection quiet(node);
      guarded.in_section = true;
      while (node.try_request<low>(0) != am::Status::ok) node.poll();
      look_until([&] { return shows(am::nistat::lpmp); });
      check_equal(shows(am::nistat::pend), !is_masked, "whether it is waited for");  // once more behind it
      check_equal(guarded.lows, i, "what ran");
      guarded.in_section = false;
      return Waits{is_masked, is_told_of_by_nobody(node) && nothing_is_held_back && !is_masked};
    });
  });
}

// What poll_replies takes in and leaves waiting still runs by itself.
TEST_P(CriticalSections, ALookForRepliesLosesNoRequest) {
  const bool nothing_is_held_back = GetParam().nodes != test::Nodes::threads_with_faults;
  run<Guarded>(2, [=](am::Node& node, const Guarded& guarded) {
    answers_run_by_themselves(node, guarded, [&](std::uint64_t i) {
      const am::impl::Hold in_the_node(node);
      check_ok(node.request<low>(0));
      look_until([&] {
        const bool has_come = node.engine().pending(am::Event::low_message);
        node.poll_replies();  // once more behind it
        return has_come;
      });
      check_equal(guarded.lows, i, "what ran");
      return Waits{.is_ours = is_told_of_by_nobody(node) && nothing_is_held_back};
    });
  });
}

// A low handler that must not be interrupted by replies while it waits... must not wait; it may send what has room.
void low_with_section(am::Request& request, std::uint64_t tries) {
  auto& guarded = request.state<Guarded>();
  {
    const am::CriticalSection quiet(request.node());
    guarded.in_section = true;
    const std::uint64_t before = guarded.highs;
    for (std::uint64_t i = 0; i < tries; ++i) static_cast<void>(request.try_reply<high>());
    guarded.in_section = false;
    check_equal(guarded.highs, before, "replies that ran in the section of a low handler");
  }
  check_ok(request.reply<high>(), "a reply after the section");
  ++guarded.inside;
}
void high_with_section(am::Reply& reply) {
  const am::CriticalSection quiet(reply.node());
  ++reply.state<Guarded>().highs;
}
void last_high(am::Reply& reply) { reply.state<Guarded>().all_highs_came = true; }

TEST_P(CriticalSections, InsideHandlers) {
  run<Guarded>(2, [](am::Node& node, Guarded& guarded) {
    for (std::uint64_t i = 0; i < rounds(2000); ++i) {
      check_ok(node.request<low_with_section>(1 - node.id(), std::uint64_t{100}));
      check_ok(node.reply_to<high_with_section>(1 - node.id()));
    }
    node.wait_until([&] { return guarded.inside == rounds(2000); });
    check_ok(node.reply_to<last_high>(1 - node.id()));  // behind all others
    node.wait_until([&] { return guarded.all_highs_came; });
    check(guarded.highs >= 2 * rounds(2000), "replies that ran");
    node.barrier();
    // Events still run, of either level: no section was left open, no level not left.
    const std::uint64_t highs = guarded.highs;
    const std::uint64_t inside = guarded.inside;
    check_ok(node.request<low_with_section>(node.id(), std::uint64_t{0}));
    node.wait_until([&] { return guarded.inside > inside && guarded.highs > highs; });
    node.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, CriticalSections, test::cells_of<CriticalSections>(), test::name_of);

}  // namespace critical_section_test
