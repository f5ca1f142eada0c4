// A job whose nodes are threads of one process: for tests, for ThreadSanitizer, and for programs that want it. The same
// code as between processes, over the same segment; only the mapping is shared.
#include <unistd.h>
#include <am/error.hpp>
#include <am/start.hpp>

#include <exception>
#include <mutex>
#include <thread>

#include "core/engine.hpp"
#include "core/settings.hpp"
#include "transports/faults/faults.hpp"

namespace am {

namespace {

/// The first failure of any node, in time.
class FirstFailure {
 public:
  void keep(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
};

void run_node(core::Job job, const core::Settings& settings, const std::function<void(Node&)>& main,
              FirstFailure& failure) {
  try {
    Node node(std::make_unique<core::Engine>(std::move(job), settings));
    try {
      main(node);
    } catch (...) {
      failure.keep(std::current_exception());
    }
  } catch (...) {
    failure.keep(std::current_exception());
  }
}

}  // namespace

void run_threads(NodeId n, const std::function<void(Node&)>& main, const Options& options) {
  core::Settings settings = core::read_settings(environ);
  settings.segment_fd = -1;
  check_faults_for_threads(settings);
  if (options.segment_bytes != 0) settings.segment_bytes = options.segment_bytes;
  const std::shared_ptr<shm::Segment> segment = shm::Segment::create(n);
  FirstFailure failure;
  std::vector<std::thread> threads;
  threads.reserve(n);
  for (NodeId id = 0; id < n; ++id) {
    core::Job job{
        .id = id, .size = n, .segment = segment, .found = "threads", .processes = false, .leave = {}};
    threads.emplace_back(run_node, std::move(job), std::cref(settings), std::cref(main), std::ref(failure));
  }
  for (std::thread& thread : threads) thread.join();
  failure.rethrow();
}

}  // namespace am
