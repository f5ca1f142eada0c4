#include "emulated_hw/mmachine/programs/stock_handlers.hpp"

#include <algorithm>

namespace am::mmachine {

namespace {

/// What every handler finds before the body.
struct Opening {
  unsigned argcount = 0;
  Word sender{};
  Word address{};
};

Program open(Thread& thread, Opening& opening) {
  opening.argcount = static_cast<unsigned>((co_await thread.msg_body()).bits);
  opening.sender = co_await thread.msg_body();
  opening.address = co_await thread.msg_body();
  co_await thread.cycles(1);
}

}  // namespace

StockHandlers::StockHandlers(Chip& chip, Memory& memory, const Addresses& addresses)
    : chip_(chip), memory_(memory) {
  chip.place(addresses.fork, [this](Thread& thread) { return fork(thread); });
  chip.place(addresses.remote_read, [this](Thread& thread) { return remote_read(thread); });
  chip.place(addresses.remote_write, [this](Thread& thread) { return remote_write(thread); });
  chip.when_ended([this] { begin_those_that_wait(); });
}

Program StockHandlers::fork(Thread& thread) {
  Opening opening;
  co_await open(thread, opening);
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

void StockHandlers::begin_those_that_wait() {
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

Program StockHandlers::run(Thread& thread, Thread::Code code) {
  try {
    co_await code(thread);
  } catch (const Exception&) {
    ++broken_off_;
  }
}

Program StockHandlers::remote_read(Thread& thread) {
  Opening opening;
  co_await open(thread, opening);
  const Outcome read = memory_.load(opening.address);
  if (read.violation) throw Exception("RemoteRead: the pointer does not permit it");
  const Word handler = co_await thread.msg_body();
  thread.integers[0] = read.word;
  thread.integers[1] = co_await thread.msg_body();
  co_await thread.cycles(2);
  co_await reply(thread, opening.sender, handler, 2);
}

Program StockHandlers::remote_write(Thread& thread) {
  Opening opening;
  co_await open(thread, opening);
  const Word word = co_await thread.msg_body();
  const Word handler = co_await thread.msg_body();
  if (memory_.store(opening.address, word)) throw Exception("RemoteWrite: the pointer does not permit it");
  thread.integers[0] = co_await thread.msg_body();
  co_await thread.cycles(2);
  co_await reply(thread, opening.sender, handler, 1);
}

Program StockHandlers::reply(Thread& thread, Word to, Word handler, unsigned words) {
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

}  // namespace am::mmachine
