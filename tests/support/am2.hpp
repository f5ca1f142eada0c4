// What the tests of <am/am2.h> share: statuses that must be, handlers of any type, what came back.
#pragma once

#include <am/am2.h>

#include "support/job.hpp"

namespace test {

inline void ok(int status, std::string_view what,
               const std::source_location& where = std::source_location::current()) {
  check_equal(status, AM_OK, what, where);
}

template <class F>
am2_handler_fn_t handler(F* function) {
  return reinterpret_cast<am2_handler_fn_t>(function);
}
template <class F>
void set_handler(ep_t endpoint, handler_t index, F* function,
                 const std::source_location& where = std::source_location::current()) {
  ok(AM_SetHandler(endpoint, index, handler(function)), "AM_SetHandler", where);
}

/// Of one node: its handlers run on its own thread, in every mode.
struct Returned {
  int status;
  op_t opcode;
  am2_returned_t block;
};
inline thread_local std::deque<Returned> returned;
inline void keep_returned(int status, op_t opcode, void* block) {
  returned.push_back({status, opcode, *static_cast<am2_returned_t*>(block)});
}

/// AM_Init .. AM_Terminate.
struct Am2 {
  Am2() { ok(AM_Init(), "AM_Init"); }
  ~Am2() { AM_Terminate(); }
};

/// A bundle with one endpoint, which takes every tag and keeps what comes back; while it is there AM-II is.
struct Place {
  explicit Place(tag_t tag = AM_ALL) {
    returned.clear();
    ok(AM_AllocateBundle(AM_SEQ, &bundle), "AM_AllocateBundle");
    ok(AM_AllocateEndpoint(bundle, &endpoint, &name), "AM_AllocateEndpoint");
    ok(AM_SetTag(endpoint, tag), "AM_SetTag");
    set_handler(endpoint, 0, keep_returned);
  }
  /// Polls until pred() holds.
  template <class P>
  void until(P pred) const {
    while (!pred()) {
      ok(AM_Poll(bundle), "AM_Poll");
      std::this_thread::yield();
    }
  }
  Returned come_back() const {
    until([] { return !returned.empty(); });
    const Returned first = returned.front();
    returned.pop_front();
    return first;
  }

  const Am2 am2{};
  eb_t bundle{};
  ep_t endpoint{};
  en_t name{};
};

/// Runs body as a program of AM-II alone on its node.
inline void run_am2_alone(const std::function<void()>& body) {
  run_alone([&](am::Node&) {
    const Am2 am2;
    body();
  });
}

}  // namespace test
