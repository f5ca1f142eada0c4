// Clause 10 of the contract where handlers run beside the computation, or in the middle of it: time alone makes progress.
// From its first poll on a node makes no library call any more until a handler of its own has told it to.
#include <am/global.hpp>
#include <am/multicast.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "host/relax.hpp"
#include "support/job.hpp"

namespace time_alone_test {

using test::check;
using test::check_equal;
using test::rounds;
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
  Counter wrong{0};
};
void low(am::Request& request) { ++request.state<Told>().lows; }
void high(am::Reply& reply) { ++reply.state<Told>().highs; }
void ask(am::Request& request) {
  check(request.reply<high>() == am::Status::ok, "reply");
  ++request.state<Told>().lows;
}
std::byte byte_at(std::size_t i) { return static_cast<std::byte>(i * 7 + i / 251); }
void add_bytes(Told& told, am::Payload payload) {
  for (std::size_t i = 0; i < payload.size(); ++i) told.wrong += payload.data()[i] != byte_at(i) ? 1 : 0;
  told.bytes += payload.size();
}
void bring(am::Request& request, am::Payload payload) { add_bytes(request.state<Told>(), payload); }
void bring_high(am::Reply& reply, am::Payload payload) { add_bytes(reply.state<Told>(), payload); }
std::vector<std::byte> bytes_of(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = byte_at(i);
  return bytes;
}

TEST_P(TimeAlone, BringsRequestsAndReplies) {
  run(2, [](am::Node& node) {
    Told told;
    node.attach(told);
    node.barrier();
    const std::uint64_t messages = rounds(2000);
    if (node.id() == 0) {  // one after the other: each has to interrupt anew, or to wake a thread that sleeps
      for (std::uint64_t i = 0; i < messages; ++i) {
        check(node.request<ask>(1) == am::Status::ok, "request");
        node.wait_until([&] { return told.highs == i + 1; });
      }
      for (std::uint64_t i = 0; i < messages; ++i) {
        check(node.request<low>(1) == am::Status::ok, "request");
        check(node.reply_to<high>(1) == am::Status::ok, "reply_to");
      }
    } else {
      compute_until([&] { return told.lows == 2 * messages && told.highs == messages; });
    }
    node.barrier();
  });
}

// Both compute, and their handlers talk.
TEST_P(TimeAlone, LetsHandlersTalk) {
  run(2, [](am::Node& node) {
    struct Talk {
      Counter heard{0};
      void hear(am::Request& request, std::uint64_t left) {
        if (left != 0) check(request.reply<&Talk::answer>(left - 1) == am::Status::ok, "reply");
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
    } talk;
    node.attach(talk);
    node.barrier();
    const std::uint64_t messages = 2 * rounds(2000);
    if (node.id() == 0) check(node.request<&Talk::hear>(1, messages - 1) == am::Status::ok, "request");
    compute_until([&] { return talk.heard == messages / 2; });
    node.barrier();
  });
}

TEST_P(TimeAlone, BringsLongPayloads) {
  run(2, [](am::Node& node) {
    Told told;
    node.attach(told);
    node.barrier();
    constexpr std::size_t sizes[] = {0, 1, 1000, 1025, 5000, 70'000, 1'000'000};
    std::size_t all = 0;
    for (const std::size_t size : sizes) all += 2 * size;
    if (node.id() == 0) {
      for (const std::size_t size : sizes) {
        const std::vector<std::byte> bytes = bytes_of(size);
        check(node.request<bring>(1, am::Payload(bytes)) == am::Status::ok, "request");
        check(node.reply_to<bring_high>(1, am::Payload(bytes)) == am::Status::ok, "reply_to");
      }
    } else {
      compute_until([&] { return told.bytes == all; });
      check_equal(told.wrong.load(), 0u, "wrong bytes");
    }
    node.barrier();
  });
}

// What a try_ send has left behind goes on its way while its sender computes, as the receiver, which computes too, makes
// room.
TEST_P(TimeAlone, SendsWhatTrySendsLeftBehind) {
  run(2, [](am::Node& node) {
    Told told;
    node.attach(told);
    node.barrier();
    const std::vector<std::byte> bytes = bytes_of(3'000'000);
    if (node.id() == 0) {
      while (node.try_request<bring>(1, am::Payload(bytes)) != am::Status::ok) node.poll();
      compute_until([&] { return told.highs == 1; });
    } else {
      compute_until([&] { return told.bytes == bytes.size(); });
      check_equal(told.wrong.load(), 0u, "wrong bytes");
      check(node.reply_to<high>(0) == am::Status::ok, "reply_to");
    }
    node.barrier();
  });
}

// The same to more nodes than a sender keeps an eye on: those that take nothing must not keep it from the others.
void send_past(am::Node& node, const std::vector<bool>& closed) {
  Told told;
  node.attach(told);
  const auto open = static_cast<std::uint64_t>(std::count(closed.begin() + 1, closed.end(), false));
  const std::vector<std::byte> bytes = bytes_of(50'000);
  const bool takes_nothing = closed[node.id()];  // until the others have got all
  node.enable_event(am::Event::low_message, !takes_nothing);
  node.barrier();
  if (node.id() == 0) {
    for (am::NodeId to = 1; to < node.size(); ++to) {
      while (node.try_request<bring>(to, am::Payload(bytes)) != am::Status::ok) {
      }
    }
    compute_until([&] { return told.highs == node.size() - 1; });
  } else {
    if (takes_nothing) {
      compute_until([&] { return told.highs == open; });
      node.enable_event(am::Event::low_message, true);
    }
    compute_until([&] { return told.bytes == bytes.size(); });
    check_equal(told.wrong.load(), 0u, "wrong bytes");
    for (am::NodeId to = 0; to < node.size(); ++to) {
      if (to == 0 || (!takes_nothing && closed[to]))
        check(node.reply_to<high>(to) == am::Status::ok, "reply_to");
    }
  }
  node.barrier();
}

TEST_P(TimeAlone, SendsOnPastThoseThatTakeNothing) {
  for (const am::NodeId first_open : {am::NodeId{1}, am::NodeId{9}}) {
    std::vector<bool> closed(12, true);
    closed[0] = false;
    for (am::NodeId i = 0; i < 3; ++i) closed[first_open + i] = false;
    run(12, [&](am::Node& node) { send_past(node, closed); });
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
  run(7, [](am::Node& node) {
    Told told;
    node.attach(told);
    node.barrier();
    const std::uint64_t messages = rounds(200);
    const std::vector<std::byte> bytes = bytes_of(3000);
    const am::Group all = am::Group::all(node);
    if (node.id() == 0) {
      for (std::uint64_t i = 0; i < messages; ++i) {
        check(node.multicast<low>(all) == am::Status::ok, "multicast");
        if (i % 10 == 0) check(node.multicast<bring>(all, am::Payload(bytes)) == am::Status::ok, "multicast");
      }
    }
    compute_until([&] { return told.lows == messages && told.bytes == (messages + 9) / 10 * bytes.size(); });
    check_equal(told.wrong.load(), 0u, "wrong bytes");
    node.barrier();
  });
}

TEST_P(TimeAlone, BringsTimelets) {
  run(2, [](am::Node& node) {
    struct Clock {
      Counter ticks{0};
      Counter early{0};
      am::Count when = 0;
    } clock;
    node.attach(clock);
    const std::uint64_t most = rounds(200);
    struct Tick {
      std::uint64_t most;
      void operator()(am::LowEvent& event) const {
        Clock& its = event.state<Clock>();
        if (event.node().count() < its.when) ++its.early;
        its.when = event.node().count() + 50'000;
        if (++its.ticks < most) event.node().on_timelet(its.when, *this);
      }
    };
    clock.when = node.count() + 1'000'000;
    node.on_timelet(clock.when, Tick{most});
    node.poll();
    compute_until([&] { return clock.ticks == most; });
    check_equal(clock.early.load(), 0u, "timelets before their time");
    node.barrier();
  });
}

// A timelet is due, but as many requests as a poll runs go first (fewer where the network does not hold so many).
TEST_P(TimeAlone, BringsATimeletBehindAFullPoll) {
  run(1, [](am::Node& node) {
    for (const std::uint64_t requests :
         {std::uint64_t{63}, std::uint64_t{64}, std::uint64_t{65}, std::uint64_t{128}}) {
      Told told;
      Counter ticks{0};
      node.attach(told);
      node.on_timelet(node.count() + 2'000'000, [&ticks](am::LowEvent&) { ++ticks; });
      node.poll();
      std::uint64_t accepted = 0;
      {
        const am::CriticalSection quiet(node);
        for (int refused = 0; accepted < requests && refused < 1000;) {
          const bool ok = node.try_request<low>(0) == am::Status::ok;
          refused = ok ? 0 : refused + 1;
          accepted += ok ? 1 : 0;
        }
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
  run(2, [](am::Node& node) {
    struct Transfer : Told {
      std::uint64_t left = 0;
      Counter sent{0};
      void take(am::Request&, std::uint64_t i) {
        if (i != lows) ++wrong;
        ++lows;
      }
    } transfer;
    node.attach(transfer);
    const std::uint64_t messages = rounds(20'000);
    if (node.id() == 0) {
      transfer.left = messages;
      node.on_outlet([messages](am::LowEvent& event) {
        auto& its = event.state<Transfer>();
        while (its.left != 0 && event.try_request<&Transfer::take>(1, messages - its.left) == am::Status::ok)
          --its.left;
        if (its.left != 0) return;
        event.node().on_outlet({});
        ++its.sent;
      });
    }
    node.barrier();
    compute_until([&] { return node.id() == 0 ? transfer.sent == 1 : transfer.lows == messages; });
    check_equal(transfer.wrong.load(), 0u, "out of order");
    node.barrier();
  });
}

// What the computation was refused last is what the outlet waits for.
TEST_P(TimeAlone, RunsTheOutletWhenThereIsRoomForTheComputation) {
  run(3, [](am::Node& node) {
    Told told;
    node.attach(told);
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
      check(node.reply_to<high>(1) == am::Status::ok, "reply_to");
      for (const am::NodeId full : {am::NodeId{1}, am::NodeId{2}})  // behind all others
        check(node.request<bring>(full, am::Payload(last.data(), last.size())) == am::Status::ok, "request");
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

TEST_P(TimeAlone, KeepsWhatHandlersThrow) {
  run(2, [](am::Node& node) {
    Told told;
    node.attach(told);
    node.barrier();
    for (std::uint64_t i = 1; i <= rounds(200); ++i) {
      if (node.id() == 0) {
        node.wait_until([&] { return told.highs == i; });
        check(node.request<fail>(1) == am::Status::ok, "request");
      } else {
        check(node.reply_to<high>(0) == am::Status::ok, "reply_to");  // from here on it computes
        compute_until([&] { return told.lows == i; });
        test::check_throws<std::runtime_error>([&] { node.poll(); }, "nobody was polling");
        node.poll();
      }
    }
    node.barrier();
  });
}

// What comes after it in the same burst runs nevertheless.
TEST_P(TimeAlone, GoesOnAfterAHandlerHasThrown) {
  run(2, [](am::Node& node) {
    Told told;
    node.attach(told);
    node.barrier();
    if (node.id() == 0) {
      node.wait_until([&] { return told.highs == 1; });
      check(node.request<fail>(1) == am::Status::ok, "request");
      for (int i = 0; i < 100; ++i) check(node.request<low>(1) == am::Status::ok, "request");
    } else {
      check(node.reply_to<high>(0) == am::Status::ok, "reply_to");
      compute_until([&] { return told.lows == 101; });
      test::check_throws<std::runtime_error>([&] { node.wait_until([] { return false; }); },
                                             "nobody was polling");
    }
    node.barrier();
  });
}

TEST_P(TimeAlone, RunsNothingBeforeTheFirstPoll) {
  run(2, [](am::Node& node) {
    Told told;
    node.attach(told);
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
