// An operation of all nodes that is under way on this node: a barrier or a collective. What they have in common: there is
// one at a time, and an exception that comes out of a handler or a post meanwhile does not end it half way, for the other
// nodes count on this one. The exception waits, and is thrown when the operation is complete on this node.
//
// Used by the node's own thread, from the computation.
#pragma once

#include <am/error.hpp>
#include <am/impl/waiter.hpp>
#include <cstddef>
#include <span>

#include "core/node/engine.hpp"
#include "core/node/uncaught.hpp"

namespace am::impl {
class Combine;
}

namespace am::core {

class Operation {
 public:
  /// Begins it. Ends the program inside a handler. Throws am::Error while another one is under way: then a post, or the
  /// peer-death function, that runs inside the other one calls it. `what` is a literal.
  Operation(Node& node, const char* what);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  [[nodiscard]] Node& node() const noexcept { return node_; }
  [[nodiscard]] Engine& engine() const noexcept { return engine_; }
  [[nodiscard]] const char* what() const noexcept { return what_; }

  /// One poll; whether anything happened. Keeps what handlers and posts throw.
  bool poll() noexcept;
  /// Polls until is_done(). What is_done itself throws ends the operation. It is told whether the node sleeps next:
  /// then it is the last look before the sleep, after the last poll.
  template <class F>
  void wait(F is_done) {
    impl::Waiter waiter(engine_, what_);
    for (bool worked = true; !is_done(!worked && waiter.sleeps_next()); worked = poll())
      waiter.polled(worked);
  }
  /// Does a step which may poll, again after each exception that comes out of it. A step that was nearly through is then
  /// done twice.
  template <class F>
  auto insist(F step) {
    for (;;) {
      try {
        return step();
      } catch (...) {
        keep();
      }
    }
  }

  /// The operation cannot be completed. What was kept, or an event has thrown besides, is nested in the error (std::rethrow_if_nested).
  [[noreturn]] void fail(const Error& error);
  /// It is complete on this node: throws what was kept.
  void complete() const {
    if (thrown_.exception) [[unlikely]]
      throw_again(thrown_);
    engine_.attendant().throw_kept();
  }
  /// It is complete, and the caller's result must not be lost: the next call that makes progress throws what was kept.
  void complete_and_throw_later() const;

 private:
  void keep() noexcept {
    if (!thrown_.exception) thrown_ = origin_of_current(node_.id());
  }

  const impl::Hold hold_;  // first: an operation is one library call
  Node& node_;
  Engine& engine_;
  const char* const what_;
  Origin thrown_;  // the first one
};

/// The barrier, as a part of `operation` (barrier.cpp).
void pass_barrier(Operation& operation);
/// As impl::all_reduce_bytes, as a part of `operation` (collectives.cpp).
void all_reduce_bytes(Operation& operation, std::span<std::byte> values, const impl::Combine& combine);

}  // namespace am::core
