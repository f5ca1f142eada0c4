// A job of AMX for the tests of <am/am2.h>: each node has one endpoint, a segment and a handler, and sees what comes.
#pragma once

#include "support/am2.hpp"
#include "support/patterns.hpp"

namespace test {

/// A job of AMX: one endpoint each, entry i is node i. What comes back is kept.
struct Job {
  Job() {
    returned.clear();
    ok(AMX_SPMDStartup(nullptr, nullptr, 0, nullptr, &bundle, &endpoint), "AMX_SPMDStartup");
    set_handler(endpoint, 0, keep_returned);
    me = AMX_SPMDMyProc();
    n = AMX_SPMDNumProcs();
    right = (me + 1) % n;
  }
  /// Between setting up and traffic, and before the end.
  static void barrier() { ok(AMX_SPMDBarrier(), "AMX_SPMDBarrier"); }
  template <class P>
  void until(P pred) const {
    while (!pred()) {
      ok(AM_SetEventMask(bundle, AM_NOTEMPTY), "AM_SetEventMask");
      ok(AM_WaitSema(bundle), "AM_WaitSema");
      ok(AM_Poll(bundle), "AM_Poll");
    }
  }

  eb_t bundle{};
  ep_t endpoint{};
  int me = 0;
  int n = 0;
  int right = 0;
};

/// What the handlers of one node have seen. They run on its own thread, in every mode.
struct Seen {
  int requests = 0;
  int replies = 0;
  long sum = 0;
  int wrong = 0;
  ep_t endpoint = nullptr;
  std::vector<std::byte> segment{};
};
inline thread_local Seen seen;

/// The handler of what needs no answer.
inline constexpr handler_t quiet = 7;
inline void sees_quietly(void* /*token*/, long word) {
  ++seen.requests;
  seen.sum += word;
}

/// Before the first barrier: nothing seen yet, a segment, and handler `quiet`.
inline void set_up(const Job& job) {
  seen = {};
  seen.endpoint = job.endpoint;
  seen.segment.resize(64'000);
  ok(AM_SetSeg(job.endpoint, seen.segment.data(), seen.segment.size()), "AM_SetSeg");
  set_handler(job.endpoint, quiet, sees_quietly);
}

/// The fixture of programs of AMX: `body` runs on a node that is set up, which then waits for the others and ends. Its handlers have seen
/// nothing wrong then, and nothing has come back.
class OnAmx : public OnEverySubstrate {
 protected:
  static void run_amx(am::NodeId n, const std::function<void(const Job&)>& body) {
    run(n, [&](am::Node&) {
      const Job job;
      set_up(job);
      body(job);
      Job::barrier();
      ok(AM_Poll(job.bundle), "AM_Poll");  // answers what came while a send waited, before its sender leaves
      Job::barrier();
      check_equal(seen.wrong, 0, "what was wrong");
      check(returned.empty(), "nothing comes back");
      ok(AM_Terminate(), "AM_Terminate");
    });
  }
};

}  // namespace test
