// Clause 6 of the contract: which event runs when, and inside what. Arrivals before timelets before the outlet, high
// before low, two levels and no more; four masks and two enables that hold events back and lose none.

#include "support/job.hpp"

namespace events_test {

using namespace test;
using Events = test::OnEverySubstrate;

/// What ran, in order: one letter each.
struct Log {
  std::string ran;
};

void note_low(am::Request& request, char letter) { request.state<Log>().ran += letter; }
void note_high(am::Reply& reply, char letter) { reply.state<Log>().ran += letter; }

am::Status send_low(am::Node& node, char letter) { return node.try_request<note_low>(node.id(), letter); }
am::Status send_high(am::Node& node, char letter) { return node.try_reply_to<note_high>(node.id(), letter); }

/// A job of one over shared memory: what is sent to oneself is there at once, so every order is exact.
TEST(EventOrder, RepliesBetweenTwoRequests) {
  test::run_alone<Log>([](am::Node& node, Log& log) {
    constexpr auto both = [](am::Request& request, char letter) {
      request.state<Log>().ran += letter;
      check_ok(request.try_reply<note_high>('h'));
    };
    for (const char letter : {'1', '2', '3'}) check_ok(node.try_request<both>(0, letter));
    poll_until_quiet(node);
    check_equal(log.ran, "1h2h3h", "the order of the events");
  });
}

/// Over TCP, where requests and replies of a peer come in one look: what it has sent before its flag was there before the poll, and
/// nothing before the receiver has left its barrier.
TEST(EventOrder, RepliesBeforeTheRequestsThatCameWithThemOverANetwork) {
  constexpr int rounds = 20;
  static std::atomic<int> ready, sent;
  ready = sent = 0;
  const auto* tcp = std::ranges::find(test::networks, "tcp", &test::Network::name);
  test::run_job<Log>({test::Nodes::threads, am::Dispatch::poll, tcp}, 2, [](am::Node& node, Log& log) {
    for (int round = 1; round <= rounds; ++round) {
      node.barrier();
      if (node.id() == 1) {
        while (ready != round) std::this_thread::yield();
        check_ok(node.request<note_low>(0, 'l'));
        check_ok(node.reply_to<note_high>(0, 'h'));
        poll_until_quiet(node);
        sent = round;
      } else {
        log.ran.clear();
        ready = round;
        while (sent != round) std::this_thread::yield();
        node.wait_until([&] { return log.ran.size() == 2; });
        check_equal(log.ran, "hl", "the order of the events");
      }
    }
  });
}

TEST(EventOrder, WhatATimeletSendsRunsBeforeTheNextTimelet) {
  test::run_alone<Log>([](am::Node& node, Log& log) {
    // Twice: the rings to oneself are known to the second round.
    for (int round = 0; round < 2; ++round) {
      log.ran.clear();
      for (int i = 0; i < 2; ++i) {
        node.on_timelet(node.count(), [&](am::LowEvent& event) {
          log.ran += 't';
          check_ok(send_low(event.node(), 'l'));
          check_ok(send_high(event.node(), 'h'));
        });
      }
      poll_until_quiet(node);
      check_equal(log.ran, "thlthl", "the order of the events");
    }
  });
}

TEST(EventOrder, TheOutletRunsWhenNothingElseWaits) {
  test::run_alone<Log>([](am::Node& node, Log& log) {
    int calls = 0;
    node.on_outlet([&](am::LowEvent& event) {
      check(log.ran.find_first_not_of("lo") == std::string::npos, "only what was sent");
      log.ran += 'o';
      if (++calls == 3) event.node().on_outlet({});
      // Two requests, so that the next call has to wait for both.
      check_ok(send_low(event.node(), 'l'));
      check_ok(send_low(event.node(), 'l'));
    });
    poll_until_quiet(node);
    check_equal(log.ran,
                "ollollo"
                "ll",
                "the order of the events");
  });
}

struct Nesting {
  int low_depth = 0;
  int high_depth = 0;
  std::uint64_t inside = 0;  // high ones in low ones
  std::uint64_t lows = 0;
  std::uint64_t highs = 0;
  am::NodeId last_highs = 0;
};

void nest_high(am::Reply& reply, std::uint64_t number) {
  auto& nesting = reply.state<Nesting>();
  check_equal(++nesting.high_depth, 1, "high handlers inside each other");
  check(reply.node().level() == am::Level::high, "the level of a reply's handler");
  nesting.inside += nesting.low_depth == 1 ? 1 : 0;
  ++nesting.highs;
  // A high handler may try everything, and gives up where there is no room.
  if (number == 0) static_cast<void>(reply.try_reply_to<nest_high>(reply.from(), std::uint64_t{1}));
  --nesting.high_depth;
}

void nest_low(am::Request& request, std::uint64_t replies) {
  auto& nesting = request.state<Nesting>();
  check_equal(nesting.high_depth, 0, "a low handler inside a high one");
  check_equal(++nesting.low_depth, 1, "low handlers inside each other");
  check(request.node().level() == am::Level::low, "the level of a request's handler");
  ++nesting.lows;
  for (std::uint64_t i = 0; i < replies; ++i) check_ok(request.reply<nest_high>(i));
  static_cast<void>(request.node().poll_replies());  // a reply's handler inside this one
  const am::CriticalSection quiet(request.node());
  check(request.node().level() == am::Level::low, "the level in a section, when replies have run");
  check_equal(nesting.low_depth, 1, "still the only one");
  --nesting.low_depth;
}

void last_high(am::Reply& reply) { ++reply.state<Nesting>().last_highs; }

/// Returns when all has run that was sent on the high network before every node came here. To be called `times` times, of
/// which this is the last.
void wait_for_highs(am::Node& node, const Nesting& nesting, am::NodeId times) {
  node.barrier();
  for (am::NodeId to = 0; to < node.size(); ++to) check_ok(node.reply_to<last_high>(to));
  node.wait_until([&] { return nesting.last_highs == times * node.size(); });
}

TEST(Nesting, HighRunsInsideALowHandlerThatWaits) {
  test::run_alone<Nesting>([](am::Node& node, Nesting& nesting) {
    // To itself: more replies than the high network holds, so that a handler has to wait and to serve itself.
    for (int i = 0; i < 20; ++i) check_ok(node.request<nest_low>(0, std::uint64_t{500}));
    node.wait_until([&] { return nesting.highs >= 20 * 500; });
    poll_until_quiet(node);
    check(nesting.inside > 0, "no high handler ran inside a waiting low one");
  });
}

TEST_P(Events, AreOfTwoLevelsAndNoMoreAndTellTheirs) {
  run<Nesting>(3, [](am::Node& node, Nesting& nesting) {
    const auto computes = [&] { check(node.level() == am::Level::computation, "the computation's level"); };
    computes();
    for (std::uint64_t i = 0; i < rounds(2000); ++i) {
      for (am::NodeId to = 0; to < node.size(); ++to) check_ok(node.request<nest_low>(to, i % 7));
      computes();
    }
    bool posted = false;
    node.post([&](am::Node&) {
      computes();
      posted = true;
    });
    bool timelet = false;
    node.on_timelet(node.count(), [&](am::LowEvent&) {
      check(node.level() == am::Level::low, "the level of a timelet");
      timelet = true;
    });
    node.wait_until([&] {
      computes();
      return posted && timelet && nesting.lows == node.size() * rounds(2000);
    });
    wait_for_highs(node, nesting, 1);
    wait_for_highs(node, nesting, 2);  // what those have sent
    check_equal(nesting.low_depth + nesting.high_depth, 0, "levels that were not left");
    const am::CriticalSection quiet(node);
    computes();
  });
}

/// The handler thread is in a handler and stays there until this thread, outside of the library, has looked. (Where this thread runs
/// it, on its way out of the library, that is another round.)
TEST(Levels, AHandlerOnAnotherThreadIsNotThisThreads) {
  struct Elsewhere {
    std::thread::id owner = std::this_thread::get_id();
    std::atomic<bool> inside = false;
    std::atomic<bool> looked = false;
    std::uint64_t ran = 0;
    std::uint64_t on_the_handler_thread = 0;
  };
  const auto body = [](am::Node& node, Elsewhere& state) {
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
      check_ok(node.request<stays>(0));
      while (!state.inside) std::this_thread::yield();
      check(node.level() == am::Level::computation, "the level on the node's own thread");
      state.looked = true;
      node.wait_until([&] { return state.ran == i; });
    }
  };
  test::run_job<Elsewhere>({test::Nodes::threads, am::Dispatch::thread}, 1, body);
}

/// Closes one gate, lets two messages of each priority and each other kind of event wait before it, polls, and opens it again.
void hold_back(am::Node& node, Log& log, const std::string& meanwhile, const std::string& after,
               const std::function<void(bool)>& open) {
  log.ran.clear();
  open(false);
  {
    const am::CriticalSection quiet(node);
    node.on_outlet([&](am::LowEvent& event) {
      log.ran += 'o';
      event.node().on_outlet({});
    });
    node.on_timelet(node.count(), [&](am::LowEvent&) { log.ran += 't'; });
    check_ok(send_low(node, 'l'));
    check_ok(send_high(node, 'h'));
    check_ok(send_low(node, 'L'));
    check_ok(send_high(node, 'H'));
    node.poll();
    check_equal(log.ran, "", "what ran in a critical section");
  }
  for (int i = 0; i < 100; ++i) node.poll();
  check_equal(log.ran, meanwhile, "what ran before the gate was opened");
  log.ran.clear();
  open(true);
  poll_until_quiet(node);
  check_equal(log.ran, after, "what ran when it was open");
  node.on_outlet({});
}

/// High before low, low before the timelet, that before the outlet.
TEST(Masks, EachKindHasItsTurnAndIsNotLost) {
  test::run_alone<Log>([](am::Node& node, Log& log) {
    const auto mask = [&](am::Event kind) { return [&node, kind](bool on) { node.enable_event(kind, on); }; };
    for (int round = 0; round < 3; ++round) {
      hold_back(node, log, "hHlLto", "", [](bool) {});
      hold_back(node, log, "lLto", "hH", mask(am::Event::high_message));
      hold_back(node, log, "hHto", "lL", mask(am::Event::low_message));
      hold_back(node, log, "hHlLo", "t", mask(am::Event::timelet));
      hold_back(node, log, "hHlLt", "o", mask(am::Event::outlet));
      hold_back(node, log, "hH", "lLto", [&](bool on) { node.enable_low_events(on); });
    }
  });
}

TEST(Masks, AHandlerMayMaskItsOwnKind) {
  test::run_alone<Log>([](am::Node& node, Log& log) {
    constexpr auto low_and_no_more = [](am::Request& request) {
      request.state<Log>().ran += 'l';
      request.node().enable_event(am::Event::low_message, false);
    };
    constexpr auto high_and_no_more = [](am::Reply& reply) {
      reply.state<Log>().ran += 'h';
      reply.node().enable_event(am::Event::high_message, false);
    };
    for (int i = 0; i < 3; ++i) {
      check_ok(node.try_request<low_and_no_more>(0));
      check_ok(node.try_reply_to<high_and_no_more>(0));
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
  struct Count {
    std::uint64_t lows = 0;
    std::uint64_t highs = 0;
    bool low_open = true;
    bool high_open = true;
  };
  run<Count>(3, [](am::Node& node, Count& count) {
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
    const std::vector<std::uint64_t> all(node.size(), messages);
    std::vector<std::uint64_t> lows(node.size());
    std::vector<std::uint64_t> highs(node.size());
    while (lows != all || highs != all) {
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
