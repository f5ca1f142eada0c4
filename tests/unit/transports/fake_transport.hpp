// A network that a test plays by hand: it says how much room there is and what arrives; what is sent is kept to be looked
// at. It keeps to the contract of transports/transport.hpp and aborts when its user does not.
#pragma once

#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <set>

#include "transports/unordered_lanes.hpp"

namespace test {

/// A packet in memory of its own: the line of header and words, and room for the largest payload.
struct Image {
  am::impl::Packet packet;
  std::array<std::byte, am::impl::packet_payload_bytes> payload;
};

class FakeTransport : public am::Transport, public am::UnorderedLanes {
 public:
  using NodeId = am::NodeId;
  using Priority = am::Priority;
  using Link = std::pair<NodeId, Priority>;

  struct Sent {
    NodeId to;
    Priority priority;
    std::unique_ptr<Image> image;
  };

  // -- for the test --------------------------------------------------------------------------------------------------

  std::map<Link, std::size_t> room;              ///< packets that a link still takes; absent: any number
  std::map<Link, std::size_t> claims;            ///< how often a claim got here
  std::map<Link, std::size_t> unordered_claims;  ///< of these, how often one for an unordered packet
  bool unordered_full = false;                   ///< whatever room there is for others
  std::vector<Sent> sent;                        ///< in the order of commits
  std::size_t rounds = 0, arms = 0, disarms = 0;
  bool arms_refused = false;
  std::size_t most_at_once = am::impl::packet_payload_bytes;  ///< of a payload; not more than that

  /// A packet that carries a number in its first word comes from `source`. Those of different lanes wait for themselves.
  void arrive(NodeId source, Priority priority, std::uint64_t number, std::uint32_t lane = 0) {
    auto image = std::make_unique<Image>();
    image->packet.header = am::impl::Header::make(0, 1, 0, 0).bits;
    image->packet.origin = source;
    image->packet.words[0] = number;
    inbound_[{priority, source, lane}].push_back(std::move(image));
  }
  /// The first packet that was sent comes from `source`.
  void arrive_from(NodeId source) {
    inbound_[{sent.front().priority, source, 0}].push_back(std::move(sent.front().image));
    sent.erase(sent.begin());
  }

  // -- the seam ------------------------------------------------------------------------------------------------------

  [[nodiscard]] std::string_view name() const noexcept override { return "fake"; }
  [[nodiscard]] Slot claim(NodeId to, Priority priority, std::size_t words,
                           std::size_t payload_bytes) noexcept override {
    ++claims[{to, priority}];
    if (closed_.contains(to)) return {nullptr, am::Status::unreachable, to, priority};
    const auto left = room.find({to, priority});
    if (left != room.end() && left->second == 0) return {nullptr, am::Status::again, to, priority};
    auto& image = claimed_[{to, priority}];
    if (image == nullptr) image = std::make_unique<Image>();
    std::memset(static_cast<void*>(image.get()), 0xee, sizeof *image);
    const std::size_t bytes = std::min(payload_bytes, most_at_once);
    const std::size_t lines = am::impl::payload_lines(words, bytes);
    return {&image->packet,
            am::Status::ok,
            to,
            priority,
            image->packet.payload(words, lines),
            bytes,
            am::impl::Header::make(0, 0, lines, 0).bits};
  }
  [[nodiscard]] Slot claim_unordered(NodeId to, Priority priority, std::size_t words,
                                     std::size_t payload_bytes) noexcept override {
    ++unordered_claims[{to, priority}];
    if (payload_bytes > am::impl::packet_payload_bytes) std::abort();
    if (unordered_full) return {nullptr, am::Status::again, to, priority};
    return claim(to, priority, words, payload_bytes);
  }
  [[nodiscard]] UnorderedLanes* unordered_lanes(NodeId) noexcept override { return this; }
  void commit(const Slot& slot, am::impl::Header header) noexcept override {
    auto& image = claimed_[{slot.to, slot.priority}];
    if (image == nullptr || &image->packet != slot.packet) std::abort();
    image->packet.header = header.bits | slot.mark;
    sent.push_back({slot.to, slot.priority, std::move(image)});
    if (const auto left = room.find({slot.to, slot.priority}); left != room.end()) --left->second;
  }

  [[nodiscard]] bool has_room(NodeId to, Priority priority, std::size_t /*payload_bytes*/) noexcept override {
    const auto left = room.find({to, priority});
    return closed_.contains(to) || left == room.end() || left->second != 0;
  }

  [[nodiscard]] bool has_room_unordered(NodeId to, Priority priority,
                                        std::size_t payload_bytes) noexcept override {
    return !unordered_full && has_room(to, priority, payload_bytes);
  }

  [[nodiscard]] View receive(Priority priority) noexcept override {
    for (auto& [key, packets] : inbound_) {
      const auto& [of, source, lane] = key;
      if (of != priority || packets.empty() || deferred_.contains(key)) continue;
      return {&packets.front()->packet, packets.front()->packet.head(), source, priority, lane};
    }
    return {nullptr, {}, 0, priority};
  }
  void release(const View& view) noexcept override {
    auto& packets = inbound_[{view.priority, view.source, view.lane}];
    if (packets.empty() || &packets.front()->packet != view.packet) std::abort();
    packets.pop_front();
  }
  void defer(const View& view) noexcept override {
    deferred_.insert({view.priority, view.source, view.lane});
  }

  [[nodiscard]] bool waits(Priority priority, const am::impl::Packet* lent) noexcept override {
    for (const auto& [key, packets] : inbound_) {
      for (const auto& image : packets) {
        if (std::get<Priority>(key) == priority && &image->packet != lent) return true;
      }
    }
    return false;
  }

  bool progress() noexcept override {
    deferred_.clear();
    ++rounds;
    return false;
  }
  [[nodiscard]] bool arm(Wanted) noexcept override {
    ++arms;
    return !arms_refused;
  }
  void disarm() noexcept override { ++disarms; }
  [[nodiscard]] bool still_armed(Wanted) noexcept override { return true; }
  [[nodiscard]] bool describe(am::Lookout&, Wanted) const override { return false; }
  void close(NodeId peer) noexcept override { closed_.insert(peer); }
  [[nodiscard]] std::size_t queued(NodeId, Priority) const noexcept override { return 0; }

 private:
  std::map<Link, std::unique_ptr<Image>> claimed_;
  using Queue = std::tuple<Priority, NodeId, std::uint32_t>;  // with its lane
  std::map<Queue, std::deque<std::unique_ptr<Image>>> inbound_;
  std::set<Queue> deferred_;
  std::set<NodeId> closed_;
};

}  // namespace test
