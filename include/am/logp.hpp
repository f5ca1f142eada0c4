// What a program will take on a network, before it is written: LogP (am/logp/network.hpp), the thesis on the M-Machine's LOG model of
// programs in phases (phases.hpp) and its LIFE (life.hpp), and how a network's numbers are found from measurements (fit.hpp).
//
//   build/bin/ambench logp --transport tcp             // o_send, o_recv, L, g, G, in ns; and how well they predict here
//
//   using namespace am::logp;
//   const Network it{.o_send = 2500, .o_recv = 1200, .latency = 900, .gap = 3700, .gap_per_byte = 0.2};
//   round_trip(it);                                   // a ping-pong: 9200 ns
//   one_way(it, 1 << 20);                             // a payload of 1 MiB: 0.21 ms
//   // EM3D on two nodes: in each phase 400 values are computed, 20 ns each, and the 40 that the other needs are sent.
//   const Phase em3d{.computation = 400 * 20, .messages = 40};
//   execution_time(em3d, overheads_of(it), 100);      // 100 phases: 15.7 ms, of which 0.8 are computation
//   const Phase bundled{.computation = 400 * 20, .messages = 1, .words = 40};
//   execution_time(bundled, overheads_of(it), 100);   // one message of 320 bytes: 1.3 ms
//
// None of it needs a node, or a job.
#pragma once

#include <am/logp/fit.hpp>
#include <am/logp/life.hpp>
#include <am/logp/network.hpp>
#include <am/logp/phases.hpp>
