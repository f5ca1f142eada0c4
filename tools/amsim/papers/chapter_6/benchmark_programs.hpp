// The four micro benchmarks of chapter 6, each written once: compose and send words, be dispatched, take words. An interface's model
// lowers these to operations of simulated threads (instruction_stream.hpp), one at the sender and one for the handlers of each receiver.
//
// The network has no latency of its own and takes a word a cycle (6.3). Full queues hold up no sender here: in BLKW, where they
// would, the receiver is the slower of the two and decides the latency. Threads of one chip do not contend for units: they are on
// different clusters (3.2.2).
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 6.2, 6.3, 6.5.2, 6.5.4.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "amsim/papers/chapter_6/interface_model.hpp"
#include "emulated_hw/mmachine/instruction_stream.hpp"

namespace amsim::chapter_6 {

using namespace am::mmachine;

/// What Table 6.4 has of a program.
struct Measured {
  Cycle latency = 0;            ///< end to end, as 6.3 defines it for the program
  std::uint64_t occupancy = 0;  ///< issue slots taken by message operations, at both ends
};

struct BenchmarkProgram {
  std::string_view name;
  /// `missed_entries`: of a lookup in software, before the one that matches.
  Measured (*run)(const InterfaceModel& model, unsigned missed_entries);
};

/// An empty message there and one back; until the reply is in memory.
Measured ping(const InterfaceModel& model, unsigned missed_entries = 0);
/// An instruction pointer and eight arguments; until the first instruction of the thread that they make.
Measured rpc(const InterfaceModel& model, unsigned missed_entries = 0);
/// Eight of these to eight nodes, of whose arguments four differ; until the first instruction of the last thread.
Measured dist(const InterfaceModel& model, unsigned missed_entries = 0);
/// 1024 words from memory to memory, ten in a message; until the last is written.
Measured blkw(const InterfaceModel& model, unsigned missed_entries = 0);

/// In the order of Table 6.4.
inline constexpr std::array<BenchmarkProgram, 4> benchmark_programs{
    {{"PING", ping}, {"RPC", rpc}, {"DIST", dist}, {"BLKW", blkw}}};

/// The row MM, as it is measured: each program on the M-Machine under its clock (machine.hpp), between neighbours.
[[nodiscard]] std::array<Measured, benchmark_programs.size()> run_on_machine();

// Of what latencies consist, where the thesis draws it. It prints no numbers with these figures, but for one ratio in 6.5.4.

/// Of RPC, from the first operation that composes the message (Figure 6-6).
struct InjectionParts {
  Cycle head = 0;     ///< until its head is at the receiver
  Cycle tail = 0;     ///< until its last word is
  Cycle started = 0;  ///< until the new thread's first instruction
};
[[nodiscard]] InjectionParts injection_parts(const InterfaceModel& model);

/// Of the message that asks in PING, from its arrival (Figure 6-9).
struct DispatchParts {
  Cycle swap = 0;     ///< until the dispatcher runs
  Cycle service = 0;  ///< then, until the answer's last word has been injected
};
[[nodiscard]] DispatchParts dispatch_parts(const InterfaceModel& model);

}  // namespace amsim::chapter_6
