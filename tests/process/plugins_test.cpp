// Programs that open libraries with handlers before they join their job: on all nodes, or the job is refused.

#include "process/command.hpp"

namespace process_test::plugins_test {

using namespace testing;

const std::string programs = AM_BIN_DIR "/tests/programs/";
const std::string host = programs + "plugin_host";
const std::string adds = programs + "adds.so";
const std::string doubles = programs + "doubles.so";

/// Node 0 runs one command, node 1 the other.
Outcome on_two_nodes(const std::string& first, const std::string& second) {
  return run({amrun, "-n", "2", "sh", "-c",
              "if [ $AM_RANK = 0 ]; then exec " + first + "; else exec " + second + "; fi"});
}

void expect_on_both(const std::string& command, const std::vector<std::string>& lines) {
  const Outcome outcome = on_two_nodes(command, command);
  expect_end(outcome, 0, IsEmpty());
  EXPECT_EQ(sorted_lines(outcome.out), lines);
}

// Each has a handler `compute` of its own: they are told apart by the libraries that they lie in.
TEST(Plugins, MayBeOpenedInAnotherOrderOnAnotherNode) {
  const Outcome outcome =
      on_two_nodes(host + " run " + adds + " " + doubles, host + " run " + doubles + " " + adds);
  expect_end(outcome, 0, IsEmpty());
  EXPECT_EQ(sorted_lines(outcome.out), (std::vector<std::string>{"11", "11", "20", "20"}));
}

// Same names, same number, another build: nothing but their places shows that they differ.
TEST(Plugins, WithHandlersOfOneNameAreRefusedInAnotherBuild) {
  const std::string other = programs + "triples.so";
  expect_end(
      on_two_nodes(host + " run " + adds + " " + doubles, host + " run " + adds + " " + other), 1,
      AllOf(HasSubstr("name several handlers, which lie elsewhere"), HasSubstr("their handlers differ")));
}

TEST(Plugins, MayBeClosedBeforeTheProgramJoins) { expect_on_both(host + " closed " + adds, {"49", "49"}); }

// The plugin's symbols are hidden: its State is another address, and the same type.
TEST(Plugins, FindTheObjectsOfTheProgramByTheirTypes) {
  expect_on_both(host + " use_state " + adds, {"2", "2"});
}

TEST(Plugins, WithAnotherCopyOfLibamAreRefused) {
  const std::string command = programs + "plugin_host_static join " + adds;
  expect_end(on_two_nodes(command, command), 1,
             HasSubstr("another copy of libam in this process has started a node"));
}

}  // namespace process_test::plugins_test
