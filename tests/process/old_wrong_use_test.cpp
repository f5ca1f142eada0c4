// What programs on <am/cmam.h> and <am/gam.h> hear when they break the rules, as by a handler that is none, and when nodes do not run
// the same program.
#include <gmock/gmock.h>

#include <string>

#include "process/command.hpp"

namespace process_test::old_wrong_use_test {

using namespace testing;

const std::string of_cmam = AM_BIN_DIR "/tests/programs/cmam_wrong_use";
const std::string of_gam = AM_BIN_DIR "/tests/programs/gam_wrong_use";

struct WrongUse {
  const char* use;
  const char* line;  ///< on standard error
};
void PrintTo(const WrongUse& wrong, std::ostream* out) { *out << wrong.use; }
std::string name_of(const testing::TestParamInfo<WrongUse>& wrong) { return wrong.param.use; }

class WrongUses : public testing::TestWithParam<WrongUse> {
 protected:
  static void expect_the_line_of(const std::string& program) {
    for (const char* dispatch : {"AM_DISPATCH=poll", "AM_DISPATCH=thread", "AM_DISPATCH=interrupt"}) {
      const Outcome outcome = run({amrun, "-n", "2", program, GetParam().use}, {{dispatch}});
      EXPECT_NE(outcome.exit_code, 0);
      EXPECT_THAT(outcome.err, HasSubstr(GetParam().line));
    }
  }
};
using CmamWrongUse = WrongUses;
using GamWrongUse = WrongUses;

TEST_P(CmamWrongUse, EndsTheJobWithALine) { expect_the_line_of(of_cmam); }
TEST_P(GamWrongUse, EndsTheJobWithALine) { expect_the_line_of(of_gam); }

INSTANTIATE_TEST_SUITE_P(
    Rules, CmamWrongUse,
    testing::Values(
        WrongUse{"null", "am: node 0: CMAM_4 with a null handler\n"},
        WrongUse{"data",
                 "am: node 0: CMAM_request_4 with a handler that is no function of this program or its "
                 "libraries: data ("},
        WrongUse{"node", "am: node 0: CMAML_request to node 2 of a job of 2\n"},
        WrongUse{"negative_node", "am: node 0: CMAML_rpc to node -1 of a job of 2\n"},
        WrongUse{"send_from_reply", "am: node 1: CMAM_4 in the reply handler send_from_reply ("},
        WrongUse{"transfer_from_reply", "am: node 1: CMAM_xfer in the reply handler transfer_from_reply ("},
        WrongUse{"wait_in_reply", "am: node 1: CMAM_wait in the reply handler wait_in_reply ("},
        WrongUse{"sync_in_request",
                 "am: node 1: CMMD_sync_with_nodes in the request handler sync_in_request ("},
        WrongUse{"outside", "am: node 1: CMAM_xfer of node 0: 8 bytes at offset 30 of a segment of 32\n"},
        WrongUse{"too_much", "am: node 1: CMAM_xfer of node 0: 20 bytes for a segment that awaits 12 more\n"},
        WrongUse{
            "killed",
            "am: node 1: CMAM_xfer of node 0: 8 bytes for segment and offset 64, where no segment is open"},
        WrongUse{"no_segment",
                 "am: node 1: CMAM_xfer of node 0: 8 bytes for segment and offset 12345, where no segment is "
                 "open"},
        WrongUse{"negative_size", "am: node 0: CMAM_xfer of -8 bytes\n"},
        WrongUse{"shorten", "am: node 0: CMAM_shorten_segment by 40 bytes of a segment that awaits 32\n"},
        WrongUse{"negative_scopy", "am: node 0: CMAML_scopy of -8 bytes\n"},
        WrongUse{
            "beyond_port",
            "am: node 1: CMAML_scopy of node 0: 8 bytes at offset 30 of rport 3, which awaits 32 bytes of "
            "32\n"},
        WrongUse{"kill_twice", "am: node 0: CMAM_kill_segment: segment 64 is not open\n"},
        WrongUse{"no_port", "am: node 1: CMAML_scopy of node 0: rport 3 is not allocated"},
        WrongUse{"port_here", "am: node 0: CMAML_set_rport_addr: rport 3 is not allocated\n"},
        WrongUse{"timer", "am: node 0: CMMD_node_timer_start: timer 64 of 64\n"},
        WrongUse{"combiner", "am: node 0: CMMD_reduce_double: 4 is no combiner for values of this type\n"},
        WrongUse{"error", "am: node 0: node 0 of 2 has had enough\n"}),
    name_of);

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
    name_of);

/// The receiver does not have the function, so its sender names it.
void expect_another_build(const std::string& program, const std::string& use, const std::string& message,
                          const std::string& function) {
  const std::string either = "if [ \"$AM_RANK\" = 0 ]; then exec " + program + " " + use + "; else exec " +
                             program + "_other_build " + use + "; fi";
  const Outcome outcome = run({amrun, "-n", "2", "sh", "-c", either});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("am: node 1: " + message +
                              " of node 0 names a handler that this node's program does not have (offset "),
                    HasSubstr("am: node 0: node 1 does not have the handler " + function + " ("),
                    HasSubstr("all nodes of a job run the same build of one program")));
}

TEST(CmamPrograms, OfDifferentBuildsDoNotRunEachOthersHandlers) {
  expect_another_build(of_cmam, "other_build", "a message", "the_others_handler");
}
TEST(GamPrograms, OfDifferentBuildsDoNotRunEachOthersHandlers) {
  expect_another_build(of_gam, "other_build", "a GAM message", "the_others_handler");
  expect_another_build(of_gam, "other_store", "a GAM store", "ends_a_store");
}

}  // namespace process_test::old_wrong_use_test
