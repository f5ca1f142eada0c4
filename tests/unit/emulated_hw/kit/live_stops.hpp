// Carriers of a live network that are stopped or killed before their accesses, while others go on. A scene has messages on their way, and says
// in all_has_come(...) that all of them come, whoever carries them, and others after them.
#pragma once

#include "support/steps.hpp"

namespace test {

/// One is stopped or killed before each of its accesses in a scene that make() makes. carrier(net) is its program; `come(scene, at)`, what
/// others do then.
template <class Make, class CarrierOf, class Come>
void expect_others_go_on(Make make, CarrierOf carrier, Come come) {
  for (const bool killed : {false, true}) {
    SCOPED_TRACE(killed ? "killed" : "goes on later");
    at_each_access([&](unsigned at, bool& ended) {
      auto scene = make();
      Steps::One one(carrier(scene->net));
      ended = !one.go(at);
      if (killed) one.kill();
      come(*scene, at);
      one.finish();
      EXPECT_TRUE(scene->net.is_empty());
    });
  }
}

/// Two are stopped, one after the other, anywhere; others do all; then they go on in either order, or one is killed. `other(net)` may be
/// another program each time; `between(scene)` is done when the first has been stopped.
template <class Make, class CarrierOf, class OtherOf, class Between, class Come>
void expect_two_do_no_harm(Make make, CarrierOf carrier, OtherOf other, Between between, Come come,
                           Random& random) {
  const unsigned all = [&] {
    auto scene = make();
    return accesses_of(carrier(scene->net));
  }();
  ASSERT_GT(all, 50u);
  at_some_two_accesses(all, all, 64, random, [&](unsigned at, unsigned other_at) {
    auto scene = make();
    Steps::One a(carrier(scene->net));
    Steps::One b(other(scene->net));
    a.go(at);
    between(*scene);
    b.go(other_at);
    finish_somehow(a, b, random, [&] { come(*scene); });
    EXPECT_TRUE(scene->net.is_empty());
  });
}

}  // namespace test
