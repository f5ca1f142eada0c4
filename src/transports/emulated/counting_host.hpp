// What the routers of a machine see of the nodes, where messages are counted in their windows, by lane, and besides stores and answers to
// fetches (accesses.hpp). Those are no news to a processor: who has begun one looks.
//
// Any thread, any process, several at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transports/emulated/showing.hpp"
#include "transports/emulated/windows.hpp"

namespace am::emulated {

/// Of a live network, whose `Counted` begins with the lanes of its windows; and, where it has accesses, stored, answered.
template <class Mesh, class Counted>
class CountingHost final : public Mesh::Nodes {
 public:
  explicit CountingHost(const Windows& windows) noexcept : windows_(windows), showing_(windows) {}
  [[nodiscard]] std::atomic<std::uint64_t>& arrivals(NodeId at, NodeId from, Counted what) noexcept override {
    return windows_.window(at, from).arrived[static_cast<std::size_t>(what)];
  }
  void arrived(NodeId at, NodeId from, Counted what) noexcept override {
    if (is_packet(what)) showing_.note(at, from, static_cast<Lane>(what));
  }
  void show(NodeId at, NodeId from, Counted what) noexcept override {
    if (is_packet(what)) return showing_.show(at, from, static_cast<Lane>(what));
    showing_.wake(static_cast<std::size_t>(what) == counts_stores ? from : at);
  }
  void has_room(NodeId at) noexcept override { showing_.has_room(at); }

 private:
  static_assert(counts_stores == 2 && counts_answers == 3);
  static constexpr bool is_packet(Counted what) noexcept {
    constexpr bool counts_accesses = requires { Counted::stored; };
    return !counts_accesses || static_cast<std::size_t>(what) < counts_stores;
  }

  const Windows& windows_;
  const Showing showing_;
};

}  // namespace am::emulated
