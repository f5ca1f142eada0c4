// The connections of this process to other nodes, by descriptor. A forked child closes its copies of them: as long as one is open, the
// other end does not hear that the node has ended.
//
// One bit for each descriptor, and no lock: what other threads do while the process forks leaves the child a whole table. A bit is set
// after its descriptor was opened and cleared before it is closed, so a child never closes another file. Any thread.
#pragma once

namespace am::host {

/// Children close it. A descriptor of a million or more they keep.
void add_connection(int descriptor) noexcept;
/// It is about to be closed; also of a descriptor that is none.
void remove_connection(int descriptor) noexcept;
/// In a child, right after it was forked.
void close_connections() noexcept;

}  // namespace am::host
