#include "core/messages/networks.hpp"

#include <am/error.hpp>

#include <algorithm>

namespace am::core {

namespace {

std::string names_of(const std::vector<Wanted>& wanted) {
  std::string names;
  for (const Wanted& network : wanted) (names += names.empty() ? "" : ",") += network.kind->name;
  return names;
}

}  // namespace

std::optional<std::vector<Wanted>> parse_networks(std::string_view text, std::span<const Kind> kinds) {
  std::vector<Wanted> wanted;
  if (text == "auto") {
    for (const Kind& kind : kinds) wanted.push_back({&kind, {}});
    return wanted;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const std::size_t colon = std::min(part.find(':'), part.size());
    const auto kind = std::ranges::find(kinds, part.substr(0, colon), &Kind::name);
    if (kind == kinds.end() || std::ranges::find(wanted, &*kind, &Wanted::kind) != wanted.end())
      return std::nullopt;
    if (colon != part.size() && kind->options.empty()) return std::nullopt;
    wanted.push_back({&*kind, colon == part.size() ? std::string_view{} : part.substr(colon + 1)});
    begin = end + 1;
  }
  return wanted;
}

NetworkOfPeers choose_networks(const std::vector<Wanted>& wanted, const host::Board& board,
                               bool in_interrupts) {
  NetworkOfPeers chosen;
  std::vector<std::size_t> leads_to;  // by peer: its place in `wanted`
  for (NodeId peer = 0; peer < board.nodes(); ++peer) {
    const bool here = board.is_here(peer);
    const auto leads = std::ranges::find_if(wanted, [here](const Wanted& network) {
      return here ? network.kind->within_a_host : network.kind->between_hosts;
    });
    if (leads == wanted.end()) {
      throw Error("choose the networks",
                  "none of AM_TRANSPORT=" + names_of(wanted) + " leads to node " + std::to_string(peer) +
                      ", which is on " + (here ? "this host" : "another host"),
                  "add one that does; aminfo lists them");
    }
    if (in_interrupts && !leads->kind->in_interrupts) {
      throw Error("choose the networks",
                  std::string(leads->kind->meaning) + ", which leads to node " + std::to_string(peer) +
                      (here ? "" : " on another host") +
                      ", does not work where messages interrupt the program (AM_DISPATCH=interrupt)",
                  "run with AM_DISPATCH=thread or poll");
    }
    leads_to.push_back(static_cast<std::size_t>(leads - wanted.begin()));
  }
  chosen.of_peer.resize(leads_to.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::ranges::find(leads_to, i) == leads_to.end()) continue;
    for (std::size_t peer = 0; peer < leads_to.size(); ++peer) {
      if (leads_to[peer] == i) chosen.of_peer[peer] = static_cast<std::uint8_t>(chosen.used.size());
    }
    chosen.used.push_back(wanted[i]);
  }
  return chosen;
}

std::string describe(const NetworkOfPeers& chosen) {
  const auto name = [](const Wanted& network) { return network.kind->meaning; };
  if (chosen.used.size() == 1) return std::string(name(chosen.used.front())) + " to all nodes";
  std::string text;
  for (std::size_t i = 0; i < chosen.used.size(); ++i) {
    const auto peers = std::ranges::count(chosen.of_peer, static_cast<std::uint8_t>(i));
    text += (text.empty() ? "" : ", ") + std::string(name(chosen.used[i])) + " to " + std::to_string(peers) +
            (peers == 1 ? " node" : " nodes");
  }
  return text;
}

}  // namespace am::core
