// Nodes of one process on a network that may lead to other hosts, by hand through the seam: what the tests of TCP and of libfabric share.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <map>
#include <source_location>

#include "host/clock.hpp"
#include "host/memory.hpp"
#include "support/patterns.hpp"
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
inline constexpr Transport::Wanted everything{.high = true, .low = true};

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

  /// One is sent, and is the next that comes.
  void pass(NodeId from, NodeId to, Priority priority, std::uint64_t word,
            const std::source_location& where = std::source_location::current()) {
    const testing::ScopedTrace caller(where.file_name(), static_cast<int>(where.line()), "a message");
    ASSERT_EQ(send(from, to, priority, word), Status::ok);
    ASSERT_EQ(next_word(to, priority), word);
  }

  /// By what `cause` does node `node` loses `peer`, and nobody else. What is said of that.
  std::string loss(NodeId node, NodeId peer, const std::function<void()>& cause) {
    testing::internal::CaptureStderr();
    cause();
    EXPECT_TRUE(until([&] { return !ears_[node].lost_ones.empty(); }));
    EXPECT_EQ(ears_[node].lost_ones, std::vector<NodeId>{peer});
    EXPECT_EQ(send(node, peer, Priority::low, 0), Status::unreachable);
    return testing::internal::GetCapturedStderr();
  }
  void expect_nobody_is_lost() {
    for (const Ear& ear : ears_) EXPECT_TRUE(ear.lost_ones.empty());
  }

  // -- tests of every network ----------------------------------------------------------------------------------------

  /// Any mixture of sizes and priorities between all, received at any time; more of it than all windows hold.
  void keep_the_order_of_each_link(std::uint64_t messages) {
    test::Random random(test::seed());
    constexpr std::size_t edges[] = {15,   16,   17,   1023,   1024,   1025,   3900,    4000,      4096,
                                     8000, 8080, 8192, 65'535, 65'536, 65'537, 500'000, 1'048'575, 1'048'576};
    const std::vector<std::byte> bytes = test::patterned(std::ranges::max(edges), 1);
    using Link = std::tuple<NodeId, NodeId, Priority>;
    std::map<Link, std::uint64_t> sent, received;
    std::uint64_t came = 0;
    const auto receive_some = [&](NodeId node, Priority priority, bool all) {
      while (const Transport::View view = at(node).receive(priority)) {
        if (!all && random.one_in(4)) {
          at(node).defer(view);
          if (random.one_in(2)) return;
          continue;
        }
        ASSERT_EQ(view.packet->words[0], (received[{view.source, node, priority}]++));
        const auto payload = at(node).payload_of(view);
        ASSERT_TRUE(payload);
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(payload->data()) % impl::payload_alignment, 0u);
        ASSERT_TRUE(payload->empty() || std::memcmp(payload->data(), bytes.data(), payload->size()) == 0);
        at(node).release(view);
        ++came;
      }
    };
    const auto receive_everywhere = [&](bool all) {
      for (NodeId node = 0; node < networks_.size(); ++node) {
        at(node).progress();
        for (const Priority priority : both) receive_some(node, priority, all);
      }
    };
    for (std::uint64_t left = messages; left != 0 && !HasFatalFailure();) {
      const auto from = static_cast<NodeId>(random.below(networks_.size()));
      const auto to = static_cast<NodeId>(random.below(networks_.size()));
      const Priority priority = both[random.below(2)];
      const std::size_t size = random.one_in(16)   ? edges[random.below(std::size(edges))]
                               : random.one_in(16) ? random.below(150'000)
                                                   : random.below(64);
      std::uint64_t& number = sent[{from, to, priority}];
      const Status status = send(from, to, priority, number, std::span(bytes).first(size));
      ASSERT_TRUE(status == Status::ok || status == Status::again);
      if (status == Status::ok) ++number, --left;
      if (status == Status::again || random.one_in(16)) receive_everywhere(false);
    }
    ASSERT_TRUE(until([&] { return receive_everywhere(true), HasFatalFailure() || came == messages; }));
    for (const auto& network : networks_) EXPECT_TRUE(until([&] { return network->drained(); }));
    expect_nobody_is_lost();
  }

  /// All begin to talk to all before anybody has looked.
  void meet_when_all_begin_at_once() {
    const auto nodes = static_cast<NodeId>(networks_.size());
    for (int round = 0; round < 3; ++round) {
      for (NodeId from = 0; from < nodes; ++from) {
        for (NodeId to = 0; to < nodes; ++to) ASSERT_EQ(send(from, to, Priority::low, from), Status::ok);
      }
      for (NodeId to = 0; to < nodes; ++to) {
        std::uint64_t sum = 0;
        for (NodeId from = 0; from < nodes; ++from) sum += next_word(to, Priority::low);
        ASSERT_EQ(sum, nodes * (nodes - 1) / 2);
      }
    }
    for (const auto& network : networks_) {
      EXPECT_TRUE(until([&] { return network->drained(); }));
      EXPECT_FALSE(network->receive(Priority::low)) << "nothing comes twice";
    }
    expect_nobody_is_lost();
  }

  void hear_the_last_of_each_word() {
    for (std::uint64_t i = 0; i < 10'000; ++i) {
      at(2).publish(3, 7, i);
      at(2).publish(3, 8, 2 * i);
      if (i % 100 == 0) progress();
    }
    auto& heard = ears_[3].words;
    EXPECT_TRUE(until([&] { return heard[{2, 7}] == 9'999 && heard[{2, 8}] == 2 * 9'999; }));
    EXPECT_TRUE(until([&] { return at(2).published(); }));
  }

  void tell_each_other_their_clocks() {
    const std::uint64_t before = host::monotonic_ns();
    for (NodeId to = 1; to < networks_.size(); ++to) at(0).ask_clock(to);
    ASSERT_TRUE(until([&] { return ears_[0].clocks.size() == networks_.size() - 1; }));
    for (const Ear::Clock& clock : ears_[0].clocks) {
      EXPECT_NE(clock.from, 0u);
      EXPECT_GE(clock.asked, before);
      EXPECT_GE(clock.told, clock.asked);
      EXPECT_LE(clock.told, host::monotonic_ns());
    }
    // Of many questions at once the last is answered.
    std::vector<Ear::Clock>& clocks = ears_[0].clocks;
    for (int i = 1; i < 1000; ++i) at(0).ask_clock(1);
    const std::uint64_t last = host::monotonic_ns();
    at(0).ask_clock(1);
    EXPECT_TRUE(until([&] { return clocks.back().asked >= last; }));
    EXPECT_LT(clocks.size(), 1000u);
  }

  /// So that who waits for one that sleeps, and says what nobody takes, says nothing that is not so.
  void tell_that_they_have_taken_all_when_they_slept_in_vain() {
    for (const Priority priority : both) {
      pass(0, 1, priority, 7);
      EXPECT_GT(at(0).queued(1, priority), 0u);
    }
    for (int sleep = 0; sleep < 2; ++sleep) {
      ASSERT_TRUE(until([&] { return at(1).arm(everything); }));
      at(1).disarm();
    }
    const auto queued = [&] { return at(0).queued(1, Priority::low) + at(0).queued(1, Priority::high); };
    EXPECT_TRUE(until([&] { return queued() == 0; }));
  }

  const std::shared_ptr<host::Memory> memory_;
  std::vector<Ear> ears_;
  std::vector<std::unique_ptr<Network>> networks_;
};

}  // namespace am
