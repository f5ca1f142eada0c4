// Nodes of one process on a network that may lead to other hosts, by hand through the seam: what the tests of TCP and of libfabric share.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "host/memory.hpp"
#include "transports/site.hpp"
#include "transports/transport.hpp"

namespace am {

class Ear : public Listener {
 public:
  void heard(NodeId from, std::uint32_t word, std::uint64_t value) noexcept override {
    words[{from, word}] = value;
  }
  void heard_clock(NodeId from, std::uint64_t asked, std::uint64_t told) noexcept override {
    clocks.push_back({from, asked, told});
  }
  void lost(NodeId peer) noexcept override { lost_ones.push_back(peer); }
  struct Clock {
    NodeId from;
    std::uint64_t asked;
    std::uint64_t told;
  };
  std::vector<Clock> clocks;
  std::map<std::pair<NodeId, std::uint32_t>, std::uint64_t> words;
  std::vector<NodeId> lost_ones;
};

inline bool is_readable(int descriptor, int wait_ms) {
  pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0};
  return poll(&one, 1, wait_ms) == 1;
}

inline constexpr Priority both[] = {Priority::low, Priority::high};

/// Nodes 0 to `here` - 1 of a job of `nodes`, to be put into networks_.
template <class Network>
class ByHand : public testing::Test {
 protected:
  ByHand(NodeId nodes, NodeId here) : memory_(host::Memory::create(nodes)), ears_(here), networks_(here) {}

  /// All make progress until it is so. False, and the test has failed or is to, when that takes too long.
  virtual bool until(const std::function<bool()>& done) = 0;
  /// Of a message with so long a payload.
  [[nodiscard]] virtual std::size_t least_room(std::size_t payload_bytes) const = 0;

  Network& at(NodeId node) { return *networks_[node]; }
  void progress() {
    for (const auto& network : networks_) {
      if (network) network->progress();
    }
  }

  /// As much of the payload as goes in one piece, which `sent` says.
  Status send(NodeId from, NodeId to, Priority priority, std::uint64_t word,
              std::span<const std::byte> payload = {}, std::size_t* sent = nullptr) {
    const Transport::Slot slot = at(from).claim(to, priority, 1, payload.size());
    if (slot.status != Status::ok) return slot.status;
    EXPECT_GE(slot.room, least_room(payload.size()));
    payload = payload.first(std::min(payload.size(), slot.room));
    if (sent != nullptr) *sent = payload.size();
    slot.packet->words[0] = word;
    slot.packet->origin = from;
    slot.packet->payload_bytes = static_cast<std::uint32_t>(payload.size());
    at(from).fill(slot, Payload(payload.data(), payload.size()));
    at(from).commit(slot, impl::Header::make(9, 1, 0, payload.empty() ? 0 : impl::flag::payload));
    return Status::ok;
  }
  /// The next message of that node, or one with nothing.
  Transport::View next(NodeId node, Priority priority) {
    Transport::View view;
    EXPECT_TRUE(until([&] { return static_cast<bool>(view = at(node).receive(priority)); }));
    return view;
  }
  std::uint64_t next_word(NodeId node, Priority priority, NodeId* from = nullptr) {
    const Transport::View view = next(node, priority);
    if (!view) return ~0ull;
    if (from != nullptr) *from = view.source;
    const std::uint64_t word = view.packet->words[0];
    at(node).release(view);
    return word;
  }

  /// A test of every network: what core asks before it looks for messages at each priority.
  void say_whether_anything_is_there() {
    ASSERT_EQ(send(0, 1, Priority::low, 1), Status::ok);
    ASSERT_TRUE(until([&] { return at(1).waits(Priority::low, nullptr); }));
    EXPECT_FALSE(at(1).is_empty()) << "one waits";
    const Transport::View lent = next(1, Priority::low);
    ASSERT_TRUE(lent);
    at(1).progress();
    EXPECT_FALSE(at(1).is_empty()) << "it is lent";
    at(1).defer(lent);
    at(1).progress();
    EXPECT_FALSE(at(1).is_empty()) << "it was deferred";
    EXPECT_EQ(next_word(1, Priority::low), 1u);
    at(1).progress();
    EXPECT_TRUE(at(1).is_empty());
    at(0).progress();
    EXPECT_TRUE(at(0).is_empty()) << "it has sent something";
    ASSERT_EQ(send(1, 1, Priority::high, 2), Status::ok);
    at(1).progress();
    EXPECT_FALSE(at(1).is_empty()) << "its own";
    EXPECT_EQ(next_word(1, Priority::high), 2u);
  }

  const std::shared_ptr<host::Memory> memory_;
  std::vector<Ear> ears_;
  std::vector<std::unique_ptr<Network>> networks_;
};

}  // namespace am
