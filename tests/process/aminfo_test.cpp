// aminfo as people run it: what it prints where, and how it exits.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace aminfo_test {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

struct Outcome {
  int exit_code = -1;  // -1: ended by a signal
  std::string output;
  std::string errors;
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

std::string contents(int fd) {
  std::string text(static_cast<std::size_t>(lseek(fd, 0, SEEK_END)), '\0');
  EXPECT_EQ(pread(fd, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  close(fd);
  return text;
}

// `before` runs in the new process. The program is opened first: a user without rights may not see the build
// folder.
Outcome aminfo(
    std::vector<std::string> arguments, std::vector<std::string> environment = {},
    const std::function<void()>& before = [] {}) {
  arguments.insert(arguments.begin(), "aminfo");
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  const int program = open(AM_BIN_DIR "/aminfo", O_PATH | O_CLOEXEC);
  const int output = memfd_create("output", 0);
  const int errors = memfd_create("errors", 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    before();
    fexecve(program, argv.data(), envp.data());
    _exit(127);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  close(program);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(output), contents(errors)};
}

void limit(decltype(RLIMIT_AS) resource, rlim_t value) {
  rlimit both{};
  getrlimit(resource, &both);
  both.rlim_cur = value;
  setrlimit(resource, &both);
}

void hard_limit(decltype(RLIMIT_AS) resource, rlim_t value) {
  const rlimit both{value, value};
  setrlimit(resource, &both);
}

// An empty folder in its place, for this process alone. False where that is not permitted.
bool hide(const char* folder) {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("none", folder, "tmpfs", 0, "size=4k") == 0;
}

void become_nobody() {
  constexpr uid_t nobody = 65534;
  if (geteuid() != 0) return;
  if (setgroups(0, nullptr) != 0 || setgid(nobody) != 0 || setuid(nobody) != 0) _exit(126);
}

// From here on this system call answers EPERM, as in a sandbox.
void forbid(long call) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    _exit(125);
}

bool filters_work() {
  return aminfo({"--help"}, {}, [] { forbid(SYS_memfd_create); }).exit_code == 0;
}

TEST(Aminfo, PrintsVersionTransportsAndEverySetting) {
  const Outcome run = aminfo({}, {"AM_TIMEOUT=120s"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.errors, IsEmpty());
  EXPECT_THAT(run.output, StartsWith("libam "));
  EXPECT_THAT(run.output, ContainsRegex("\n  shm +shared memory +usable\n"));
  EXPECT_THAT(run.output, Not(ContainsRegex("\n  auto +usable\n")));
  EXPECT_THAT(run.output, ContainsRegex("\n  AM_TIMEOUT +2min +environment +10min +duration +a wait"));
  EXPECT_THAT(run.output, ContainsRegex("\n  AM_SEGMENT +64MiB +default +64MiB +size +global memory"));
}

TEST(Aminfo, ReportsUnknownNamesAndWorks) {
  const Outcome run = aminfo({}, {"AM_TIMOUT=1s", "AM_FOO=1"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.errors,
              HasSubstr("am: \"AM_TIMOUT\" is not a setting of libam; the nearest is AM_TIMEOUT"));
  EXPECT_THAT(run.errors, HasSubstr("\"AM_FOO\""));
}

TEST(Aminfo, ReportsEveryMalformedValue) {
  const Outcome run = aminfo({}, {"AM_TIMEOUT=soon", "AM_SEGMENT=-1"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.output, ContainsRegex("AM_TIMEOUT +malformed +environment +10min"));
  EXPECT_THAT(run.errors, HasSubstr("AM_TIMEOUT=\"soon\" is not"));
  EXPECT_THAT(run.errors, HasSubstr("AM_SEGMENT=\"-1\" is not"));
}

TEST(Aminfo, ReportsSettingsThatContradict) {
  const Outcome run = aminfo({}, {"AM_RANK=0"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.errors, HasSubstr("AM_RANK is set but AM_SIZE is not"));
}

// libfabric's name leads to a file that is none: it cannot be opened, as where it is not installed.
class NoLibfabric {
 public:
  NoLibfabric() {
    std::string name = std::filesystem::temp_directory_path() / "aminfo_test_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder of the test's own");
    folder_ = name;
    std::ofstream(folder_ + "/libfabric.so.1").close();
  }
  ~NoLibfabric() { std::filesystem::remove_all(folder_); }
  NoLibfabric(const NoLibfabric&) = delete;
  NoLibfabric& operator=(const NoLibfabric&) = delete;
  [[nodiscard]] std::vector<std::string> environment() const { return {"LD_LIBRARY_PATH=" + folder_}; }

 private:
  std::string folder_;
};

bool has_provider(const std::string& name) {
  return aminfo({}).output.find("\n  " + name + " ") != std::string::npos;
}

TEST(Aminfo, ListsTheProvidersOfLibfabric) {
  const Outcome run = aminfo({});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.output, ContainsRegex("\n  ofi +libfabric +(usable|not usable: [^\n]+)\n"));
  if (run.output.find("providers of libfabric") == std::string::npos) GTEST_SKIP() << "no libfabric here";
  EXPECT_THAT(
      run.output,
      ContainsRegex("\nproviders of libfabric\n  name +on +for nodes of this host +for nodes of several "
                    "hosts\n"));
  EXPECT_THAT(run.output, ContainsRegex("chosen; nodes (sleep until something comes|that sleep look each "
                                        "millisecond)"));
}

TEST(Aminfo, ChoosesTheProviderThatIsAskedFor) {
  if (!has_provider("net")) GTEST_SKIP() << "libfabric has no provider \"net\" here";
  const Outcome run = aminfo({}, {"AM_TRANSPORT=ofi:net"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, ContainsRegex("\n  net +lo +chosen; nodes that sleep look each millisecond "));
  EXPECT_THAT(run.output, Not(ContainsRegex("\n  shm +shm +chosen")));
}

TEST(Aminfo, SaysThatThereIsNoLibfabric) {
  const NoLibfabric missing;
  const Outcome run = aminfo({}, missing.environment());
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, ContainsRegex("\n  ofi +libfabric +not usable: .*libfabric.so.1.*; apt-get install "
                                        "libfabric1"));
  EXPECT_THAT(run.output, Not(HasSubstr("providers of libfabric")));
}

TEST(Doctor, KnowsWhetherLibfabricIsNeeded) {
  const NoLibfabric missing;
  std::vector<std::string> environment = missing.environment();
  const Outcome without = aminfo({"--doctor"}, environment);
  EXPECT_EQ(without.exit_code, 0) << without.output;
  EXPECT_THAT(without.output, ContainsRegex("WARN  libfabric +.*libfabric.so.1.*programs do without.*\n"
                                            " +mend: apt-get install libfabric1"));
  environment.push_back("AM_TRANSPORT=ofi");
  const Outcome needed = aminfo({"--doctor"}, environment);
  EXPECT_EQ(needed.exit_code, 1) << needed.output;
  EXPECT_THAT(needed.output, ContainsRegex("FAIL  libfabric +.*libfabric.so.1.*\n +mend: apt-get install"));
}

TEST(Doctor, FailsWhereNoProviderHasTheNameThatIsAskedFor) {
  const Outcome run = aminfo({"--doctor"}, {"AM_TRANSPORT=ofi:quux"});
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_THAT(run.output, ContainsRegex("FAIL  libfabric +.*\n +mend: "));
}

TEST(Aminfo, Helps) {
  for (const char* const option : {"--help", "-h"}) {
    const Outcome run = aminfo({option});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_THAT(run.output, HasSubstr("--doctor"));
    EXPECT_THAT(run.errors, IsEmpty());
  }
}

TEST(Aminfo, RefusesWrongArgumentsInOneLine) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--docter"}, {"doctor"}, {""}, {"--doctor", "now"}, {"--help", "me"}, {"-x", "--doctor"}};
  for (const auto& arguments : wrong) {
    const Outcome run = aminfo(arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.output, IsEmpty());
    EXPECT_THAT(run.errors, MatchesRegex("aminfo: [^\n]* is not an option; try aminfo --help\n"));
  }
}

TEST(Doctor, FindsThisMachineFit) {
  const Outcome run = aminfo({"--doctor"}, {"PATH=/usr/bin:/bin"});
  EXPECT_EQ(run.exit_code, 0) << run.output;
  for (const char* const subject :
       {"settings", "shared memory", "futex", "membarrier", "not used", "memory", "open files", "cores",
        "binding", "processor time", "PMIx", "libfabric", "host name"}) {
    EXPECT_THAT(run.output, ContainsRegex("\n  (OK  |WARN)  " + std::string(subject) + " ")) << run.output;
  }
  EXPECT_THAT(run.output, ContainsRegex("\n[0-9]+ OK, [0-9]+ WARN, 0 FAIL\n$"));
}

TEST(Doctor, RunsAsAnOrdinaryUser) {
  const Outcome run = aminfo({"--doctor"}, {}, become_nobody);
  EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
  EXPECT_THAT(run.errors, IsEmpty());
  EXPECT_THAT(run.output, HasSubstr(" 0 FAIL\n"));
}

TEST(Doctor, WarnsOfUnknownNames) {
  const Outcome run = aminfo({"--doctor"}, {"AM_TIMOUT=1s", "AM_\x1b[2J=1"});
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(
      run.output,
      ContainsRegex("WARN  settings +\"AM_TIMOUT\" is not a setting of libam\n +mend: .*AM_TIMEOUT\n"));
  EXPECT_EQ(run.output.find('\x1b'), std::string::npos);
}

TEST(Doctor, FailsOnAMalformedSetting) {
  const Outcome run = aminfo({"--doctor"}, {"AM_SEGMENT=64MB"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.output, ContainsRegex("FAIL  settings +AM_SEGMENT=\"64MB\" is not"));
  EXPECT_THAT(run.output, HasSubstr(" 1 FAIL\n"));
}

TEST(Doctor, FailsOnAMalformedFaultPlan) {
  const Outcome run = aminfo({"--doctor"}, {"AM_FAULTS=bananas"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.output, ContainsRegex("FAIL  settings +AM_FAULTS: \"bananas\" is no part of a fault plan"));
  const Outcome overview = aminfo({}, {"AM_FAULTS=bananas"});
  EXPECT_EQ(overview.exit_code, 1);
  EXPECT_THAT(overview.errors, HasSubstr("AM_FAULTS: \"bananas\" is no part of a fault plan"));
}

TEST(Doctor, WarnsOfFewOpenFiles) {
  const Outcome run = aminfo({"--doctor"}, {}, [] { limit(RLIMIT_NOFILE, 64); });
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, ContainsRegex("WARN  open files +64, less than [0-9]+ .*\n +mend: ulimit -n"));
}

TEST(Doctor, WarnsOfFewProcesses) {
  const Outcome run = aminfo({"--doctor"}, {}, [] {
    limit(RLIMIT_NPROC, 40);
    become_nobody();
  });
  EXPECT_THAT(run.output, ContainsRegex("WARN  processes +40, less than 128 .*\n +mend: ulimit -u"));
}

TEST(Doctor, KnowsWhatAnOrdinaryUserCannotRaise) {
  const Outcome run = aminfo({"--doctor"}, {}, [] {
    hard_limit(RLIMIT_NOFILE, 64);
    become_nobody();
  });
  EXPECT_THAT(run.output, ContainsRegex("WARN  open files +64, less than [0-9]+ for a job of 64 nodes under "
                                        "amrun -l\n +mend: the hard limit is in the way: "
                                        "docker run --ulimit nofile=[0-9]+, "));
}

// What can be done without /proc is done; what cannot be seen there is not called fine.
TEST(Doctor, WarnsOfAMissingProc) {
  const Outcome run = aminfo({"--doctor"}, {}, [] {
    if (!hide("/proc")) _exit(124);
  });
  if (run.exit_code == 124) GTEST_SKIP() << "this user may not mount another /proc";
  EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
  EXPECT_THAT(run.output, ContainsRegex("WARN  /proc +does not list .*\n +mend: mount /proc"));
  EXPECT_THAT(run.output, ContainsRegex("OK    binding +allowed"));
  EXPECT_THAT(run.output,
              ContainsRegex("WARN  processor time +a quota could not be seen.*\n +mend: mount them"));
}

// A line for /etc/hosts without an address would do harm.
TEST(Doctor, KnowsAContainerWithoutANetwork) {
  const Outcome run = aminfo({"--doctor"}, {}, [] {
    if (unshare(CLONE_NEWNET | CLONE_NEWUTS) != 0 || sethostname("c0ffee", 6) != 0) _exit(124);
  });
  if (run.exit_code == 124) GTEST_SKIP() << "this user may not have another network";
  EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
  EXPECT_THAT(run.output, ContainsRegex("WARN  host name +c0ffee .*\n +mend: a network for this container"));
}

// Without the check of the limit, the kernel would end the doctor by a signal.
TEST(Doctor, SurvivesALimitOnFileSizes) {
  const Outcome run = aminfo({"--doctor"}, {}, [] { limit(RLIMIT_FSIZE, 1 << 20); });
  EXPECT_EQ(run.exit_code, 1) << run.output << run.errors;
  EXPECT_THAT(run.output,
              ContainsRegex("FAIL  shared memory +.*RLIMIT_FSIZE.*\n +mend: ulimit -f unlimited\n"));
}

TEST(Doctor, SaysWhenASegmentCannotBeMapped) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need an unlimited address space";
#endif
  const Outcome run = aminfo({"--doctor"}, {"AM_SEGMENT=1TiB"}, [] { limit(RLIMIT_AS, rlim_t{1} << 30); });
  EXPECT_EQ(run.exit_code, 1) << run.output << run.errors;
  EXPECT_THAT(run.output, ContainsRegex("FAIL  shared memory +map .*: .*\n +mend: "));
  EXPECT_THAT(run.output,
              ContainsRegex("WARN  address space +1GiB, less than .*\n +mend: ulimit -v [0-9]+\n"));
}

TEST(Doctor, WarnsWhereASandboxForbidsMemfd) {
  if (!filters_work()) GTEST_SKIP() << "no system call filters here";
  const Outcome run = aminfo({"--doctor"}, {}, [] { forbid(SYS_memfd_create); });
  EXPECT_THAT(run.output, ContainsRegex("(WARN|FAIL)  shared memory +.*\n +mend: allow memfd_create"))
      << run.errors;
}

TEST(Doctor, WarnsWhereASandboxForbidsMembarrier) {
  if (!filters_work()) GTEST_SKIP() << "no system call filters here";
  const Outcome run = aminfo({"--doctor"}, {}, [] { forbid(SYS_membarrier); });
  EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
  EXPECT_THAT(run.output, ContainsRegex("WARN  membarrier +.*\n +mend: a kernel of 4.16"));
}

TEST(Doctor, WarnsWhereASandboxForbidsBinding) {
  if (!filters_work()) GTEST_SKIP() << "no system call filters here";
  const Outcome run = aminfo({"--doctor"}, {}, [] { forbid(SYS_sched_setaffinity); });
  EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
  EXPECT_THAT(run.output,
              ContainsRegex("WARN  binding +processes cannot be bound.*\n +mend: amrun --bind none"));
}

TEST(Doctor, MeasuresTheMaskOfItsShell) {
  const Outcome run = aminfo({"--doctor"}, {}, [] {
    cpu_set_t one;
    sched_getaffinity(0, sizeof one, &one);
    int kept = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &one) && kept++ > 0) CPU_CLR(cpu, &one);
    }
    sched_setaffinity(0, sizeof one, &one);
  });
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output,
              AnyOf(ContainsRegex("WARN  binding +allowed, but only to 1 of [0-9]+ hardware threads.*\n"
                                  " +mend: .*taskset -pc [0-9,-]+ [$][$]\n"),
                    ContainsRegex("OK    binding +allowed, to any of 1 hardware thread\n")));
}

TEST(Doctor, WantsTheLibraryWhereALauncherOffersPmix) {
  const Outcome run = aminfo({"--doctor"}, {"PMIX_NAMESPACE=1", "PMIX_RANK=0"});
  EXPECT_THAT(
      run.output,
      AnyOf(ContainsRegex("OK    PMIx +.*can be loaded"),
            ContainsRegex("FAIL  PMIx +libpmix.so.2 is not here.*\n +mend: apt-get install libpmix2")));
}

}  // namespace aminfo_test
