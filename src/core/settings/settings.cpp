#include "core/settings/settings.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>

#include <am/error.hpp>
#include "core/messages/networks.hpp"
#include "core/settings/setting_value.hpp"

namespace am::core {
namespace {

constexpr std::array<std::string_view, 2> peer_deaths = {"end", "survive"};              // as PeerDeath
constexpr std::array<std::string_view, 3> dispatches = {"poll", "thread", "interrupt"};  // as Dispatch

std::string joined(std::span<const std::string_view> words, std::string_view between) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

template <class T>
bool store(std::optional<T> parsed, T& value) {
  if (!parsed) return false;
  value = *std::move(parsed);
  return true;
}

// The kinds of setting. Each names a member of Settings and knows what its type is called, what a value has
// to look like (with an example), how to show it, and how to read it: false, and the settings unchanged,
// where it is malformed.

struct Integer {
  int Settings::*member;
  int least;  // the default lies below: absent

  std::string type() const { return "integer"; }
  std::string expected() const {
    return "a whole number, at least " + std::to_string(least) + ", for example 4";
  }
  std::string show(const Settings& settings) const {
    return settings.*member < least ? std::string() : std::to_string(settings.*member);
  }
  bool read(std::string_view text, Settings& settings) const {
    const std::optional<int> parsed = parse_integer(text);
    return parsed && *parsed >= least && store(parsed, settings.*member);
  }
};

struct Size {
  std::uint64_t Settings::*member;

  std::string type() const { return "size"; }
  std::string expected(std::string_view text) const {
    const std::string nearest = nearest_size(text);
    return "a number of bytes, or of KiB, MiB, GiB or TiB, at most " + format_size(max_size_bytes) +
           ", for example " + (nearest.empty() ? "64MiB" : nearest);
  }
  std::string show(const Settings& settings) const { return format_size(settings.*member); }
  bool read(std::string_view text, Settings& settings) const {
    return store(parse_size(text), settings.*member);
  }
};

struct Duration {
  std::uint64_t Settings::*member;

  std::string type() const { return "duration"; }
  std::string expected() const {
    return "0, or a whole number with ns, us, ms, s, min or h, at most 292 years, for example 10s";
  }
  std::string show(const Settings& settings) const { return format_duration(settings.*member); }
  bool read(std::string_view text, Settings& settings) const {
    return store(parse_duration(text), settings.*member);
  }
};

struct Switch {
  bool Settings::*member;

  std::string type() const { return "yes|no"; }
  std::string expected() const { return "yes, no, on, off, true, false, 1 or 0, for example 1"; }
  std::string show(const Settings& settings) const { return format_switch(settings.*member); }
  bool read(std::string_view text, Settings& settings) const {
    return store(parse_switch(text), settings.*member);
  }
};

struct Text {
  std::string Settings::*member;

  std::string type() const { return "text"; }
  std::string expected() const { return "any text"; }
  std::string show(const Settings& settings) const { return settings.*member; }
  bool read(std::string_view text, Settings& settings) const {
    settings.*member = text;
    return true;
  }
};

struct Networks {
  std::string Settings::*member;

  static std::vector<std::string_view> names() {
    std::vector<std::string_view> names = {"auto"};
    for (const Kind& kind : kinds()) names.push_back(kind.name);
    return names;
  }
  std::string type() const { return joined(names(), "|"); }
  std::string expected() const {
    return "one of " + joined(names(), ", ") +
           ", or some of them between commas, the preferred one first, for example auto";
  }
  std::string show(const Settings& settings) const { return settings.*member; }
  bool read(std::string_view text, Settings& settings) const {
    if (!parse_networks(text, kinds())) return false;
    settings.*member = text;
    return true;
  }
};

// One of some words: an enumeration, whose values are their places.
template <class T>
struct Choice {
  T Settings::*member;
  std::span<const std::string_view> words;

  std::string type() const { return joined(words, "|"); }
  std::string expected() const {
    return "one of " + joined(words, ", ") + ", for example " + std::string(words.back());
  }
  std::string show(const Settings& settings) const {
    return std::string(words[static_cast<std::size_t>(settings.*member)]);
  }
  bool read(std::string_view text, Settings& settings) const {
    const auto index = std::ranges::find(words, text) - words.begin();
    if (index == std::ssize(words)) return false;
    settings.*member = static_cast<T>(index);
    return true;
  }
};

// One of some signals, or a real-time signal.
struct Signal {
  int Settings::*member;
  std::span<const int> allowed;

  std::string type() const { return "signal"; }
  std::string expected() const {
    std::string names;
    for (const int signal : allowed) names += (names.empty() ? "" : ", ") + format_signal(signal);
    return "one of " + names + " and " + format_signal(SIGRTMIN) + " to " + format_signal(SIGRTMAX) +
           ", for example " + format_signal(allowed.front());
  }
  std::string show(const Settings& settings) const { return format_signal(settings.*member); }
  bool read(std::string_view text, Settings& settings) const {
    const std::optional<int> signal = parse_signal(text);
    const bool may_be =
        signal && (*signal >= SIGRTMIN || std::ranges::find(allowed, *signal) != allowed.end());
    return may_be && store(signal, settings.*member);
  }
};

// Signals that nobody sends but who means us. All others mean something: a fault, whose handler must not return; the end, which
// amrun and terminals ask for; a stop; a child's end; a timer's. A program that got message handlers in their place would not do
// what they ask. To report on a job is what QUIT asks for as well.
constexpr std::array<int, 5> for_interrupts = {SIGURG, SIGUSR1, SIGUSR2, SIGIO, SIGWINCH};
constexpr std::array<int, 6> for_reports = {SIGUSR1, SIGUSR2, SIGQUIT, SIGURG, SIGIO, SIGWINCH};

using SettingKind = std::variant<Integer, Size, Duration, Switch, Text, Networks, Choice<PeerDeath>,
                                 Choice<Dispatch>, Signal>;

struct Row {
  std::string_view name;
  SettingKind kind;
  std::string_view meaning;

  std::string type() const {
    return std::visit([](const auto& k) { return k.type(); }, kind);
  }
  std::string show(const Settings& settings) const {
    return std::visit([&](const auto& k) { return k.show(settings); }, kind);
  }
  bool read(std::string_view text, Settings& settings) const {
    return std::visit([&](const auto& k) { return k.read(text, settings); }, kind);
  }
  Error malformed(std::string_view text) const {
    const std::string expected = std::visit(
        [&](const auto& k) {
          if constexpr (requires { k.expected(text); }) {
            return k.expected(text);
          } else {
            return k.expected();
          }
        },
        kind);
    return Error("settings", std::string(name) + "=" + in_quotes(text) + " is not " + expected,
                 "correct " + std::string(name) + " or unset it; aminfo lists every setting");
  }
};

// THE table.
constexpr Row table[] = {
    {"AM_TRANSPORT", Networks{&Settings::transport},
     "which networks carry the messages; auto: for each peer the best that leads there"},
    {"AM_TCP_INTERFACES", Text{&Settings::tcp_interfaces},
     "interfaces or blocks of addresses by which other hosts reach this one: eth0,10.0.0.0/8; unset: any"},
    {"AM_TCP_TLS", Switch{&Settings::tcp_tls},
     "encrypt what nodes say to each other by TCP, with TLS 1.3 and keys made of the job's; on all hosts or "
     "none"},
    {"AM_DISPATCH", Choice<Dispatch>{&Settings::dispatch, dispatches},
     "how handlers run: in calls that make progress, in a thread beside the program, or by interrupting it"},
    {"AM_SIGNAL", Signal{&Settings::signal, for_interrupts},
     "the signal that interrupts a program; for AM_DISPATCH=interrupt"},
    {"AM_SEGMENT", Size{&Settings::segment_bytes}, "global memory segment of each node"},
    {"AM_PEER_DEATH", Choice<PeerDeath>{&Settings::peer_death, peer_deaths},
     "what the death of a node does: end the job, or let the others survive"},
    {"AM_TIMEOUT", Duration{&Settings::timeout_ns},
     "a wait inside the library longer than this ends the node with a report; 0: never"},
    {"AM_HOST_TIMEOUT", Duration{&Settings::host_timeout_ns},
     "another host that does not answer for so long is lost, with its nodes; 0: never"},
    {"AM_REPORT_AFTER", Duration{&Settings::report_after_ns},
     "a wait inside the library longer than this prints what it waits for; 0: never"},
    {"AM_WATCHDOG", Duration{&Settings::watchdog_ns},
     "report on the whole job when a node has made no progress for so long; 0: no watchdog"},
    {"AM_WATCHDOG_SIGNAL", Signal{&Settings::watchdog_signal, for_reports},
     "the signal on which a node reports on the whole job; unset: none"},
    {"AM_STATS", Switch{&Settings::stats}, "print each node's counters when it ends"},
    {"AM_VERBOSE", Switch{&Settings::verbose},
     "print at start how the job was joined and which transports were chosen"},
    {"AM_FAULTS", Text{&Settings::faults},
     "faults to inject, for tests: seed=7,refuse=0.1,delay=0.05,reorder=0.2,kill=1@1000"},
    {"AM_CM5_SWAP", Duration{&Settings::cm5_swap_ns},
     "for tests of AM_TRANSPORT=cm5: about how often a node swaps the networks out and in; 0: never"},
    {"AM_AGENT", Text{&Settings::agent},
     "with what amrun --hosts starts its parts on other hosts: a program and its options, quoted as for a "
     "shell; "
     "unset: ssh"},
    {"AM_JOB", Text{&Settings::job},
     "the job without a launcher: address=HOST:PORT,rank=R,size=N,key=FILE[,key_readers=any]; nodes meet at "
     "node "
     "0's address"},
    {"AM_RANK", Integer{&Settings::rank, 0}, "set by amrun: number of this node"},
    {"AM_SIZE", Integer{&Settings::size, 1}, "set by amrun: how many nodes the job has"},
    {"AM_HOST_MEMORY_FD", Integer{&Settings::memory_fd, 0},
     "set by amrun: descriptor of the memory that the nodes share"},
};

// The first one of that name counts, as in getenv. The empty value counts as not set.
std::optional<std::string_view> lookup(const char* const* environment, std::string_view name) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      const std::string_view value = entry.substr(name.size() + 1);
      return value.empty() ? std::nullopt : std::optional(value);
    }
  }
  return std::nullopt;
}

void check_place(const Settings& settings) {
  const bool has_rank = settings.rank >= 0;
  const bool has_size = settings.size > 0;
  constexpr const char* remedy = "amrun sets both; start the program with amrun -n N, or unset them";
  if (has_rank != has_size) {
    throw Error("settings",
                std::string(has_rank ? "AM_RANK" : "AM_SIZE") + " is set but " +
                    (has_rank ? "AM_SIZE" : "AM_RANK") + " is not",
                remedy);
  }
  if (has_rank && settings.rank >= settings.size) {
    throw Error(
        "settings",
        "AM_RANK=" + std::to_string(settings.rank) + " is not below AM_SIZE=" + std::to_string(settings.size),
        remedy);
  }
}

// What each launcher tells the processes it starts: how many there are, and which one this is. Neither alone
// is a claim.
struct Launcher {
  std::string_view name;
  std::string_view size;
  std::string_view rank;
};

// SLURM_NTASKS is not in this list: an allocation sets it (salloc, sbatch), and a program that is run in
// there without srun sees it, alone as it may be. SLURM_PROCID=0 comes with the batch script, too. Only srun,
// which starts the tasks of a step, sets the number of tasks of the step.
//
// The order matters where one launcher runs inside another. mpirun starts its daemons with srun, and their
// children inherit the variables of that step, which counts the daemons; so the launcher that is used inside
// comes first.
constexpr std::array<Launcher, 3> launchers = {{
    {"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"mpiexec", "PMI_SIZE", "PMI_RANK"},
    {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
}};

std::optional<int> lookup_integer(const char* const* environment, std::string_view name) {
  const auto text = lookup(environment, name);
  return text ? parse_integer(*text) : std::nullopt;
}

}  // namespace

Settings read_settings(const char* const* environment) {
  Settings settings;
  for (const Row& row : table) {
    const auto text = lookup(environment, row.name);
    if (text && !row.read(*text, settings)) throw row.malformed(*text);
  }
  check_place(settings);
  return settings;
}

std::vector<SettingRow> describe_settings(const char* const* environment) {
  const Settings built_in;
  std::vector<SettingRow> rows;
  for (const Row& row : table) {
    SettingRow shown;
    shown.name = row.name;
    shown.type = row.type();
    shown.default_value = row.show(built_in);
    shown.meaning = row.meaning;
    Settings settings;
    if (const auto text = lookup(environment, row.name)) {
      shown.origin = SettingRow::Origin::environment;
      if (!row.read(*text, settings)) shown.problem = row.malformed(*text).why();
      shown.value = shown.problem.empty() ? row.show(settings) : std::string(*text);
    } else {
      shown.value = shown.default_value;
    }
    rows.push_back(std::move(shown));
  }
  return rows;
}

std::string UnknownSetting::text() const {
  return "am: " + in_quotes(name) + " is not a setting of libam; the nearest is " + std::string(nearest) +
         " (aminfo lists every setting)";
}

std::vector<UnknownSetting> unknown_settings(const char* const* environment) {
  std::vector<std::string_view> names;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::string_view name = entry.substr(0, entry.find('='));
    const bool known = std::ranges::any_of(table, [&](const Row& row) { return row.name == name; });
    if (name.starts_with("AM_") && !known) names.push_back(name);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());

  std::vector<UnknownSetting> unknown;
  for (const std::string_view name : names) {
    std::string compared(name.substr(0, 64));  // bounds the time: the environment is not ours
    std::ranges::transform(compared, compared.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    const Row& nearest = *std::ranges::min_element(
        table, {}, [&](const Row& row) { return edit_distance(compared, row.name); });
    unknown.push_back({std::string(name), nearest.name});
  }
  return unknown;
}

LauncherEnvironment read_launcher_environment(const char* const* environment) {
  LauncherEnvironment found;
  found.pmix = lookup(environment, "PMIX_NAMESPACE") && lookup(environment, "PMIX_RANK");
  for (const Launcher& launcher : launchers) {
    const auto size = lookup_integer(environment, launcher.size);
    const auto rank = lookup_integer(environment, launcher.rank);
    if (!size || !rank || *rank < 0 || *rank >= *size) continue;
    found.claimed_size = size;
    found.claimed_rank = rank;
    found.claimed_by =
        std::string(launcher.name) + " (" + std::string(launcher.size) + "=" + std::to_string(*size) + ")";
    break;
  }
  return found;
}

}  // namespace am::core
