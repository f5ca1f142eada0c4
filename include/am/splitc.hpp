// Split-C for C++: a global address space over Active Messages (Culler and others, "Parallel Programming in Split-C", 1993;
// T1 report, section 2.2.1).
//
//   using namespace am::splitc;
//   using am::splitc::sync;                          // inside a namespace or a function: POSIX has a ::sync(), too
//   World world(am::start(argc, argv));              // this node's part of it; all nodes make theirs together
//   spread_array<double> a(procs(), n);              // double a[PROCS]::[n]
//   double x = a[p][i];                              // blocking read: a load where the memory is shared
//   a[p][i] = 2.5;                                   // blocking write
//   put(&a[p][i], 2.5); get(&x, &a[q][j]); sync();   // split-phase:  a[p][i] := 2.5;  x := a[q][j];  sync();
//   store(&a[p][i], 2.5); all_store_sync();          // signalling:   a[p][i] :- 2.5;
//   long before = atomic([](long& v, long by) { return std::exchange(v, v + by); }, where, 3L);  // runs at the owner
//
// Values are copied as bytes, so they are trivially copyable. All memory that others reach lies in the nodes' segments: spread
// arrays, and what local_malloc gives. docs/porting.md has the language beside it, construct by construct.
//
// Progress. What loads and stores reach (nodes of one machine) is done at once and runs no handler; the rest polls. Everything
// that waits polls. A node that computes for long, and others need it for stores or atomic, calls poll() now and then, or runs
// in a mode in which handlers run by themselves (am::Dispatch).
//
// Called by the thread of a node that has a World, from the computation. Inside what atomic() runs: memory of the node's own.
#pragma once

#include <am/splitc/atomic.hpp>
#include <am/splitc/block_array.hpp>
#include <am/splitc/bulk.hpp>
#include <am/splitc/global_ptr.hpp>
#include <am/splitc/local_array.hpp>
#include <am/splitc/lock.hpp>
#include <am/splitc/loops.hpp>
#include <am/splitc/memory.hpp>
#include <am/splitc/split_phase.hpp>
#include <am/splitc/spread_array.hpp>
#include <am/splitc/spread_ptr.hpp>
#include <am/splitc/store.hpp>
#include <am/splitc/together.hpp>
#include <am/splitc/world.hpp>
