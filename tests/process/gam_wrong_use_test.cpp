// What programs on <am/gam.h> hear when they name a handler that is none, or that another node does not have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "process/command.hpp"

namespace process_test {
namespace gam_wrong_use_test {

using testing::AllOf;
using testing::HasSubstr;

const std::string program = AM_BIN_DIR "/tests/programs/gam_wrong_use";

struct WrongUse {
  const char* use;
  const char* line;  ///< on standard error
};

void PrintTo(const WrongUse& wrong, std::ostream* out) { *out << wrong.use; }

class GamWrongUse : public testing::TestWithParam<WrongUse> {};

TEST_P(GamWrongUse, EndsTheJobWithALine) {
  for (const char* dispatch : {"AM_DISPATCH=poll", "AM_DISPATCH=thread", "AM_DISPATCH=interrupt"}) {
    const Outcome outcome = run({amrun, "-n", "2", program, GetParam().use}, {{dispatch}, {}});
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_THAT(outcome.err, HasSubstr(GetParam().line));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, GamWrongUse,
    testing::Values(
        WrongUse{"null", "am: node 0: gam_request with a null handler\n"},
        WrongUse{
            "data",
            "am: node 0: gam_request with a handler that is no function of this program or its libraries: "
            "data ("},
        WrongUse{"medium", "am: node 0: gam_request with a null handler\n"},
        WrongUse{"store",
                 "am: node 0: gam_store with a handler that is no function of this program or its libraries: "
                 "data ("},
        WrongUse{"get",
                 "am: node 0: gam_get with a handler that is no function of this program or its libraries: "
                 "data ("},
        WrongUse{"null_reply", "am: node 1: gam_reply with a null handler\n"},
        WrongUse{"reply_xfer",
                 "am: node 1: gam_reply_xfer with a handler that is no function of this program or its "
                 "libraries: data ("}),
    [](const testing::TestParamInfo<WrongUse>& wrong) { return std::string(wrong.param.use); });

/// The receiver does not have the function, so its sender names it.
void do_not_run(const std::string& use, const char* message, const char* function) {
  const std::string either = "if [ \"$AM_RANK\" = 0 ]; then exec " + program + " " + use + "; else exec " +
                             program + "_other_build " + use + "; fi";
  const Outcome outcome = run({amrun, "-n", "2", "sh", "-c", either});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr(std::string("am: node 1: ") + message +
                              " of node 0 names a handler that this node's program does not have (offset "),
                    HasSubstr(std::string("am: node 0: node 1 does not have the handler ") + function + " ("),
                    HasSubstr("all nodes of a job run the same build of one program")));
}
TEST(GamPrograms, OfDifferentBuildsDoNotRunEachOthersHandlers) {
  do_not_run("other_build", "a GAM message", "the_others_handler");
}
TEST(GamPrograms, OfDifferentBuildsDoNotEndEachOthersStores) {
  do_not_run("other_store", "a GAM store", "ends_a_store");
}

}  // namespace gam_wrong_use_test
}  // namespace process_test
