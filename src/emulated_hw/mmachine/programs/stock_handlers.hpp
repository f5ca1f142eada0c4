// The handlers that the system gives to all (5.2.3): Fork begins a thread, RemoteRead returns a word, RemoteWrite updates one. Each looks at the
// guarded pointer that it was sent as any instruction does: where that forbids it, it ends by an exception, and nothing has happened.
//
//   Fork         body: instruction pointer, up to 9 arguments, which the thread finds in its registers
//   RemoteRead   DestAddr: what to read; body: the handler that is to get it, a word for that one. It gets: the word that was read, that word
//   RemoteWrite  DestAddr: what to write; body: the word, the handler that is to hear of it, a word for that one. It gets: that word
//
// A reply goes to the sender, by priority 1, to a handler that the sender named: an ExecuteMessage pointer, so one that it may name.
// These messages carry their own replies, so a program that is throttled has its reply's handler give the buffer back.
//
// Assumed: the formats. A thread that finds all of cluster 0's slots taken waits in a queue until one is free, whoever had it, in order;
// RemoteRead reads, and Fork's thread runs, with what is a user's. An exception ends such a thread, and is counted.
//
// Source: Lee, Mechanisms for Efficient, Protected Messaging (1999), 5.2.3.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>

#include "emulated_hw/mmachine/chip.hpp"
#include "emulated_hw/mmachine/memory.hpp"
#include "emulated_hw/mmachine/programs/handlers.hpp"

namespace am::mmachine {

class StockHandlers {
 public:
  /// Where they are.
  struct Addresses {
    std::uint64_t fork = 0;
    std::uint64_t remote_read = 0;
    std::uint64_t remote_write = 0;
  };
  /// On this chip, of that memory. They outlive each other. It takes the chip's when_ended.
  StockHandlers(Chip& chip, Memory& memory, const Addresses& addresses) : chip_(chip), memory_(memory) {
    chip.place(addresses.fork, [this](Thread& thread) { return fork(thread); });
    chip.place(addresses.remote_read, [this](Thread& thread) { return remote_read(thread); });
    chip.place(addresses.remote_write, [this](Thread& thread) { return remote_write(thread); });
    chip.when_ended([this] { begin_those_that_wait(); });
  }
  StockHandlers(const StockHandlers&) = delete;
  StockHandlers& operator=(const StockHandlers&) = delete;

  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  [[nodiscard]] std::uint64_t broken_off() const noexcept { return broken_off_; }

 private:
  static constexpr unsigned cluster = 0;
  static constexpr unsigned most_arguments = most_body - 1;
  struct Forked {
    Thread::Code code;
    std::array<Word, most_arguments> arguments{};
  };

  Program fork(Thread& thread) {
    Opening opening;
    co_await open(thread, opening);
    co_await thread.cycles(1);
    const Word instruction_pointer = co_await thread.msg_body();
    const Jumped to = jump(Privilege::user, instruction_pointer);
    if (to.violation) throw Exception("Fork: the instruction pointer cannot be jumped to");
    const Thread::Code* const code = chip_.code_at(GuardedPointer::of(instruction_pointer)->address());
    if (code == nullptr) throw Exception("Fork: there is no code");
    Forked forked{*code, {}};
    const unsigned arguments = std::min(std::max(opening.argcount, 1u) - 1, most_arguments);
    for (unsigned i = 0; i < arguments; ++i) {
      forked.arguments[i] = co_await thread.msg_body();
      co_await thread.cycles(1);
    }
    waiting_.push_back(forked);
    begin_those_that_wait();
  }
  Program remote_read(Thread& thread) {
    Opening opening;
    co_await open(thread, opening);
    co_await thread.cycles(1);
    const Outcome read = memory_.load(opening.address);
    if (read.violation) throw Exception("RemoteRead: the pointer does not permit it");
    const Word handler = co_await thread.msg_body();
    thread.integers[0] = read.word;
    thread.integers[1] = co_await thread.msg_body();
    co_await thread.cycles(2);
    co_await reply(thread, opening.sender, handler, 2);
  }
  Program remote_write(Thread& thread) {
    Opening opening;
    co_await open(thread, opening);
    co_await thread.cycles(1);
    const Word word = co_await thread.msg_body();
    const Word handler = co_await thread.msg_body();
    if (memory_.store(opening.address, word)) throw Exception("RemoteWrite: the pointer does not permit it");
    thread.integers[0] = co_await thread.msg_body();
    co_await thread.cycles(2);
    co_await reply(thread, opening.sender, handler, 1);
  }
  Program reply(Thread& thread, Word to, Word handler, unsigned words) {
    const auto pointer = GuardedPointer::of(handler);
    if (!pointer || !pointer->is(PointerType::execute_message))
      throw Exception("a reply's handler has to be one that its sender may name");
    co_await thread.send({.instruction = Send::isnd1pnt,
                          .destination = to,
                          .handler = handler,
                          .argcount = words,
                          .condition = 1});
    co_await thread.full(1);
  }
  void begin_those_that_wait() {
    for (unsigned slot = 0; slot < Chip::reserved_slot && !waiting_.empty(); ++slot) {
      Thread& thread = chip_.thread(cluster, slot);
      if (!thread.has_ended()) continue;
      const Forked forked = std::move(waiting_.front());
      waiting_.pop_front();
      std::ranges::copy(forked.arguments, thread.integers.begin());
      thread.run([this, code = forked.code](Thread& slot_of_it) { return run(slot_of_it, code); },
                 Privilege::user);
    }
  }
  Program run(Thread& thread, Thread::Code code) {
    try {
      co_await code(thread);
    } catch (const Exception&) {
      ++broken_off_;
    }
  }

  Chip& chip_;
  Memory& memory_;
  std::deque<Forked> waiting_;
  std::uint64_t broken_off_ = 0;
};

}  // namespace am::mmachine
