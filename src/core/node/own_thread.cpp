#include "core/node/own_thread.hpp"

#include <unistd.h>
#include <am/error.hpp>

#include <atomic>
#include <cstring>
#include <utility>

#include "core/node/signals_blocked.hpp"

namespace am::core {

namespace {
std::atomic<long> threads_here = 0;
}

OwnThread::OwnThread(const std::string& name, std::function<void()> main, const std::string& instead)
    : main_(std::move(main)), pid_(getpid()) {
  threads_here.fetch_add(1, std::memory_order_relaxed);
  const int failed = [&] {
    const SignalsBlocked inherited;
    return pthread_create(&thread_, nullptr, &begin, this);
  }();
  if (failed != 0) {
    threads_here.fetch_sub(1, std::memory_order_relaxed);
    throw Error("start a thread", std::strerror(failed),  // NOLINT(concurrency-mt-unsafe)
                "raise ulimit -u or the container's pids limit, or " + instead);
  }
  pthread_setname_np(thread_, name.substr(0, 15).c_str());
}

OwnThread::~OwnThread() {
  if (!is_in_this_process()) return;
  if (pthread_equal(pthread_self(), thread_) != 0) {
    pthread_detach(thread_);
  } else {
    pthread_join(thread_, nullptr);
  }
}

long OwnThread::in_this_process() noexcept { return threads_here.load(std::memory_order_relaxed); }

bool OwnThread::is_in_this_process() const noexcept { return getpid() == pid_; }

void* OwnThread::begin(void* self) {
  static_cast<OwnThread*>(self)->main_();
  threads_here.fetch_sub(1, std::memory_order_relaxed);
  return nullptr;
}

}  // namespace am::core
