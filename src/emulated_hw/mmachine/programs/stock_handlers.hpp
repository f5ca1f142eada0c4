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

#include <array>
#include <cstdint>
#include <deque>

#include "emulated_hw/mmachine/chip.hpp"
#include "emulated_hw/mmachine/memory.hpp"

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
  StockHandlers(Chip& chip, Memory& memory, const Addresses& addresses);
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

  Program fork(Thread& thread);
  Program remote_read(Thread& thread);
  Program remote_write(Thread& thread);
  Program reply(Thread& thread, Word to, Word handler, unsigned words);
  void begin_those_that_wait();
  Program run(Thread& thread, Thread::Code code);

  Chip& chip_;
  Memory& memory_;
  std::deque<Forked> waiting_;
  std::uint64_t broken_off_ = 0;
};

}  // namespace am::mmachine
