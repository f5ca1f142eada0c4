// Clause 10 of the contract where handlers run beside the computation, or in the middle of it: time alone makes progress.
// From its first poll on a node makes no library call any more until a handler of its own has told it to.
#include <am/global.hpp>
#include <am/multicast.hpp>

#include "host/relax.hpp"
#include "support/job.hpp"
#include "support/patterns.hpp"

namespace time_alone_test {

using namespace test;
using TimeAlone = test::OnAsynchronousSubstrates;

/// What handlers tell a computation that makes no library call: hence atomic.
using Counter = std::atomic<std::uint64_t>;

/// Only computes, until it is so. A hang ends by the deadlines of the others.
template <class P>
void compute_until(P&& told) {
  while (!told()) am::host::relax();
}

struct Told {
  Counter lows{0};
  Counter highs{0};
  Counter bytes{0};
};
void low(am::Request& request) { ++request.state<Told>().lows; }
void high(am::Reply& reply) { ++reply.state<Told>().highs; }
void ask(am::Request& request) {
  check_ok(request.reply<high>());
  ++request.state<Told>().lows;
}
std::vector<std::byte> bytes_of(std::size_t size) { return patterned(size, 0); }
/// What it throws leaves the node's next call.
void take_bytes(Told& told, am::Payload payload) {
  told.bytes += payload.size();
  check(is_patterned(payload.data(), payload.size(), 0), "a wrong byte");
}
void bring(am::Request& request, am::Payload payload) { take_bytes(request.state<Told>(), payload); }
void bring_high(am::Reply& reply, am::Payload payload) { take_bytes(reply.state<Told>(), payload); }

TEST_P(TimeAlone, BringsRequestsAndReplies) {
  run<Told>(2, [](am::Node& node, Told& told) {
    node.barrier();
    const std::uint64_t messages = rounds(500);
    if (node.id() == 0) {  // one after the other: each has to interrupt anew, or to wake a thread that sleeps
      for (std::uint64_t i = 0; i < messages; ++i) {
        check_ok(node.request<ask>(1));
        node.wait_until([&] { return told.highs == i + 1; });
      }
      for (std::uint64_t i = 0; i < messages; ++i) {
        check_ok(node.request<low>(1));
        check_ok(node.reply_to<high>(1));
      }
    } else {
      compute_until([&] { return told.lows == 2 * messages && told.highs == messages; });
    }
    node.barrier();
  });
}

// Both compute, and their handlers talk.
TEST_P(TimeAlone, LetsHandlersTalk) {
  struct Talk {
    Counter heard{0};
    void hear(am::Request& request, std::uint64_t left) {
      if (left != 0) check_ok(request.reply<&Talk::answer>(left - 1));
      ++heard;
    }
    void answer(am::Reply& reply, std::uint64_t left) {
      ++heard;
      if (left != 0) ask_next(reply.node(), left - 1);
    }
    /// Where there is no room, a little later.
    static void ask_next(am::Node& node, std::uint64_t left) {
      if (node.try_request<&Talk::hear>(1 - node.id(), left) == am::Status::ok) return;
      node.on_timelet(node.count(), [left](am::LowEvent& event) { ask_next(event.node(), left); });
    }
  };
  run<Talk>(2, [](am::Node& node, const Talk& talk) {
    node.barrier();
    const std::uint64_t messages = 2 * rounds(500);
    if (node.id() == 0) check_ok(node.request<&Talk::hear>(1, messages - 1));
    compute_until([&] { return talk.heard == messages / 2; });
    node.barrier();
  });
}

// What a failable send has left behind goes on its way while its sender computes, as the receiver, which computes too, makes room.
TEST_P(TimeAlone, BringsLongPayloads) {
  run<Told>(2, [](am::Node& node, const Told& told) {
    node.barrier();
    constexpr std::array<std::size_t, 7> sizes = {0, 1, 1000, 1025, 5000, 70'000, 1'000'000};
    constexpr std::size_t last = 3'000'000;
    if (node.id() == 0) {
      for (const std::size_t size : sizes) {
        check_ok(node.request<bring>(1, bytes_of(size)));
        check_ok(node.reply_to<bring_high>(1, bytes_of(size)));
      }
      check_ok(
          test::send_when_there_is_room(node, [&] { return node.try_request<bring>(1, bytes_of(last)); }));
      compute_until([&] { return told.highs == 1; });
    } else {
      const std::size_t all = 2 * std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}) + last;
      compute_until([&] { return told.bytes == all; });
      check_ok(node.reply_to<high>(0));
    }
    node.barrier();
  });
}

// To more nodes than a sender keeps an eye on: those that take nothing must not keep it from the others.
void send_past(am::Node& node, const Told& told, const std::vector<bool>& closed) {
  const auto open = static_cast<std::uint64_t>(std::count(closed.begin() + 1, closed.end(), false));
  const std::vector<std::byte> bytes = bytes_of(50'000);
  const bool takes_nothing = closed[node.id()];  // until the others have got all
  node.enable_event(am::Event::low_message, !takes_nothing);
  node.barrier();
  if (node.id() == 0) {
    for (am::NodeId to = 1; to < node.size(); ++to) {
      while (node.try_request<bring>(to, bytes) != am::Status::ok) {
      }
    }
    compute_until([&] { return told.highs == node.size() - 1; });
  } else {
    if (takes_nothing) {
      compute_until([&] { return told.highs == open; });
      node.enable_event(am::Event::low_message, true);
    }
    compute_until([&] { return told.bytes == bytes.size(); });
    for (am::NodeId to = 0; to < node.size(); ++to) {
      if (to == 0 || (!takes_nothing && closed[to])) check_ok(node.reply_to<high>(to));
    }
  }
  node.barrier();
}

TEST_P(TimeAlone, SendsOnPastThoseThatTakeNothing) {
  for (const am::NodeId first_open : {am::NodeId{1}, am::NodeId{9}}) {
    std::vector<bool> closed(12, true);
    closed[0] = false;
    for (am::NodeId i = 0; i < 3; ++i) closed[first_open + i] = false;
    run<Told>(12, [&](am::Node& node, const Told& told) { send_past(node, told, closed); });
  }
}

// Puts and gets that were gathered, one and many, go while both nodes compute.
TEST_P(TimeAlone, SendsWhatPutsAndGetsHaveGathered) {
  run(2, [](am::Node& node) {
    const am::GlobalPtr<std::uint64_t> words = am::allocate_symmetric<std::uint64_t>(node, 101);
    std::uint64_t* const here = words.on(node.id()).local(node);
    const am::GlobalPtr<std::uint64_t> there = words.on(1 - node.id());
    const auto at = [&](std::uint64_t i) {
      return std::atomic_ref<std::uint64_t>(here[i]).load(std::memory_order_acquire);
    };
    node.barrier();
    am::Counter puts;
    for (std::uint64_t round = 1; round <= rounds(50); ++round) {
      const std::uint64_t count = round % 2 == 0 ? 100 : 1;
      for (std::uint64_t i = 1; i <= count; ++i)
        am::begin_put(node, there + static_cast<std::ptrdiff_t>(i), round, puts);
      compute_until([&] { return puts.completed() == puts.begun(); });
      compute_until([&] { return at(count) == round; });
      am::put(node, there, round);  // this one waits, and the peer sees it by time alone
      compute_until([&] { return at(0) == round; });
      am::Counter gets;
      std::array<std::uint64_t, 101> got{};
      for (std::uint64_t i = 0; i <= count; ++i)
        am::begin_get(node, there + static_cast<std::ptrdiff_t>(i), got[i], gets);
      compute_until([&] { return gets.completed() == gets.begun(); });
      check_equal(std::count(got.begin(), got.end(), round), static_cast<std::ptrdiff_t>(count + 1), "gets");
      node.barrier();
    }
  });
}

// Nodes between the root and the leaves compute, and pass on nevertheless.
TEST_P(TimeAlone, PassesMulticastsOn) {
  run<Told>(7, [](am::Node& node, Told& told) {
    node.barrier();
    const std::uint64_t messages = rounds(200);
    const std::vector<std::byte> bytes = bytes_of(3000);
    const am::Group all = am::Group::all(node);
    for (std::uint64_t i = 0; node.id() == 0 && i < messages; ++i) {
      check_ok(node.multicast<low>(all));
      if (i % 10 == 0) check_ok(node.multicast<bring>(all, bytes));
    }
    compute_until([&] { return told.lows == messages && told.bytes == (messages + 9) / 10 * bytes.size(); });
    node.barrier();
  });
}

TEST_P(TimeAlone, BringsTimelets) {
  run(2, [](am::Node& node) {
    Counter ticks{0};
    Counter early{0};
    am::Count when = node.count() + 1'000'000;
    const std::uint64_t most = rounds(200);
    const std::function<void(am::LowEvent&)> tick = [&](am::LowEvent& event) {
      if (event.node().count() < when) ++early;
      when = event.node().count() + 50'000;
      if (++ticks < most) event.node().on_timelet(when, tick);
    };
    node.on_timelet(when, tick);
    node.poll();
    compute_until([&] { return ticks == most; });
    check_equal(early.load(), 0u, "timelets before their time");
    node.barrier();
  });
}

// A timelet is due, but as many requests as a poll runs go first (fewer where the network does not hold so many).
TEST_P(TimeAlone, BringsATimeletBehindAFullPoll) {
  run<Told>(1, [](am::Node& node, Told& told) {
    for (const std::uint64_t requests : {63u, 64u, 65u, 128u}) {
      told.lows = 0;
      Counter ticks{0};
      node.on_timelet(node.count() + 2'000'000, [&ticks](am::LowEvent&) { ++ticks; });
      node.poll();
      std::uint64_t accepted = 0;
      {
        const am::CriticalSection quiet(node);
        accepted = test::fill([&](std::uint64_t number) {
          return number < requests ? node.try_request<low>(0) : am::Status::again;
        });
        const am::Count due = node.count() + 4'000'000;
        while (node.count() < due) {
        }
      }
      compute_until([&] { return told.lows == accepted && ticks == 1; });
    }
  });
}

// A whole transfer by an outlet, while its node computes.
TEST_P(TimeAlone, RunsTheOutlet) {
  struct Transfer {
    Counter taken{0};
    void take(am::Request&, std::uint64_t number) { check_equal(number, taken++, "the number of a request"); }
  };
  run<Transfer>(2, [](am::Node& node, const Transfer& transfer) {
    const std::uint64_t messages = rounds(20'000);
    std::uint64_t begun = 0;
    Counter sent{0};
    if (node.id() == 0) {
      node.on_outlet([&](am::LowEvent& event) {
        while (begun < messages && event.try_request<&Transfer::take>(1, begun) == am::Status::ok) ++begun;
        if (begun < messages) return;
        event.node().on_outlet({});
        ++sent;
      });
    }
    node.barrier();
    compute_until([&] { return node.id() == 0 ? sent == 1 : transfer.taken == messages; });
    node.barrier();
  });
}

// What the computation was refused last is what the outlet waits for.
TEST_P(TimeAlone, RunsTheOutletWhenThereIsRoomForTheComputation) {
  run<Told>(3, [](am::Node& node, Told& told) {
    Counter calls{0};
    Counter refused{0};
    const std::vector<std::byte> last = bytes_of(1);
    if (node.id() != 0) node.enable_event(am::Event::low_message, false);
    node.barrier();
    if (node.id() == 0) {
      node.on_outlet([&](am::LowEvent& event) {
        ++calls;
        while (event.try_request<low>(1) == am::Status::ok) {
        }
        ++refused;
      });
      compute_until([&] { return refused != 0; });
      std::uint64_t before = 0;
      do {
        before = calls;
      } while (node.try_request<low>(2) == am::Status::ok);
      while (node.try_reply_to<high>(2) != am::Status::ok) {
      }
      compute_until([&] { return calls != before; });
      node.on_outlet({});
      check_ok(node.reply_to<high>(1));
      for (const am::NodeId full : {am::NodeId{1}, am::NodeId{2}})  // behind all others
        check_ok(node.request<bring>(full, am::Payload(last.data(), last.size())));
    } else {
      compute_until([&] { return told.highs != 0; });
      node.enable_event(am::Event::low_message, true);
      compute_until([&] { return told.bytes == last.size(); });
    }
    node.barrier();
  });
}

void fail(am::Request& request) {
  ++request.state<Told>().lows;
  throw std::runtime_error("nobody was polling");
}

// What comes after it in the same burst runs nevertheless.
TEST_P(TimeAlone, KeepsWhatHandlersThrow) {
  run<Told>(2, [](am::Node& node, const Told& told) {
    node.barrier();
    for (std::uint64_t i = 1; i <= rounds(200); ++i) {
      if (node.id() == 0) {
        node.wait_until([&] { return told.highs == i; });
        check_ok(node.request<fail>(1));
        for (int behind = 0; behind < 20; ++behind) check_ok(node.request<low>(1));
      } else {
        check_ok(node.reply_to<high>(0));  // from here on it computes
        compute_until([&] { return told.lows == 21 * i; });
        test::check_throws<std::runtime_error>([&] { node.poll(); }, "nobody was polling");
        node.poll();
      }
    }
    node.barrier();
  });
}

TEST_P(TimeAlone, RunsNothingBeforeTheFirstPoll) {
  run<Told>(2, [](am::Node& node, Told& told) {
    if (node.id() == 0) {
      while (node.try_request<low>(0) != am::Status::ok) {
      }
      const am::Count later = node.count() + 5'000'000;
      while (node.count() < later) {
      }
      check_equal(told.lows.load(), 0u, "handlers before the first poll");
    }
    node.barrier();
    compute_until([&] { return told.lows == (node.id() == 0 ? 1u : 0u); });
    node.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, TimeAlone, test::cells_of<TimeAlone>(), test::name_of);

}  // namespace time_alone_test
