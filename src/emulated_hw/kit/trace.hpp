// What a machine did under its clock, cycle by cycle: which messages there were, which link carried which of them when, when they were
// there, and what nodes did meanwhile. A network and its nodes tell it while they run; amsim shows it to people
// (tools/amsim/trace). It knows no machine: kinds of messages and of what nodes do are numbers, whose names its machine gives.
//
// A link is an output port of a router, which leads to another or to a node's interface. The way from an interface into its router is one
// more, `injection`, of which the node stands in the router's place.
//
// Memory is bounded: with `most` records of one sort it is full, and keeps nothing that is told later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emulated_hw/kit/cycle.hpp"
#include "emulated_hw/kit/topology.hpp"

namespace am::kit {

class Trace {
 public:
  struct Names {
    std::string title;
    std::vector<std::string> messages{"packet"};  ///< by kind
    std::vector<std::string> activities{};        ///< of nodes, by number
  };
  static constexpr std::size_t usual_most = 1 << 18;  ///< 6 MiB of passages; a page of 4 MB
  static constexpr unsigned injection = 255;          ///< the link from a node's interface into its router
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};

  explicit Trace(const Topology& topology, std::size_t most = usual_most);

  // -- what networks and nodes tell; cycles never go back

  /// A message leaves its interface. What it is called below: a number, or `nothing` when there is no room for it.
  [[nodiscard]] std::uint32_t begins(NodeNumber from, NodeNumber to, unsigned kind);
  /// From this cycle on a link carries so many flits of it, one in each.
  void passes(std::uint32_t message, RouterNumber router, unsigned port, Cycle now, unsigned flits);
  /// All of it has come to that interface.
  void comes(std::uint32_t message, NodeNumber node, Cycle now);
  /// What a node does in this cycle; `anew`: not what it did in the one before, if it is called the same.
  void does(NodeNumber node, unsigned what, Cycle now, bool anew);
  /// It is over. What nodes have been doing so far is complete then.
  void ends(Cycle now);

  // -- what there is

  struct Message {
    NodeNumber from = 0;
    NodeNumber to = 0;  ///< of a multicast, the last of its nodes
    std::uint32_t kind = 0;
  };
  /// Flits of one message over one link, without a gap.
  struct Passage {
    Cycle begin = 0;
    std::uint32_t message = 0;
    RouterNumber router = 0;  ///< or the node that injects
    std::uint32_t port = 0;
    std::uint32_t flits = 0;
  };
  struct Arrival {
    Cycle at = 0;
    std::uint32_t message = 0;
    NodeNumber node = 0;
  };
  struct Activity {
    Cycle begin = 0;
    Cycle end = 0;
    NodeNumber node = 0;
    std::uint32_t what = nothing;
  };
  Names names;
  [[nodiscard]] const Topology& topology() const noexcept { return topology_; }
  [[nodiscard]] const std::vector<Message>& messages() const noexcept { return messages_; }  ///< by number
  [[nodiscard]] const std::vector<Passage>& passages() const noexcept { return passages_; }  ///< by time
  [[nodiscard]] const std::vector<Arrival>& arrivals() const noexcept { return arrivals_; }  ///< by time
  [[nodiscard]] const std::vector<Activity>& activities() const noexcept { return activities_; }
  /// Of the run; where it was longer than there is room for, until that was full.
  [[nodiscard]] Cycle cycles() const noexcept { return cycles_; }
  /// Says from when on things are missing, for people; empty when nothing is.
  [[nodiscard]] std::string what_is_missing() const;

  /// How a copy of a message came from the interface that sent it to the one where it arrived: the first passage on each link. Empty where
  /// a part is missing.
  struct Way {
    Arrival end;
    std::vector<Passage> passages;
  };
  [[nodiscard]] std::vector<Way> ways() const;

 private:
  [[nodiscard]] std::vector<std::vector<Passage>> first_passages() const;  // on each link, by message
  template <class Record>
  bool has_room(const std::vector<Record>& records, Cycle now) noexcept;
  [[nodiscard]] std::size_t link(RouterNumber router, unsigned port) const noexcept {
    return port == injection ? router : nodes_ + std::size_t{router} * ports_ + port;
  }

  const Topology topology_;
  const NodeNumber nodes_;
  const unsigned ports_;
  const std::size_t most_;
  bool is_full_ = false;
  Cycle full_at_ = 0;
  Cycle cycles_ = 0;
  std::vector<Message> messages_;
  std::vector<Passage> passages_;
  std::vector<Arrival> arrivals_;
  std::vector<Activity> activities_;
  std::vector<std::uint32_t> last_on_;  // by link: its last passage
  std::vector<Activity> doing_;         // by node: not over yet
};

}  // namespace am::kit
