// Locks: a word of global memory, 0 while nobody holds it, else the holder's number plus one. They spin; where the word is not
// mapped by round trips to its owner.
//
//   spread_array<Lock> locks(1);
//   { const LockGuard held(locks[0]); ... }
#pragma once

#include <am/splitc/global_ptr.hpp>
#include <am/splitc/world.hpp>
#include <cstdint>

namespace am::splitc {

/// A word of global memory: 0 while nobody holds it.
using Lock = std::uint32_t;

/// Waits until the lock is this node's. Polls. Throws am::Error when it is already, and when its holder died or left.
void lock(global_ptr<Lock> at);
/// Whether it is this node's now.
[[nodiscard]] bool try_lock(global_ptr<Lock> at);
/// What this node wrote before is seen by the next holder: blocking writes, and what was synced. Throws am::Error when this node
/// does not hold it.
void unlock(global_ptr<Lock> at);

/// Holds a lock as long as it lives.
class LockGuard {
 public:
  explicit LockGuard(global_ptr<Lock> at) : at_(at) { lock(at); }
  ~LockGuard() { unlock(at_); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  global_ptr<Lock> at_;
};

}  // namespace am::splitc
