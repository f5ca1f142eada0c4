// The row MM of Table 6.4 on the machine itself: the four programs as threads of chips, operation by operation as the model issues them.
//
// The address that an empty message or a block's packet needs is its DestAddr: a body has ten words at most. PING, RPC and BLKW are between
// neighbours. DIST sends to its farthest node first and to a neighbour last, so distance makes none of its threads the last to start.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "amsim/papers/chapter_6/benchmark_programs.hpp"
#include "amsim/papers/chapter_6/parameters.hpp"
#include "emulated_hw/mmachine/machine.hpp"
#include "emulated_hw/mmachine/programs/handlers.hpp"

namespace amsim::chapter_6 {

namespace {

constexpr std::uint64_t request_address = 0x100;
constexpr std::uint64_t answer_address = 0x200;
constexpr NodeNumber neighbour = 1;
constexpr unsigned log_pages = 4;  // of a node

/// A machine whose first node sends requests to others, and what Table 6.4 has of its program.
struct Run {
  Run() : machine({.width = 4, .height = 4}) {
    NetworkOutput& output = machine.chip(0).output();
    output.gtlb().write(0, {.valid = true, .log_width = 2, .log_height = 2, .log_pages = log_pages});
    output.set_buffers(NetworkOutput::most_buffers);  // none comes back
  }

  /// Until so many handlers have returned.
  Measured run(const Thread::Code& program, unsigned handlers) {
    machine.chip(0).thread(0, 0).run(program, Privilege::user);
    if (!machine.run_until([&] { return returned == handlers; }))
      throw std::runtime_error("a program of Table 6.4 waits for ever");
    for (NodeNumber node = 0; node < machine.nodes(); ++node) {
      for (unsigned cluster = 0; cluster < Chip::clusters; ++cluster) {
        for (unsigned slot = 0; slot < Chip::slots; ++slot)
          measured.occupancy += machine.chip(node).thread(cluster, slot).slots();
      }
    }
    return measured;
  }
  void reaches(Cycle cycle) noexcept { measured.latency = std::max(measured.latency, cycle); }
  /// A handler's jump back to the dispatcher.
  Program leave(Thread& thread) {
    co_await thread.issue({.unit = Unit::ialu});
    co_await thread.cycles(jump_cycles - 1);
    ++returned;
  }

  Machine machine;
  Measured measured;
  unsigned returned = 0;
};

Thread::Sent request(NodeNumber to, unsigned words) {
  return {
      .instruction = Send::isnd0,
      .destination = pointer_to(PointerType::read_write, std::uint64_t{to} << (Gtlb::page_bits + log_pages)),
      .handler = pointer_to(PointerType::execute_message, request_address),
      .argcount = words};
}

/// Each word of the body goes into memory when it comes, from an address on.
Program store_body(Thread& thread, std::uint64_t words, Register address, Cycle& stored) {
  for (std::uint64_t word = 0; word < words; ++word) {
    if (word > 0) address = co_await thread.issue(op::lea(address));
    co_await thread.msg_body();
    stored = (co_await thread.issue(op::store(address, {}))).ready;
  }
}

Measured ping_on_machine() {
  Run run;
  run.machine.place(request_address, [&](Thread& thread) -> Program {
    Opening opening;
    co_await open(thread, opening);
    const Thread::Sent answer{.instruction = Send::isnd1pnt,
                              .destination = opening.sender,
                              .handler = pointer_to(PointerType::execute_message, answer_address)};
    co_await thread.send(answer, {});
    co_await run.leave(thread);
  });
  run.machine.place(answer_address, [&](Thread& thread) -> Program {
    run.reaches((co_await thread.issue(op::store({}, {}))).ready);
    co_await run.leave(thread);
  });
  const auto ask = [](Thread& thread) -> Program {
    const Register destination = co_await thread.issue(op::compute());
    co_await thread.send(request(neighbour, 0), destination);
  };
  return run.run(ask, 2);
}

/// The arguments of a call that differ from the one before, when SEND has fetched that.
Program regenerate_seeds(Thread& thread, Register& last) {
  co_await thread.full(0);
  co_await thread.issue(op::move({}));
  std::array<Register, dist_seeds> seeds{};
  for (unsigned operation = 1; operation <= operations_per_seed; ++operation) {
    const std::uint64_t slots = operation == operations_per_seed ? 1 : 0;
    for (Register& seed : seeds) seed = co_await thread.issue({.reads = {seed}, .slots = slots});
  }
  last = seeds.back();
}

/// RPC, or DIST: a free thread's context gets all words, then the thread starts. Its own instruction is no message operation.
Measured calls_on_machine(unsigned calls) {
  Run run;
  run.machine.place(request_address, [&](Thread& thread) -> Program {
    Opening opening;
    co_await open(thread, opening);
    const Register context = co_await thread.issue(op::load());
    Cycle stored = 0;
    co_await store_body(thread, opening.argcount, context, stored);
    const Register next_instruction{run.machine.now() + 1};
    const Operation jump{.unit = Unit::ialu, .reads = {next_instruction}, .latency = jump_cycles};
    const Register start = co_await thread.issue(jump);
    const auto started = [&run, start](Thread& slot) -> Program {
      co_await slot.issue({.reads = {start}, .slots = 0});
      run.reaches(run.machine.now());
    };
    thread.chip().thread(0, 1).run(started, Privilege::user);
    co_await run.leave(thread);
  });
  const auto call = [&](Thread& thread) -> Program {
    Register last;
    for (unsigned word = 0; word < rpc_words; ++word) last = co_await thread.issue(op::compute());
    for (NodeNumber to = calls; to > 0; --to) {
      if (to != calls) co_await regenerate_seeds(thread, last);
      co_await thread.send(request(to, rpc_words), last);
      if (calls > 1) co_await thread.issue(op::lea());  // the next destination
    }
  };
  return run.run(call, calls);
}

/// A packet of BLKW from the registers of one of the two files, whose condition has its number.
Program send_packet(Thread& thread, unsigned words, unsigned file, bool first_of_file) {
  if (!first_of_file) {
    co_await thread.full(file);
    co_await thread.issue(op::move({}));
  }
  co_await thread.issue(op::compute());
  Register last;
  for (unsigned word = 0; word < words; ++word) {
    last = co_await thread.issue(op::load());
    co_await thread.issue(op::lea());
  }
  Thread::Sent packet = request(neighbour, words);
  packet.condition = file;
  if (file != 0) packet.instruction = Send::fsnd0;
  co_await thread.send(packet, last);
}

Measured blkw_on_machine() {
  constexpr unsigned packets = (block_words + words_per_packet - 1) / words_per_packet;
  constexpr unsigned files = 2;
  Run run;
  run.machine.place(request_address, [&](Thread& thread) -> Program {
    Opening opening;
    co_await open(thread, opening);
    const Register address = co_await thread.issue(op::move({}));
    Cycle stored = 0;
    co_await store_body(thread, opening.argcount, address, stored);
    run.reaches(stored);
    co_await run.leave(thread);
  });
  const auto send = [&](Thread& thread) -> Program {
    for (unsigned packet = 0; packet < packets; ++packet) {
      const unsigned words = std::min(words_per_packet, block_words - packet * words_per_packet);
      co_await send_packet(thread, words, packet % files, packet < files);
    }
  };
  return run.run(send, packets);
}

}  // namespace

std::array<Measured, benchmark_programs.size()> run_on_machine() {
  return {ping_on_machine(), calls_on_machine(1), calls_on_machine(dist_messages), blkw_on_machine()};
}

}  // namespace amsim::chapter_6
