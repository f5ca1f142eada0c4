// Events beside ordinary messages, and the sections in which no event runs.
//
// Source: T1 report, sections 3.4 and 3.9, appendix A.2.4-A.2.6, A.9. The register names of the report are a view on
// the same state: am/registers.hpp.
#pragma once

#include <am/impl/arrival.hpp>
#include <am/node.hpp>
#include <functional>
#include <span>
#include <string_view>

namespace am {

/// While one lives, no event runs on this node: no handler, no timelet, no outlet. Nothing is lost; events wait in the
/// network and run at a later poll, in the handler-thread and interrupt modes as soon as the section ends. Costs one flag
/// written on entry and one on exit, in those modes two each. Sections nest. Used by the node's own thread, in computation
/// or in a handler. Inside, use try_ sends: a waiting one would wait with nobody served.
class CriticalSection {
 public:
  explicit CriticalSection(Node& node) noexcept : hold_(node), flag_(node.events_.ee), before_(flag_) {
    flag_ = false;
  }
  ~CriticalSection() { flag_ = before_; }
  CriticalSection(const CriticalSection&) = delete;
  CriticalSection& operator=(const CriticalSection&) = delete;

 private:
  const impl::Hold hold_;
  bool& flag_;
  const bool before_;
};

/// While one lives, events run inside calls that make progress alone, as in the polling mode: not beside the computation, nor in the
/// middle of it. For interfaces whose programs may switch interrupts off (CMAM's). In the polling mode it changes nothing. From the
/// computation. They nest. Posted work and functions that hear of a peer's death are not held: events may run beside these.
class PolledSection {
 public:
  explicit PolledSection(Node& node) noexcept : hold_(node) {}
  PolledSection(const PolledSection&) = delete;
  PolledSection& operator=(const PolledSection&) = delete;

 private:
  const impl::Hold hold_;
};

/// While one lives, the program's messages that calls of this node take in are kept, and run when it has ended: in the next
/// polls, in their order and before any others. libam's own operations go on, so barriers and collectives come to their end. For
/// interfaces in which those run no handlers (CMMD's, with interrupts off). What is kept takes memory, and has no bound but that.
/// From the computation; events are held off outside of the calls. They nest.
class MessagesKept {
 public:
  explicit MessagesKept(Node& node) noexcept;
  ~MessagesKept();
  MessagesKept(const MessagesKept&) = delete;
  MessagesKept& operator=(const MessagesKept&) = delete;

 private:
  const impl::Hold hold_;
  Node& node_;
  const bool before_;
};

/// A message as the default handler sees it while active messages are disabled (T1: `ame` clear, registers `dmh` and
/// `inh`). Valid while the default handler runs.
class Incoming {
 public:
  Incoming(Node& node, const impl::Arrival& message) noexcept : node_(&node), message_(message) {}

  /// The node that it came to.
  [[nodiscard]] Node& node() const noexcept { return *node_; }
  /// Who sent it.
  [[nodiscard]] NodeId from() const noexcept { return message_.from; }
  /// The network that it came by.
  [[nodiscard]] Priority priority() const noexcept { return message_.priority; }
  /// Whether it was sent to a group.
  [[nodiscard]] bool is_multicast() const noexcept { return message_.is_multicast(); }
  /// Its payload; valid while the default handler runs.
  [[nodiscard]] Payload payload() const noexcept { return message_.payload; }
  /// Its arguments, as the words that travelled.
  [[nodiscard]] std::span<const std::uint64_t> words() const noexcept {
    return {message_.packet->words, message_.head.words()};
  }
  /// The handler that the message named: `incoming.names<h>()`, or as text for a log.
  template <auto H>
  [[nodiscard]] bool names() const noexcept {
    return message_.head.handler() == impl::Handler<H>::id();
  }
  [[nodiscard]] std::string_view handler_name() const noexcept;
  /// Runs the handler that the message named, as if active messages were enabled.
  void run() const;

 private:
  Node* node_;
  impl::Arrival message_;
};

}  // namespace am
