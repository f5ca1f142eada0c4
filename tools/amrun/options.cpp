#include "amrun/options.hpp"

#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "amrun/fault.hpp"
#include "core/settings/setting_value.hpp"
#include "host/board.hpp"
#include "host/clock.hpp"

namespace amrun {
namespace {

enum LongOnly {
  bind_option = 256,
  gang_option,
  hosts_option,
  hostfile_option,
  report_bindings_option,
  stdin_option,
  watchdog_option,
  wdir_option,
  version_option
};

constexpr std::uint64_t default_watchdog_ns = 10'000'000'000;

constexpr option long_options[] = {
    {"nodes", required_argument, nullptr, 'n'},
    {"n", required_argument, nullptr, 'n'},  // as mpirun has them
    {"np", required_argument, nullptr, 'n'},
    {"hosts", required_argument, nullptr, hosts_option},
    {"host", required_argument, nullptr, hosts_option},  // as mpirun has it
    {"hostfile", required_argument, nullptr, hostfile_option},
    {"bind", required_argument, nullptr, bind_option},
    {"gang", required_argument, nullptr, gang_option},
    {"report-bindings", no_argument, nullptr, report_bindings_option},
    {"stdin", required_argument, nullptr, stdin_option},
    {"watchdog", optional_argument, nullptr, watchdog_option},
    {"wdir", required_argument, nullptr, wdir_option},
    {"label", no_argument, nullptr, 'l'},
    {"help", no_argument, nullptr, 'h'},
    {"version", no_argument, nullptr, version_option},
    {nullptr, 0, nullptr, 0},
};

constexpr const char* no_program = "no program to start: amrun [options] program [arguments...]";
constexpr const char* not_on_hosts =
    "--gang is for jobs on this machine: it cannot stop one of several hosts (--hosts) as a whole";
constexpr const char* see_help = " (amrun --help lists the options)";

am::NodeId parse_nodes(std::string_view text) {
  am::NodeId nodes = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), nodes);
  if (error != std::errc() || rest != text.data() + text.size() || nodes < 1 || nodes > am::host::max_nodes) {
    throw Fault(wrong_usage, "-n takes a number of nodes from 1 to " + std::to_string(am::host::max_nodes) +
                                 ", not " + am::core::in_quotes(text));
  }
  return nodes;
}

Bind parse_bind(std::string_view text) {
  if (text == "core") return Bind::core;
  if (text == "none") return Bind::none;
  throw Fault(wrong_usage, "--bind takes core or none, not " + am::core::in_quotes(text));
}

void add_hosts(Options& options, std::vector<HostShare> hosts) {
  if (!options.hosts.empty())
    throw Fault(wrong_usage,
                std::string("--hosts or --hostfile, once: all hosts stand in one list") + see_help);
  options.hosts = std::move(hosts);
}

std::string checked_variable(std::string_view text) {
  if (text.empty() || text.starts_with('=') || text.starts_with('-'))
    throw Fault(wrong_usage, "-x takes a variable, NAME=value or NAME, not " + am::core::in_quotes(text));
  return std::string(text);
}

void check_stdin(std::string_view text) {
  if (text != "none") throw Fault(wrong_usage, "--stdin takes none, not " + am::core::in_quotes(text));
}

std::string checked_folder(std::string_view text) {
  if (text.empty() || text.starts_with('-'))
    throw Fault(wrong_usage, "--wdir takes a folder, not " + am::core::in_quotes(text));
  return std::string(text);
}

// `next` is the word behind the option, or null.
std::uint64_t parse_watchdog(const char* text, const char* next) {
  if (text == nullptr && next != nullptr && am::core::parse_duration(next)) {
    throw Fault(wrong_usage, "--watchdog takes its time behind an equals sign: --watchdog=" +
                                 std::string(next) + see_help);
  }
  if (text == nullptr) return default_watchdog_ns;
  const auto parsed = am::core::parse_duration(text);
  if (!parsed || *parsed == 0)
    throw Fault(wrong_usage,
                "--watchdog takes a time, for example --watchdog=10s, not " + am::core::in_quotes(text));
  return *parsed;
}

std::uint64_t parse_turn(std::string_view text) {
  constexpr std::uint64_t shortest_ns = 1'000'000;  // assumed: to change turns takes up to half of that
  constexpr std::uint64_t longest_ns = 3'600 * am::host::second_ns;  // assumed
  const auto parsed = am::core::parse_duration(text);
  if (!parsed || *parsed < shortest_ns || *parsed > longest_ns)
    throw Fault(wrong_usage, "--gang takes the length of a turn, from 1ms to 1h, for example 50ms, not " +
                                 am::core::in_quotes(text));
  return *parsed;
}

// `word` as the user wrote it: "-z", "--lable" or "--label=yes"; `letter` of it is unknown, or 0.
[[noreturn]] void refuse_option(std::string_view word, int letter) {
  const std::size_t dashes = word.starts_with("--") ? 2 : 1;
  const std::string_view name = word.substr(dashes, word.find('=') - dashes);
  const option* nearest = nullptr;
  const bool is_letter = dashes == 1 && (letter != 0 || name.size() <= 1);
  for (const option* known = long_options; known->name != nullptr; ++known) {
    if (name == known->name)
      throw Fault(wrong_usage, "--" + std::string(known->name) + " takes no value" + see_help);
    if (is_letter) continue;
    const auto distance = [&](const option* to) {
      return am::core::edit_distance(name.substr(0, 64), to->name);
    };
    if (nearest == nullptr || distance(known) < distance(nearest)) nearest = known;
  }
  if (is_letter)
    throw Fault(wrong_usage,
                std::string("unknown option -") +
                    (letter != 0 ? std::string(1, static_cast<char>(letter)) : std::string(name)) + see_help);
  throw Fault(wrong_usage, "unknown option " + am::core::in_quotes(word) + "; the nearest is --" +
                               nearest->name + see_help);
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  optind = 0;  // glibc: begin anew
  opterr = 0;  // messages are ours
  for (;;) {
    const int before = std::max(optind, 1);
    // '+': stop at the program; ':': tell a missing value from an unknown option. Long options may have one dash, as mpirun's.
    const int found = getopt_long_only(argc, argv, "+:n:lhx:", long_options, nullptr);
    if (found == -1) break;
    switch (found) {
      case 'n':
        options.nodes = parse_nodes(optarg);
        break;
      case 'l':
        options.label = true;
        break;
      case 'h':
        options.help = true;
        return options;
      case bind_option:
        options.bind = parse_bind(optarg);
        break;
      case gang_option:
        options.gang_ns = parse_turn(optarg);
        break;
      case hosts_option:
        add_hosts(options, parse_hosts(optarg));
        break;
      case hostfile_option:
        add_hosts(options, read_hostfile(optarg));
        break;
      case 'x':
        options.variables.push_back(checked_variable(optarg));
        break;
      case stdin_option:
        check_stdin(optarg);
        options.no_input = true;
        break;
      case wdir_option:
        options.folder = checked_folder(optarg);
        break;
      case report_bindings_option:
        options.report_bindings = true;
        break;
      case watchdog_option:
        options.watchdog_ns = parse_watchdog(optarg, argv[optind]);
        break;
      case version_option:
        options.version = true;
        return options;
      case ':':
        throw Fault(wrong_usage, std::string(argv[optind - 1]) + " takes a value" + see_help);
      default:
        refuse_option(argv[before], optopt);
    }
  }
  if (optind >= argc) {
    throw Fault(wrong_usage, no_program);
  }
  options.program = argv + optind;
  if (options.gang_ns != 0 && !options.hosts.empty()) throw Fault(wrong_usage, not_on_hosts);
  return options;
}

std::vector<Options> parse_gang(Options first) {
  const auto ends = [](const char* word) { return word == nullptr || std::string_view(word) == ":"; };
  if (ends(first.program[0])) throw Fault(wrong_usage, no_program);
  std::vector<Options> jobs{std::move(first)};
  char** word = jobs[0].program;
  while (!ends(*word)) ++word;
  while (*word != nullptr) {
    char** const colon = std::exchange(word, word + 1);
    *colon = nullptr;
    while (!ends(*word)) ++word;
    try {
      const Options job = parse_options(static_cast<int>(word - colon), colon);
      if (job.help || job.version || job.gang_ns != 0)
        throw Fault(wrong_usage, "--gang, --help and --version stand before the first job");
      if (!job.hosts.empty()) throw Fault(wrong_usage, not_on_hosts);
      jobs.push_back(job);
    } catch (const Fault& fault) {
      throw Fault(fault.exit_code(),
                  "job " + std::to_string(jobs.size() + 1) + " of the gang: " + fault.what());
    }
  }
  return jobs;
}

const char* help_text() {
  return "amrun [options] program [arguments...]\n"
         "amrun --gang TIME [options] program [arguments...] : [options] program [arguments...]\n"
         "\n"
         "Starts a job on this machine, or on several: nodes of the program that exchange active messages.\n"
         "\n"
         "  -n, -np, --nodes N   how many nodes; without it, one per core that amrun may use\n"
         "  --hosts a,b:4,c      on these hosts, through ssh or what AM_AGENT names: so many nodes on each, "
         "or without a number "
         "one,\n"
         "                       or with -n an equal share of what the others leave. amrun and the program "
         "are there in the "
         "same\n"
         "                       places as here\n"
         "                       All names of this host are one host\n"
         "  --hostfile FILE      the same from a file, a line for each host: b slots=4, or b:4\n"
         "  -x NAME[=VALUE]      an environment variable for all nodes, on all hosts; those of libam "
         "(AM_...) go there by "
         "themselves\n"
         "  --wdir FOLDER        the nodes start in that folder, on all hosts; without it, in this one\n"
         "  --stdin none         node 0 reads nothing either: for a loop whose input the job is not to take\n"
         "  --bind core|none     core: each node keeps to one core, with more nodes than cores they take "
         "turns;\n"
         "                       none: the system moves them. Without it, core where each node gets a core "
         "of\n"
         "                       its own and nothing limits the job to fewer (a container's quota), else "
         "none.\n"
         "                       Jobs do not know of each other: two on one machine both begin at its first "
         "core;\n"
         "                       start them with --bind none, each with cores of its own (taskset), or in "
         "turns (--gang)\n"
         "  --gang TIME          jobs on the same cores in turns of TIME (1ms to 1h), each with options of "
         "its own; "
         "a word\n"
         "                       \":\" stands between them. Whoever's turn it is not stands still as a "
         "whole: "
         "deadlines do not\n"
         "                       count. The first job has the input. A job that ends leaves its turns to the "
         "others; the exit\n"
         "                       code is that of the first one that failed\n"
         "  --report-bindings    print where each node is bound\n"
         "  -l, --label          begin each line of output with the number of its node, as in \"[3] text\"\n"
         "  --watchdog[=TIME]    print what every node does when one has made no progress for TIME (10s); of "
         "a\n"
         "                       node that dies, what it ran\n"
         "  -h, --help           print this\n"
         "  --version            print the version\n"
         "\n"
         "Node 0 reads amrun's standard input, the others read nothing. (Where node 0 is on another host the "
         "input is\n"
         "read to its end, and sent there, whether node 0 wants it or not.) The environment is passed on (to "
         "other\n"
         "hosts: -x), and so are the signals INT, TERM, HUP, QUIT, USR1, USR2, TSTP and CONT; a second INT "
         "or\n"
         "TERM kills the job at once.\n"
         "\n"
         "When a node fails, the job ends: amrun says which node, and how. Exit code: that of the first node "
         "that\n"
         "failed (128 + signal), 1 for a node that never joined the job while others did, 2 for wrong "
         "options or\n"
         "settings, 126 for a program that cannot be started, 127 for one that is not found. Where all end "
         "well and\n"
         "none has joined (amrun -n 2 hostname), a line says so, and the exit code is 0.\n";
}

}  // namespace amrun
