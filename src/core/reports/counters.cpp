#include "core/reports/counters.hpp"

#include <algorithm>
#include <am/impl/link.hpp>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "core/events/handler_names.hpp"
#include "core/node/engine.hpp"
#include "core/reports/card_words.hpp"
#include "transports/kinds.hpp"

namespace am {

PeerCounters Counters::peer(NodeId id, Priority priority) const noexcept {
  for (const PeerCounters& c : peers) {
    if (c.peer == id && c.priority == priority) return c;
  }
  return {.peer = id, .priority = priority};
}

Counters counters(Node& node) { return core::read_counters(node.engine().board(), node.id()); }

namespace core {

namespace {

template <class... A>
void append(std::string& text, const char* format, A... args) {
  char line[320];
  std::snprintf(line, sizeof line, format, args...);
  text += line;
}

unsigned long long number(std::uint64_t n) noexcept {
  return n;
}  // printf has a letter for this type everywhere

}  // namespace

Counters read_counters(const host::Board& board, NodeId node) {
  Counters counters{.node = node,
                    .nodes = board.nodes(),
                    .peers = {},
                    .handlers = {},
                    .interrupts = value(board.card(node).interrupts),
                    .refused_accesses = value(board.card(node).refused_accesses)};
  for (NodeId peer = 0; peer < board.nodes(); ++peer) {
    if (!board.is_linked(node, peer) && !board.is_linked(peer, node)) continue;  // and take no memory
    for (const Priority priority : {Priority::low, Priority::high}) {
      const impl::Traffic& t = board.traffic(node)[impl::link_index(peer, priority)];
      const PeerCounters c{peer,
                           priority,
                           value(t.sent_messages),
                           value(t.sent_bytes),
                           value(t.again),
                           value(t.received_messages),
                           value(t.received_bytes)};
      if (c.sent_messages + c.again + c.received_messages != 0) counters.peers.push_back(c);
    }
  }
  const std::size_t handlers = std::min<std::size_t>(board.card(node).handlers, host::max_handlers);
  for (std::size_t id = 0; id < handlers; ++id) {
    const host::HandlerCounts& c = board.handler_counts(node)[id];
    if (value(c.runs) == 0) continue;
    counters.handlers.push_back(
        {std::string(handler_name(board, id)), value(c.runs), value(c.sampled_runs), value(c.sampled_ns)});
  }
  return counters;
}

std::string to_text(const Counters& counters) {
  std::string text;
  append(text, "am: node %u of %u\n", counters.node, counters.nodes);
  if (counters.peers.empty()) text += "  no messages\n";
  if (!counters.peers.empty()) {
    append(text, "  %-6s %-5s %14s %16s %12s %14s %16s\n", "peer", "prio", "sent", "bytes", "again",
           "received", "bytes");
  }
  for (const PeerCounters& c : counters.peers) {
    append(text, "  %-6u %-5s %14llu %16llu %12llu %14llu %16llu\n", c.peer, to_string(c.priority).data(),
           number(c.sent_messages), number(c.sent_bytes), number(c.again), number(c.received_messages),
           number(c.received_bytes));
  }
  if (counters.refused_accesses != 0)
    append(text, "  %llu guarded accesses refused\n", number(counters.refused_accesses));
  if (!counters.handlers.empty()) append(text, "  %14s %20s  %s\n", "runs", "ns each (sampled)", "handler");
  for (const HandlerCounters& c : counters.handlers) {
    const std::string each = c.sampled_runs == 0 ? "-" : std::to_string(c.ns_each());
    append(text, "  %14llu %20s  %s\n", number(c.runs), each.c_str(), c.name.c_str());
  }
  return text;
}

std::string counts_of(const std::shared_ptr<const host::Memory>& memory, NodeId node) {
  std::string text = to_text(read_counters(memory->board(), node));
  for (const Kind& kind : kinds()) {
    if (kind.counts) text += kind.counts(memory, node);
  }
  return text;
}

}  // namespace core
}  // namespace am
