// All windows into one node on one lane, and which of them to look at: those of whom there was news lately. The news bit of such
// a sender stays set, so that who counts a packet has nothing more to do; when nothing has come for a while it is taken back, with
// one more look afterwards.
//
// Used by the owning node's thread only.
#pragma once

#include <am/impl/ring.hpp>
#include <cstdint>
#include <vector>

#include "host/zeroed_array.hpp"
#include "transports/emulated/windows.hpp"
#include "transports/lookout.hpp"

namespace am::emulated {

class Arrivals {
 public:
  Arrivals(const Windows& windows, NodeId self, Lane lane);

  /// Begins a round. Whether it will have anything.
  bool look() noexcept;
  /// The next packet of a sender that was not deferred in this round, its header, and whose it is; or null.
  [[nodiscard]] const impl::Packet* receive(NodeId& from, impl::Header& head) noexcept;
  /// Gives back what receive() returned; its sender is to know soon, or at once.
  void release(NodeId from, std::size_t lines, bool at_once) noexcept;
  /// Leaves the packet that receive() returned from that node until the next round.
  void defer(NodeId from) noexcept;

  /// Due every 64 rounds or so: hands back credit, and forgets who was quiet.
  void look_after_quiet() noexcept;
  /// Whether a packet has come besides `lent`, which is the one that receive() gave last (null: none). Only looks.
  [[nodiscard]] bool waits(const impl::Packet* lent) const noexcept;
  /// Whether a packet has come that was not deferred, shown or not: then the next round has it.
  [[nodiscard]] bool look_everywhere() noexcept;
  /// Adds the places where news will show. True when there is something already.
  bool describe(Lookout& lookout) const;

 private:
  struct alignas(impl::line_bytes) Inbound {
    impl::Consumer ring;
    const std::atomic<std::uint64_t>* arrived;
    const std::atomic<std::uint64_t>* shown;
    NodeId from;
    std::uint32_t quiet;        // calls of look_after_quiet() since anything came
    std::uint64_t taken;        // packets
    kit::Entry known;           // what had arrived at the last look there
    std::uint64_t looked_at;    // `taken` at the last of these
    std::uint64_t deferred_at;  // 1 + number of the packet that was deferred last
  };

  /// Acquire pairs with the release of whoever has shown it, after all that was done to bring it.
  [[nodiscard]] static bool has_packet(const Inbound& in) noexcept {
    static_cast<void>(in.ring.ready());  // written before it is shown: so its line comes along
    return kit::Entry{in.shown->load(std::memory_order_acquire)}.beyond(in.taken) > 0 ||
           in.known.beyond(in.taken) > 0;
  }
  [[nodiscard]] bool any() const noexcept;
  void take_news() noexcept;
  void warm(NodeId from) noexcept;
  [[nodiscard]] bool forget(Inbound& in) noexcept;
  void give_credit(Inbound& in) noexcept;
  template <class F>
  bool any_sender(F f) const noexcept;

  const Windows& windows_;
  const NodeId self_;
  const Lane lane_;
  News& news_;
  host::ZeroedArray<Inbound> inbound_;
  std::vector<Inbound*> hot_;
  std::vector<std::uint64_t> known_;  // news bits of those in hot_
  std::size_t at_ = 0;                // in hot_: where the round is
  std::size_t left_ = 0;              // windows that it has not come to the end of
  const Inbound* lender_ = nullptr;   // of the packet that was given last
};

}  // namespace am::emulated
