// How the CM-5's messages, which come in any order, are put together to packets, and these in order: beside each window, by whoever brings a
// message (emulated_hw/cm5/live_tree.hpp).
//
//   come     by the packet and the receiver's link: how many of its pieces have come by that link, as kit::Entry
//   due      by its sender, before the first piece: which packet that is, and how many pieces have come of it, and of those before it
//            that had the same place, when it is whole
//   arrived  (Window) of an ordered lane, packets that are whole, and before which all are; of an unordered one, messages
//
// Who has counted a piece looks whether the next packet is whole, and counts it, as long as it is so. Of two who count pieces at once the
// later one sees both. What was counted before its carrier was killed is told again (kit::LiveNodes::arrived), so nothing is forgotten.
//
// Any thread, any process, several at once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "emulated_hw/cm5/live_message.hpp"
#include "emulated_hw/cm5/live_tree.hpp"
#include "transports/emulated/showing.hpp"
#include "transports/emulated/windows.hpp"

namespace am::emulated {

/// Beside a window.
struct PieceWindow {
  static constexpr std::size_t links = cm5::Tree::links;
  using Come = std::array<std::atomic<std::uint64_t>, links>;
  struct alignas(host::line / 2) Packet {
    Come come;
    std::atomic<std::uint64_t> due;  ///< number of the packet and 1: 20 bits; pieces: the lowest 20
  };
  /// More than a ring has lines, so that no two packets that are under way have one place.
  static constexpr std::uint32_t low_packets = 128;
  static constexpr std::uint32_t high_packets = 64;
  static_assert(low_packets >= low_lines && high_packets >= high_lines && low_packets <= cm5::live_packets);

  std::array<Packet, low_packets> low;
  std::array<Packet, high_packets> high;
  std::array<Come, 2> unordered;  ///< by priority

  [[nodiscard]] Packet& packet(Lane lane, std::uint64_t number) noexcept {
    return lane == Lane::low ? low[number % low_packets] : high[number % high_packets];
  }
  [[nodiscard]] Come& come(const cm5::Counted& what) noexcept {
    return what.lane < ordered_lanes ? packet(static_cast<Lane>(what.lane), what.packet).come
                                     : unordered[what.lane - ordered_lanes];
  }
  /// So many pieces of that packet, of an ordered lane, will come.
  void announce(Lane lane, std::uint64_t number, std::size_t pieces) noexcept {
    std::atomic<std::uint64_t>& due = packet(lane, number).due;
    const std::uint64_t all = (due.load(std::memory_order_relaxed) + pieces) & counts;
    due.store(((number + 1) & counts) << number_at | all, std::memory_order_release);
  }
  /// Whether that packet has been announced, and all of it has come.
  [[nodiscard]] bool is_whole(Lane lane, std::uint64_t number) noexcept {
    Packet& its = packet(lane, number);
    const std::uint64_t due = its.due.load(std::memory_order_seq_cst);
    return due >> number_at == ((number + 1) & counts) && ((due ^ all_of(its.come)) & counts) == 0;
  }
  [[nodiscard]] static std::uint64_t all_of(const Come& come) noexcept {
    std::uint64_t all = 0;
    for (const auto& by_link : come) all += kit::Entry{by_link.load(std::memory_order_seq_cst)}.count();
    return all;
  }

 private:
  static constexpr unsigned number_at = 44;
  static constexpr std::uint64_t counts = (1 << 20) - 1;
};

/// What the routers see of the nodes.
class PieceHost final : public cm5::LiveTree::Nodes {
 public:
  explicit PieceHost(const Windows& windows) noexcept : windows_(windows), showing_(windows) {}

  [[nodiscard]] PieceWindow& pieces(NodeId at, NodeId from) const noexcept {
    return *reinterpret_cast<PieceWindow*>(windows_.beside_window(at, from));
  }
  [[nodiscard]] std::atomic<std::uint64_t>& arrivals(NodeId at, NodeId from,
                                                     cm5::Counted what) noexcept override {
    return pieces(at, from).come(what)[what.link];
  }
  void arrived(NodeId at, NodeId from, cm5::Counted what) noexcept override {
    const auto lane = static_cast<Lane>(what.lane);
    std::atomic<std::uint64_t>& arrived = windows_.window(at, from).arrived[what.lane];
    PieceWindow& pieces = this->pieces(at, from);
    for (;;) {
      std::uint64_t seen = arrived.load(std::memory_order_seq_cst);
      const kit::Entry last{seen};
      const bool is_next = what.lane < ordered_lanes
                               ? pieces.is_whole(lane, last.count())
                               : kit::Entry{last}.beyond(PieceWindow::all_of(pieces.come(what))) < 0;
      if (!is_next) break;
      arrived.compare_exchange_strong(seen, last.with(0, last.number() + 1).word, std::memory_order_seq_cst);
    }
    showing_.note(at, from, lane);
  }
  void show(NodeId at, NodeId from, cm5::Counted what) noexcept override {
    const Window& window = windows_.window(at, from);
    if (window.shown[what.lane].load(std::memory_order_relaxed) ==
        window.arrived[what.lane].load(std::memory_order_acquire))
      return;  // of no packet the last piece
    showing_.show(at, from, static_cast<Lane>(what.lane));
  }
  void has_room(NodeId at) noexcept override { showing_.has_room(at); }

 private:
  const Windows& windows_;
  const Showing showing_;
};

}  // namespace am::emulated
