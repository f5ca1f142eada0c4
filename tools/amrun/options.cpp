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

namespace amrun {
namespace {

enum LongOnly {
  bind_option = 256,
  hosts_option,
  hostfile_option,
  report_bindings_option,
  watchdog_option,
  version_option
};

constexpr std::uint64_t default_watchdog_ns = 10'000'000'000;

constexpr option long_options[] = {
    {"nodes", required_argument, nullptr, 'n'},
    {"hosts", required_argument, nullptr, hosts_option},
    {"host", required_argument, nullptr, hosts_option},  // as mpirun has it
    {"hostfile", required_argument, nullptr, hostfile_option},
    {"bind", required_argument, nullptr, bind_option},
    {"report-bindings", no_argument, nullptr, report_bindings_option},
    {"watchdog", optional_argument, nullptr, watchdog_option},
    {"label", no_argument, nullptr, 'l'},
    {"help", no_argument, nullptr, 'h'},
    {"version", no_argument, nullptr, version_option},
    {nullptr, 0, nullptr, 0},
};

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

// mpirun's habit: -np 4, which getopt takes for -n p. `next` is the word behind it, or null.
[[noreturn]] void refuse_np(std::string_view word, const char* next) {
  const bool counted = next != nullptr && am::core::parse_integer(next).has_value();
  throw Fault(wrong_usage, std::string(word) + " is not an option of amrun; did you mean -n " +
                               (counted ? next : "N") + "?" + see_help);
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
  if (text.empty() || text.starts_with('='))
    throw Fault(wrong_usage, "-x takes a variable, NAME=value or NAME, not " + am::core::in_quotes(text));
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

// `word` as the user wrote it: "-z", "--lable" or "--label=yes".
[[noreturn]] void refuse_option(std::string_view word, int letter) {
  if (!word.starts_with("--")) {
    throw Fault(wrong_usage, std::string("unknown option -") + static_cast<char>(letter) + see_help);
  }
  const std::string_view name = word.substr(2, word.find('=') - 2);
  const option* nearest = nullptr;
  for (const option* known = long_options; known->name != nullptr; ++known) {
    if (name == known->name)
      throw Fault(wrong_usage, "--" + std::string(known->name) + " takes no value" + see_help);
    const auto distance = [&](const option* to) {
      return am::core::edit_distance(name.substr(0, 64), to->name);
    };
    if (nearest == nullptr || distance(known) < distance(nearest)) nearest = known;
  }
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
    // '+': stop at the program; ':': tell a missing value from an unknown option.
    const int found = getopt_long(argc, argv, "+:n:lhx:", long_options, nullptr);
    if (found == -1) break;
    switch (found) {
      case 'n':
        if (argv[before] == std::string_view("-np")) refuse_np("-np", argv[optind]);
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
      case hosts_option:
        add_hosts(options, parse_hosts(optarg));
        break;
      case hostfile_option:
        add_hosts(options, read_hostfile(optarg));
        break;
      case 'x':
        options.variables.push_back(checked_variable(optarg));
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
        if (argv[before] == std::string_view("--np")) refuse_np("--np", argv[optind]);
        refuse_option(argv[before], optopt);
    }
  }
  if (optind >= argc) {
    throw Fault(wrong_usage, "no program to start: amrun [options] program [arguments...]");
  }
  options.program = argv + optind;
  return options;
}

const char* help_text() {
  return "amrun [options] program [arguments...]\n"
         "\n"
         "Starts a job on this machine, or on several: nodes of the program that exchange active messages.\n"
         "\n"
         "  -n, --nodes N        how many nodes; without it, one per core that amrun may use\n"
         "  --hosts a,b:4,c      on these hosts, through ssh or what AM_AGENT names: so many nodes on each, "
         "or without a number "
         "one,\n"
         "                       or with -n an equal share of what the others leave. amrun and the program "
         "are there in the "
         "same\n"
         "                       places as here\n"
         "  --hostfile FILE      the same from a file, a line for each host: b slots=4\n"
         "  -x NAME[=VALUE]      an environment variable for all nodes, on all hosts; those of libam "
         "(AM_...) go there by "
         "themselves\n"
         "  --bind core|none     core: each node keeps to one core, with more nodes than cores they take "
         "turns;\n"
         "                       none: the system moves them. Without it, core where each node gets a core "
         "of\n"
         "                       its own and nothing limits the job to fewer (a container's quota), else "
         "none.\n"
         "                       Jobs do not know of each other: two on one machine both begin at its first "
         "core;\n"
         "                       start them with --bind none, or each with cores of its own (taskset)\n"
         "  --report-bindings    print where each node is bound\n"
         "  -l, --label          begin each line of output with the number of its node, as in \"[3] text\"\n"
         "  --watchdog[=TIME]    print what every node does when one has not got on for TIME (10s), and what "
         "a "
         "node\n"
         "                       ran that dies\n"
         "  -h, --help           print this\n"
         "  --version            print the version\n"
         "\n"
         "Node 0 reads amrun's standard input, the others read nothing. The environment is passed on (to "
         "other\n"
         "hosts: -x), and so are the signals INT, TERM, HUP, QUIT, USR1, USR2, TSTP and CONT; a second INT "
         "kills\n"
         "the job at once.\n"
         "\n"
         "When a node fails, the job ends: amrun says which node, and how. Exit code: that of the first node "
         "that\n"
         "failed (128 + signal), 1 for a node that never joined the job, 2 for wrong options or settings,\n"
         "126 for a program that cannot be started, 127 for one that is not found.\n";
}

}  // namespace amrun
