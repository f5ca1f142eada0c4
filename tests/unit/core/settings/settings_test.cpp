#include "core/settings/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <am/error.hpp>
#include <array>
#include <initializer_list>
#include <iostream>
#include <random>
#include <string>
#include <vector>

namespace am::core {
namespace settings_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// The environment of a process, as it is handed over.
class Environment {
 public:
  Environment(std::initializer_list<std::string> entries) : Environment(std::vector<std::string>(entries)) {}
  explicit Environment(std::vector<std::string> entries) : entries_(std::move(entries)) {
    for (const std::string& entry : entries_) pointers_.push_back(entry.c_str());
    pointers_.push_back(nullptr);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  operator const char* const*() const { return pointers_.data(); }  // NOLINT(google-explicit-constructor)

 private:
  std::vector<std::string> entries_;
  std::vector<const char*> pointers_;
};

SettingRow row_of(const char* const* environment, std::string_view name) {
  for (SettingRow& row : describe_settings(environment)) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no setting " << name;
  return {};
}

std::string error_of(const char* const* environment) {
  try {
    read_settings(environment);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ReadSettings, GivesTheDefaultsInAnEmptyEnvironment) {
  for (const Settings& settings : {read_settings(nullptr), read_settings(Environment{}),
                                   read_settings(Environment{"PATH=/bin", "NOT_AM_RANK=3", "AM_RANKED=3"})}) {
    EXPECT_EQ(settings.rank, -1);
    EXPECT_EQ(settings.size, 0);
    EXPECT_EQ(settings.memory_fd, -1);
    EXPECT_EQ(settings.segment_bytes, 64U << 20);
    EXPECT_EQ(settings.transport, "auto");
    EXPECT_EQ(settings.faults, "");
    EXPECT_EQ(settings.timeout_ns, 600'000'000'000U);
    EXPECT_EQ(settings.report_after_ns, 10'000'000'000U);
    EXPECT_FALSE(settings.stats);
    EXPECT_FALSE(settings.verbose);
    EXPECT_EQ(settings.peer_death, PeerDeath::end);
  }
}

TEST(ReadSettings, TakesEverySettingFromTheEnvironment) {
  const Environment environment{"AM_RANK=2",
                                "AM_SIZE=4",
                                "AM_HOST_MEMORY_FD=5",
                                "AM_SEGMENT=1GiB",
                                "AM_TRANSPORT=shm",
                                "AM_TCP_INTERFACES=eth0,10.0.0.0/8",
                                "AM_TCP_TLS=1",
                                "AM_HOST_TIMEOUT=3s",
                                "AM_AGENT=rsh -x",
                                "AM_JOB=address=a:1,rank=0,size=2,key=k",
                                "AM_FAULTS=a=b",
                                "AM_TIMEOUT=0",
                                "AM_REPORT_AFTER=500ms",
                                "AM_STATS=1",
                                "AM_VERBOSE=on",
                                "AM_PEER_DEATH=survive",
                                "AM_DISPATCH=interrupt",
                                "AM_SIGNAL=SIGusr2",
                                "AM_WATCHDOG=10s",
                                "AM_WATCHDOG_SIGNAL=RTMIN+1"};
  const Settings settings = read_settings(environment);
  EXPECT_EQ(settings.rank, 2);
  EXPECT_EQ(settings.size, 4);
  EXPECT_EQ(settings.memory_fd, 5);
  EXPECT_EQ(settings.segment_bytes, 1U << 30);
  EXPECT_EQ(settings.transport, "shm");
  EXPECT_EQ(settings.tcp_interfaces, "eth0,10.0.0.0/8");
  EXPECT_TRUE(settings.tcp_tls);
  EXPECT_EQ(settings.host_timeout_ns, 3'000'000'000u);
  EXPECT_EQ(settings.agent, "rsh -x");
  EXPECT_EQ(settings.job, "address=a:1,rank=0,size=2,key=k");
  EXPECT_EQ(settings.faults, "a=b");
  EXPECT_EQ(settings.timeout_ns, 0U);
  EXPECT_EQ(settings.report_after_ns, 500'000'000U);
  EXPECT_TRUE(settings.stats);
  EXPECT_TRUE(settings.verbose);
  EXPECT_EQ(settings.peer_death, PeerDeath::survive);
  EXPECT_EQ(settings.dispatch, am::Dispatch::interrupt);
  EXPECT_EQ(settings.signal, SIGUSR2);
  EXPECT_EQ(settings.watchdog_ns, 10'000'000'000U);
  EXPECT_EQ(settings.watchdog_signal, SIGRTMIN + 1);
  EXPECT_THAT(unknown_settings(environment), IsEmpty());
  // No row of the table is missing above.
  for (const SettingRow& row : describe_settings(environment)) {
    EXPECT_EQ(row.origin, SettingRow::Origin::environment) << row.name;
    EXPECT_NE(row.value, row.default_value) << row.name;
  }
}

TEST(ReadSettings, TakesTheEmptyValueAsNotSet) {
  const Environment environment{"AM_TIMEOUT=", "AM_RANK=", "AM_TRANSPORT=", "AM_STATS="};
  EXPECT_EQ(read_settings(environment).timeout_ns, 600'000'000'000U);
  EXPECT_EQ(row_of(environment, "AM_TIMEOUT").origin, SettingRow::Origin::built_in);
}

TEST(ReadSettings, TakesTheFirstOfTwoAsGetenvDoes) {
  EXPECT_EQ(read_settings(Environment{"AM_TIMEOUT=1s", "AM_TIMEOUT=2s"}).timeout_ns, 1'000'000'000U);
}

TEST(ReadSettings, IgnoresWhatIsNoAssignment) {
  EXPECT_EQ(read_settings(Environment{"AM_TIMEOUT", "=AM_TIMEOUT=1s", "", "=", "AM_"}).timeout_ns,
            600'000'000'000U);
}

TEST(ReadSettings, NamesVariableValueFormAndExampleOfAMalformedOne) {
  EXPECT_EQ(error_of(Environment{"AM_TIMEOUT=10 s"}),
            "am: settings: AM_TIMEOUT=\"10 s\" is not 0, or a whole number with ns, us, ms, s, min or h, at "
            "most 292 years, "
            "for example 10s (correct AM_TIMEOUT or unset it; aminfo lists every setting)");
  for (const std::string name :
       {"AM_RANK", "AM_SIZE", "AM_HOST_MEMORY_FD", "AM_SEGMENT", "AM_TRANSPORT", "AM_TIMEOUT",
        "AM_REPORT_AFTER", "AM_STATS", "AM_VERBOSE", "AM_PEER_DEATH"}) {
    for (const std::string value : {"-7", "garbage", " 1", "99999999999999999999", "\x01", "1\n", "-"}) {
      const std::string error = error_of(Environment{name + "=" + value});
      EXPECT_THAT(error, HasSubstr(name + "=\"")) << value;
      EXPECT_THAT(error, HasSubstr(", for example ")) << value;
      EXPECT_THAT(error, Not(HasSubstr("\n")));
    }
  }
}

TEST(ReadSettings, ListsTheKnownWords) {
  EXPECT_THAT(error_of(Environment{"AM_TRANSPORT=ib"}),
              HasSubstr("AM_TRANSPORT=\"ib\" is not one of auto, shm"));
  EXPECT_THAT(error_of(Environment{"AM_TRANSPORT=SHM"}), HasSubstr("is not one of auto, shm"));
  EXPECT_THAT(error_of(Environment{"AM_PEER_DEATH=ends"}), HasSubstr("is not one of end, survive"));
}

TEST(ReadSettings, WantsRankAndSizeTogether) {
  EXPECT_THAT(error_of(Environment{"AM_RANK=0"}), HasSubstr("AM_RANK is set but AM_SIZE is not"));
  EXPECT_THAT(error_of(Environment{"AM_SIZE=4"}), HasSubstr("AM_SIZE is set but AM_RANK is not"));
  EXPECT_THAT(error_of(Environment{"AM_RANK=4", "AM_SIZE=4"}), HasSubstr("AM_RANK=4 is not below AM_SIZE=4"));
  EXPECT_THAT(error_of(Environment{"AM_RANK=0", "AM_SIZE=0"}), HasSubstr("AM_SIZE=\"0\" is not"));
  EXPECT_EQ(error_of(Environment{"AM_RANK=0", "AM_SIZE=1"}), "no error");
}

TEST(DescribeSettings, NamesEachSettingOnceWithTypeAndMeaning) {
  std::vector<std::string_view> names;
  for (const SettingRow& row : describe_settings(nullptr)) {
    EXPECT_TRUE(row.name.starts_with("AM_"));
    EXPECT_NE(row.type, "") << row.name;
    EXPECT_NE(row.meaning, "") << row.name;
    EXPECT_EQ(row.meaning.find('\n'), std::string_view::npos) << row.name;
    EXPECT_EQ(row.value, row.default_value) << row.name;
    EXPECT_EQ(row.problem, "") << row.name;
    names.push_back(row.name);
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

// A default is a value like any other: what the table shows for it can be set.
TEST(DescribeSettings, ShowsDefaultsThatCanBeReadBack) {
  for (const SettingRow& row : describe_settings(nullptr)) {
    if (row.default_value.empty()) continue;
    const Environment environment{std::string(row.name) + "=" + row.default_value};
    EXPECT_EQ(row_of(environment, row.name).value, row.default_value);
    EXPECT_EQ(row_of(environment, row.name).problem, "");
  }
}

TEST(DescribeSettings, ShowsValueAndOrigin) {
  const Environment environment{"AM_TIMEOUT=120s", "AM_STATS=ON"};
  const SettingRow timeout = row_of(environment, "AM_TIMEOUT");
  EXPECT_EQ(timeout.value, "2min");
  EXPECT_EQ(timeout.default_value, "10min");
  EXPECT_EQ(timeout.type, "duration");
  EXPECT_EQ(timeout.origin, SettingRow::Origin::environment);
  EXPECT_EQ(row_of(environment, "AM_STATS").value, "yes");
  EXPECT_EQ(row_of(environment, "AM_VERBOSE").origin, SettingRow::Origin::built_in);
}

// A handler of messages in the place of what these mean would be worse than an error.
TEST(SignalSettings, TakeSignalsThatMeanNothingElse) {
  for (const std::string_view name :
       {"URG", "USR1", "SIGUSR2", "IO", "WINCH", "RTMIN+0", "RTMIN+30", "10", "23"}) {
    SCOPED_TRACE(name);
    EXPECT_GT(read_settings(Environment{"AM_SIGNAL=" + std::string(name)}).signal, 0);
    EXPECT_GT(read_settings(Environment{"AM_WATCHDOG_SIGNAL=" + std::string(name)}).watchdog_signal, 0);
  }
  EXPECT_EQ(read_settings(Environment{"AM_WATCHDOG_SIGNAL=QUIT"}).watchdog_signal, SIGQUIT);
  EXPECT_THROW(read_settings(Environment{"AM_SIGNAL=QUIT"}), Error);
  for (const std::string_view name :
       {"SEGV", "BUS",  "FPE",  "ILL",  "TRAP", "SYS",  "ABRT", "TERM", "INT",  "HUP",
        "KILL", "STOP", "TSTP", "TTIN", "TTOU", "CONT", "CHLD", "PIPE", "ALRM", "VTALRM",
        "PROF", "XCPU", "XFSZ", "PWR",  "11",   "15",   "0",    "32"}) {
    for (const std::string setting : {"AM_SIGNAL", "AM_WATCHDOG_SIGNAL"}) {
      const std::string entry = setting + "=" + std::string(name);
      SCOPED_TRACE(entry);
      try {
        read_settings(Environment{entry});
        ADD_FAILURE() << "is taken";
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(setting + "=\"" + std::string(name) + "\" is not one of "));
        EXPECT_THAT(error.what(), HasSubstr("USR1, USR2, "));
        EXPECT_THAT(error.what(), HasSubstr("RTMIN+0 to RTMIN+30"));
      }
    }
  }
}

TEST(DescribeSettings, DoesNotThrowForAMalformedValue) {
  const Environment environment{"AM_TIMEOUT=soon", "AM_SEGMENT=big"};
  EXPECT_EQ(row_of(environment, "AM_TIMEOUT").value, "soon");
  EXPECT_THAT(row_of(environment, "AM_TIMEOUT").problem, HasSubstr("AM_TIMEOUT=\"soon\" is not"));
  EXPECT_THAT(row_of(environment, "AM_SEGMENT").problem, HasSubstr("AM_SEGMENT=\"big\" is not"));
  EXPECT_EQ(row_of(environment, "AM_STATS").problem, "");
}

TEST(Transport, IsAutoOrEachNetworkOnceWithTheOptionsThatItTakes) {
  for (const std::string name : {"auto", "shm"})
    EXPECT_EQ(read_settings(Environment{"AM_TRANSPORT=" + name}).transport, name);
  for (const std::string name : {"shm:", "shm:4x4", "shm,shm", "shm,", ",shm", ",", "auto,shm", "shm,auto"})
    EXPECT_THAT(error_of(Environment{"AM_TRANSPORT=" + name}), HasSubstr("is not one of auto, shm")) << name;
}

TEST(UnknownSettings, AreNamedWithTheNearestKnownOne) {
  const Environment environment{"AM_TIMOUT=1s", "AM_segment=1",  "AM_VERBOS=1", "AM_STATSS=1",
                                "AM_=1",        "AM_TRANSPORTS", "AM_STATS=1",  "PATH=AM_NOTHING",
                                "XAM_RANK=1",   "AM_TIMOUT=2s"};
  std::vector<std::string> found;
  for (const UnknownSetting& unknown : unknown_settings(environment)) {
    found.push_back(unknown.name + " " + std::string(unknown.nearest));
  }
  EXPECT_EQ(found[0].substr(0, 4), "AM_ ");
  found.erase(found.begin());
  EXPECT_THAT(found, ElementsAre("AM_STATSS AM_STATS", "AM_TIMOUT AM_TIMEOUT", "AM_TRANSPORTS AM_TRANSPORT",
                                 "AM_VERBOS AM_VERBOSE", "AM_segment AM_SEGMENT"));
}

TEST(UnknownSettings, ReadAsOneLineOfPrintableText) {
  EXPECT_EQ(
      unknown_settings(Environment{"AM_TIMOUT=1s"}).at(0).text(),
      "am: \"AM_TIMOUT\" is not a setting of libam; the nearest is AM_TIMEOUT (aminfo lists every setting)");
  const std::string strange = unknown_settings(Environment{"AM_\x1b[2J\n=1"}).at(0).text();
  EXPECT_EQ(strange.find('\n'), std::string::npos);
  EXPECT_EQ(strange.find('\x1b'), std::string::npos);
}

TEST(UnknownSettings, MayBeVeryLong) {
  EXPECT_EQ(unknown_settings(Environment{"AM_" + std::string(1'000'000, 'A') + "=1"}).size(), 1U);
}

TEST(LauncherEnvironment, ClaimsNothingOnAnEmptyEnvironment) {
  const LauncherEnvironment found = read_launcher_environment(nullptr);
  EXPECT_FALSE(found.pmix);
  EXPECT_EQ(found.claimed_size, std::nullopt);
  EXPECT_EQ(found.claimed_rank, std::nullopt);
  EXPECT_EQ(found.claimed_by, "");
}

TEST(LauncherEnvironment, KnowsOpenMpisMpirun) {
  const LauncherEnvironment found = read_launcher_environment(Environment{
      "PMIX_NAMESPACE=1663631361", "PMIX_RANK=1", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=1"});
  EXPECT_TRUE(found.pmix);
  EXPECT_EQ(found.claimed_size, 4);
  EXPECT_EQ(found.claimed_rank, 1);
  EXPECT_EQ(found.claimed_by, "mpirun (OMPI_COMM_WORLD_SIZE=4)");
}

TEST(LauncherEnvironment, KnowsMpiexecWithoutPmix) {
  const LauncherEnvironment found =
      read_launcher_environment(Environment{"PMI_SIZE=2", "PMI_RANK=0", "PMI_FD=7"});
  EXPECT_FALSE(found.pmix);
  EXPECT_EQ(found.claimed_size, 2);
  EXPECT_EQ(found.claimed_by, "mpiexec (PMI_SIZE=2)");
}

TEST(LauncherEnvironment, KnowsSrunButNotAnAllocationAlone) {
  const LauncherEnvironment step = read_launcher_environment(Environment{
      "SLURM_JOB_ID=7", "SLURM_NTASKS=8", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=8", "SLURM_PROCID=3"});
  EXPECT_EQ(step.claimed_size, 8);
  EXPECT_EQ(step.claimed_rank, 3);
  EXPECT_EQ(step.claimed_by, "srun (SLURM_STEP_NUM_TASKS=8)");

  const LauncherEnvironment salloc =
      read_launcher_environment(Environment{"SLURM_JOB_ID=7", "SLURM_NTASKS=8"});
  EXPECT_EQ(salloc.claimed_size, std::nullopt);
  const LauncherEnvironment sbatch = read_launcher_environment(
      Environment{"SLURM_JOB_ID=7", "SLURM_NTASKS=8", "SLURM_NPROCS=8", "SLURM_PROCID=0", "SLURM_LOCALID=0"});
  EXPECT_EQ(sbatch.claimed_size, std::nullopt);
}

TEST(LauncherEnvironment, BelievesTheInnerOfTwoLaunchers) {
  const LauncherEnvironment found =
      read_launcher_environment(Environment{"SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=1",
                                            "OMPI_COMM_WORLD_SIZE=16", "OMPI_COMM_WORLD_RANK=9"});
  EXPECT_EQ(found.claimed_size, 16);
  EXPECT_EQ(found.claimed_rank, 9);
}

TEST(LauncherEnvironment, TakesWhatItCannotReadAsNoClaim) {
  for (const std::string size : {"", "0", "-4", "four", "99999999999999999999", "4 "}) {
    const Environment environment{"OMPI_COMM_WORLD_SIZE=" + size, "OMPI_COMM_WORLD_RANK=0"};
    EXPECT_EQ(read_launcher_environment(environment).claimed_size, std::nullopt) << size;
  }
  for (const std::string rank : {"", "-1", "4", "x"}) {
    const Environment environment{"OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=" + rank};
    EXPECT_EQ(read_launcher_environment(environment).claimed_size, std::nullopt) << rank;
  }
  EXPECT_EQ(read_launcher_environment(Environment{"OMPI_COMM_WORLD_SIZE=4"}).claimed_size, std::nullopt);
  EXPECT_FALSE(read_launcher_environment(Environment{"PMIX_RANK=0"}).pmix);
}

// Whatever the environment holds: either settings within their bounds or an Error, and never one without the
// other function's agreement.
TEST(Settings, KeepTheirBoundsInAnyEnvironment) {
  const auto given =
      static_cast<std::uint32_t>(GTEST_FLAG_GET(random_seed));  // --gtest_random_seed=N repeats a run
  const std::uint32_t seed = given != 0 ? given : std::random_device()() % 99999 + 1;
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  constexpr std::array<const char*, 16> values = {
      "0",   "1",  "3",    "-1", "10s", "64MiB", "auto", "shm",
      "end", "on", "none", "10", "",    "=",     "1TiB", "9999999999999999999"};
  const std::vector<SettingRow> rows = describe_settings(nullptr);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::string> entries;
    for (std::size_t i = below(8); i > 0; --i) {
      std::string entry = std::string(rows[below(rows.size())].name) + "=" + values[below(values.size())];
      if (below(4) == 0) entry[below(entry.size())] = static_cast<char>(1 + below(255));
      entries.push_back(entry);
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + ::testing::PrintToString(entries));
    const Environment environment(entries);
    const auto described = describe_settings(environment);
    const bool problem =
        std::ranges::any_of(described, [](const SettingRow& row) { return !row.problem.empty(); });
    try {
      const Settings settings = read_settings(environment);
      ASSERT_FALSE(problem);
      ASSERT_TRUE((settings.rank == -1 && settings.size == 0) ||
                  (settings.rank >= 0 && settings.rank < settings.size));
      ASSERT_GE(settings.memory_fd, -1);
    } catch (const Error& error) {
      ASSERT_TRUE(problem || std::string(error.what()).find("AM_RANK") != std::string::npos) << error.what();
    }
    unknown_settings(environment);
    read_launcher_environment(environment);
  }
}

}  // namespace settings_test
}  // namespace am::core
