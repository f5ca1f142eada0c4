// Jobs that cannot start, or start badly: one clear line, an exit code other than 0, nobody left (run() reads to the end of
// what all of them write). And poor surroundings in which everything has to work all the same: an ordinary user, no ptrace,
// no memfd, a small /dev/shm or none.
//
// The programs are the examples, and this one in a few roles.

#include "process/command.hpp"
#include "process/surroundings.hpp"
#include "support/check.hpp"

namespace process_test::start_errors_test {

using namespace testing;

const std::string hello = example("hello");

/// A program of libam alone that cannot start: one line.
void expect_refused(const std::vector<std::string>& environment, const testing::Matcher<std::string>& line) {
  expect_refusal(run({hello}, {environment}), 1, AllOf(StartsWith("am: "), line));
}

/// A job in which each node runs what a shell makes of the script.
Outcome run_script(int nodes, const std::string& script, const std::vector<std::string>& environment = {}) {
  return run({amrun, "-n", std::to_string(nodes), "sh", "-c", script}, {environment});
}

// -- programs that do not fit together ----------------------------------------------------------------------------------------

TEST(StartErrors, DifferentProgramsInOneJob) {
  expect_end(
      run_script(4, "if [ $AM_RANK = 2 ]; then exec " + example("fetch_add") + "; fi; exec " + hello), 1,
      AllOf(
          MatchesRegex("am: join the job: node 2 runs .*/fetch_add \\(.*node 0 runs .*/hello \\(.*: their "
                       "handlers differ \\(start the same build .*\\)\n"
                       "amrun: node 2 \\(pid .*\\) exited with code 1\n"),
          HasSubstr("); only node 2 has {anonymous}::add, {anonymous}::added"),
          HasSubstr("; only node 0 has {anonymous}::greet, {anonymous}::greeted: their handlers differ (")));
}

TEST(StartErrors, TwoProgramsOneAfterTheOtherInOnePlace) {
  expect_end(run_script(2, hello + " >/dev/null && exec " + hello), 1,
             ContainsRegex("am: join the job at AM_RANK=., .*: node [01] has run already, as process "
                           "[0-9]+, .*an amrun for each\\)"));
}

// The shell outlives its node, so amrun cannot tell: the other node does.
TEST(StartErrors, ANodeThatDiesUnderAWrapper) {
  expect_end(
      run_script(2, this_program() + " --node die; code=$?; [ $AM_RANK = 1 ] && exec tail -f /dev/null; "
                                     "exit $code"),
      1,
      AllOf(ContainsRegex("am: node 0: node 1 \\(pid [0-9]+, host [^)]*\\) ended without "
                          "leaving the job; ending with it\n"),
            ContainsRegex("amrun: node 0 \\(pid [0-9]+, host [^)]*\\) exited with code 1")));
}

TEST(StartErrors, ANodeThatEndsBeforeItJoins) {
  expect_end(run_script(4, "[ $AM_RANK = 1 ] && exit 0; exec " + hello), 1,
             MatchesRegex("amrun: node 1 \\(pid .*\\) exited with code 0 before it joined the job\n"));
}

TEST(StartErrors, ANodeThatNeverJoins) {
  const Outcome outcome =
      expect_end(run_script(3, "[ $AM_RANK = 1 ] && exec sleep 1000; exec " + hello, {"AM_TIMEOUT=1s"}), 1);
  // One of the other two nodes says it, and amrun. The third may have come too late to be known.
  EXPECT_THAT(sorted_lines(outcome.err),
              ElementsAre(MatchesRegex("am: join the job: no sign of node (0, )?1(, 2)? after [0-9]+ s "
                                       "\\(.*am::start.*\\)"),
                          Not(StartsWith("am: "))));
}

TEST(StartErrors, ANodeThatNeverPolls) {
  const Outcome outcome =
      expect_end(run({amrun, "-n", "2", this_program(), "--node", "never_poll"}, {{"AM_TIMEOUT=2s"}}), 1);
  EXPECT_THAT(outcome.err,
              AllOf(ContainsRegex("am: node 0: gave up after [0-9]+ ms in barrier \\(AM_TIMEOUT sets"),
                    ContainsRegex("am:   node 1 \\(pid [0-9]+\\) computes, or polls without waiting\n"),
                    ContainsRegex("amrun: node 0 \\(pid [0-9]+, host [^)]*\\) exited with code 1\n$")));
  EXPECT_EQ(count(outcome.err, "amrun:"), 1) << outcome.err;
}

TEST(StartErrors, OneOfManyAlone) {
  expect_refused({"OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=1"},
                 AllOf(HasSubstr("mpirun (OMPI_COMM_WORLD_SIZE=4) started 4 processes together"),
                       HasSubstr("amrun -n 4")));
  expect_refused({"PMI_SIZE=3", "PMI_RANK=0"},
                 HasSubstr("started 3 processes together and this as number 0"));
  expect_refused({"SLURM_STEP_NUM_TASKS=8", "SLURM_PROCID=7"}, HasSubstr("srun --mpi=pmix"));
}

TEST(StartErrors, HalfOfAmrunsEnvironment) {
  expect_refused({"AM_RANK=1", "AM_SIZE=2"}, HasSubstr("AM_HOST_MEMORY_FD is not"));
  expect_refused({"AM_RANK=1"}, HasSubstr("AM_RANK is set but AM_SIZE is not"));
  expect_refused({"AM_RANK=2", "AM_SIZE=2"}, HasSubstr("AM_RANK=2 is not below AM_SIZE=2"));
  expect_refused(
      {"AM_RANK=0", "AM_SIZE=2", "AM_HOST_MEMORY_FD=77"},
      AllOf(HasSubstr("no such descriptor is open"), HasSubstr("close_fds=False"), HasSubstr("unset")));
  expect_refused({"AM_RANK=0", "AM_SIZE=2", "AM_HOST_MEMORY_FD=0"},
                 HasSubstr("descriptor"));  // /dev/null
}

// For each of two nodes the other one lives, and cannot be reached: there is no network, or no handshake that both take.
TEST(StartErrors, ALinkWithinAHostThatCannotBe) {
  const TemporaryFile old_tls(
      "openssl_conf = x\n[x]\nssl_conf = s\n[s]\nsystem_default = d\n[d]\nMaxProtocol = TLSv1.2\n");
  const std::vector<Surroundings> worlds = {
      {.environment = {"AM_TRANSPORT=tcp"},
       .in_child =
           [] {
             if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) _exit(not_permitted);
           }},
      {.environment = {"AM_TRANSPORT=tcp", "AM_TCP_TLS=1", "OPENSSL_CONF=" + old_tls.path()}}};
  for (const Surroundings& world : worlds) {
    const Outcome outcome = run({amrun, "-n", "2", hello}, world);
    if (outcome.exit_code == not_permitted) continue;
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("no connection to node"),
                                   HasSubstr("lives and is out of reach; ending with it")));
  }
}

// The same over libfabric, where each node has a network, or for libfabric's shm a /dev/shm, of its own.
TEST(StartErrors, ALinkOfLibfabricsWithinAHostThatCannotBe) {
  const std::string apart = "exec unshare -rnm sh -c 'ip link set lo up && mount -t tmpfs own /dev/shm && ";
  if (run({"unshare", "-rnm", "true"}).exit_code != 0) GTEST_SKIP() << "no network of its own for a node";
  for (const char* const provider : {"tcp", "ofi:net", "ofi:tcp;ofi_rxm", "ofi:udp;ofi_rxd", "ofi:shm"}) {
    SCOPED_TRACE(provider);
    expect_end(run_script(2, apart + "exec " + hello + "'",
                          {std::string("AM_TRANSPORT=") + provider, "AM_TIMEOUT=60s"}),
               1,
               AllOf(ContainsRegex("no (way|connection) to node"),
                     HasSubstr("lives and is out of reach; ending with it")));
  }
}

TEST(StartErrors, LibfabricWithoutALoopbackInterface) {
  if (run({"unshare", "-rn", "true"}).exit_code != 0) GTEST_SKIP() << "no network of its own for a job";
  for (const char* const provider : {"ofi:net", "ofi:udp;ofi_rxd"}) {
    SCOPED_TRACE(provider);
    expect_end(run({"unshare", "-rn", amrun, "-n", "2", hello},
                   {{std::string("AM_TRANSPORT=") + provider, "AM_TIMEOUT=60s"}}),
               1, HasSubstr("the loopback interface is down"));
  }
}

// -- settings -----------------------------------------------------------------------------------------------------------------

// hello's handlers print, which takes memory.
TEST(StartErrors, InterruptsOfAProgramThatDoesNotSayThatItBearsThem) {
  expect_refused({"AM_DISPATCH=interrupt"},
                 AllOf(HasSubstr("Options{.interrupt_safe = true}"), HasSubstr("safe_new.hpp")));
}

// amrun reads the settings before it starts a node: else each node would say the same, and amrun that one never joined.
TEST(StartErrors, AMalformedSettingOfAJob) {
  for (const char* entry : {"AM_REPORT_AFTER=soon", "AM_TIMEOUT=x", "AM_SEGMENT=64MX", "AM_FAULTS=bananas"}) {
    SCOPED_TRACE(entry);
    const std::string text = entry;
    expect_refusal(run({amrun, "-n", "3", hello}, {{text}}), 2,
                   AllOf(StartsWith("amrun: AM_"), HasSubstr(text.substr(text.find('=') + 1))));
  }
}

// The place of a node in a job around this one means nothing to amrun, which gives places itself.
TEST(StartErrors, AJobInTheEnvironmentOfANode) {
  expect_end(run({amrun, "-n", "2", hello}, {{"AM_RANK=7", "AM_SIZE=2", "AM_HOST_MEMORY_FD=77"}}), 0);
}

TEST(StartErrors, AnUnknownSettingIsToldOnce) {
  expect_end(run({amrun, "-n", "4", hello}, {{"AM_TIMOUT=1s"}}), 0,
             "am: \"AM_TIMOUT\" is not a setting of libam; the nearest is AM_TIMEOUT (aminfo lists every "
             "setting)\n");
}

TEST(StartErrors, VerboseTellsWhatWasFound) {
  expect_end(run({hello}, {{"AM_VERBOSE=1"}}), 0,
             MatchesRegex("am: node 0 of 1: found no launcher, .*; shared memory to all nodes.*\n"));
  const Outcome job = expect_end(run({amrun, "-n", "3", hello}, {{"AM_VERBOSE=1"}}), 0);
  for (const char* id : {"0", "1", "2"}) {
    EXPECT_EQ(
        count(job.err, "am: node " + std::string(id) + " of 3: found amrun; shared memory to all nodes"), 1)
        << job.err;
  }
}

TEST(StartErrors, StatsAreCounters) {
  const Outcome outcome = expect_end(run({amrun, "-n", "3", hello}, {{"AM_STATS=1"}}), 0);
  for (const char* id : {"0", "1", "2"})
    EXPECT_EQ(count(outcome.err, "am: node " + std::string(id) + " of 3\n"), 1);
  EXPECT_EQ(count(outcome.err, "::greeted\n"), 3) << outcome.err;
  EXPECT_THAT(outcome.err, ContainsRegex("\n +3 +[^ ]+ +[^ ]*::greet\n"));  // three runs
}

// -- limits -------------------------------------------------------------------------------------------------------------------

Surroundings with_limit(Resource resource, rlim_t value) {
  return {.in_child = [=] {
    close_range(3, ~0U, 0);  // whatever this test inherited
    limit_for_good(resource, value);
  }};
}

void expect_one_line(const Outcome& outcome, const std::string& problem, const std::string& remedy) {
  expect_refusal(outcome, Ne(0), AllOf(HasSubstr(problem), HasSubstr(remedy)));
}

TEST(StartErrors, FewFiles) {
  // So few that hello, whose job needs only one of its own, still runs; -l needs two for each node.
  EXPECT_EQ(run({amrun, "-n", "4", hello}, with_limit(RLIMIT_NOFILE, 8)).exit_code, 0);
  expect_one_line(run({amrun, "-n", "4", "-l", hello}, with_limit(RLIMIT_NOFILE, 8)), "Too many open files",
                  "ulimit -n");
  // The job's own memory takes the last one.
  expect_one_line(run({amrun, "-n", "4", "--bind", "none", hello}, with_limit(RLIMIT_NOFILE, 4)),
                  "cannot open /dev/null: Too many open files", "(raise ulimit -n)");
}

TEST(StartErrors, LittleAddressSpace) {
  constexpr rlim_t mib = 1 << 20;
  expect_one_line(run({amrun, "-n", "64", hello}, with_limit(RLIMIT_AS, 40 * mib)),
                  "map the job's shared memory", "ulimit -v");
  expect_one_line(run({example("fetch_add")}, with_limit(RLIMIT_AS, 50 * mib)), "map a node's memory segment",
                  "(choose a smaller segment (AM_SEGMENT) or raise ulimit -v)");
  Surroundings smaller = with_limit(RLIMIT_AS, 50 * mib);
  smaller.environment = {"AM_SEGMENT=1MiB"};
  EXPECT_EQ(run({amrun, "-n", "2", example("fetch_add")}, smaller).exit_code, 0);
}

TEST(StartErrors, TooLittleAddressSpaceForThreads) {
  expect_end(run({"sh", "-c", "ulimit -v 400000; exec " + this_program() + " --node threads"}), 1,
             MatchesRegex("am: start a job of threads: the system gives [0-9]+ of 64 threads "
                          "\\(.*\\) \\(use fewer nodes, .*\\)\n"));
}

TEST(StartErrors, SmallFiles) {
  expect_one_line(run({hello}, with_limit(RLIMIT_FSIZE, 1 << 20)), "size the job's shared memory",
                  "ulimit -f unlimited");
  expect_one_line(run({amrun, "-n", "4", hello}, with_limit(RLIMIT_FSIZE, 1 << 20)),
                  "size the job's shared memory", "ulimit -f unlimited");
}

void replace_dev_shm(unsigned long flags, const char* options) { replace("/dev/shm", flags, options); }

/// Programs that an ordinary user can reach, wherever the build tree is.
class PoorSurroundings : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
    for (const char* name : {"hello", "fetch_add", "word_count", "life"})
      std::filesystem::copy(example(name), folder_.in(name));
    std::filesystem::copy(amrun, folder_.in("amrun"));
  }

  [[nodiscard]] static bool possible(const std::function<void()>& in_child) {
    return run({"true"}, {.in_child = in_child}).exit_code == 0;
  }

  void expect_all_works(const std::function<void()>& in_child) const {
    if (!possible(in_child)) GTEST_SKIP() << "no seccomp filters, or another /dev/shm, here";
    const auto works = [&](const std::string& name, const std::vector<std::string>& arguments,
                           const std::string& says) {
      std::vector<std::string> command = {folder_.in("amrun"), "-n", "4", folder_.in(name)};
      command.insert(command.end(), arguments.begin(), arguments.end());
      expect_end(run(command, {{"AM_SEGMENT=256MiB"}, in_child}), 0, IsEmpty(), HasSubstr(says));
    };
    works("hello", {}, "node 3 hears from node 0: welcome, node 3\n");
    works("fetch_add", {"1000"}, "node 2: counter 4000, expected 4000: right");
    works("word_count", {"/etc/passwd"}, ": the same as one node alone counts\n");
    works("life", {"64", "64", "20"}, "the same as a sequential run\n");
    EXPECT_EQ(run({folder_.in("hello")}, {.in_child = in_child}).exit_code, 0);
  }

  const TemporaryFolder folder_;
};

TEST_F(PoorSurroundings, AnOrdinaryUser) { expect_all_works(become_nobody); }

TEST_F(PoorSurroundings, NoPtrace) {
  expect_all_works([] {
    become_nobody();
    forbid({SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_pidfd_getfd});
  });
}

TEST_F(PoorSurroundings, ASandbox) {
  expect_all_works([] { forbid({SYS_memfd_create, SYS_membarrier, SYS_sched_setaffinity, SYS_pidfd_open}); });
}

/// As where qemu emulates another processor.
TEST_F(PoorSurroundings, NoChildrenThatShareMemory) { expect_all_works(forbid_children_that_share); }

TEST_F(PoorSurroundings, SmallStacks) {
  for (const char* hosts : {"--bind", "--hosts"})
    expect_end(run({amrun, hosts, hosts[2] == 'b' ? "none" : "localhost:2", hello},
                   {.in_child = [] { limit_for_good(RLIMIT_STACK, 64 << 10); }}),
               0, IsEmpty());
}

TEST_F(PoorSurroundings, ASmallDevShm) {
  expect_all_works([] {
    replace_dev_shm(0, "size=64m");
    become_nobody();
  });
}

TEST_F(PoorSurroundings, AnUnusableDevShm) {
  expect_all_works([] { replace_dev_shm(MS_RDONLY, "size=4k"); });
}

/// Nothing but so much of /dev/shm for jobs.
std::function<void()> only_dev_shm(const std::string& size) {
  return [size] {
    replace_dev_shm(0, ("size=" + size).c_str());
    forbid({SYS_memfd_create});
  };
}

// A signal would end who touches a page that is not there.
TEST_F(PoorSurroundings, ATinyDevShm) {
  if (!possible(only_dev_shm("64k"))) GTEST_SKIP() << "this user may not mount another /dev/shm";
  expect_one_line(run({amrun, "-n", "64", hello}, {{}, only_dev_shm("64k")}),
                  "amrun: cannot create the job's shared memory: no memory for the ",
                  "mount -o remount,size=1g /dev/shm");
  expect_one_line(run({hello}, {{}, only_dev_shm("8k")}),
                  "am: create the job's shared memory: no memory for the ", "docker run --shm-size=1g");
  expect_one_line(run({hello}, {{}, only_dev_shm("20k")}),
                  "am: join the job: no memory for what node 0 counts in the job's shared memory",
                  "memfd_create");
}

TEST_F(PoorSurroundings, ADevShmThatIsFullSomewhereOnTheWay) {
  if (!possible(only_dev_shm("64k"))) GTEST_SKIP() << "this user may not mount another /dev/shm";
  const auto job = [](const std::string& size, const std::string& timeout) {
    return run({amrun, "-n", "2", this_program(), "--node", "use_all"},
               {{"AM_TIMEOUT=" + timeout, "AM_STATS=1"}, only_dev_shm(size)});
  };
  for (int pages = 1; pages < 48; ++pages) {
    const Outcome outcome = job(std::to_string(4 * pages) + "k", "50ms");
    EXPECT_THAT(outcome.err, Not(HasSubstr("signal"))) << 4 * pages << "k";  // SIGBUS
    EXPECT_NE(outcome.exit_code, 128 + SIGBUS) << 4 * pages << "k";
  }
  EXPECT_EQ(job("1m", "60s").exit_code, 0);
}

TEST_F(PoorSurroundings, ADevShmSmallerThanASegment) {
  if (!possible(only_dev_shm("64k"))) GTEST_SKIP() << "this user may not mount another /dev/shm";
  expect_end(run({this_program(), "--node", "use_global_memory"}, {{}, only_dev_shm("1m")}), 0, _,
             MatchesRegex(
                 "am: allocate global memory at node 0: no memory for 2097152 bytes \\(give it more: .*\\)\n"
                 "am: allocate symmetric memory at node 0: node 0 has no room for 2097152 bytes: .*where "
                 "memory itself is short, give it more: .*\\)\n"
                 "am: use the memory segment at node 0: no memory for its 67108864 bytes \\(choose a smaller "
                 "one .*\\)\n"));
}

TEST_F(PoorSurroundings, NoSys) {
  const auto in_child = [] { replace("/sys", 0, "size=4k"); };
  if (!possible(in_child)) GTEST_SKIP() << "this user may not mount another /sys";
  expect_all_works(in_child);
  // One node and one per core: amrun looks for the cores.
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"-n", "1"}, {}, {"--bind", "core", "-n", "2"}}) {
    std::vector<std::string> command = {amrun};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(hello);
    expect_end(run(command, {.in_child = in_child}), 0, IsEmpty());
  }
  expect_end(run({AM_BIN_DIR "/aminfo", "--doctor"}, {.in_child = in_child}), 0, IsEmpty());
}

// -- this program as a node -------------------------------------------------------------------------------------------------------

/// Node 1 is killed, the others wait for ever.
const Role die("die", Role::told, [](am::Node& node) {
  node.barrier();
  if (node.id() == 1) raise(SIGKILL);
  node.wait_until([] { return false; });
});

const Role threads("threads", Role::told,
                   [] { am::run_threads(64, [](am::Node& node) { node.barrier(); }); });

void count_one(am::Request& request) { ++request.state<int>(); }

/// Everything that has pages of its own in the job's memory.
const Role use_all("use_all", Role::told, [](am::Node& node) {
  int came = 0;
  node.attach(came);
  node.barrier();
  for (am::NodeId to = 0; to < node.size(); ++to) static_cast<void>(node.request<count_one>(to));
  node.wait_until([&] { return came == static_cast<int>(node.size()); });
  const auto block = am::allocate_symmetric<std::byte>(node, 3 * 4096);
  std::fill_n(block.local(node), 3 * 4096, std::byte{1});
  am::put(node, block.on(1 - node.id()), std::byte{2});
  node.barrier();
});

const Role use_global_memory("use_global_memory", Role::told, [](am::Node& node) {
  constexpr std::size_t too_many = std::size_t{2} << 20;
  const auto refused = [](const auto& use) { std::printf("%s\n", test::error_of(use).c_str()); };
  refused([&] { static_cast<void>(am::allocate<std::byte>(node, too_many)); });
  refused([&] { static_cast<void>(am::allocate_symmetric<std::byte>(node, too_many)); });
  refused([&] { static_cast<void>(am::segment(node)); });
  for (int i = 0; i < 4; ++i)
    std::fill_n(am::allocate<std::byte>(node, too_many / 16).local(node), too_many / 16, std::byte{1});
});

const Role never_poll("never_poll", Role::told, [](am::Node& node) {
  if (node.id() == 1) {
    for (;;) pause();
  }
  node.barrier();
});

}  // namespace process_test::start_errors_test
