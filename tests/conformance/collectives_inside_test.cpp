// What runs inside a barrier or a collective (clause 8): posts, which must not begin another one there; handlers and posts
// that throw, which do not keep it from its end.
#include <am/collectives.hpp>

#include <am/global.hpp>

#include "support/catching.hpp"
#include "support/job.hpp"

namespace collectives_inside_test {

using am::Node;
using am::NodeId;
using namespace test;
using InPosts = test::OnEverySubstrate;
using Throwing = test::OnEverySubstrate;

/// Each of them as node 0 has to wait for node 1 in it, with values that show whether it did what it should.
struct Kind {
  const char* name;
  std::function<void(Node&)> call;
};

std::vector<Kind> every_kind() {
  return {
      {"barrier", [](Node& node) { node.barrier(); }},
      {"broadcast", [](Node& node) { check_equal(am::broadcast(node, 5 + node.id(), 1), 6u, "broadcast"); }},
      {"reduce",
       [](Node& node) {
         const auto sum = am::reduce(node, 5 + node.id(), std::plus<>());
         if (node.id() == 0) check_equal(*sum, 11u, "reduce");
       }},
      {"all_reduce",
       [](Node& node) {
         check_equal(am::all_reduce(node, 5 + node.id(), std::plus<>()), 11u, "all_reduce");
       }},
      {"all_gather",
       [](Node& node) {
         check(am::all_gather(node, 5 + node.id()) == std::vector<NodeId>{5, 6}, "all_gather");
       }},
      {"allocate symmetric memory",
       [](Node& node) { am::deallocate(node, am::allocate_symmetric<std::uint64_t>(node, 10)); }},
  };
}

struct State {
  std::uint64_t told = 0;
  std::uint64_t thrown = 0;
  std::uint64_t served = 0;
};
void tell(am::Request& request) { ++request.state<State>().told; }

/// Node 1 stays out of the outer one until the post of node 0 has tried the inner one. Where none is under way a post may begin any.
TEST_P(InPosts, OneInsideAnotherSaysSoAndDoesTheOtherNoHarm) {
  run<State>(2, [](Node& node, State& state) {
    node.barrier();
    std::uint64_t tries = 0;
    for (const Kind& outer : every_kind()) {
      for (const Kind& inner : every_kind()) {
        ++tries;
        if (node.id() == 0) {
          node.post([&](Node& same) {
            const std::string text =
                std::string(inner.name) +
                " at node 0: called by a post or a peer-death function that runs inside " + outer.name;
            check_throws<am::Error>([&] { inner.call(same); }, text);
            check_throws<am::Error>([&] { inner.call(same); }, "call it when " + std::string(outer.name));
            check_ok(same.request<tell>(1));
          });
        } else {
          node.wait_until([&] { return state.told == tries; });
        }
        outer.call(node);
        bool done = false;
        node.post([&](Node& same) {
          inner.call(same);
          done = true;
        });
        node.wait_until([&] { return done; });
      }
    }
    node.barrier();
  });
}

TEST_P(InPosts, AnErrorOfOneInsideAnotherLeavesTheOtherWhenThatIsComplete) {
  run<State>(2, [](Node& node, State& state) {
    node.barrier();
    std::array<std::uint64_t, 2> values{node.id() + 1, 7};
    if (node.id() == 0) {
      node.post([](Node& same) {
        check_ok(same.request<tell>(1));
        same.barrier();
      });
      check_throws<am::Error>(
          [&] { am::all_reduce(node, std::span(values), std::plus<>()); },
          "barrier at node 0: called by a post or a peer-death function that runs inside all_reduce");
    } else {
      node.wait_until([&] { return state.told == 1; });
      am::all_reduce(node, std::span(values), std::plus<>());
    }
    check(values[0] == 3 && values[1] == 14, "the result is there all the same");
    node.barrier();
  });
}

void serve(am::Request& request) {
  request.post([from = request.from()](Node& node) {
    ++node.state<State>().served;
    check_ok(node.request<tell>(from));
  });
}

/// Another node may need what a post does before it comes itself.
TEST_P(InPosts, RunInsideBarriersAndCollectives) {
  run<State>(2, [](Node& node, State& state) {
    node.barrier();
    std::uint64_t served = 0;
    for (const Kind& kind : every_kind()) {
      ++served;
      if (node.id() == 1) {
        check_ok(node.request<serve>(0));
        node.wait_until([&] { return state.told == served; });
      }
      kind.call(node);
    }
    if (node.id() == 0) check_equal(state.served, served, "posts that ran");
    node.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, InPosts, test::cells_of<InPosts>(), test::name_of);

struct Thrown {
  std::uint64_t number;
};
void throw_up(am::Request& request) { throw Thrown{++request.state<State>().thrown}; }

template <class F>
void in_spite_of_handlers(Node& node, F f) {
  test::catches<Thrown>(node, f);
}
void barrier_in_spite_of_handlers(Node& node) {
  in_spite_of_handlers(node, [&] { node.barrier(); });
}

/// Node 1 has node 0 throw up, but not before node 0 is here, the nth time.
void ask_for_an_exception(Node& node, std::uint64_t n) {
  if (node.id() == 0) return check_ok(node.request<tell>(1));
  node.wait_until([&] { return node.state<State>().told == n; });
  check_ok(node.request<throw_up>(0));
}

TEST_P(Throwing, OutOfABarrierMeansThatTheBarrierIsComplete) {
  run<State>(2, [](Node& node, State& state) {
    const auto entered =
        am::allocate_symmetric<std::uint64_t>(node).on(1);  // so that node 1 polls in barriers only
    barrier_in_spite_of_handlers(node);
    std::uint64_t sent = 0;
    for (std::uint64_t i = 1; i <= rounds(2'000); ++i) {
      if (node.id() == 0 && node.try_request<throw_up>(1) == am::Status::ok) ++sent;
      am::fetch_add(node, entered, 1);
      barrier_in_spite_of_handlers(node);
      const std::uint64_t seen = am::get(node, entered);
      check(seen >= 2 * i, "nobody leaves before both have entered, not by an exception either");
      check(seen <= 2 * i + 1, "nobody is a barrier ahead");
    }
    barrier_in_spite_of_handlers(node);
    std::array<std::uint64_t, 1> total{sent};
    in_spite_of_handlers(node, [&] { am::all_reduce(node, std::span(total), std::plus<>()); });
    if (node.id() == 1) check_equal(state.thrown, total[0], "each handler threw once");
    node.barrier();
  });
}

/// The request that throws comes from the node whose value is waited for, and before it. So an exception leaves either the
/// collective or, where the other node is through with that already, the all_reduce before.
TEST_P(Throwing, OutOfACollectiveMeansThatTheCollectiveIsComplete) {
  run<State>(2, [](Node& node, State&) {
    node.barrier();
    std::uint64_t caught = 0;
    const auto catching = [&](auto f) {
      try {
        f();
      } catch (const Thrown& thrown) {
        check_equal(thrown.number, ++caught, "what the handler threw");
      }
    };
    const auto disturb = [&](NodeId victim, auto f) {
      const std::uint64_t before = caught;
      std::array<int, 1> nodes{1};
      catching([&] { am::all_reduce(node, std::span(nodes), std::plus<>()); });
      check_equal(nodes[0], 2, "both nodes");
      if (node.id() != victim) check_ok(node.request<throw_up>(victim));
      catching(f);
      check_equal(caught - before, node.id() == victim ? 1u : 0u, "exceptions");
    };
    for (std::uint64_t i = 0; i < rounds(300); ++i) {
      std::vector<std::uint64_t> values(i % 4 == 0 ? 5'000 : 3);
      const auto fill = [&] {
        for (std::size_t k = 0; k < values.size(); ++k) values[k] = test::mix(i, k) + node.id();
      };
      const auto check_values = [&](std::uint64_t times, std::uint64_t plus, const char* what) {
        for (std::size_t k = 0; k < values.size(); ++k)
          check_equal(values[k], times * test::mix(i, k) + plus, what);
      };
      const auto victim = static_cast<NodeId>(i % 2);
      fill();
      disturb(victim, [&] { am::all_reduce(node, std::span(values), std::plus<>()); });
      check_values(2, 1, "all_reduce that an exception left");
      fill();
      disturb(victim, [&] { am::broadcast(node, std::span(values), 1 - victim); });
      check_values(1, 1 - victim, "broadcast that an exception left");
      fill();
      disturb(victim, [&] { am::reduce(node, std::span(values), std::plus<>(), victim); });
      if (node.id() == victim) check_values(2, 1, "reduce that an exception left");
      disturb(victim, [&] { static_cast<void>(am::all_gather(node, i)); });
      for (const Kind& kind : every_kind()) kind.call(node);  // as if nothing had been
    }
    node.barrier();
  });
}

/// A send in the middle of a collective is interrupted: its message must neither be lost nor do harm by coming twice.
TEST_P(Throwing, OutOfTheMiddleOfALongBroadcast) {
  run<State>(2, [](Node& node, State& state) {
    barrier_in_spite_of_handlers(node);
    std::vector<std::uint64_t> values(1 << 17);
    for (std::uint64_t i = 0; i < 3 + rounds(17); ++i) {
      if (node.id() == 1) {
        for (int k = 0; k < 3; ++k) check_ok(node.request<throw_up>(0));
      }
      for (std::size_t k = 0; k < values.size(); ++k) values[k] = node.id() == 0 ? test::mix(i, k) : 0;
      in_spite_of_handlers(node, [&] { am::broadcast(node, std::span(values)); });
      for (std::size_t k = 0; k < values.size(); ++k)
        check_equal(values[k], test::mix(i, k), "a broadcast value");
      std::array<std::uint64_t, 1> thrown{};
      while (thrown[0] < 3 * (i + 1)) {
        {
          const am::CriticalSection quiet(node);
          thrown[0] = state.thrown;
        }
        in_spite_of_handlers(node, [&] { node.poll(); });
        in_spite_of_handlers(node, [&] { am::broadcast(node, std::span(thrown)); });
      }
      check_equal(thrown[0], 3 * (i + 1), "handlers that threw");
    }
    node.barrier();
  });
}

/// The peers have the pointer and use this node's part, so it must have it, too.
TEST_P(Throwing, OutOfASymmetricAllocationComesAfterIt) {
  const test::Environment small("AM_SEGMENT", "64KiB");
  run<State>(2, [](Node& node, State&) {
    node.barrier();
    const std::size_t most = am::segment_bytes(node, node.id());
    for (std::uint64_t i = 1; i <= rounds(100); ++i) {
      ask_for_an_exception(node, i);
      const auto block = am::allocate_symmetric<std::byte>(node, most);  // the whole of it, every time
      if (node.id() == 0) {  // the exception leaves the next call that makes progress
        const auto wait = [&] { node.wait_until([] { return false; }); };
        test::catches<Thrown>(node, wait,
                              [i](const Thrown& thrown) { check_equal(thrown.number, i, "which"); });
      }
      am::put(node, block.on(1 - node.id()), std::byte{42});
      node.barrier();
      check(am::get(node, block) == std::byte{42}, "the peer reached this node's part");
      node.barrier();
      am::deallocate(node, block);
    }
    node.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Throwing, test::cells_of<Throwing>(), test::name_of);

TEST(ThrowingDead, TheErrorOfACollectiveThatCannotEndHoldsWhatAHandlerThrewBefore) {
  test::run_job<State>({test::Nodes::threads}, 2, [](Node& node, State&) {
    node.barrier();
    ask_for_an_exception(node, 1);
    if (node.id() == 1) return;
    try {
      static_cast<void>(am::all_reduce(node, 1, std::plus<>()));
    } catch (const am::Error& error) {
      check(std::string(error.what()).find("node 1 (pid") != std::string::npos, error.what());
      try {
        std::rethrow_if_nested(error);
      } catch (const Thrown& thrown) {
        check_equal(thrown.number, 1u, "the exception of the handler");
        return;
      }
    }
    check(false, "an error with another one in it");
  });
}

}  // namespace collectives_inside_test
