// The examples over every network and in every mode of handlers: each gives what it gives over shared memory to nodes that poll.

#include "process/every_example.hpp"
#include "support/cells.hpp"

namespace process_test::examples_everywhere_test {

enum class Examples { none, few, all };

struct Way {
  const test::Network* network;
  am::Dispatch dispatch;
  Examples examples = Examples::all;
  bool by_day = true;
};

/// All over shared memory; a few on each other network, in the mode in which the most runs at once, and on one also by interrupts.
Examples by_day(const Way& way) {
  const test::Network& network = *way.network;
  if (network.name == "shm") return Examples::all;
  const bool interrupts = network.name == "t1" && way.dispatch == am::Dispatch::interrupt;
  if (network.rare || network.by_night || (way.dispatch != am::Dispatch::thread && !interrupts))
    return Examples::none;
  return Examples::few;
}

std::vector<Way> every_way() {
  std::vector<Way> all;
  for (const test::Network& network : test::networks) {
    if (!network.processes) continue;
    for (const am::Dispatch dispatch : test::every_mode) {
      const bool is_the_reference = network.name == "shm" && dispatch == am::Dispatch::poll;
      if (is_the_reference || (dispatch == am::Dispatch::interrupt && !network.interrupts)) continue;
      const Examples now = by_day({&network, dispatch});
      if (now != Examples::none) all.push_back({&network, dispatch, now, true});
      if (now != Examples::all) all.push_back({&network, dispatch, Examples::all, false});
    }
  }
  return all;
}

class EveryExample : public testing::TestWithParam<Way> {};

TEST_P(EveryExample, GivesTheSame) {
  const std::string transport = "AM_TRANSPORT=" + std::string(GetParam().network->transport);
  const std::string dispatch = "AM_DISPATCH=" + std::string(to_string(GetParam().dispatch));
  std::vector<ExampleRun> examples =
      GetParam().examples == Examples::all ? every_example() : a_few_examples();
  if (GetParam().dispatch == am::Dispatch::interrupt)  // the handlers of these do not bear it
    std::erase_if(examples, [](const ExampleRun& one) {
      return one.program[0] == example("hello") || one.program[0] == example("survivors");
    });
  expect_the_same(examples, [&](const std::vector<std::string>& program) {
    return run_by_amrun(4, program, {transport, dispatch});
  });
}

INSTANTIATE_TEST_SUITE_P(Over, EveryExample, testing::ValuesIn(every_way()), [](const auto& way) {
  return std::string(way.param.network->name) + "_" + std::string(to_string(way.param.dispatch)) +
         (way.param.by_day ? "" : "_night");
});

}  // namespace process_test::examples_everywhere_test
