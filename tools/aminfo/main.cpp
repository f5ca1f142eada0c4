// aminfo: what this build of libam is, which settings it has and what they are now, and whether the machine
// is fit. Reads and prints; starts no node and joins no job.
#include <am/version.h>
#include <am/error.hpp>
#include <cstdio>
#include <exception>
#include <optional>
#include <string_view>

#include "aminfo/doctor.hpp"
#include "aminfo/overview.hpp"
#include "aminfo/stats.hpp"
#include "core/settings/setting_value.hpp"
#include "host/own_descriptor.hpp"

namespace {

constexpr const char* help =
    "aminfo            print version, transports, and every setting with its value and origin\n"
    "aminfo --json     the same for programs\n"
    "aminfo --doctor   check this machine; print what is wrong and the command that mends it\n"
    "aminfo --stats PID\n"
    "                  print the counters of the running job that this process belongs to\n"
    "aminfo --version  print the version\n"
    "aminfo --help     print this\n"
    "\n"
    "Exit code: 0 all is well, 1 something is wrong (a malformed setting, a FAIL of the doctor, no such "
    "job), 2 wrong arguments.\n";

int run_stats(int argc, char** argv) {
  const auto pid = argc == 3 ? am::core::parse_integer(argv[2]) : std::nullopt;
  if (pid && *pid > 0) return aminfo::print_stats(*pid);
  std::fputs("aminfo: --stats takes the number of a process: aminfo --stats 4711\n", stderr);
  return 2;
}

int run(int argc, char** argv) {
  if (argc <= 1) return aminfo::print_overview();
  const std::string_view argument = argv[1];
  if (argc == 2 && argument == "--doctor") return aminfo::run_doctor();
  if (argument == "--stats") return run_stats(argc, argv);
  if (argc == 2 && (argument == "--help" || argument == "-h")) {
    std::fputs(help, stdout);
    return 0;
  }
  if (argc == 2 && argument == "--json") return aminfo::print_json();
  if (argc == 2 && argument == "--version") {
    std::puts("aminfo " AM_VERSION);
    return 0;
  }
  const bool known = argument == "--json" || argument == "--version" || argument == "--doctor" ||
                     argument == "--help" || argument == "-h";
  std::fprintf(stderr, "aminfo: %s is not an option; try aminfo --help\n", argv[known ? 2 : 1]);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const am::host::StandardPlaces standard;
  try {
    const int code = run(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    std::fputs("aminfo: cannot write to standard output\n", stderr);
  } catch (const am::Error& error) {
    std::string_view text = error.what();
    text.remove_prefix(text.starts_with("am: ") ? 4 : 0);  // our own name is enough
    std::fprintf(stderr, "aminfo: cannot %.*s\n", static_cast<int>(text.size()), text.data());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "aminfo: %s\n", error.what());
  }
  return 1;
}
