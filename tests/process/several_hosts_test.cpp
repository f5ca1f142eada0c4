// Jobs across hosts, which are network namespaces here (process/namespaces.hpp), started by mpirun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "process/namespaces.hpp"

namespace process_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

class SeveralHosts : public testing::Test {
 protected:
  SeveralHosts() {
    if (!hosts_.works()) skip_ = "network namespaces cannot be made here: " + hosts_.problem();
    if (run({"sh", "-c", "command -v mpirun"}).exit_code != 0) skip_ = "there is no mpirun here";
  }
  void SetUp() override {
    if (!skip_.empty()) GTEST_SKIP() << skip_;
  }

  Namespaces hosts_{2};
  std::string skip_;
};

TEST_F(SeveralHosts, RunTheSameProgramAsOneHostWithTheSameResult) {
  for (const std::vector<std::string>& program :
       {std::vector<std::string>{example("hello")}, {example("word_count"), AM_TESTS_DIR "/../README.md"}}) {
    std::vector<std::string> here = {amrun, "-n", "4"};
    here.insert(here.end(), program.begin(), program.end());
    const Outcome one = run(here);
    const Outcome two = run(hosts_.mpirun(2, program));
    EXPECT_EQ(one.exit_code, 0) << one.err;
    EXPECT_EQ(two.exit_code, 0) << two.err;
    EXPECT_EQ(sorted_lines(two.out), sorted_lines(one.out));
  }
}

TEST_F(SeveralHosts, ComputeTogether) {
  for (const char* name : {"life", "fetch_add"}) {
    const Outcome outcome = run(hosts_.mpirun(2, {example(name)}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.out, testing::AnyOf(HasSubstr("the same as a sequential run"), HasSubstr("right")));
    EXPECT_THAT(outcome.out, Not(HasSubstr("wrong")));
  }
}

TEST_F(SeveralHosts, SayWhatWasFoundAndChosen) {
  const Outcome outcome = run(hosts_.mpirun(2, {example("hello")}, {"AM_VERBOSE=1"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.err, "shared memory to 2 nodes, TCP to 2 nodes"), 4) << outcome.err;
}

TEST_F(SeveralHosts, TellOfInterfacesThatLeadNowhere) {
  const Outcome none = run(hosts_.mpirun(1, {example("hello")}, {"AM_TCP_INTERFACES=eth7"}));
  EXPECT_NE(none.exit_code, 0);
  EXPECT_THAT(none.err, AllOf(HasSubstr("AM_TCP_INTERFACES=eth7 takes none"), HasSubstr("eth0 10.77.0.")));
  const Outcome loopback = run(hosts_.mpirun(1, {example("hello")}, {"AM_TCP_INTERFACES=lo"}));
  EXPECT_NE(loopback.exit_code, 0);
  EXPECT_THAT(loopback.err, HasSubstr("a loopback address, which leads to this host itself"));
}

TEST_F(SeveralHosts, UseIpv6WhereThatIsAskedFor) {
  const Outcome outcome = run(hosts_.mpirun(1, {example("hello")}, {"AM_TCP_INTERFACES=fd77::/16"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

/// The first addresses that are told lead nowhere; the others are tried then.
TEST_F(SeveralHosts, FindTheInterfaceThatWorks) {
  for (const std::size_t host : {1u, 2u}) {
    hosts_.connect(host, "eth1", "10.78.0.", "fd78::");
    hosts_.cut(host, "eth0");
  }
  hosts_.let_launcher_use("eth1");
  ASSERT_TRUE(hosts_.works()) << hosts_.problem();
  const Outcome outcome = run(hosts_.mpirun(1, {example("hello")}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

}  // namespace
}  // namespace process_test
