// The end of the thread that a process's node lives on, where that comes before the process's own (pthread_exit in main). POSIX has a
// process end with its last thread, with code 0; libam's own threads are none of the program's, and do not keep it.
#pragma once

namespace am::core {

/// On the node's thread: when it ends, and with it the last of the program's, the process does, as if main had returned.
void end_with_the_programs_threads() noexcept;
/// Whether the thread that called that has ended. Any thread.
[[nodiscard]] bool node_thread_has_ended() noexcept;

}  // namespace am::core
