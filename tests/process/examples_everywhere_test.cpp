// Every example over every network and in every mode of handlers: each gives what it gives over shared memory to nodes that poll.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "process/command.hpp"
#include "process/every_example.hpp"
#include "support/cells.hpp"

namespace process_test {
namespace examples_everywhere_test {

struct Way {
  const test::Network* network;
  am::Dispatch dispatch;
};

/// Of networks that take long to open one by day, in the mode in which the most runs at once.
bool runs_by_day(const Way& way) {
  const bool opens_slowly = way.network->cost >= 10;
  return !way.network->rare && !way.network->by_night &&
         (!opens_slowly || way.dispatch == am::Dispatch::thread);
}

std::vector<Way> every_way() {
  std::vector<Way> all;
  for (const test::Network& network : test::networks) {
    if (!network.processes) continue;
    for (const am::Dispatch dispatch : test::every_mode) {
      const bool is_the_reference = network.name == "shm" && dispatch == am::Dispatch::poll;
      if (!is_the_reference && (dispatch != am::Dispatch::interrupt || network.interrupts))
        all.push_back({&network, dispatch});
    }
  }
  return all;
}

class EveryExample : public testing::TestWithParam<Way> {};

TEST_P(EveryExample, GivesTheSame) {
  const std::string transport = "AM_TRANSPORT=" + std::string(GetParam().network->transport);
  const std::string dispatch = "AM_DISPATCH=" + std::string(to_string(GetParam().dispatch));
  expect_every_example_gives_the_same([&](const std::vector<std::string>& program) {
    return run_by_amrun(4, program, {transport, dispatch});
  });
}

INSTANTIATE_TEST_SUITE_P(Over, EveryExample, testing::ValuesIn(every_way()), [](const auto& way) {
  return std::string(way.param.network->name) + "_" + std::string(to_string(way.param.dispatch)) +
         (runs_by_day(way.param) ? "" : "_night");
});

}  // namespace examples_everywhere_test
}  // namespace process_test
