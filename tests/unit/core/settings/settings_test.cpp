#include "core/settings/settings.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <am/error.hpp>
#include <array>
#include <initializer_list>

#include "support/check.hpp"
#include "support/random.hpp"

namespace am::core::settings_test {

using namespace testing;

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
  return test::error_of([&] { read_settings(environment); });
}

TEST(ReadSettings, TakesEverySettingFromTheEnvironment) {
  struct {
    const char* entry;
    bool (*taken)(const Settings&);
  } const cases[] = {
      {"AM_RANK=2", [](const Settings& s) { return s.rank == 2; }},
      {"AM_SIZE=4", [](const Settings& s) { return s.size == 4; }},
      {"AM_HOST_MEMORY_FD=5", [](const Settings& s) { return s.memory_fd == 5; }},
      {"AM_SEGMENT=1GiB", [](const Settings& s) { return s.segment_bytes == 1U << 30; }},
      {"AM_TRANSPORT=shm", [](const Settings& s) { return s.transport == "shm"; }},
      {"AM_TCP_INTERFACES=eth0,10.0.0.0/8",
       [](const Settings& s) { return s.tcp_interfaces == "eth0,10.0.0.0/8"; }},
      {"AM_TCP_TLS=1", [](const Settings& s) { return s.tcp_tls; }},
      {"AM_HOST_TIMEOUT=3s", [](const Settings& s) { return s.host_timeout_ns == 3'000'000'000; }},
      {"AM_AGENT=rsh -x", [](const Settings& s) { return s.agent == "rsh -x"; }},
      {"AM_JOB=address=a:1,key=k", [](const Settings& s) { return s.job == "address=a:1,key=k"; }},
      {"AM_FAULTS=a=b", [](const Settings& s) { return s.faults == "a=b"; }},
      {"AM_CM5_SWAP=5ms", [](const Settings& s) { return s.cm5_swap_ns == 5'000'000; }},
      {"AM_TIMEOUT=0", [](const Settings& s) { return s.timeout_ns == 0; }},
      {"AM_REPORT_AFTER=500ms", [](const Settings& s) { return s.report_after_ns == 500'000'000; }},
      {"AM_STATS=1", [](const Settings& s) { return s.stats; }},
      {"AM_VERBOSE=on", [](const Settings& s) { return s.verbose; }},
      {"AM_PEER_DEATH=survive", [](const Settings& s) { return s.peer_death == PeerDeath::survive; }},
      {"AM_DISPATCH=interrupt", [](const Settings& s) { return s.dispatch == Dispatch::interrupt; }},
      {"AM_SIGNAL=SIGusr2", [](const Settings& s) { return s.signal == SIGUSR2; }},
      {"AM_WATCHDOG=10s", [](const Settings& s) { return s.watchdog_ns == 10'000'000'000; }},
      {"AM_WATCHDOG_SIGNAL=RTMIN+1", [](const Settings& s) { return s.watchdog_signal == SIGRTMIN + 1; }},
  };
  std::vector<std::string> entries;
  for (const auto& c : cases) entries.emplace_back(c.entry);
  const Environment environment(entries);
  const Settings settings = read_settings(environment);
  for (const auto& c : cases) EXPECT_TRUE(c.taken(settings)) << c.entry;
  EXPECT_THAT(unknown_settings(environment), IsEmpty());
  // No row of the table is missing above.
  for (const SettingRow& row : describe_settings(environment)) {
    EXPECT_EQ(row.origin, SettingRow::Origin::environment) << row.name;
    EXPECT_NE(row.value, row.default_value) << row.name;
  }
}

TEST(ReadSettings, TakesTheFirstAssignmentOfAValueAsGetenvDoes) {
  const auto timeout = [](const Environment& environment) { return read_settings(environment).timeout_ns; };
  constexpr std::uint64_t second = 1'000'000'000;
  EXPECT_EQ(timeout({"AM_TIMEOUT=1s", "AM_TIMEOUT=2s"}), second);
  EXPECT_EQ(timeout({"AM_TIMEOUT", "=AM_TIMEOUT=1s", "", "=", "AM_"}), 600 * second);
  const Environment empty{"AM_TIMEOUT=", "AM_RANK=", "AM_TRANSPORT=", "AM_STATS="};
  EXPECT_EQ(timeout(empty), 600 * second);
  EXPECT_EQ(row_of(empty, "AM_TIMEOUT").origin, SettingRow::Origin::built_in);
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

TEST(DescribeSettings, NamesEachSettingOnceWithTypeAndMeaning) {
  const Environment nothing_of_ours{"PATH=/bin", "NOT_AM_RANK=3", "AM_RANKED=3"};
  for (const char* const* environment : {static_cast<const char* const*>(nullptr), +nothing_of_ours}) {
    std::vector<std::string_view> names;
    for (const SettingRow& row : describe_settings(environment)) {
      EXPECT_TRUE(row.name.starts_with("AM_"));
      EXPECT_NE(row.type, "") << row.name;
      EXPECT_NE(row.meaning, "") << row.name;
      EXPECT_EQ(row.meaning.find('\n'), std::string_view::npos) << row.name;
      EXPECT_EQ(row.value, row.default_value) << row.name;
      EXPECT_EQ(row.problem, "") << row.name;
      names.push_back(row.name);
      if (row.default_value.empty()) continue;
      // A default is a value like any other: what the table shows for it can be set.
      const Environment of_default{std::string(row.name) + "=" + row.default_value};
      EXPECT_EQ(row_of(of_default, row.name).value, row.default_value);
      EXPECT_EQ(row_of(of_default, row.name).problem, "");
    }
    std::ranges::sort(names);
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
    EXPECT_EQ(read_settings(environment).rank, -1);
  }
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
      const std::string error = error_of(Environment{setting + "=" + std::string(name)});
      EXPECT_THAT(error, HasSubstr(setting + "=\"" + std::string(name) + "\" is not one of "));
      EXPECT_THAT(error, HasSubstr("USR1, USR2, "));
      EXPECT_THAT(error, HasSubstr("RTMIN+0 to RTMIN+30"));
    }
  }
}

TEST(SettingsOfWords, AreOneOfThoseThatAreNamed) {
  for (const std::string name : {"auto", "shm"})
    EXPECT_EQ(read_settings(Environment{"AM_TRANSPORT=" + name}).transport, name);
  for (const std::string name :
       {"ib", "SHM", "shm:", "shm:4x4", "shm,shm", "shm,", ",shm", ",", "auto,shm", "shm,auto"})
    EXPECT_THAT(error_of(Environment{"AM_TRANSPORT=" + name}), HasSubstr("is not one of auto, shm")) << name;
  EXPECT_THAT(error_of(Environment{"AM_PEER_DEATH=ends"}), HasSubstr("is not one of end, survive"));
}

TEST(UnknownSettings, AreNamedWithTheNearestKnownOne) {
  const Environment environment{"AM_TIMOUT=1s", "AM_segment=1",  "AM_VERBOS=1", "AM_STATSS=1",
                                "AM_=1",        "AM_TRANSPORTS", "AM_STATS=1",  "PATH=AM_NOTHING",
                                "XAM_RANK=1",   "AM_TIMOUT=2s"};
  std::vector<std::string> found;
  for (const UnknownSetting& unknown : unknown_settings(environment))
    found.push_back(unknown.name + " " + std::string(unknown.nearest));
  EXPECT_EQ(found[0].substr(0, 4), "AM_ ");
  found.erase(found.begin());
  EXPECT_THAT(found, ElementsAre("AM_STATSS AM_STATS", "AM_TIMOUT AM_TIMEOUT", "AM_TRANSPORTS AM_TRANSPORT",
                                 "AM_VERBOS AM_VERBOSE", "AM_segment AM_SEGMENT"));
}

TEST(UnknownSettings, ReadAsOneLineOfPrintableText) {
  const std::string strange = unknown_settings(Environment{"AM_\x1b[2J\n=1"}).at(0).text();
  EXPECT_EQ(strange.find('\n'), std::string::npos);
  EXPECT_EQ(strange.find('\x1b'), std::string::npos);
  EXPECT_EQ(unknown_settings(Environment{"AM_" + std::string(1'000'000, 'A') + "=1"}).size(), 1U);
}

TEST(LauncherEnvironment, KnowsWhoSaysThatItStartedHowMany) {
  struct {
    std::vector<std::string> entries;
    std::string claimed_by;
    std::optional<int> size = {}, rank = {};
    bool pmix = false;
  } const cases[] = {
      {{"PMIX_NAMESPACE=1663631361", "PMIX_RANK=1", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=1"},
       "mpirun (OMPI_COMM_WORLD_SIZE=4)",
       4,
       1,
       true},
      {{"PMI_SIZE=2", "PMI_RANK=0", "PMI_FD=7"}, "mpiexec (PMI_SIZE=2)", 2, 0},
      {{"SLURM_JOB_ID=7", "SLURM_NTASKS=8", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=8", "SLURM_PROCID=3"},
       "srun (SLURM_STEP_NUM_TASKS=8)",
       8,
       3},
      // Of two, the inner one.
      {{"SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=1", "OMPI_COMM_WORLD_SIZE=16",
        "OMPI_COMM_WORLD_RANK=9"},
       "mpirun (OMPI_COMM_WORLD_SIZE=16)",
       16,
       9},
      // An allocation alone is no claim.
      {{}, ""},
      {{"SLURM_JOB_ID=7", "SLURM_NTASKS=8"}, ""},
      {{"SLURM_JOB_ID=7", "SLURM_NTASKS=8", "SLURM_NPROCS=8", "SLURM_PROCID=0", "SLURM_LOCALID=0"}, ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.claimed_by);
    const LauncherEnvironment found = read_launcher_environment(Environment(c.entries));
    EXPECT_EQ(found.pmix, c.pmix);
    EXPECT_EQ(found.claimed_size, c.size);
    EXPECT_EQ(found.claimed_rank, c.rank);
    EXPECT_EQ(found.claimed_by, c.claimed_by);
  }
}

TEST(LauncherEnvironment, TakesWhatItCannotReadAsNoClaim) {
  const auto claimed = [](const std::string& size, const std::string& rank) {
    return read_launcher_environment(Environment{"OMPI_COMM_WORLD_SIZE=" + size, rank}).claimed_size;
  };
  for (const std::string size : {"", "0", "-4", "four", "99999999999999999999", "4 "})
    EXPECT_EQ(claimed(size, "OMPI_COMM_WORLD_RANK=0"), std::nullopt) << size;
  for (const std::string rank : {"_RANK=", "_RANK=-1", "_RANK=4", "_RANK=x", ""})
    EXPECT_EQ(claimed("4", "OMPI_COMM_WORLD" + rank), std::nullopt) << rank;
  EXPECT_FALSE(read_launcher_environment(Environment{"PMIX_RANK=0"}).pmix);
}

// Whatever the environment holds: either settings within their bounds or an Error, and never one without the
// other function's agreement.
TEST(Settings, KeepTheirBoundsInAnyEnvironment) {
  test::Random random(test::seed());
  const auto below = [&](std::size_t bound) { return random.below(bound); };
  constexpr std::array<const char*, 16> values = {
      "0",   "1",  "3",    "-1", "10s", "64MiB", "auto", "shm",
      "end", "on", "none", "10", "",    "=",     "1TiB", "9999999999999999999"};
  const std::vector<SettingRow> rows = describe_settings(nullptr);
  for (int round = 0; round < 3'000; ++round) {
    std::vector<std::string> entries;
    for (std::size_t i = below(8); i > 0; --i) {
      std::string entry = std::string(rows[below(rows.size())].name) + "=" + values[below(values.size())];
      if (below(4) == 0) entry[below(entry.size())] = static_cast<char>(1 + below(255));
      entries.push_back(entry);
    }
    SCOPED_TRACE(::testing::PrintToString(entries));
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

}  // namespace am::core::settings_test
