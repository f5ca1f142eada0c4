#include "core/report.hpp"

#include <cstdio>
#include <string>

#include "core/engine.hpp"

namespace am::core {

namespace {

std::string milliseconds(std::uint64_t ns) { return std::to_string(ns / 1'000'000) + " ms"; }

std::string describe_peer(Engine& engine, NodeId peer) {
  const shm::NodeCard& card = engine.segment().card(peer);
  switch (static_cast<shm::Standing>(card.standing.load(std::memory_order_acquire))) {
    case shm::Standing::absent:
      return "has not joined";
    case shm::Standing::left:
      return "has left the job";
    case shm::Standing::dead:
      return "is dead";
    case shm::Standing::joined:
      break;
  }
  const std::uint64_t since = card.waiting_since_ns.load(std::memory_order_relaxed);
  if (since == 0) return "does not wait: it computes, or polls without waiting";
  const std::uint64_t now = engine.now();
  const std::string what(card.waiting_for, strnlen(card.waiting_for, sizeof card.waiting_for));
  return "has waited " + milliseconds(now > since ? now - since : 0) + " in " + what;
}

}  // namespace

void print_report(Engine& engine, const char* what, std::uint64_t waited_ns) {
  const NodeId self = engine.job().id;
  std::string text =
      "am: node " + std::to_string(self) + " has waited " + milliseconds(waited_ns) + " in " + what + "\n";
  if (!engine.settings().faults.empty())
    text += "am:   faults are injected: AM_FAULTS=" + engine.settings().faults + "\n";
  constexpr NodeId most_lines = 16;
  NodeId lines = 0;
  for (NodeId peer = 0; peer < engine.job().size && lines < most_lines; ++peer) {
    const std::size_t low = engine.network().queued(peer, Priority::low);
    const std::size_t high = engine.network().queued(peer, Priority::high);
    if (peer == self && low + high == 0) continue;
    ++lines;
    text += "am:   node " + std::to_string(peer) + " " + describe_peer(engine, peer);
    if (low + high != 0) {
      text +=
          "; not yet taken from us: " + std::to_string(low) + " lines low, " + std::to_string(high) + " high";
    }
    text += "\n";
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace am::core
