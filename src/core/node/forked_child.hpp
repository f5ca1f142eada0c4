// What a forked child finds of the nodes of its parent: nothing that it can use.
//
// It has the parent's memory, and so would write into the parent's rings, and count as an arrival in its barriers. A hook that
// runs in the child at fork takes the nodes away from it: what it writes into the job's common memory from then on stays its
// own, and the next call that sends, makes progress or reaches global memory ends it, with a message (Engine::must_not_be_a_child).
// It closes its copies of the parent's connections, by which other hosts hear of the parent's death. None of this costs a node that
// does not fork anything.
//
// Executing another program, ending (std::exit, too), and leaving a critical section in which it was forked are no use of
// a node. Where no hook runs (a bare clone, _Fork, vfork) none of this is done.
#pragma once

namespace am::core {

class Engine;

/// A node that children of this process shall not have, as long as one lives. Thread-safe.
class KeptFromChildren {
 public:
  explicit KeptFromChildren(Engine& engine);
  ~KeptFromChildren();
  KeptFromChildren(const KeptFromChildren&) = delete;
  KeptFromChildren& operator=(const KeptFromChildren&) = delete;

 private:
  Engine& engine_;
};

}  // namespace am::core
