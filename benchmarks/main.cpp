// ambench: what libam costs on this machine, beside what the machine allows and what others need. It reports
// and never judges: no figure makes it fail.
//
// `ambench --child MEASURE ...` is how it starts itself in the nodes of a job (job.hpp); users do not.

#include <am/version.h>
#include <fcntl.h>
#include <unistd.h>
#include <am/am.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "measure.hpp"
#include "options.hpp"
#include "results/output_file.hpp"

namespace {

using ambench::Measure;

constexpr std::array measures{
    &ambench::pingpong::measure,   &ambench::flood::measure,     &ambench::payloads::measure,
    &ambench::bulk::measure,       &ambench::overheads::measure, &ambench::dispatch::measure,
    &ambench::idle_peers::measure, &ambench::hops::measure,      &ambench::multicasts::measure,
    &ambench::streams::measure,    &ambench::barrier::measure,   &ambench::all_reduce::measure,
    &ambench::startup::measure,    &ambench::memory::measure,    &ambench::scale::measure,
    &ambench::splitc::measure,     &ambench::cmam::measure,      &ambench::am2::measure,
    &ambench::logp::measure,       &ambench::limits::measure};

int run_as_node(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 3, argv + argc);
  for (const Measure* measure : measures) {
    if (measure->run_node != nullptr && std::string(argv[2]) == measure->name) {
      am::Options options =
          measure->prepare_node != nullptr ? measure->prepare_node(arguments) : am::Options{};
      options.interrupt_safe = true;  // no handler of a measure allocates
      measure->run_node(am::start(argc, argv, options), arguments);
      return 0;
    }
  }
  std::fprintf(stderr, "ambench: no measure '%s' runs in a job\n", argv[2]);
  return 2;
}

// Who started us without one of them would else find a pipe of ours in its place.
void open_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDWR);  // the lowest free one: fd
  }
}

int measure(int argc, char** argv) {
  const ambench::Options options = ambench::parse_options(argc, argv, measures);
  if (options.version) {
    std::cout << "ambench " AM_VERSION "\n";
    results::flush_output();
    return 0;
  }
  if (options.help) {
    std::cout << ambench::help_text(measures);
    results::flush_output();
    return 0;
  }
  options.outputs.prepare();
  if (options.transport != "shm") setenv("AM_TRANSPORT", options.transport.c_str(), 1);  // for its jobs
  options.outputs.put_out(options.measure->measure(options));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  try {
    if (argc >= 3 && std::string(argv[1]) == "--child") return run_as_node(argc, argv);
    return measure(argc, argv);
  } catch (const ambench::UsageError& error) {
    std::fprintf(stderr, "ambench: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ambench: %s\n", error.what());
    return 1;
  }
}
