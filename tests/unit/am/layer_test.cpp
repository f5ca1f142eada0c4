// Objects of layers beside the program's own: found by type, by several at once, and gone when they end.
#include <am/layer.hpp>

#include <gtest/gtest.h>
#include <am/error.hpp>
#include <am/start.hpp>

#include <optional>

#include "support/check.hpp"

namespace am {
namespace {

using test::check;
using test::check_equal;
using test::check_throws;

template <int number>
struct Layer {
  explicit Layer(Node& node) : attached(node, *this) {}
  void heard(Request& /*request*/, int by) { sum += by; }

  int sum = 0;
  LayerState<Layer> attached;
};
struct Program {
  void heard(Request& /*request*/, int by) { sum += by; }
  int sum = 0;
};

TEST(Layer, HandlersFindEachOfThem) {
  run_threads(1, [](Node& node) {
    Program program;
    node.attach(program);
    Layer<1> one(node);
    Layer<2> two(node);
    node.request<&Layer<1>::heard>(0, 1);
    node.request<&Program::heard>(0, 10);
    node.request<&Layer<2>::heard>(0, 100);
    node.wait_until([&] { return one.sum + program.sum + two.sum == 111; });
    check(one.sum == 1 && program.sum == 10 && two.sum == 100, "each its own message");
    check(&node.state<Layer<1>>() == &one && &node.state<Layer<2>>() == &two, "state<T>() finds them");
  });
}

TEST(Layer, OfOneTypeIsOneAtATime) {
  run_threads(1, [](Node& node) {
    std::optional<Layer<1>> first(node);
    check_throws<Error>([&] { const Layer<1> second(node); }, "one of this type is attached already");
    check_equal(&node.state<Layer<1>>(), &*first, "the first one stays");
    const Layer<2> other(node);
    first.reset();  // not in the order of a stack
    const Layer<1> again(node);
    check_equal(&node.state<Layer<1>>(), &again, "the next one is found");
  });
}

TEST(LayerDeathTest, IsNotFoundWhenItIsGone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(run_threads(1,
                           [](Node& node) {
                             { const Layer<1> gone(node); }
                             node.state<Layer<1>>().sum = 1;
                           }),
               "asks for the node's state");
}

}  // namespace
}  // namespace am
