// What programs on <am/cmam.h> and <am/gam.h> hear when they break the rules, as by a handler that is none, and when nodes do not run
// the same program.

#include "process/command.hpp"

namespace process_test::old_wrong_use_test {

using namespace testing;

const std::string of_cmam = AM_BIN_DIR "/tests/programs/cmam_wrong_use";
const std::string of_gam = AM_BIN_DIR "/tests/programs/gam_wrong_use";

struct WrongUse {
  const char* use;
  std::string line;  ///< on standard error, behind "am: "
};
const std::string is_data = " with a handler that is no function of this program or its libraries: data (";
void PrintTo(const WrongUse& wrong, std::ostream* out) { *out << wrong.use; }
std::string name_of(const testing::TestParamInfo<WrongUse>& wrong) { return wrong.param.use; }

class WrongUses : public testing::TestWithParam<WrongUse> {
 protected:
  static void expect_the_line_of(const std::string& program) {
    for (const char* dispatch : {"AM_DISPATCH=poll", "AM_DISPATCH=thread", "AM_DISPATCH=interrupt"}) {
      expect_end(run({amrun, "-n", "2", program, GetParam().use}, {{dispatch}}), Ne(0),
                 HasSubstr("am: " + GetParam().line));
    }
  }
};
using CmamWrongUse = WrongUses;
using GamWrongUse = WrongUses;

TEST_P(CmamWrongUse, EndsTheJobWithALine) { expect_the_line_of(of_cmam); }
TEST_P(GamWrongUse, EndsTheJobWithALine) { expect_the_line_of(of_gam); }

const WrongUse uses_of_cmam[] = {
    {"null", "node 0: CMAM_4 with a null handler\n"},
    {"data", "node 0: CMAM_request_4" + is_data},
    {"node", "node 0: CMAML_request to node 2 of a job of 2\n"},
    {"negative_node", "node 0: CMAML_rpc to node -1 of a job of 2\n"},
    {"send_from_reply", "node 1: CMAM_4 in the reply handler send_from_reply ("},
    {"transfer_from_reply", "node 1: CMAM_xfer in the reply handler transfer_from_reply ("},
    {"wait_in_reply", "node 1: CMAM_wait in the reply handler wait_in_reply ("},
    {"sync_in_request", "node 1: CMMD_sync_with_nodes in the request handler sync_in_request ("},
    {"outside", "node 1: CMAM_xfer of node 0: 8 bytes at offset 30 of a segment of 32\n"},
    {"too_much", "node 1: CMAM_xfer of node 0: 20 bytes for a segment that awaits 12 more\n"},
    {"killed", "node 1: CMAM_xfer of node 0: 8 bytes for segment and offset 64, where no segment is open"},
    {"no_segment",
     "node 1: CMAM_xfer of node 0: 8 bytes for segment and offset 12345, where no segment is open"},
    {"negative_size", "node 0: CMAM_xfer of -8 bytes\n"},
    {"shorten", "node 0: CMAM_shorten_segment by 40 bytes of a segment that awaits 32\n"},
    {"negative_scopy", "node 0: CMAML_scopy of -8 bytes\n"},
    {"beyond_port",
     "node 1: CMAML_scopy of node 0: 8 bytes at offset 30 of rport 3, which awaits 32 bytes of 32\n"},
    {"kill_twice", "node 0: CMAM_kill_segment: segment 64 is not open\n"},
    {"no_port", "node 1: CMAML_scopy of node 0: rport 3 is not allocated"},
    {"port_here", "node 0: CMAML_set_rport_addr: rport 3 is not allocated\n"},
    {"receive_in_request", "node 1: CMMD_receive_block in the request handler receive_in_request ("},
    {"message_from_reply", "node 1: CMMD_send_async in the reply handler send_message_from_reply ("},
    {"message_to", "node 0: CMMD_send_noblock to node 2 of a job of 2\n"},
    {"message_from", "node 0: CMMD_receive_block from node 2 of a job of 2\n"},
    {"message_size", "node 0: CMMD_send_block of -8 bytes\n"},
    {"message_null", "node 0: CMMD_receive_async of 8 bytes at a null address\n"},
    {"message_elements", "node 0: CMMD_receive_v of 1048576 times 1048576 bytes\n"},
    {"message_tag", "node 0: CMMD_send with tag -1: tags are 0 or more\n"},
    {"no_message", "node 0: CMMD_msg_done: there is no message 7 (any more)\n"},
    {"freed_message", "node 0: CMMD_msg_wait: there is no message 1 (any more)\n"},
    {"scan", "node 0: CMMD_scan_int: direction 2, segment mode 0, inclusion 1\n"},
    {"not_started", "node 0: CMMD_reduce_int_finish, which has not been started\n"},
    {"two_started", "node 0: CMMD_scan_uint_start while a scan or a reduction is under way\n"},
    {"vector", "node 0: CMMD_reduce_v: 16 is no combiner for values of 4 bytes\n"},
    {"of_the_host", "node 1: CMMD_gather_from_nodes is the host's, and the host is node 0\n"},
    {"of_the_nodes", "node 0: CMMD_receive_bc_from_host is not the host's, and node 0 is the host\n"},
    {"timer", "node 0: CMMD_node_timer_start: timer 64 of 64\n"},
    {"combiner", "node 0: CMMD_reduce_double: 4 is no combiner for values of this type\n"},
    {"error", "node 0: node 0 of 2 has had enough\n"},
};
INSTANTIATE_TEST_SUITE_P(Rules, CmamWrongUse, testing::ValuesIn(uses_of_cmam), name_of);

const WrongUse uses_of_gam[] = {
    {"null", "node 0: gam_request with a null handler\n"},
    {"data", "node 0: gam_request" + is_data},
    {"medium", "node 0: gam_request with a null handler\n"},
    {"store", "node 0: gam_store" + is_data},
    {"get", "node 0: gam_get" + is_data},
    {"null_reply", "node 1: gam_reply with a null handler\n"},
    {"reply_xfer", "node 1: gam_reply_xfer" + is_data},
};
INSTANTIATE_TEST_SUITE_P(Rules, GamWrongUse, testing::ValuesIn(uses_of_gam), name_of);

/// The receiver does not have the function, so its sender names it.
void expect_another_build(const std::string& program, const std::string& use, const std::string& message,
                          const std::string& function) {
  const std::string either = "if [ \"$AM_RANK\" = 0 ]; then exec " + program + " " + use + "; else exec " +
                             program + "_other_build " + use + "; fi";
  expect_end(run({amrun, "-n", "2", "sh", "-c", either}), Ne(0),
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
