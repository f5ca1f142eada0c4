// Clause 6 of the contract: which event runs when, and inside what. Arrivals before timelets before the outlet, high
// before low, two levels and no more; four masks and two enables that hold events back and lose none.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "support/job.hpp"

namespace events_test {

using test::check;
using test::check_equal;
using test::rounds;
using Events = test::OnEverySubstrate;

/// What ran, in order: one letter each.
struct Log {
  std::string ran;
};

void note_low(am::Request& request, char letter) { request.state<Log>().ran += letter; }
void note_high(am::Reply& reply, char letter) { reply.state<Log>().ran += letter; }

am::Status send_low(am::Node& node, char letter) { return node.try_request<note_low>(node.id(), letter); }
am::Status send_high(am::Node& node, char letter) { return node.try_reply_to<note_high>(node.id(), letter); }

void poll_until_quiet(am::Node& node) {
  while (node.poll() != 0) {
  }
}

/// A job of one over shared memory: what is sent to oneself is there at once, so every order is exact.
TEST(EventOrder, HighThenLowThenTimeletThenOutlet) {
  test::run_alone([](am::Node& node) {
    Log log;
    node.attach(log);
    for (int round = 0; round < 3; ++round) {
      log.ran.clear();
      {
        const am::CriticalSection quiet(node);
        node.on_outlet([&](am::LowEvent& event) {
          log.ran += 'o';
          event.node().on_outlet({});
        });
        node.on_timelet(node.count(), [&](am::LowEvent&) { log.ran += 't'; });
        check(send_low(node, 'l') == am::Status::ok, "low");
        check(send_high(node, 'h') == am::Status::ok, "high");
        check(send_low(node, 'L') == am::Status::ok, "low");
        check(send_high(node, 'H') == am::Status::ok, "high");
        node.poll();
        check_equal(log.ran, "", "what ran in a critical section");
      }
      poll_until_quiet(node);
      check_equal(log.ran, "hHlLto", "the order of the events");
    }
  });
}

TEST(EventOrder, RepliesBetweenTwoRequests) {
  test::run_alone([](am::Node& node) {
    Log log;
    node.attach(log);
    constexpr auto both = [](am::Request& request, char letter) {
      request.state<Log>().ran += letter;
      check(request.try_reply<note_high>('h') == am::Status::ok, "reply");
    };
    for (const char letter : {'1', '2', '3'})
      check(node.try_request<both>(0, letter) == am::Status::ok, "request");
    poll_until_quiet(node);
    check_equal(log.ran, "1h2h3h", "the order of the events");
  });
}

TEST(EventOrder, WhatATimeletSendsRunsBeforeTheNextTimelet) {
  test::run_alone([](am::Node& node) {
    Log log;
    node.attach(log);
    // Twice: the rings to oneself are known to the second round.
    for (int round = 0; round < 2; ++round) {
      log.ran.clear();
      for (int i = 0; i < 2; ++i) {
        node.on_timelet(node.count(), [&](am::LowEvent& event) {
          log.ran += 't';
          check(send_low(event.node(), 'l') == am::Status::ok, "low");
          check(send_high(event.node(), 'h') == am::Status::ok, "high");
        });
      }
      poll_until_quiet(node);
      check_equal(log.ran, "thlthl", "the order of the events");
    }
  });
}

TEST(EventOrder, TheOutletRunsWhenNothingElseWaits) {
  test::run_alone([](am::Node& node) {
    Log log;
    node.attach(log);
    int calls = 0;
    node.on_outlet([&](am::LowEvent& event) {
      check(log.ran.find_first_not_of("lo") == std::string::npos, "only what was sent");
      log.ran += 'o';
      if (++calls == 3) event.node().on_outlet({});
      // Two requests, so that the next call has to wait for both.
      check(send_low(event.node(), 'l') == am::Status::ok, "low");
      check(send_low(event.node(), 'l') == am::Status::ok, "low");
    });
    poll_until_quiet(node);
    check_equal(log.ran,
                "ollollo"
                "ll",
                "the order of the events");
  });
}

// -- nesting ----------------------------------------------------------------------------------------------------------

struct Nesting {
  int low_depth = 0;
  int high_depth = 0;
  std::uint64_t lows = 0;
  std::uint64_t highs = 0;
  am::NodeId last_highs = 0;
};

void nest_high(am::Reply& reply, std::uint64_t number) {
  auto& nesting = reply.state<Nesting>();
  check_equal(++nesting.high_depth, 1, "high handlers inside each other");
  ++nesting.highs;
  // A high handler may try everything, and gives up where there is no room.
  if (number == 0) static_cast<void>(reply.try_reply_to<nest_high>(reply.from(), std::uint64_t{1}));
  --nesting.high_depth;
}

void nest_low(am::Request& request, std::uint64_t replies) {
  auto& nesting = request.state<Nesting>();
  check_equal(nesting.high_depth, 0, "a low handler inside a high one");
  check_equal(++nesting.low_depth, 1, "low handlers inside each other");
  ++nesting.lows;
  for (std::uint64_t i = 0; i < replies; ++i) check(request.reply<nest_high>(i) == am::Status::ok, "reply");
  check_equal(nesting.low_depth, 1, "still the only one");
  --nesting.low_depth;
}

void last_high(am::Reply& reply) { ++reply.state<Nesting>().last_highs; }

/// Returns when all has run that was sent on the high network before every node came here. To be called `times` times, of
/// which this is the last.
void wait_for_highs(am::Node& node, const Nesting& nesting, am::NodeId times) {
  node.barrier();
  for (am::NodeId to = 0; to < node.size(); ++to)
    check(node.reply_to<last_high>(to) == am::Status::ok, "reply_to");
  node.wait_until([&] { return nesting.last_highs == times * node.size(); });
}

TEST(Nesting, HighRunsInsideALowHandlerThatWaitsAndNowhereElse) {
  test::run_alone([](am::Node& node) {
    struct One {
      int low = 0;
      int high = 0;
      std::uint64_t inside = 0;
      std::uint64_t highs = 0;
    } one;
    node.attach(one);
    constexpr auto high = [](am::Reply& reply) {
      auto& state = reply.state<One>();
      check_equal(++state.high, 1, "high handlers inside each other");
      ++state.highs;
      state.inside += state.low == 1 ? 1 : 0;
      --state.high;
    };
    constexpr auto low = [](am::Request& request, std::uint64_t replies) {
      auto& state = request.state<One>();
      check_equal(state.high, 0, "a low handler inside a high one");
      check_equal(++state.low, 1, "low handlers inside each other");
      // To itself: more than the high network holds, so that it has to wait and to serve itself.
      for (std::uint64_t i = 0; i < replies; ++i) check(request.reply<high>() == am::Status::ok, "reply");
      --state.low;
    };
    for (int i = 0; i < 20; ++i) check(node.request<low>(0, std::uint64_t{500}) == am::Status::ok, "request");
    node.wait_until([&] { return one.highs == 20 * 500; });
    check(one.inside > 0, "no high handler ran inside a waiting low one");
  });
}

TEST_P(Events, NeverMoreThanTwoLevels) {
  run(3, [](am::Node& node) {
    Nesting nesting;
    node.attach(nesting);
    for (std::uint64_t i = 0; i < rounds(2000); ++i) {
      for (am::NodeId to = 0; to < node.size(); ++to)
        check(node.request<nest_low>(to, i % 7) == am::Status::ok, "request");
    }
    node.wait_until([&] { return nesting.lows == node.size() * rounds(2000); });
    wait_for_highs(node, nesting, 1);
    wait_for_highs(node, nesting, 2);  // what those have sent
    check_equal(nesting.low_depth + nesting.high_depth, 0, "levels that were not left");
    node.barrier();
  });
}

/// What a layer that asks for the level is told, in each kind of event and outside of them.
struct Levels {
  std::uint64_t replies = 0;
  bool posted = false;
  bool timelet = false;
};

void at_high_level(am::Reply& reply) {
  check(reply.node().level() == am::Level::high, "the level of a reply's handler");
  ++reply.state<Levels>().replies;
}
void at_low_level(am::Request& request) {
  am::Node& node = request.node();
  check(node.level() == am::Level::low, "the level of a request's handler");
  for (int i = 0; i < 3; ++i) check(request.reply<at_high_level>() == am::Status::ok, "reply");
  static_cast<void>(node.poll_replies());  // a reply's handler inside this one
  check(node.level() == am::Level::low, "the level of a request's handler, when replies have run");
  const am::CriticalSection quiet(node);
  check(node.level() == am::Level::low, "the level of a critical section in it");
}

TEST_P(Events, TheLevelIsToldInHandlersAndOutside) {
  run(3, [](am::Node& node) {
    Levels levels;
    node.attach(levels);
    const auto computes = [&] {
      check(node.level() == am::Level::computation, "the level of the computation");
    };
    computes();
    const auto sent = static_cast<am::NodeId>(rounds(1000));
    for (am::NodeId i = 0; i < sent; ++i) {
      check(node.request<at_low_level>((node.id() + i) % node.size()) == am::Status::ok, "request");
      computes();
    }
    node.post([&](am::Node&) {
      computes();
      levels.posted = true;
    });
    node.on_timelet(node.count(), [&](am::LowEvent&) {
      check(node.level() == am::Level::low, "the level of a timelet");
      levels.timelet = true;
    });
    node.wait_until([&] {
      computes();
      return levels.posted && levels.timelet && levels.replies == 3 * std::uint64_t{sent};
    });
    {
      const am::CriticalSection quiet(node);
      computes();
    }
    node.barrier();
    computes();
  });
}

/// The handler thread is in a handler and stays there until this thread, outside of the library, has looked. (Where this thread runs
/// it, on its way out of the library, that is another round.)
TEST(Levels, AHandlerOnAnotherThreadIsNotThisThreads) {
  test::run_job({test::Nodes::threads, am::Dispatch::thread}, 1, [](am::Node& node) {
    struct Elsewhere {
      std::thread::id owner = std::this_thread::get_id();
      std::atomic<bool> inside = false;
      std::atomic<bool> looked = false;
      std::uint64_t ran = 0;
      std::uint64_t on_the_handler_thread = 0;
    } state;
    node.attach(state);
    constexpr auto stays = [](am::Request& request) {
      auto& its = request.state<Elsewhere>();
      its.inside = true;
      if (std::this_thread::get_id() != its.owner) {
        while (!its.looked) std::this_thread::yield();
        ++its.on_the_handler_thread;
      }
      check(request.node().level() == am::Level::low, "the level in the handler");
      ++its.ran;
    };
    node.poll();  // from here on there is a handler thread
    for (std::uint64_t i = 1; state.on_the_handler_thread < 20; ++i) {
      state.inside = state.looked = false;
      check(node.request<stays>(0) == am::Status::ok, "request");
      while (!state.inside) std::this_thread::yield();
      check(node.level() == am::Level::computation, "the level on the node's own thread");
      state.looked = true;
      node.wait_until([&] { return state.ran == i; });
    }
  });
}

// -- masks and enables --------------------------------------------------------------------------------------------------

/// Closes one gate, lets every kind of event wait before it, polls, and opens it again.
void hold_back(am::Node& node, Log& log, const std::function<void(bool)>& open, const std::string& meanwhile,
               const std::string& after) {
  log.ran.clear();
  open(false);
  {
    const am::CriticalSection quiet(node);
    check(send_low(node, 'l') == am::Status::ok, "low");
    check(send_high(node, 'h') == am::Status::ok, "high");
    node.on_timelet(node.count(), [&](am::LowEvent&) { log.ran += 't'; });
    node.on_outlet([&](am::LowEvent& event) {
      log.ran += 'o';
      event.node().on_outlet({});
    });
  }
  for (int i = 0; i < 100; ++i) node.poll();
  check_equal(log.ran, meanwhile, "what ran before the gate was opened");
  log.ran.clear();
  open(true);
  poll_until_quiet(node);
  check_equal(log.ran, after, "what ran when it was open");
  node.on_outlet({});
}

TEST(Masks, EachKindWaitsAndIsNotLost) {
  test::run_alone([](am::Node& node) {
    Log log;
    node.attach(log);
    const auto mask = [&](am::Event kind) { return [&node, kind](bool on) { node.enable_event(kind, on); }; };
    for (int round = 0; round < 3; ++round) {
      hold_back(node, log, mask(am::Event::high_message), "lto", "h");
      hold_back(node, log, mask(am::Event::low_message), "hto", "l");
      hold_back(node, log, mask(am::Event::timelet), "hlo", "t");
      hold_back(node, log, mask(am::Event::outlet), "hlt", "o");
      hold_back(
          node, log, [&](bool on) { node.enable_low_events(on); }, "h", "lto");
    }
  });
}

TEST(Masks, AHandlerMayMaskItsOwnKind) {
  test::run_alone([](am::Node& node) {
    Log log;
    node.attach(log);
    constexpr auto low_and_no_more = [](am::Request& request) {
      request.state<Log>().ran += 'l';
      request.node().enable_event(am::Event::low_message, false);
    };
    constexpr auto high_and_no_more = [](am::Reply& reply) {
      reply.state<Log>().ran += 'h';
      reply.node().enable_event(am::Event::high_message, false);
    };
    for (int i = 0; i < 3; ++i) {
      check(node.try_request<low_and_no_more>(0) == am::Status::ok, "request");
      check(node.try_reply_to<high_and_no_more>(0) == am::Status::ok, "reply");
    }
    for (int i = 1; i <= 3; ++i) {
      log.ran.clear();
      for (int k = 0; k < 10; ++k) node.poll();
      check_equal(log.ran, "hl", "one of each");
      node.enable_event(am::Event::low_message, true);
      node.enable_event(am::Event::high_message, true);
    }
    check_equal(node.poll(), 0u, "what is left");
  });
}

TEST_P(Events, MaskedMessagesOfOthersAreNotLost) {
  run(3, [](am::Node& node) {
    struct Count {
      std::uint64_t lows = 0;
      std::uint64_t highs = 0;
      bool low_open = true;
      bool high_open = true;
    } count;
    node.attach(count);
    constexpr auto low = [](am::Request& request) {
      check(request.state<Count>().low_open, "a request ran while requests were masked");
      ++request.state<Count>().lows;
    };
    constexpr auto high = [](am::Reply& reply) {
      check(reply.state<Count>().high_open, "a reply ran while replies were masked");
      ++reply.state<Count>().highs;
    };
    const std::uint64_t messages = rounds(5'000);
    test::Random random(test::mix(test::seed(), node.id()));
    const auto open = [&](bool lows, bool highs) {
      const am::CriticalSection quiet(node);
      count.low_open = lows;
      count.high_open = highs;
      node.enable_event(am::Event::low_message, lows);
      node.enable_event(am::Event::high_message, highs);
    };
    std::vector<std::uint64_t> lows(node.size());
    std::vector<std::uint64_t> highs(node.size());
    const auto all_sent = [&] {
      return std::ranges::all_of(lows, [&](auto n) { return n == messages; }) &&
             std::ranges::all_of(highs, [&](auto n) { return n == messages; });
    };
    while (!all_sent()) {
      open(!random.one_in(3), !random.one_in(3));
      for (int i = 0; i < 50; ++i) {
        const auto to = static_cast<am::NodeId>(random.below(node.size()));
        if (lows[to] < messages && node.try_request<low>(to) == am::Status::ok) ++lows[to];
        if (highs[to] < messages && node.try_reply_to<high>(to) == am::Status::ok) ++highs[to];
      }
      test::poll_or_yield(node);
    }
    open(true, true);
    node.wait_until(
        [&] { return count.lows == node.size() * messages && count.highs == node.size() * messages; });
    node.barrier();
    node.poll();
    check_equal(count.lows, node.size() * messages, "requests");
    check_equal(count.highs, node.size() * messages, "replies");
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Events, test::cells_of<Events>(), test::name_of);

}  // namespace events_test
