#include "core/job/several_hosts.hpp"

#include <am/error.hpp>

#include <algorithm>
#include <cstring>

#include "core/membership/standing.hpp"
#include "host/bell.hpp"

namespace am::core {

namespace {

/// Which libam it is: at the head of every text.
struct Edition {
  std::uint64_t magic = host::magic;
  std::uint32_t version = host::version;
  std::uint32_t facts_bytes = sizeof(host::NodeFacts);
};

/// What hosts tell in the first round.
struct Greeting {
  Edition edition;
  std::byte name[16];
  std::byte key[32];
};

template <class T>
std::string text_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

void end_texts(host::NodeFacts& facts) noexcept {
  for (const std::span<char> text :
       {std::span<char>(facts.program), std::span<char>(facts.host), std::span<char>(facts.address)})
    text.back() = 0;
}

/// Throws am::Error where a text is not one of this libam's, with both versions where they can be told.
void check_edition(const std::string& text, const std::string& who) {
  constexpr Edition own;
  Edition theirs{};
  if (text.size() < sizeof theirs) throw other_version(who);
  std::memcpy(&theirs, text.data(), sizeof theirs);
  if (theirs.magic != own.magic) throw other_version(who);
  if (theirs.version != own.version || theirs.facts_bytes != own.facts_bytes) {
    throw other_version(who, "join the job",
                        ": the version of its board is " + std::to_string(theirs.version) + ", here it is " +
                            std::to_string(own.version));
  }
}

}  // namespace

Error other_version(const std::string& who, const char* what, const std::string& difference) {
  return {what, who + " runs another version of libam" + difference, "run programs of one libam in a job"};
}

std::shared_ptr<host::Memory> make_memory(const Placement& placement) {
  std::size_t nodes = 0;
  for (const std::vector<NodeId>& host : placement.hosts) nodes += host.size();
  std::shared_ptr<host::Memory> memory = host::Memory::create(static_cast<NodeId>(nodes));
  const host::Board& board = memory->board();
  board.job().this_host = placement.own;
  for (std::uint32_t host = 0; host < placement.hosts.size(); ++host) {
    for (const NodeId node : placement.hosts[host]) board.card(node).on_host = host;
  }
  return memory;
}

void agree(const host::Board& board, Exchange& exchange, Secrets secrets) {
  host::JobHeader& job = board.job();
  Greeting own{};
  if (secrets == Secrets::travel) {
    std::ranges::copy(job.name, own.name);
    std::ranges::copy(job.key, own.key);
  }
  const std::vector<std::string> all = exchange.round(text_of(own));
  Greeting first{};
  for (std::uint32_t host = 0; host < all.size(); ++host) {
    const std::string who = "host " + std::to_string(host);
    check_edition(all[host], who);
    if (all[host].size() != sizeof first) throw other_version(who);
    if (host == 0) std::memcpy(&first, all[host].data(), sizeof first);
  }
  if (secrets == Secrets::travel) {
    std::ranges::copy(first.name, job.name);
    std::ranges::copy(first.key, job.key);
  }
}

std::string facts_of_host(const host::Board& board, const Placement& placement) {
  std::string own = text_of(Edition{});
  for (const NodeId node : placement.here()) {
    const host::NodeFacts& facts = board.card(node);
    own += text_of(facts);
  }
  return own;
}

void take_facts(const host::Board& board, const Placement& placement, const std::vector<std::string>& all) {
  for (std::uint32_t host = 0; host < placement.hosts.size(); ++host) {
    if (host == placement.own) continue;
    const std::vector<NodeId>& nodes = placement.hosts[host];
    const std::string who = "the host of node " + std::to_string(nodes.front());
    if (all.size() != placement.hosts.size()) throw other_version(who);
    check_edition(all[host], who);
    if (all[host].size() != sizeof(Edition) + nodes.size() * sizeof(host::NodeFacts))
      throw other_version(who);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      host::NodeFacts facts;
      std::memcpy(&facts, all[host].data() + sizeof(Edition) + i * sizeof facts, sizeof facts);
      facts.on_host = host;
      end_texts(facts);
      mark_joined(board, nodes[i], facts);
    }
  }
  // Where this host has the first one's clock, its Count begins there. (Else: CountKeeper.)
  const host::NodeFacts& first = board.card(placement.hosts.front().front());
  if (first.clock != 0 && first.clock == board.card(placement.here().front()).clock)
    board.job().epoch_ns.store(first.epoch_ns, std::memory_order_relaxed);
  board.job().joined.store(board.nodes(), std::memory_order_release);  // pairs with Joining::wait_for
  for (const NodeId node : placement.here()) host::nudge(board, node);
}

void exchange_facts(const host::Board& board, const Placement& placement, Exchange& exchange) {
  take_facts(board, placement, exchange.round(facts_of_host(board, placement)));
}

}  // namespace am::core
