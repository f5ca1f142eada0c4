// What amrun cannot start: one clear line, the exit code that shells use, and no process.

#include "process/amrun_job.hpp"
#include "process/surroundings.hpp"

namespace amrun_test::amrun_wrong_use_test {

using process_test::TemporaryFile;
using namespace testing;

constexpr auto executable = std::filesystem::perms::owner_all | std::filesystem::perms::group_exec |
                            std::filesystem::perms::others_exec;

void expect_refused(const std::vector<std::string>& arguments, int exit_code, const std::string& line) {
  process_test::expect_refusal(Amrun(arguments).outcome(), exit_code,
                               AllOf(StartsWith("amrun: "), HasSubstr(line), EndsWith("\n")));
}

TEST(AmrunWrongUse, Programs) {
  expect_refused({"-n", "2", "no-such-program"}, 127, "\"no-such-program\" is not found in PATH");
  expect_refused({"-n", "2", "/no/such/program"}, 127, "\"/no/such/program\" is not there");
  expect_refused({"-n", "2", ""}, 127, "\"\" is not found in PATH");
  expect_refused({"-n", "2", "/tmp"}, 126, "\"/tmp\" is a folder");
  const TemporaryFile forbidden("#!/bin/sh\n");
  expect_refused({"-n", "2", forbidden.path()}, 126, "is not executable (chmod +x makes it so)");
}

TEST(AmrunWrongUse, ProgramsThatOnlyTheKernelRefuses) {
  const TemporaryFile nonsense("nonsense\n", executable);
  expect_refused({"-n", "4", nonsense.path()}, 126,
                 "Exec format error (a script begins with a line like #!/bin/sh)");
  const TemporaryFile orphan("#!/no/such/interpreter\n", executable);
  expect_refused({"-n", "4", "-l", orphan.path()}, 126, "(the interpreter that the file names is not there)");
}

TEST(AmrunWrongUse, PathIsSearchedAsShellsDo) {
  const TemporaryFile forbidden("#!/bin/sh\n");
  const TemporaryFile script("#!/bin/sh\nexit 7\n", executable);
  const std::string found = forbidden.folder() + ":" + script.folder();
  EXPECT_EQ(Amrun({"-n", "1", "file"}, {{"PATH=" + found}}).exit_code(), 7);
  EXPECT_EQ(Amrun({"-n", "1", "file"}, {{"PATH=" + forbidden.folder()}}).exit_code(), 126);
  Amrun here({"-n", "1", "file"}, {{"PATH=/nowhere"}, [&] { (void)!chdir(script.folder().c_str()); }});
  expect_end(here.outcome(), 127, "amrun: \"file\" is not found in PATH (./file is here)\n");
}

TEST(AmrunWrongUse, HelpAndVersionGoToStandardOutput) {
  expect_end(Amrun({"--help"}).outcome(), 0, _, HasSubstr("--report-bindings"));
  expect_end(Amrun({"--version"}).outcome(), 0, _, MatchesRegex("amrun [0-9.]+\n"));
}

// What was started before the limit was met is ended again: the output of amrun ends.
TEST(AmrunWrongUse, TooManyProcesses) {
  Amrun amrun(job({"-n", "200"}, {"hang"}), {.in_child = [] {
                process_test::become_nobody();  // root is not held to the limit
                if (access(AM_BIN_DIR "/amrun", X_OK) != 0) _exit(process_test::not_permitted);
                process_test::limit_for_good(RLIMIT_NPROC, 50);
              }});
  const int code = amrun.exit_code();
  if (code == process_test::not_permitted) GTEST_SKIP() << "no ordinary user can start amrun here";
  EXPECT_EQ(code, 126);
  EXPECT_THAT(amrun.err(),
              MatchesRegex("amrun: cannot start node [0-9]+ of 200: Resource temporarily unavailable .*\n"));
}

TEST(AmrunWrongUse, TooFewDescriptorsForLabels) {
  Amrun amrun(job({"-n", "200", "-l"}, {"hang"}),
              {.in_child = [] { process_test::limit_for_good(RLIMIT_NOFILE, 60); }});
  expect_end(amrun.outcome(), 1, "amrun: cannot make pipes for -l: Too many open files (raise ulimit -n)\n");
}

}  // namespace amrun_test::amrun_wrong_use_test
