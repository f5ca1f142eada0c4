// aminfo as people run it: what it prints where, and how it exits.

#include "process/command.hpp"
#include "process/surroundings.hpp"

namespace aminfo_test {

using process_test::become_nobody;
using process_test::expect_end;
using process_test::forbid;
using process_test::limit;
using process_test::not_permitted;
using process_test::Outcome;
using namespace testing;

Outcome aminfo(std::vector<std::string> arguments, const std::vector<std::string>& environment = {},
               const std::function<void()>& in_child = {}) {
  arguments.insert(arguments.begin(), AM_BIN_DIR "/aminfo");
  return process_test::run(arguments, {environment, in_child});
}

/// The doctor ends so, and says all of this.
void expect_doctor(const testing::Matcher<int>& exit_code, const std::vector<std::string>& says,
                   const std::vector<std::string>& environment, const std::function<void()>& in_child = {}) {
  const Outcome run = aminfo({"--doctor"}, environment, in_child);
  if (run.exit_code == not_permitted) GTEST_SKIP() << "this user may not do that to a child";
  EXPECT_THAT(run.exit_code, exit_code) << run.out << run.err;
  for (const std::string& line : says) EXPECT_THAT(run.out, ContainsRegex(line)) << run.err;
}

TEST(Aminfo, PrintsVersionTransportsAndEverySetting) {
  expect_end(aminfo({}, {"AM_TIMEOUT=120s"}), 0, IsEmpty(),
             AllOf(StartsWith("libam "), ContainsRegex("\n  shm +shared memory +usable\n"),
                   Not(ContainsRegex("\n  auto +usable\n")),
                   ContainsRegex("\n  AM_TIMEOUT +2min +environment +10min +a wait"),
                   ContainsRegex("\n  AM_SEGMENT +64MiB +default +64MiB +global memory")));
}

TEST(Aminfo, ReportsUnknownNamesAndWorks) {
  expect_end(aminfo({}, {"AM_TIMOUT=1s", "AM_FOO=1"}), 0,
             AllOf(HasSubstr("am: \"AM_TIMOUT\" is not a setting of libam; the nearest is AM_TIMEOUT"),
                   HasSubstr("\"AM_FOO\"")));
}

TEST(Aminfo, ReportsEveryMalformedValue) {
  expect_end(aminfo({}, {"AM_TIMEOUT=soon", "AM_SEGMENT=-1"}), 1,
             AllOf(HasSubstr("AM_TIMEOUT=\"soon\" is not"), HasSubstr("AM_SEGMENT=\"-1\" is not")),
             ContainsRegex("AM_TIMEOUT +malformed +environment +10min"));
}

TEST(Aminfo, ReportsSettingsThatContradict) {
  expect_end(aminfo({}, {"AM_RANK=0"}), 1, HasSubstr("AM_RANK is set but AM_SIZE is not"));
}

// A library's name leads to a file that is none: it cannot be opened, as where it is not installed.
class NoLibrary {
 public:
  explicit NoLibrary(const std::string& name) { std::ofstream(folder_.in(name)).close(); }
  [[nodiscard]] std::string environment() const { return "LD_LIBRARY_PATH=" + folder_.path(); }

 private:
  const process_test::TemporaryFolder folder_;
};

bool has_provider(const std::string& name) {
  return aminfo({}).out.find("\n  " + name + " ") != std::string::npos;
}

TEST(Aminfo, ListsTheProvidersOfLibfabric) {
  const Outcome run =
      expect_end(aminfo({}), 0, _, ContainsRegex("\n  ofi +libfabric +(usable|not usable: [^\n]+)\n"));
  if (run.out.find("providers of libfabric") == std::string::npos) GTEST_SKIP() << "no libfabric here";
  EXPECT_THAT(
      run.out,
      ContainsRegex("\nproviders of libfabric\n  name +on +for nodes of this host +for nodes of several "
                    "hosts\n"));
  EXPECT_THAT(run.out, ContainsRegex("chosen; nodes (sleep until|that sleep look) "));
}

TEST(Aminfo, ChoosesTheProviderThatIsAskedFor) {
  if (!has_provider("net")) GTEST_SKIP() << "libfabric has no provider \"net\" here";
  expect_end(aminfo({}, {"AM_TRANSPORT=ofi:net"}), 0, _,
             AllOf(ContainsRegex("\n  net +lo +chosen; nodes that sleep look "),
                   Not(ContainsRegex("\n  shm +shm +chosen"))));
}

TEST(Aminfo, SaysThatThereIsNoLibfabric) {
  const NoLibrary missing("libfabric.so.1");
  expect_end(aminfo({}, {missing.environment()}), 0, _,
             AllOf(ContainsRegex("\n  ofi +libfabric +not usable: .*libfabric"),
                   Not(HasSubstr("providers of libfabric"))));
}

TEST(Doctor, KnowsWhetherLibfabricIsNeeded) {
  const NoLibrary missing("libfabric.so.1");
  expect_doctor(
      0, {"WARN  libfabric +.*libfabric.so.1.*programs do without.*\n +mend: apt-get install libfabric1"},
      {missing.environment()});
  expect_doctor(1, {"FAIL  libfabric +.*libfabric.so.1.*\n +mend: apt-get install"},
                {missing.environment(), "AM_TRANSPORT=ofi"});
}

TEST(Doctor, WarnsWhereHostsCannotProveTheKey) {
  const NoLibrary missing("libcrypto.so.3");
  expect_doctor(
      0, {"WARN  OpenSSL +.*libcrypto.so.3.*several hosts cannot start\n +mend: apt-get install libssl3"},
      {missing.environment()});
  expect_doctor(0, {"OK    OpenSSL +"}, {});
}

TEST(Doctor, FailsWhereNoProviderHasTheNameThatIsAskedFor) {
  expect_doctor(1, {"FAIL  libfabric +.*\n +mend: "}, {"AM_TRANSPORT=ofi:quux"});
}

TEST(Aminfo, Helps) {
  for (const char* const option : {"--help", "-h"})
    expect_end(aminfo({option}), 0, IsEmpty(), HasSubstr("--doctor"));
}

TEST(Aminfo, RefusesWrongArgumentsInOneLine) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--docter"}, {"doctor"}, {""}, {"--doctor", "now"}, {"--help", "me"}, {"-x", "--doctor"}};
  for (const auto& arguments : wrong) {
    process_test::expect_refusal(aminfo(arguments), 2,
                                 MatchesRegex("aminfo: [^\n]* is not an option; try aminfo --help\n"));
  }
}

TEST(Doctor, FindsThisMachineFit) {
  const Outcome run = expect_end(aminfo({"--doctor"}, {"PATH=/usr/bin:/bin"}), 0);
  for (const char* const subject :
       {"settings", "shared memory", "futex", "membarrier", "not used", "memory", "open files", "cores",
        "binding", "processor time", "PMIx", "libfabric", "host name"}) {
    EXPECT_THAT(run.out, ContainsRegex("\n  (OK  |WARN)  " + std::string(subject) + " ")) << run.out;
  }
  EXPECT_THAT(run.out, ContainsRegex("\n[0-9]+ OK, [0-9]+ WARN, 0 FAIL\n$"));
}

TEST(Doctor, RunsAsAnOrdinaryUser) {
  expect_end(aminfo({"--doctor"}, {}, become_nobody), 0, IsEmpty(), HasSubstr(" 0 FAIL\n"));
}

TEST(Doctor, WarnsOfUnknownNames) {
  expect_end(
      aminfo({"--doctor"}, {"AM_TIMOUT=1s", "AM_\x1b[2J=1"}), 0, _,
      AllOf(ContainsRegex("WARN  settings +\"AM_TIMOUT\" is not a setting of libam\n +mend: .*AM_TIMEOUT\n"),
            Not(HasSubstr("\x1b"))));
}

TEST(Doctor, FailsOnAMalformedSetting) {
  expect_doctor(1, {"FAIL  settings +AM_SEGMENT=\"9MB\" is not .*, for example 9MiB", " 1 FAIL\n"},
                {"AM_SEGMENT=9MB"});
  expect_doctor(1, {"FAIL  settings +AM_FAULTS: \"bananas\" is no part of a fault plan"},
                {"AM_FAULTS=bananas"});
  expect_end(aminfo({}, {"AM_FAULTS=bananas"}), 1,
             HasSubstr("AM_FAULTS: \"bananas\" is no part of a fault plan"));
}

TEST(Doctor, WarnsOfFewOpenFiles) {
  expect_doctor(0, {"WARN  open files +64, less than [0-9]+ .*\n +mend: ulimit -n"}, {},
                [] { limit(RLIMIT_NOFILE, 64); });
}

TEST(Doctor, WarnsOfFewProcesses) {
  expect_doctor(_, {"WARN  processes +40, less than 128 .*\n +mend: ulimit -u"}, {}, [] {
    limit(RLIMIT_NPROC, 40);
    become_nobody();
  });
}

TEST(Doctor, KnowsWhatAnOrdinaryUserCannotRaise) {
  const std::string says =
      "WARN  open files +64, less than [0-9]+ for a job of 64 nodes under amrun -l\n +mend: the hard limit "
      "is "
      "in the way: docker run --ulimit nofile=[0-9]+, ";
  expect_doctor(_, {says}, {}, [] {
    process_test::limit_for_good(RLIMIT_NOFILE, 64);
    become_nobody();
  });
}

// What can be done without /proc is done; what cannot be seen there is not called fine.
TEST(Doctor, WarnsOfAMissingProc) {
  expect_doctor(0,
                {"WARN  /proc +does not list .*\n +mend: mount /proc", "OK    binding +allowed",
                 "WARN  processor time +a quota could not be seen.*\n +mend: mount them"},
                {}, [] { process_test::replace("/proc", 0, "size=4k"); });
}

// A line for /etc/hosts without an address would do harm.
TEST(Doctor, KnowsAContainerWithoutANetwork) {
  expect_doctor(0, {"WARN  host name +c0ffee .*\n +mend: a network for this container"}, {}, [] {
    if (unshare(CLONE_NEWNET | CLONE_NEWUTS) != 0 || sethostname("c0ffee", 6) != 0) _exit(not_permitted);
  });
}

// Without the check of the limit, the kernel would end the doctor by a signal.
TEST(Doctor, SurvivesALimitOnFileSizes) {
  expect_doctor(1, {"FAIL  shared memory +.*RLIMIT_FSIZE.*\n +mend: ulimit -f unlimited\n"}, {},
                [] { limit(RLIMIT_FSIZE, 1 << 20); });
}

TEST(Doctor, SaysWhenASegmentCannotBeMapped) {
  expect_doctor(1,
                {"FAIL  shared memory +map .*: .*\n +mend: ",
                 "WARN  address space +1GiB, less than .*\n +mend: ulimit -v [0-9]+\n"},
                {"AM_SEGMENT=1TiB"}, [] { limit(RLIMIT_AS, rlim_t{1} << 30); });
}

TEST(Doctor, WarnsOfWhatASandboxForbids) {
  expect_doctor(_, {"(WARN|FAIL)  shared memory +.*\n +mend: allow memfd_create"}, {},
                [] { forbid({SYS_memfd_create}); });
  expect_doctor(0, {"WARN  membarrier +.*\n +mend: a kernel of 4.16"}, {}, [] { forbid({SYS_membarrier}); });
  expect_doctor(0, {"WARN  binding +processes cannot be bound.*\n +mend: amrun --bind none"}, {},
                [] { forbid({SYS_sched_setaffinity}); });
}

TEST(Doctor, MeasuresTheMaskOfItsShell) {
  const std::string says =
      "(WARN  binding +allowed, but only to 1 of [0-9]+ hardware threads.*\n +mend: .*taskset -pc [0-9,-]+ "
      "[$][$]|OK    binding +allowed, to any of 1 hardware thread)\n";
  expect_doctor(0, {says}, {}, process_test::stay_on_one);
}

TEST(Doctor, WantsTheLibraryWhereALauncherOffersPmix) {
  expect_doctor(
      _,
      {"OK    PMIx +.*can be loaded|FAIL  PMIx +libpmix.so.2 is not here.*\n +mend: apt-get install "
       "libpmix2"},
      {"PMIX_NAMESPACE=1", "PMIX_RANK=0"});
}

}  // namespace aminfo_test
