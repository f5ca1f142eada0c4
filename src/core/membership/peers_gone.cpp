#include "core/membership/peers_gone.hpp"

#include <string>

#include "core/reports/card_words.hpp"

namespace am::core {

namespace {

bool is_dead(Engine& engine, NodeId peer) { return engine.board().standing(peer) == host::Standing::dead; }

}  // namespace

Error peer_gone_error(Engine& engine, const char* what, NodeId peer) {
  const host::NodeCard& card = engine.board().card(peer);
  return {what, "node " + std::to_string(engine.job().id),
          "node " + std::to_string(peer) + " (pid " + std::to_string(card.pid) + ", host " + card.host +
              ") " +
              (is_dead(engine, peer) ? "died" : text_of([&](TextOut& out) { describe_leaving(out, card); })),
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

namespace am::impl {

bool NeededPeer::is_missing() noexcept {
  core::Engine& engine = node_.engine();
  core::LastMessages last_messages(engine, since_);
  const bool missing = last_messages.are_in([&]() -> std::optional<NodeId> {
    if (!peer_) return core::any_dead(engine);
    return engine.membership().is_gone(*peer_) ? peer_ : std::nullopt;
  });
  since_ = last_messages.since();
  if (missing) missing_ = last_messages.missing();
  return missing;
}

void NeededPeer::give_up() const { throw core::peer_gone_error(node_.engine(), "wait_until", missing_); }

}  // namespace am::impl
