// A program that nobody's launcher started: a job of one.
#include "core/job/ways.hpp"
#include "host/processors.hpp"

namespace am::core {

Job join_single() {
  Job job;
  job.memory = host::Memory::create(1);
  host::publish_cpus(job.memory->board().job());
  job.found = "alone";
  return job;
}

}  // namespace am::core
