// The slow half of an asymmetric fence. A sender stores a packet and then loads a flag ("does he look? does he sleep?")
// with nothing in between but a compiler barrier; whoever changes the flag pays for both by a fence on all processors.
//
// Source: membarrier(2). Without it (old kernels, sandboxes) heavy_fence() is this thread's own full fence and
// heavy_fence_works() is false: then sleeps are kept short instead.
#pragma once

namespace am::host {

/// Once per process, before the first fence. Thread-safe.
bool heavy_fence_works() noexcept;

/// After it returns: every thread of every libam process on this machine has made its earlier stores visible, or will
/// see our earlier stores in its later loads. Costs a few microseconds. Thread-safe.
void heavy_fence() noexcept;

/// This thread's own full fence: what it stored before is visible before it loads what comes after. Thread-safe.
void own_fence() noexcept;

}  // namespace am::host
