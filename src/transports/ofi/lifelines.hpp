// Whether other hosts are still there. libfabric has no word for a host that has gone: what was sent there is sent again, for as long
// as the provider likes, and what is awaited from there does not come. And a node that computes answers nothing, which is no reason
// to give it up. The system of its host does answer, for a connection of TCP on which nothing is ever said: a lifeline, to each peer
// on another host. Where none comes about, between systems that TCP does not connect, nothing is concluded.
//
// A system takes lifelines while its node computes, but keeps only so many that the node has not taken in (net.core.somaxconn), with
// those that have ended. So a node that looks takes them in, up to one for each node, and drops those that have ended.
//
// Nothing is read from a lifeline, so nobody has to prove anything. Used by whoever is in the node.
#pragma once

#include <am/types.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transports/site.hpp"
#include "transports/tcp/doors.hpp"

namespace am::ofi {

class Lifelines {
 public:
  /// Takes lifelines, where the job has other hosts and is to notice that they are gone (Site::host_timeout_ns). Throws am::Error.
  explicit Lifelines(const Site& site);

  /// Where, as others are to be told it; empty: nowhere.
  [[nodiscard]] std::string address(std::size_t room) const;
  /// Begins one to that node, which told this, unless there is one.
  void tie(NodeId node, std::string_view address);
  void cut(NodeId node) noexcept;
  [[nodiscard]] bool any() const noexcept { return !lines_.empty(); }

  struct Broken {
    NodeId node;
    bool host;  ///< the whole of its host is gone, as far as one sees
    std::string why;
  };
  /// The peers whose lines tell that they are gone; each is told once, 3 s after its line has ended: it may have left in order, which
  /// others tell. `now`: CLOCK_MONOTONIC; most calls look at nothing. `leaving`: this node is, and wants to know soon; an end is
  /// told at once then, and a peer that takes no lifeline is gone, too.
  [[nodiscard]] std::vector<Broken> broken(std::uint64_t now, bool leaving);

  static constexpr std::uint64_t between_looks_ns = 500'000'000;

 private:
  struct Line {
    NodeId node;
    std::vector<tcp::Address> left;  // addresses that were not tried
    tcp::Socket socket{};
    bool is_tied = false;
    bool is_refused = false;     // by whom is at the last address that was tried
    std::uint64_t ended_ns = 0;  // when that was seen; 0: it was not
  };
  void take_in();
  void try_next(Line& line) const;
  [[nodiscard]] std::string look(Line& line, std::uint64_t now, bool& host, bool leaving) const;

  const std::uint64_t timeout_ns_;
  const std::size_t most_taken_;
  tcp::Doors doors_;
  std::vector<tcp::Socket> taken_;  // of peers
  std::vector<Line> lines_;         // to peers
  std::uint64_t next_look_ns_ = 0;
};

}  // namespace am::ofi
