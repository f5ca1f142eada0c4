// Clause 7 of the contract: handlers are atomic with respect to each other at one level and to critical sections. No
// event runs inside a section, none is lost, sections nest, and they work inside handlers.
#include <atomic>
#include <memory>
#include <thread>

#include <am/registers.hpp>

#include "support/job.hpp"

namespace critical_section_test {

using test::check;
using test::check_equal;
using test::rounds;
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
  run(3, [](am::Node& node) {
    Guarded guarded;
    node.attach(guarded);
    std::uint64_t timelets = 0;
    std::uint64_t timelets_asked = 0;
    node.on_outlet([&](am::LowEvent&) { guarded.event(); });
    const am::NodeId next = (node.id() + 1) % node.size();
    for (std::uint64_t i = 0; i < rounds(20'000); ++i) {
      check(node.request<low>(next) == am::Status::ok, "request");
      check(node.reply_to<high>(next) == am::Status::ok, "reply_to");
      if (i % 16 == 0) {
        ++timelets_asked;
        node.on_timelet(node.count(), [&](am::LowEvent&) {
          guarded.event();
          ++timelets;
        });
      }
      const am::CriticalSection quiet(node);
      guarded.in_section = true;
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
/// Each request of node 1's by one to it.
void answer_each(am::Node& node, const Guarded& guarded, std::uint64_t requests) {
  for (std::uint64_t i = 0; i < requests; ++i) {
    node.wait_until([&] { return guarded.lows == i + 1; });
    check(node.request<low>(1) == am::Status::ok, "request");
  }
}
void wait_for_it_without_a_call(const am::Node& node, const Guarded& guarded, std::uint64_t n) {
  while (node.dispatch() != am::Dispatch::poll && guarded.ran.load() != n) std::this_thread::yield();
}
/// Hardly ever yields: while a thread does, the network's descriptor tells of what it would have taken in.
template <class F>
void look_until(F seen) {
  for (std::uint64_t looks = 1; !seen(); ++looks) {
    if (looks % 1000 == 0) std::this_thread::yield();
  }
}

// Whoever waits inside for something to come sees it in the status register, whatever brings it; and having been looked at,
// it still runs by itself where events run beside the computation. (A.2.7 of the T1 report)
TEST_P(CriticalSections, ShowWhatWaitsOutside) {
  const bool nothing_is_held_back = GetParam().nodes != test::Nodes::threads_with_faults;
  run(2, [=](am::Node& node) {
    Guarded guarded;
    node.attach(guarded);
    const am::Registers registers(node);
    node.barrier();  // events run from here on
    const auto shown = [&] { return registers.nistat() & (am::nistat::pend | am::nistat::lpmp); };
    if (node.id() == 0) answer_each(node, guarded, rounds(100));
    for (std::uint64_t i = 0; node.id() == 1 && i < rounds(100); ++i) {
      const bool is_masked = i % 2 != 0;
      if (is_masked) node.enable_event(am::Event::low_message, false);
      bool is_ours = false;
      {
        const am::CriticalSection quiet(node);
        guarded.in_section = true;
        while (node.try_request<low>(0) != am::Status::ok) node.poll();
        look_until([&] { return (shown() & am::nistat::lpmp) != 0; });
        const bool is_pending = (shown() & am::nistat::pend) != 0;  // once more behind it
        check_equal(is_pending, !is_masked, "whether it is waited for");
        check_equal(guarded.lows, i, "what ran");
        is_ours = is_told_of_by_nobody(node) && nothing_is_held_back && !is_masked;
        guarded.in_section = false;
      }
      if (is_ours) check_equal(guarded.ran.load(), i + 1, "what ran at the section's end");
      if (is_masked) node.enable_event(am::Event::low_message, true);
      wait_for_it_without_a_call(node, guarded, i + 1);
      node.wait_until([&] { return guarded.lows == i + 1; });
    }
    node.barrier();
  });
}

// What poll_replies takes in and leaves waiting still runs by itself.
TEST_P(CriticalSections, ALookForRepliesLosesNoRequest) {
  const bool nothing_is_held_back = GetParam().nodes != test::Nodes::threads_with_faults;
  run(2, [=](am::Node& node) {
    Guarded guarded;
    node.attach(guarded);
    node.barrier();  // events run from here on
    if (node.id() == 0) answer_each(node, guarded, rounds(100));
    for (std::uint64_t i = 0; node.id() == 1 && i < rounds(100); ++i) {
      bool is_ours = false;
      {
        const am::impl::Hold in_the_node(node);
        check(node.request<low>(0) == am::Status::ok, "request");
        look_until([&] {
          const bool has_come = node.engine().pending(am::Event::low_message);
          node.poll_replies();  // once more behind it
          return has_come;
        });
        check_equal(guarded.lows, i, "what ran");
        is_ours = is_told_of_by_nobody(node) && nothing_is_held_back;
      }
      if (is_ours) check_equal(guarded.ran.load(), i + 1, "what ran as the node was left");
      wait_for_it_without_a_call(node, guarded, i + 1);
      node.wait_until([&] { return guarded.lows == i + 1; });
    }
    node.barrier();
  });
}

TEST_P(CriticalSections, Nest) {
  run(1, [](am::Node& node) {
    Guarded guarded;
    node.attach(guarded);
    std::uint64_t sent = 1;
    {
      const am::CriticalSection outer(node);
      if (node.try_request<low>(0) == am::Status::ok) ++sent;  // a failable send is allowed
      {
        const am::CriticalSection inner(node);
        check_equal(node.poll(), 0u, "events in the inner section");
      }
      check_equal(node.poll(), 0u, "events in the outer section, after the inner one");
    }
    check(node.request<low>(0) == am::Status::ok, "request");
    node.wait_until([&] { return guarded.lows == sent; });
  });
}

// A low handler that must not be interrupted by replies while it waits... must not wait; it may send what has room.
void low_with_section(am::Request& request, std::uint64_t tries) {
  auto& guarded = request.state<Guarded>();
  {
    const am::CriticalSection quiet(request.node());
    const std::uint64_t before = guarded.highs;
    guarded.in_section = true;
    for (std::uint64_t i = 0; i < tries; ++i) static_cast<void>(request.try_reply<high>());
    guarded.in_section = false;
    check_equal(guarded.highs, before, "replies that ran in the section of a low handler");
  }
  check(request.reply<high>() == am::Status::ok, "a reply after the section");
  ++guarded.inside;
}
void high_with_section(am::Reply& reply) {
  const am::CriticalSection quiet(reply.node());
  ++reply.state<Guarded>().highs;
}
void last_high(am::Reply& reply) { reply.state<Guarded>().all_highs_came = true; }

TEST_P(CriticalSections, InsideHandlers) {
  run(2, [](am::Node& node) {
    Guarded guarded;
    node.attach(guarded);
    for (std::uint64_t i = 0; i < rounds(2000); ++i) {
      check(node.request<low_with_section>(1 - node.id(), std::uint64_t{100}) == am::Status::ok, "request");
      check(node.reply_to<high_with_section>(1 - node.id()) == am::Status::ok, "reply_to");
    }
    node.wait_until([&] { return guarded.inside == rounds(2000); });
    check(node.reply_to<last_high>(1 - node.id()) == am::Status::ok, "reply_to");  // behind all others
    node.wait_until([&] { return guarded.all_highs_came; });
    check(guarded.highs >= 2 * rounds(2000), "replies that ran");
    node.barrier();
    // Events still run, of either level: no section was left open, no level not left.
    const std::uint64_t highs = guarded.highs;
    const std::uint64_t inside = guarded.inside;
    check(node.request<low_with_section>(node.id(), std::uint64_t{0}) == am::Status::ok, "request");
    node.wait_until([&] { return guarded.inside > inside && guarded.highs > highs; });
    node.barrier();
  });
}

// What a handler leaves half done, no other handler of its level may see.
struct Account {
  std::int64_t left = 1000;
  std::int64_t right = 0;
  std::uint64_t moves = 0;
};
void noted(am::Reply& reply, std::int64_t sum) {
  check_equal(sum, 1000, "the sum as a reply sees it");
  static_cast<void>(reply);
}
void move(am::Request& request, std::int64_t by) {
  auto& account = request.state<Account>();
  check_equal(account.left + account.right, 1000, "the sum as a handler finds it");
  account.left -= by;
  // A waiting send in the middle: replies may run here, but no other request.
  check(request.reply<noted>(std::int64_t{1000}) == am::Status::ok, "reply");
  account.right += by;
  ++account.moves;
}

TEST_P(CriticalSections, HandlersOfOneLevelAreAtomic) {
  run(3, [](am::Node& node) {
    Account account;
    node.attach(account);
    for (std::uint64_t i = 0; i < rounds(20'000); ++i) {
      const auto to = static_cast<am::NodeId>(i % node.size());
      check(node.request<move>(to, static_cast<std::int64_t>(i % 10)) == am::Status::ok, "request");
    }
    const std::uint64_t each = (rounds(20'000) + node.size() - 1 - node.id()) / node.size();  // of i
    node.wait_until([&] { return account.moves == each * node.size(); });
    node.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, CriticalSections, test::cells_of<CriticalSections>(), test::name_of);

}  // namespace critical_section_test
