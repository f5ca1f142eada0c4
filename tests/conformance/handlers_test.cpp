// Clause 8 of the contract, and what a handler is: plain functions, lambdas and member functions; arguments of every
// admissible type; what is each node's own; what each may send; work posted to the computation; and what is left of a node whose handler throws.
#include <am/am.hpp>
#include <am/global_ptr.hpp>

#include "support/job.hpp"

namespace handlers_test {

using namespace test;
using Handlers = test::OnEverySubstrate;

struct Odd {
  std::uint8_t a;
  std::uint16_t b;
  char c[5];
  bool operator==(const Odd&) const = default;
};
struct alignas(16) Wide {
  std::uint64_t a;
  std::uint64_t b;
  bool operator==(const Wide&) const = default;
};
struct Empty {
  bool operator==(const Empty&) const = default;
};
enum class Colour : std::uint8_t { red = 7 };

/// A program's own object; its member functions are handlers. Each level counts for itself: in the interrupt mode high
/// handlers preempt low ones.
struct Program {
  std::uint64_t calls = 0;
  std::uint64_t high_calls = 0;

  void nothing(am::Request& request) {
    ++calls;
    check(&request.state<Program>() == this, "the object is the attached one");
  }
  void small(am::Request& /*request*/, std::int8_t a, std::uint16_t b, float c, double d, bool e, Colour f) {
    ++calls;
    check(a == -3 && b == 65535 && c == 1.5F && d == -2.25 && e && f == Colour::red, "small arguments");
  }
  void structs(am::Reply& /*reply*/, const Odd& odd, Wide wide, std::array<std::int32_t, 2> pair, Empty) {
    ++high_calls;
    check(
        odd == Odd{1, 2, {'a', 'b', 'c', 'd', 'e'}} && wide == Wide{~0u, 5} && pair[0] == -1 && pair[1] == 9,
        "structs");
  }
  void six(am::Request& /*request*/, std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d,
           std::uint64_t e, std::uint64_t f) {
    ++calls;
    check(a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == ~std::uint64_t{0}, "six words");
  }
  void bytes(am::Request& /*request*/, std::array<char, 48> text) noexcept {
    calls += std::ranges::count(text, 'x') == 48 ? 1 : 1'000'000;
  }
  void payload(am::Reply& /*reply*/, int number, am::Payload payload) {
    ++high_calls;
    check_equal(number, -4, "the argument beside a payload");
    const auto values = payload.as<double>();
    check(values.size() == 3 && values[2] == 2.5, "the payload as values");
    check_throws<std::length_error>([&] { static_cast<void>(payload.as<std::array<char, 7>>()); },
                                    "whole number");
    check(reinterpret_cast<std::uintptr_t>(payload.data()) % 16 == 0, "payloads begin aligned");
  }
  // What converts is in compile/ and compile_fail/; here, that it keeps its value.
  void integers(am::Request& /*request*/, std::uint64_t wide, std::int32_t narrow, std::size_t size,
                char letter) {
    ++calls;
    check_equal(wide, ~std::uint64_t{0}, "an int of -1 as a std::uint64_t");
    check_equal(narrow, std::int32_t{-1}, "the largest unsigned as an int");
    check_equal(size, std::size_t{200}, "a std::uint8_t of 200 as a std::size_t");
    check_equal(letter, 'a', "a std::int8_t as a char");
  }
  void others(am::Reply& /*reply*/, double real, float half, am::GlobalPtr<const int> place,
              std::int64_t shared, std::uint8_t colour) {
    ++high_calls;
    check_equal(real, -7.0, "an int as a double");
    check_equal(half, 0.5F, "a float");
    check(place == am::GlobalPtr<const int>(3, 40), "a global pointer as one to const");
    check_equal(shared, std::int64_t{-5}, "a std::atomic<int> by its value");
    check_equal(colour, std::uint8_t{7}, "an enumerator as its number");
  }
};

TEST_P(Handlers, EveryKindOfArgument) {
  run<Program>(2, [](am::Node& node, Program& program) {
    const am::NodeId to = 1 - node.id();
    std::array<char, 48> text{};
    text.fill('x');
    const std::vector<double> values = {0.5, 1.5, 2.5};
    check_ok(node.request<&Program::nothing>(to));
    check_ok(node.request<&Program::small>(to, std::int8_t{-3}, std::uint16_t{65535}, 1.5F, -2.25, true,
                                           Colour::red));
    check_ok(node.reply_to<&Program::structs>(to, Odd{1, 2, {'a', 'b', 'c', 'd', 'e'}}, Wide{~0u, 5},
                                              std::array<std::int32_t, 2>{-1, 9}, Empty{}));
    check_ok(node.request<&Program::six>(to, 1u, 2u, 3u, 4u, 5u, ~std::uint64_t{0}));
    check_ok(node.request<&Program::bytes>(to, text));
    check_ok(node.reply_to<&Program::payload>(to, -4, values));
    enum Numbers : std::uint8_t { seven = 7 };
    const std::atomic<int> shared = -5;
    check_ok(node.request<&Program::integers>(to, -1, ~0U, std::uint8_t{200}, std::int8_t{'a'}));
    check_ok(node.reply_to<&Program::others>(to, -7, 0.5F, am::GlobalPtr<int>(3, 40), shared, seven));
    node.wait_until([&] { return program.calls >= 5 && program.high_calls >= 3; });
    check_equal(program.calls, 5u, "calls of request handlers");
    check_equal(program.high_calls, 3u, "calls of reply handlers");
    node.barrier();
  });
}

/// What a library on top of libam keeps for each node.
struct Tally : test::Pinned {
  explicit Tally(am::Node& its_node) : node(&its_node) { ++alive; }
  ~Tally() { --alive; }
  am::Node* node;
  std::uint64_t sum = 0;
  static inline std::atomic<int> alive = 0;
};
struct OtherTally {
  explicit OtherTally(am::Node&) {}
  int value = 0;
};
void add(am::Request& request, am::NodeId meant) {
  check(am::this_node() == &request.node(), "a handler's thread has its node");
  check_equal(request.node().id(), meant, "the node that a message reached");
  request.node().own<Tally>().sum += request.from() + 1;
}

TEST_P(Handlers, FindTheirNodeAndWhatItKeeps) {
  run(3, [](am::Node& node) {
    check(am::this_node() == &node, "the thread has its node");
    Tally& mine = node.own<Tally>();
    check(&mine == &node.own<Tally>() && mine.node == &node, "one, made with its node");
    node.own<OtherTally>().value = 5;
    node.barrier();
    for (am::NodeId to = 0; to < node.size(); ++to) check_ok(node.request<add>(to, to));
    node.wait_until([&] { return mine.sum == 1 + 2 + 3; });
    check_equal(node.own<OtherTally>().value, 5, "objects of several types do not touch");
    node.barrier();
  });
}

/// What handlers use lives until no handler can run any more, and then goes.
TEST(OwnObject, IsDestroyedWithItsNode) {
  for (int round = 0; round < 3; ++round) {
    am::run_threads(2, [](am::Node& node) {
      static_cast<void>(node.own<Tally>());
      node.barrier();
      check_equal(Tally::alive.load(), 2, "one for each");
      node.barrier();
    });
    EXPECT_EQ(Tally::alive, 0);
    EXPECT_EQ(am::this_node(), nullptr);
  }
}

struct Sends {
  std::uint64_t lows = 0;
  std::uint64_t highs = 0;
  std::uint64_t chained = 0;       // visits of high handlers
  std::uint64_t chained_lows = 0;  // of low ones, which those may preempt
};
void count_high(am::Reply& reply) { ++reply.state<Sends>().highs; }
void count_low(am::Request& request) { ++request.state<Sends>().lows; }

/// None, one or several replies, to the sender and to a third node.
void several(am::Request& request, std::uint64_t replies, am::NodeId third) {
  ++request.state<Sends>().lows;
  for (std::uint64_t i = 0; i < replies; ++i) {
    check_ok(request.reply<count_high>());
    check_ok(request.reply_to<count_high>(third));
  }
}

TEST_P(Handlers, NoneOneOrSeveralRepliesToAnyNode) {
  run<Sends>(3, [](am::Node& node, Sends& sends) {
    const am::NodeId to = (node.id() + 1) % 3;
    const am::NodeId third = (node.id() + 2) % 3;
    constexpr std::uint64_t requests = test::sanitized ? 40 : 200;
    for (std::uint64_t replies = 0; replies < requests; ++replies)
      check_ok(node.request<several>(to, replies, third));
    constexpr std::uint64_t expected = 2 * (requests * (requests - 1) / 2);
    node.wait_until([&] { return sends.highs == expected && sends.lows == requests; });
    node.barrier();
  });
}

/// A high handler that must send something on, but may only try: what does not go now, goes from the computation.
void pass_on(am::Reply& reply, std::uint64_t hops) {
  ++reply.state<Sends>().chained;
  if (hops == 0) return;
  const am::NodeId to = (reply.node().id() + 1) % reply.node().size();
  if (reply.try_reply_to<pass_on>(to, hops - 1) != am::Status::ok)
    reply.post([to, hops](am::Node& node) { check_ok(node.reply_to<pass_on>(to, hops - 1)); });
}
void pass_on_low(am::Request& request, std::uint64_t hops) {
  ++request.state<Sends>().chained_lows;
  if (hops == 0) return;
  const am::NodeId to = (request.node().id() + 1) % request.node().size();
  if (request.try_request<pass_on_low>(to, hops - 1) != am::Status::ok)
    request.post([to, hops](am::Node& node) { check_ok(node.request<pass_on_low>(to, hops - 1)); });
}

TEST_P(Handlers, TryAnythingAndPostTheRest) {
  run<Sends>(3, [](am::Node& node, Sends& sends) {
    const std::uint64_t chains = rounds(2000);
    constexpr std::uint64_t hops = 11;  // a multiple of three stations: each node is visited equally often
    for (std::uint64_t i = 0; i < chains; ++i) {
      check_ok(node.request<pass_on_low>(node.id(), hops));
      check_ok(node.reply_to<pass_on>(node.id(), hops));
    }
    const std::uint64_t visits = chains * (hops + 1);
    const auto all_have_come = [&] { return sends.chained == visits && sends.chained_lows == visits; };
    node.wait_until(all_have_come);
    node.barrier();
    check(all_have_come(), "each was visited so often, and no more");
  });
}

TEST(Posts, RunInOrderInThePollAfterAndNotInsideHandlers) {
  test::run_alone([](am::Node& node) {
    std::string order;
    for (const char letter : {'a', 'b', 'c'}) {
      node.post([&, letter](am::Node& same) {
        order += letter;
        if (letter == 'a') same.post([&](am::Node&) { order += 'A'; });
      });
    }
    check_equal(order, "", "posts before a poll");
    node.poll();
    check_equal(order, "abc", "posts in the first poll");
    node.poll();
    check_equal(order, "abcA", "a post's own post comes with the next poll");
  });
}

TEST(Posts, MayWaitPollAndSend) {
  test::run_alone<Sends>([](am::Node& node, Sends& sends) {
    std::uint64_t begun = 0;
    std::uint64_t ended = 0;
    // Many that wait: they must neither nest without end nor get lost nor run twice.
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      node.post([&, i](am::Node& same) {
        check_equal(begun++, i, "posts begin in order");
        check_equal(ended, i, "one post ends before the next begins");
        const std::uint64_t lows = sends.lows;
        check_ok(same.request<count_low>(0));
        same.wait_until([&] { return sends.lows > lows; });
        ++ended;
      });
    }
    node.wait_until([&] { return ended == 20'000; });
    check_equal(sends.lows, 20'000u, "requests");
  });
}

struct Thrown : std::runtime_error {
  Thrown() : std::runtime_error("thrown by a handler") {}
};
struct Throws {
  std::uint64_t ran = 0;
  bool armed = true;
};
void throw_low(am::Request& request, am::Payload /*payload*/) {
  ++request.state<Throws>().ran;
  if (request.state<Throws>().armed) throw Thrown();
}
void throw_high(am::Reply& reply, am::Payload /*payload*/) {
  ++reply.state<Throws>().ran;
  if (reply.state<Throws>().armed) throw Thrown();
}

/// Everything that can be said of a healthy node: messages run once, at both levels, and so do the other events.
void check_usable(am::Node& node, Throws& throws) {
  throws.armed = false;
  const std::uint64_t before = throws.ran;
  std::uint64_t timelets = 0;
  std::uint64_t outlets = 0;
  node.on_timelet(node.count(), [&](am::LowEvent&) { ++timelets; });
  node.on_outlet([&](am::LowEvent& event) {
    ++outlets;
    event.node().on_outlet({});
  });
  check_ok(node.request<throw_low>(node.id(), std::string("x")));
  check_ok(node.reply_to<throw_high>(node.id(), std::string("x")));
  node.wait_until([&] { return throws.ran == before + 2 && timelets == 1 && outlets == 1; });
  throws.armed = true;
}

TEST(Throwing, LeavesTheNodeUsable) {
  test::run_alone<Throws>([](am::Node& node, Throws& throws) {
    const auto throws_out_of_a_poll = [&] {
      const auto polls = [&] {
        for (;;) node.poll();
      };
      check_throws<Thrown>(polls, "thrown by");
    };
    for (const std::size_t size : {0, 8, 1000, 1025, 100'000}) {
      const std::vector<std::byte> bytes(size);
      check_ok(node.try_request<throw_low>(0, bytes));
      throws_out_of_a_poll();
      check_ok(node.try_reply_to<throw_high>(0, bytes));
      throws_out_of_a_poll();
      check_equal(throws.ran, 2u, "a message whose handler throws is not run again");
      check_usable(node, throws);
      throws.ran = 0;
    }
    node.on_timelet(node.count(), [](am::LowEvent&) { throw Thrown(); });
    throws_out_of_a_poll();
    check_usable(node, throws);
    node.on_outlet([](am::LowEvent& event) {
      event.node().on_outlet({});
      throw Thrown();
    });
    throws_out_of_a_poll();
    check_usable(node, throws);
    node.post([](am::Node&) { throw Thrown(); });
    int posts = 0;
    node.post([&](am::Node&) { ++posts; });
    throws_out_of_a_poll();
    node.poll();
    check_equal(posts, 1, "the post behind the one that threw");
    check_usable(node, throws);
  });
}

// The handler that throws runs inside a send that waits in the middle of a long message: what has begun must end, or the link is lost.
TEST(Throwing, InTheMiddleOfALongSend) {
  struct Long {
    std::uint64_t whole = 0;
    std::uint64_t shorts = 0;
  };
  test::run_alone<Long>([](am::Node& node, const Long& state) {
    constexpr auto take = [](am::Request& request, am::Payload payload) {
      check_equal(payload.size(), 4'000'000u, "bytes of the long message");
      for (const std::byte b : payload.bytes()) check(b == std::byte{42}, "a byte of the long message");
      ++request.state<Long>().whole;
    };
    constexpr auto fail = [](am::Reply&) { throw Thrown(); };
    constexpr auto count = [](am::Request& request) { ++request.state<Long>().shorts; };
    {
      const std::vector<std::byte> bytes(4'000'000, std::byte{42});  // more than goes at once
      check_ok(node.try_reply_to<fail>(0));
      check_throws<Thrown>([&] { static_cast<void>(node.request<take>(0, bytes)); }, "thrown by");
    }
    check_ok(node.request<count>(0), "a short message behind it");
    node.wait_until([&] { return state.shorts == 1; });
    check_equal(state.whole, 1u, "the long message, begun and so accepted, before the short one");
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Handlers, test::cells_of<Handlers>(), test::name_of);

}  // namespace handlers_test
