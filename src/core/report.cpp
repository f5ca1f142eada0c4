#include "core/report.hpp"

#include "core/card_words.hpp"
#include "core/engine.hpp"
#include "core/text_out.hpp"

namespace am::core {

namespace {

void describe_peer(TextOut& out, Engine& engine, NodeId peer) {
  const shm::NodeCard& card = engine.segment().card(peer);
  switch (standing_of(card)) {
    case shm::Standing::absent:
      out << "has not joined";
      return;
    case shm::Standing::left:
      out << "has left the job";
      return;
    case shm::Standing::dead:
      out << "is dead";
      return;
    case shm::Standing::joined:
      break;
  }
  out << "has ";
  if (!describe_wait(out, card, engine.now())) out << "not waited: it computes, or polls without waiting";
}

}  // namespace

void print_report(Engine& engine, const char* what, std::uint64_t waited_ns) {
  const NodeId self = engine.job().id;
  TextOut out(&write_to_stderr);
  out << "am: node " << self << " has waited ";
  describe_ms(out, waited_ns);
  out << " in " << what << "\n";
  if (!engine.settings().faults.empty())
    out << "am:   faults are injected: AM_FAULTS=" << engine.settings().faults << "\n";
  constexpr NodeId most_lines = 16;
  NodeId lines = 0;
  for (NodeId peer = 0; peer < engine.job().size && lines < most_lines; ++peer) {
    const std::size_t low = engine.network().queued(peer, Priority::low);
    const std::size_t high = engine.network().queued(peer, Priority::high);
    if (peer == self && low + high == 0) continue;
    ++lines;
    out << "am:   node " << peer << " ";
    describe_peer(out, engine, peer);
    if (low + high != 0) out << "; not yet taken from us: " << low << " lines low, " << high << " high";
    out << "\n";
  }
}

}  // namespace am::core
