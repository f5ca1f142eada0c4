// The slow half of an asymmetric fence. One side stores, and then loads a flag ("does he look? does he sleep? is he inside?")
// with nothing in between but a compiler barrier; whoever changes the flag pays for both by a fence on all processors.
//
// Source: membarrier(2). Two of its commands, for they do not reach equally far:
//  - the private one reaches every thread of this process, always. Locks may rely on it.
//  - the global one is to reach the threads of other processes, too. But Linux (5.10 to 6.18 at least) forgets a processor on
//    which a thread of a process has ended, until a thread of another process runs there: what runs there meanwhile, of the
//    same process, is left out, and the call says nothing. So no lock may rely on it, and a wake-up that is missed that way has
//    to be made good: by a sleep that ends, or, in the interrupt mode, by the next signal or call.
// Without it (old kernels, sandboxes) heavy fences are this thread's own full fence and heavy_fence_works() is false: locks
// then do without, and sleeps are kept short.
#pragma once

namespace am::host {

/// Once per process, before the first fence. Thread-safe.
bool heavy_fence_works() noexcept;

/// After it returns: every thread of this process has made its earlier stores visible, or will see our earlier stores in its
/// later loads. Costs a few microseconds where threads of it run on other processors. Thread-safe.
void process_fence() noexcept;

/// The same for every thread of every libam process on this machine, as far as the kernel knows of them (see above). Costs a
/// few microseconds. Thread-safe.
void heavy_fence() noexcept;

/// This thread's own full fence: what it stored before is visible before it loads what comes after. Thread-safe.
void own_fence() noexcept;

}  // namespace am::host
