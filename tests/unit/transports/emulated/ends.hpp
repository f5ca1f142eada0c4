// Nodes' ends of an emulated network in one thread, for tests: `Network` is its transport.
#pragma once

#include <gtest/gtest.h>

#include "host/bell.hpp"
#include "host/clock.hpp"
#include "host/memory.hpp"
#include "support/check.hpp"
#include "transports/emulated/cm5_transport.hpp"
#include "transports/emulated/ncube2_transport.hpp"
#include "transports/site.hpp"
#include "transports/transport.hpp"
#include "transports/unordered_lanes.hpp"

namespace am::emulated {

inline constexpr Priority priorities[] = {Priority::low, Priority::high};
inline constexpr Transport::Wanted both{.high = true, .low = true};
inline constexpr Transport::Wanted high_only{.high = true, .low = false};

/// What a network says of the nodes that it is to have, or why it cannot have them.
template <class Text>
std::string text_or_error(const Text& text) {
  std::string said;
  const std::string error = test::error_of([&] { said = text(); });
  return said.empty() ? error : said;
}

/// A grid of 2 x 3 nodes, or a cube of three dimensions, or a tree of two levels.
template <class Network>
class Ends : public testing::Test {
 protected:
  static constexpr bool is_cube = std::is_same_v<Network, Ncube2Transport>;
  static constexpr NodeId nodes = is_cube ? 8 : 6;

  static constexpr bool is_grid = !is_cube && !std::is_same_v<Network, Cm5Transport>;

  explicit Ends(std::string_view grid = is_grid ? "2x3" : "") : grid_(grid) { begin_anew(); }
  Site site(NodeId self, bool armed_often = false) {
    return {.self = self, .memory = memory_, .options = grid_, .armed_often = armed_often};
  }
  Network& end(NodeId node) { return *ends_.at(node); }
  Status send(NodeId from, NodeId to, Priority priority, std::size_t payload_bytes = 0) {
    return send(from, end(from).claim(to, priority, 1, payload_bytes), payload_bytes);
  }
  Status send_unordered(NodeId from, NodeId to, Priority priority, std::size_t payload_bytes = 0) {
    UnorderedLanes* const lanes = end(from).unordered_lanes(to);
    return send(from, lanes->claim_unordered(to, priority, 1, payload_bytes), payload_bytes);
  }
  Status send(NodeId from, const Transport::Slot& slot, std::size_t payload_bytes) {
    if (slot.status != Status::ok) return slot.status;
    slot.packet->words[0] = ++sent_;
    commit(from, slot, payload_bytes);
    return Status::ok;
  }
  void commit(NodeId from, const Transport::Slot& slot, std::size_t payload_bytes) {
    if (payload_bytes != 0) {
      slot.packet->payload_bytes = static_cast<std::uint32_t>(payload_bytes);
      for (std::size_t i = 0; i < payload_bytes; ++i)
        slot.payload[i] = static_cast<std::byte>(slot.packet->words[0] + i);
    }
    end(from).commit(slot, impl::Header::make(7, 1, 0, payload_bytes != 0 ? impl::flag::payload : 0));
  }
  /// The number of the next one, which is released; 0: none has come.
  std::uint64_t take(NodeId at, Priority priority, NodeId from) {
    end(at).progress();
    const Transport::View view = end(at).receive(priority);
    if (!view) return 0;
    EXPECT_EQ(view.source, from);
    EXPECT_EQ(view.head.handler(), 7);
    const std::uint64_t number = view.packet->words[0];
    if (view.head.has(impl::flag::payload)) {
      const auto payload = end(at).payload_of(view);
      EXPECT_TRUE(payload.has_value());
      for (std::size_t i = 0; payload && i < payload->size(); ++i) {
        EXPECT_EQ(payload->data()[i], static_cast<std::byte>(number + i));
        if (HasFailure()) break;
      }
    }
    end(at).release(view);
    return number;
  }

  /// A word from node 0 to each of these, as core sends it: nobody has it before the end, but node 0 of a cube, and nobody else has it then.
  void expect_multicast(const std::vector<NodeId>& to, Priority priority) {
    end(0).begin_multicast();
    for (const NodeId each : to) {
      const Transport::Slot slot = end(0).claim(each, priority, 1, 0);
      ASSERT_EQ(slot.status, Status::ok);
      slot.packet->words[0] = 7;
      commit(0, slot, 0);
      EXPECT_TRUE((is_cube && each == 0) || take(each, priority, 0) == 0) << "not before the end";
    }
    end(0).end_multicast();
    for (NodeId each = 0; each < nodes; ++each)
      EXPECT_EQ(take(each, priority, 0), std::ranges::count(to, each) != 0 ? 7u : 0u) << each;
  }
  /// All that comes to a node now, in the order in which it is given.
  std::vector<std::uint64_t> take_all(NodeId at, Priority priority) {
    std::vector<std::uint64_t> numbers;
    end(at).progress();
    while (const Transport::View view = end(at).receive(priority)) {
      numbers.push_back(view.packet->words[0]);
      end(at).release(view);
    }
    return numbers;
  }
  /// Sends as many as find room. How many those were.
  std::size_t fill(NodeId from, NodeId to, Priority priority, bool unordered = false) {
    std::size_t count = 0;
    while ((unordered ? send_unordered(from, to, priority) : send(from, to, priority)) == Status::ok) ++count;
    return count;
  }
  /// Sleeps as the engine does, unless it is `done` or has something to do. A wake-up that is lost would hang the test.
  template <class Done>
  void sleep_unless(NodeId node, const Done& done) {
    host::Bell bell(memory_->board(), node);
    bell.set(host::Alarm::sleeper);
    if (!done() && end(node).arm(both)) bell.sleep(host::monotonic_ns() + 60'000'000'000);
    bell.clear();
    end(node).disarm();
  }
  /// Nodes of a new job, of which one is armed often.
  void begin_anew(NodeId armed_often = nodes) {
    ends_.clear();
    memory_ = host::Memory::create(nodes);
    for (NodeId node = 0; node < nodes; ++node)
      ends_.push_back(std::make_unique<Network>(site(node, node == armed_often)));
  }

  const std::string_view grid_;
  std::shared_ptr<host::Memory> memory_;
  std::vector<std::unique_ptr<Network>> ends_;
  std::uint64_t sent_ = 0;
};

}  // namespace am::emulated
