// Programs that are started without standard input, output or error: none of the three becomes a file of libam's, into which
// they would print.
//
// Its role takes how nodes are made, and which of the three to do without.

#include "process/open_mpi.hpp"

namespace process_test::standard_descriptors_test {

using namespace testing;

const char* const without[] = {"0", "1", "2", "01", "02", "12", "012"};

struct State {
  int came = 0;
  void come(am::Request&) { ++came; }
};

/// Whether each is closed yet, also for writing: 0 for yes.
int still_closed(std::string_view streams) {
  constexpr char text[] = "what a program prints, over the head of the job's memory";
  for (const char digit : streams) {
    const int fd = digit - '0';
    if (write(fd, text, sizeof text) != -1 || errno != EBADF || fcntl(fd, F_GETFD) != -1) return 10 + fd;
  }
  return 0;
}

/// Every node hears of the next, while all print.
void talk(am::Node& node, std::string_view streams, int& verdict) {
  State state;
  node.attach(state);
  const am::NodeId next = (node.id() + 1) % node.size();
  const auto own = am::allocate<int>(node);
  node.barrier();
  if (node.request<&State::come>(next) != am::Status::ok) verdict = 20;
  am::put(node, own, 1);
  node.wait_until([&] { return state.came == 1; });
  if (const int open = still_closed(streams); open != 0) verdict = open;
  node.barrier();
}

const Role run_node("standard_descriptors", [](const Arguments& arguments) {
  const std::string& nodes = arguments.at(0);
  const std::string& streams = arguments.at(1);
  for (const char digit : streams) close(digit - '0');
  int verdict = 0;
  if (nodes == "threads") {
    am::run_threads(1, [&](am::Node& node) { talk(node, streams, verdict); });
  } else {
    talk(am::start(0, nullptr), streams, verdict);
  }
  return verdict;
});

int code_without(const std::string& streams, std::vector<std::string> launcher, const std::string& nodes) {
  launcher.insert(launcher.end(), {this_program(), "--node", "standard_descriptors", nodes, streams});
  const Outcome outcome = run(launcher);
  EXPECT_EQ(outcome.err, "");
  return outcome.exit_code;
}

class StandardDescriptors : public testing::TestWithParam<const char*> {
 protected:
  static int code_of(const std::vector<std::string>& launcher, const std::string& nodes = "processes") {
    return code_without(GetParam(), launcher, nodes);
  }
};

TEST_P(StandardDescriptors, StayClosedAlone) { EXPECT_EQ(code_of({}), 0); }

TEST_P(StandardDescriptors, StayClosedInAJobOfThreads) { EXPECT_EQ(code_of({}, "threads"), 0); }

TEST_P(StandardDescriptors, StayClosedUnderAmrun) {
  EXPECT_EQ(code_of({amrun, "-n", "3"}), 0);
  EXPECT_EQ(code_of({amrun, "-n", "3", "-l"}), 0);
}

// Our programs have /dev/null there, and so have their nodes.
TEST_P(StandardDescriptors, OfOurProgramsAreNeverTheirFiles) {
  const auto close_streams = [] {
    for (const char digit : std::string_view(GetParam())) close(digit - '0');
  };
  const auto code = [&](const std::vector<std::string>& command) {
    return run(command, {{}, close_streams}).exit_code;
  };
  for (const char* option : {"-n3", "-ln3"})
    EXPECT_EQ(code({amrun, option, this_program(), "--node", "standard_descriptors", "processes", ""}), 0)
        << option;
  EXPECT_EQ(code({AM_BIN_DIR "/aminfo"}), 0);
  EXPECT_THAT(code({AM_BIN_DIR "/aminfo", "--doctor"}), AnyOf(Eq(0), Eq(1)));
}

INSTANTIATE_TEST_SUITE_P(Without, StandardDescriptors, testing::ValuesIn(without),
                         [](const auto& each) { return std::string(each.param); });

TEST(StandardDescriptorsUnderMpirun, StayClosed) {
  if (!OpenMpi::is_there()) GTEST_SKIP() << "mpirun is not installed";
  const OpenMpi open_mpi;
  for (const char* const streams : {"0", "12", "012"})
    EXPECT_EQ(code_without(streams, {"mpirun", "--oversubscribe", "-n", "2"}, "processes"), 0) << streams;
}

}  // namespace process_test::standard_descriptors_test
