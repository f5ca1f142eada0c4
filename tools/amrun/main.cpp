// amrun: starts a job on this machine or on several, watches it, and ends with its exit code. On one machine a job is a piece of
// shared memory without a name and N processes that inherit it; when amrun ends, however it ends, both are gone. On several, a part
// of amrun does the same on each (part.hpp), and the head keeps them together (head.hpp). Several jobs on one machine may take turns
// (gang.hpp).
#include <fcntl.h>
#include <unistd.h>

#include <am/version.h>
#include <cstdio>
#include <cstdlib>

#include "amrun/gang.hpp"
#include "amrun/head.hpp"
#include "amrun/job_end.hpp"
#include "amrun/one_job.hpp"
#include "amrun/options.hpp"
#include "amrun/part.hpp"
#include "host/own_descriptor.hpp"

namespace amrun {
namespace {

// In a node of an outer job, the memory of the outer job is here too; nodes of this job shall not have it.
void keep_outer_memory_from_nodes() {
  const char* text = std::getenv("AM_HOST_MEMORY_FD");
  const int fd = text != nullptr ? std::atoi(text) : -1;
  if (fd > STDERR_FILENO) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

JobEnd run(int argc, char** argv) {
  const am::host::StandardPlaces
      standard;  // for the nodes as well: descriptors 0 to 2 are what everybody takes them for
  if (is_part(argc, argv)) return {run_part(argc, argv), 0};
  const Options options = parse_options(argc, argv);
  if (options.help || options.version) {
    std::fputs(options.help ? help_text() : "amrun " AM_VERSION "\n", stdout);
    return {};
  }
  keep_outer_memory_from_nodes();
  if (options.gang_ns != 0) return run_gang(options);
  set_environment(options);
  return options.hosts.empty() ? run_here(options, nullptr) : run_head(options);
}

}  // namespace
}  // namespace amrun

int main(int argc, char** argv) {
  return amrun::end_by([&] { return amrun::run(argc, argv); });
}
