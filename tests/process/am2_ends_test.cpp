// How programs on <am/am2.h> end: together, by AMX_SPMDExit and what it calls, or in another way, and what is said of it then.

#include "process/command.hpp"

namespace process_test::am2_ends_test {

using namespace testing;

class Am2Ends : public testing::TestWithParam<const char*> {
 protected:
  static Outcome end(const std::string& how, const std::string& argument = "") {
    const std::string dispatch = std::string("AM_DISPATCH=") + GetParam();
    return run({amrun, "-n", "2", AM_BIN_DIR "/tests/programs/am2_ends", how, argument}, {{dispatch}});
  }
};

TEST_P(Am2Ends, TheExitCallbackIsCalledOnEachNode) {
  expect_end(end("well"), 0, IsEmpty(),
             AnyOf("node 0 ends with 0\nnode 1 ends with 0\n", "node 1 ends with 0\nnode 0 ends with 0\n"));
}

// The other one polls for ever: the job ends without it.
TEST_P(Am2Ends, TheExitCallbackGetsTheCode) { expect_end(end("badly"), 3, _, "node 1 ends with 3\n"); }

TEST_P(Am2Ends, TheExitCallbackMayExit) {
  expect_end(end("twice"), 4, _, MatchesRegex("(node [01] ends with 3\n)+"));
}

// Answers that say no more than that a message has run are none of the program's: nobody waits for them, and nobody is told.
TEST_P(Am2Ends, NothingIsSaidOfAnswersThatNobodyNeeds) {
  const TemporaryFolder folder;
  expect_end(end("one_way", folder.in("file")), 0, IsEmpty());
}

TEST_P(Am2Ends, MessagesThatNoPollHasRunAreSaid) {
  expect_end(end("unpolled"), 0,
             HasSubstr("am: node 1: left with 10 messages of AM-II that no poll has run (the first from "
                       "node 0 for handler 1)"));
}

TEST_P(Am2Ends, ANodeThatLeavesEarlyEndsTheOthersWait) {
  expect_end(end("early"), 0, AllOf(HasSubstr("am: AMX_SPMDExit: "), HasSubstr("node 1 (pid ")),
             "node 0 ends with 0\n");
}

INSTANTIATE_TEST_SUITE_P(Modes, Am2Ends, testing::Values("poll", "thread", "interrupt"),
                         [](const testing::TestParamInfo<const char*>& mode) {
                           return std::string(mode.param);
                         });

}  // namespace process_test::am2_ends_test
