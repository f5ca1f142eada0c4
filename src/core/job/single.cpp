// A program that nobody's launcher started: a job of one.
#include "core/cpus.hpp"
#include "core/job/ways.hpp"

namespace am::core {

Job join_single() {
  Job job;
  job.segment = shm::Segment::create(1);
  publish_cpus(job.segment->job());
  job.found = "alone";
  return job;
}

}  // namespace am::core
