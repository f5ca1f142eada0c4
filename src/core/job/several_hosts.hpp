// A job of several hosts: what they tell each other before there is a network between them. Each host has a board of its own with
// a card for every node (host/board.hpp); its first node speaks for it, in rounds in which each host brings a text.
//
// First round, before networks are made: the job's name and key, which the first host has made up, unless all know them. Second
// round, when all nodes of a host have joined: their facts, addresses included. So hosts exchange texts, not nodes.
//
// Whoever can bring a text is of the job: that is the business of who carries them (pmix.cpp). The texts are checked for being
// another version's, not for malice: each begins with the version of its board (host/board.hpp).
#pragma once

#include <am/error.hpp>
#include <am/types.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/memory.hpp"

namespace am::core {

class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  /// Brings this host's text, waits for the others', and gives all, by host. Throws am::Error.
  virtual std::vector<std::string> round(const std::string& own) = 0;
};

/// Where the nodes are.
struct Placement {
  std::vector<std::vector<NodeId>>
      hosts;  ///< their nodes, in ascending order; hosts in the order of their first nodes
  std::uint32_t own = 0;

  [[nodiscard]] std::span<const NodeId> here() const noexcept { return hosts[own]; }
};

/// The error for texts that another version of libam has written. `difference` is what differs, for the end of the sentence.
[[nodiscard]] Error other_version(const std::string& who, const char* what = "join the job",
                                  const std::string& difference = "");

/// Memory of this host, with nobody in it yet.
[[nodiscard]] std::shared_ptr<host::Memory> make_memory(const Placement& placement);
/// Whether the job's name and key travel in the first round, from the first host to all; or are on all boards already, as they may
/// not go where texts go.
enum class Secrets : std::uint8_t { travel, are_known };
/// The first round. Throws am::Error.
void agree(const host::Board& board, Exchange& exchange, Secrets secrets = Secrets::travel);
/// The second round (Job::exchange_cards): when all nodes of this host have joined. Those who wait for the job are told then. Throws
/// am::Error.
void exchange_facts(const host::Board& board, const Placement& placement, Exchange& exchange);
/// The two halves of it, for who exchanges texts in another way: this host's text; and all, by host.
[[nodiscard]] std::string facts_of_host(const host::Board& board, const Placement& placement);
void take_facts(const host::Board& board, const Placement& placement, const std::vector<std::string>& all);

}  // namespace am::core
