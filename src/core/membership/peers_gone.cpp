#include "core/membership/peers_gone.hpp"

#include <string>

namespace am::core {

namespace {

bool is_dead(Engine& engine, NodeId peer) { return engine.board().standing(peer) == host::Standing::dead; }

}  // namespace

Error peer_gone_error(Engine& engine, const char* what, NodeId peer) {
  const host::NodeCard& card = engine.board().card(peer);
  return {what, "node " + std::to_string(engine.job().id),
          "node " + std::to_string(peer) + " (pid " + std::to_string(card.pid) + ", host " + card.host +
              ") " + (is_dead(engine, peer) ? "died" : "has left the job"),
          "this operation needs it"};
}

std::optional<NodeId> any_dead(Engine& engine) {
  if (!engine.membership().any_gone()) return {};
  for (NodeId peer = 0; peer < engine.job().size; ++peer) {
    if (engine.membership().is_gone(peer) && is_dead(engine, peer)) return peer;
  }
  return {};
}

std::optional<NodeId> any_gone(Engine& engine) {
  if (!engine.membership().any_gone()) return {};
  if (const auto dead = any_dead(engine)) return dead;
  for (NodeId peer = 0; peer < engine.job().size; ++peer) {
    if (engine.membership().is_gone(peer)) return peer;
  }
  return {};
}

}  // namespace am::core
