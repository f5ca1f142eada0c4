#include "core/reports/report.hpp"

#include <vector>

#include "core/node/engine.hpp"
#include "core/reports/card_words.hpp"
#include "core/reports/job_watch.hpp"
#include "core/reports/once.hpp"
#include "core/reports/text_out.hpp"

namespace am::core {

namespace {

/// What lies in the queue to `peer`, and how much of that reads as packets from where the peer has said that it is.
void describe_untaken(TextOut& out, Engine& engine, NodeId peer, Priority priority) {
  const std::size_t queued = engine.network().queued(peer, priority);
  out << queued << " " << to_string(priority);
  if (queued == 0 || !engine.onlooker().queues().connected(engine.job().id, peer)) return;
  const Queues::Content content = engine.onlooker().queues().content(engine.job().id, peer, priority);
  out << " (" << host::Counted{content.packets, "packet"} << " in " << host::Counted{content.lines, "line"}
      << ")";
}

/// Whether this node sees more than what all who wait alike say: what it has sent and nobody takes, what it holds off itself.
bool has_news_of_its_own(Engine& engine) {
  if (engine.held_off() != 0 || runs_something(engine.onlooker(), engine.job().id)) return true;
  for (NodeId peer = 0; peer < engine.job().size; ++peer) {
    for (const Priority priority : {Priority::low, Priority::high}) {
      if (engine.network().queued(peer, priority) != 0) return true;
    }
  }
  return false;
}

/// The nodes that wait for each other, from this one on and back to it. Nodes of other hosts say nothing of that.
void describe_circle(TextOut& out, Engine& engine) {
  const NodeId self = engine.job().id;
  const auto next = [&](NodeId node) {
    return engine.board().card(node).waits_for.load(std::memory_order_relaxed);
  };
  std::vector<NodeId> circle;
  for (std::uint32_t node = self + 1; node != 0 && node <= engine.job().size; node = next(node - 1)) {
    if (node - 1 == self && !circle.empty()) {
      out << "am:   these nodes wait for each other:";
      for (const NodeId one : circle) out << " " << one << " ->";
      out << " " << self << "\n";
      return;
    }
    if (circle.size() == engine.job().size) return;  // one that does not lead back here
    circle.push_back(node - 1);
  }
}

}  // namespace

void print_report(Engine& engine, const char* what, std::uint64_t waited_ns) {
  const NodeId self = engine.job().id;
  const std::uint64_t alike_ns = engine.settings().report_after_ns / 4;
  if (!has_news_of_its_own(engine) && !first_to_say(engine.board(), what, alike_ns)) return;
  TextOut out(&write_to_stderr);
  out << "am: node " << self << " has waited ";
  describe_ms(out, waited_ns);
  out << " in " << what;
  describe_needed(out, engine.card());
  if (runs_something(engine.onlooker(), self)) {
    out << "; it runs ";
    describe_running(out, engine.onlooker(), self);
  }
  describe_held_off(out, engine.held_off(), "here");
  out << "\n";
  if (!engine.settings().faults.empty())
    out << "am:   faults are injected: AM_FAULTS=" << engine.settings().faults << "\n";
  describe_circle(out, engine);
  constexpr NodeId most_lines = 16;
  NodeId lines = 0;
  for (NodeId peer = 0; peer < engine.job().size && lines < most_lines; ++peer) {
    const std::size_t low = engine.network().queued(peer, Priority::low);
    const std::size_t high = engine.network().queued(peer, Priority::high);
    if (peer == self && low + high == 0) continue;
    ++lines;
    out << "am:   node " << peer;
    describe_state(out, engine.onlooker(), peer);
    if (low + high != 0) {
      out << "; not yet taken from this node: ";
      describe_untaken(out, engine, peer, Priority::low);
      out << ", ";
      describe_untaken(out, engine, peer, Priority::high);
    }
    out << "\n";
  }
}

}  // namespace am::core
