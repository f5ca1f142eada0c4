// A cell of an iWarp: its computation agent, which runs a program, and its memory agent (Borkar et al. 1990, 7).
//
//   cpu.run([](Processor& cpu) -> Program {
//     std::optional<Source> source;
//     co_await cpu.open(route, source);                          // a pathway; none where no channel is free
//     cpu.bind_out(0, source->own);
//     co_await cpu.write(0, {5});                                // a send is a write of a register
//     const Channel channel = co_await cpu.accept(3);            // the pathway that cell 3 has begun
//     cpu.bind_in(0, channel);
//     co_await cpu.operate(0b01, 0b01, [](Words in) { return Words{Word{in[0].data + 1}}; });
//   });
//
// Two input and two output gates are registers, bound to channels. What an instruction reads by gates is received, what it writes is sent.
// Where a queue is empty or full, "the instruction execution is stalled". All four together take two cycles. A cycle in which the memory agent
// has the memory is stolen from the program.
//
// Events that the program has asked for are posted in status registers. One with a handler transfers control to it, between two instructions or
// while one is stalled.
//
// Assumed: what an instruction writes is sent when it ends, markers and plain writes when they begin; handlers do not nest.
#pragma once

#include <array>
#include <coroutine>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "emulated_hw/iwarp/memory_agent.hpp"
#include "emulated_hw/iwarp/routes.hpp"
#include "emulated_hw/kit/core.hpp"

namespace am::iwarp {

using Program = kit::Program;

/// A pathway's beginning, at its source.
struct Source {
  Channel own = no_channel;
  Channel output = no_channel;
};

/// Words of memory.
struct Area {
  std::size_t address = 0;
  std::size_t words = 0;
};

inline constexpr unsigned gates = 2;  ///< systolic gates each way
using Words = std::array<Word, gates>;

class Processor final : public kit::Core {
  /// An instruction that is stalled until something is there.
  struct Stalled {
    Stalled(const Step& its_step, kit::Requests its_channels) : step(its_step), channels(its_channels) {}
    virtual bool begins() = 0;  // whether it is there: then it is taken

    Step step;
    kit::Requests channels;             // that it waits for
    CellNumber pathway = kit::nowhere;  // or for one that cell begins
    std::size_t depth = 0;
    std::coroutine_handle<> who{};

   protected:
    ~Stalled() = default;
  };
  template <class Poll, class End>
  struct Until final : Stalled {
    Until(Processor& processor, const Step& its_step, kit::Requests its_channels, Poll its_poll, End its_end)
        : Stalled(its_step, its_channels), cpu(processor), poll(its_poll), end(its_end) {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> its_who) { cpu.stall(its_who, *this); }
    auto await_resume() { return end(*got); }
    bool begins() override { return (got = poll()).has_value(); }

    Processor& cpu;
    Poll poll;
    End end;
    decltype(std::declval<Poll&>()()) got{};
  };

  template <class Poll, class End = std::identity>
  [[nodiscard]] Until<Poll, End> until(const Step& step, kit::Requests channels, Poll poll, End end = {}) {
    return {*this, step, channels, poll, end};
  }
  [[nodiscard]] auto send(Channel own, const Word& word, unsigned cycles) {
    return until({.cycles = cycles}, kit::request(own), [this, own, word]() -> std::optional<bool> {
      if (agent_.room(own) == 0) return {};
      agent_.push(own, word);
      return true;
    });
  }
  template <class F>
  [[nodiscard]] auto join(Channel output, F f) {
    return until({.cycles = costs::join}, kit::request(agent_.output(output).owner),
                 [=, this]() -> std::optional<bool> {
                   if (!agent_.may_redirect(output)) return {};
                   f();
                   return true;
                 });
  }

 public:
  using Code = std::function<Program(Processor&)>;
  using Handler = std::function<Program(Processor&, Channel)>;

  Processor(CommunicationAgent& agent, std::size_t words);

  [[nodiscard]] CellNumber cell() const noexcept { return node(); }
  [[nodiscard]] CommunicationAgent& agent() noexcept { return agent_; }
  [[nodiscard]] MemoryAgent& memory_agent() noexcept { return memory_agent_; }
  [[nodiscard]] std::vector<Word>& memory() noexcept { return memory_agent_.memory(); }
  /// The computation, once: up to its first wait at once. Both live as long as the processor.
  void run(Code computation);
  void on(Event event, Handler handler) { handlers_.at(static_cast<unsigned>(event)) = std::move(handler); }

  /// One cycle, before the network's. Throws what programs throw.
  void step();
  /// Adds the place "cell N", unless its program has ended.
  void add_waits(kit::Waits& waits) const;
  [[nodiscard]] const Spent& spent() const noexcept { return counts(); }
  /// Cycles in which an instruction was stalled.
  [[nodiscard]] std::uint64_t stalled() const noexcept { return stalled_cycles_; }
  /// Words that the program itself has loaded and stored.
  [[nodiscard]] std::uint64_t memory_words() const noexcept { return memory_words_; }

  // -- gates: a binding takes effect at once; those that use one that is not bound throw std::logic_error

  void bind_in(unsigned gate, Channel channel);
  void bind_out(unsigned gate, Channel own) { out_.at(gate) = own; }
  [[nodiscard]] auto read(unsigned gate) {
    return until({.cycles = costs::gates}, kit::request(bound(in_, gate)),
                 [this, gate]() -> std::optional<Word> {
                   if (agent_.readable(in_[gate]) == 0) return {};
                   return agent_.pop(in_[gate]);
                 });
  }
  [[nodiscard]] auto write(unsigned gate, const Word& word) {
    return send(bound(out_, gate), word, costs::gates);
  }
  /// A long instruction: f(Words) gives Words; of these, what the gates of both masks, as bits, read and write.
  template <class F>
  [[nodiscard]] auto operate(unsigned ins, unsigned outs, F f, unsigned cycles = costs::gates) {
    return until(
        {.cycles = cycles}, channels_of(ins, outs), [this, ins, outs] { return read_gates(ins, outs); },
        [this, outs, f](const Words& in) {
          const Words words = f(in);
          kit::for_each(outs, [&](unsigned gate) { agent_.push(out_[gate], words[gate]); });
        });
  }

  // -- pathways and messages

  /// An own channel, linked to a free one of that bus and pool; or none.
  [[nodiscard]] auto request(Direction bus, Pool pool) {
    return instruction({.cycles = costs::request}, [this, bus, pool]() -> std::optional<Source> {
      const auto own = agent_.take_own();
      if (!own) return {};
      if (const auto output = agent_.assign(*own, bus, pool)) return Source{*own, *output};
      agent_.release_own(*own);
      return {};
    });
  }
  /// Its header has left when this ends; or there is no channel free.
  Program open(const Route& route, std::optional<Source>& source);
  /// The same to the next cell. Throws std::runtime_error where no channel is free.
  Program open_next(Direction to, Source& source);
  [[nodiscard]] auto close(const Source& source) {
    return send(source.own, {0, Tag::pathway_end}, costs::end);
  }
  [[nodiscard]] auto begin_message(const Source& source, Data header) {
    return send(source.own, {header, Tag::message_begin}, costs::message);
  }
  [[nodiscard]] auto end_message(const Source& source) {
    return send(source.own, {0, Tag::message_end}, costs::message);
  }
  /// Where a pathway of that cell ends here, the first of those that no accept() has had.
  [[nodiscard]] auto accept(CellNumber origin) {
    auto it =
        until({.cycles = costs::control}, 0, [this, origin] { return posted(Event::pathway_begin, origin); });
    it.pathway = origin;
    return it;
  }

  // -- control

  [[nodiscard]] auto link(Channel channel, const Source& source) {
    return join(source.output, [=, this] { agent_.link(channel, source.output); });
  }
  [[nodiscard]] auto redirect(Channel channel, const Source& source) {
    return join(source.output, [=, this] { agent_.redirect(channel, source.output); });
  }
  [[nodiscard]] auto restore(Channel channel) {
    return instruction({.cycles = costs::control}, [=, this] { agent_.restore(channel); });
  }
  /// Until it has been posted: the channel.
  [[nodiscard]] auto wait_for(Event event) {
    return until({.cycles = costs::control}, 0, [this, event] { return posted(event); });
  }

  // -- memory

  /// Throw std::out_of_range where there is no such word.
  [[nodiscard]] auto load(std::size_t address) {
    return instruction({.cycles = costs::memory},
                       [this, address] { return ++memory_words_, memory().at(address); });
  }
  [[nodiscard]] auto store(std::size_t address, const Word& word) {
    return instruction({.cycles = costs::memory}, [this, address, word] {
      ++memory_words_;
      memory().at(address) = word;
    });
  }
  /// The number of a gate of the memory agent.
  [[nodiscard]] auto spool_in(const MemoryAgent::Spool& spool) {
    return instruction({.cycles = costs::control}, [=, this] { return memory_agent_.spool_in(spool); });
  }
  [[nodiscard]] auto spool_out(Channel own, const Area& area) {
    return instruction({.cycles = costs::control}, [=, this] {
      return memory_agent_.spool_out(
          {.channel = own, .address = area.address, .limit = area.address + area.words, .words = area.words});
    });
  }
  /// Until that gate has nothing more to do; it is free then.
  [[nodiscard]] auto spooled(unsigned gate) {
    return until({.cycles = costs::control}, 0, [this, gate]() -> std::optional<MemoryAgent::Result> {
      const MemoryAgent::Result result = memory_agent_.result(gate);
      if (result.state == MemoryAgent::State::active) return {};
      memory_agent_.release(gate);
      return result;
    });
  }
  /// The queue that an input gate reads goes on in memory from now on, which the program does not notice. Throws std::length_error where no own
  /// channel is free.
  [[nodiscard]] auto extend(unsigned gate, const Area& area) {
    return instruction({.cycles = costs::control}, [=, this] { extend_queue(gate, area); });
  }

 private:
  void stall(std::coroutine_handle<> who, Stalled& stalled);
  [[nodiscard]] Channel bound(const std::array<Channel, gates>& all, unsigned gate) const;
  [[nodiscard]] kit::Requests channels_of(unsigned ins, unsigned outs) const;
  std::optional<Words> read_gates(unsigned ins, unsigned outs);
  std::optional<Channel> posted(Event event, CellNumber origin = kit::nowhere);
  void extend_queue(unsigned gate, const Area& area);
  void handle_events();
  [[nodiscard]] bool is_stalled() const { return !stalled_.empty() && stalled_.back()->depth == depth(); }

  CommunicationAgent& agent_;
  MemoryAgent memory_agent_;
  Code computation_;
  std::array<Handler, events> handlers_;
  std::array<Channel, gates> in_{no_channel, no_channel};
  std::array<Channel, gates> out_{no_channel, no_channel};
  std::array<Channel, most_channels> extends_{};  // by own channel: whose queue goes on in it
  std::vector<Stalled*> stalled_;                 // instructions, of each context that is
  std::uint64_t stalled_cycles_ = 0;
  std::uint64_t memory_words_ = 0;
};

}  // namespace am::iwarp
