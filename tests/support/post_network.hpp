// A network of the tests that shares nothing with the others: nodes of one process post letters to each other, in a mutex and
// queues. It shows what the seam (transports/transport.hpp) asks for, and that core asks for no more: no shared memory, a few
// credits for each link, a descriptor to wake by, a control lane.
//
// It is as bad as the contract allows. Letters and words may lie in their sender until it next makes progress, as in a socket
// that is full, and it takes only so much of a payload at once as a letter holds. Moves are carried out late, and in any order;
// unordered letters have a lane of their own, in which they are mixed.
//
// A test makes one PostOffice for a job; post_kind() is the network's row in the table of kinds.
#pragma once

#include <am/impl/packet.hpp>

#include <deque>
#include <map>
#include <set>

#include "support/pinned.hpp"
#include "transports/kinds.hpp"

namespace test {

class PostOffice : test::Pinned {
 public:
  static constexpr std::size_t credits = 24;  ///< letters under way, for each link, priority and lane

  explicit PostOffice(am::NodeId nodes) : boxes_(nodes) {}

  /// Nothing goes to or from this node any more, and all others hear that it is lost.
  void cut(am::NodeId node);

 private:
  friend class PostTransport;

  struct Letter {
    am::impl::Packet packet;
    std::array<std::byte, am::impl::packet_payload_bytes> payload;
  };
  enum Lane : std::uint32_t { in_order, unordered };
  using Key = std::tuple<am::NodeId, am::Priority, std::uint32_t>;                  // with its lane
  using Published = std::map<std::pair<am::NodeId, std::uint32_t>, std::uint64_t>;  // by publisher and word

  struct Box {
    std::map<Key, std::deque<std::unique_ptr<Letter>>> letters;  // by sender; the first may be lent
    Published words;
    std::vector<am::NodeId> lost;
    std::map<Key, std::size_t> under_way;  // of this node's own letters, by receiver
    std::set<Key> waits_for_credit;
    bool armed = false;
    bool cut = false;
    std::span<std::byte> segment{};      // its memory, while the node is there
    int bell = -1;                       // its descriptor, while the node has one
    std::atomic<std::uint64_t> news{0};  // for lookouts
  };
  /// With the mutex held: something has come to this node.
  static void tell(Box& box) noexcept;

  /// One for all offices: nobody else may have it while this process is forked, else its child would find it taken for ever.
  static std::mutex& mutex_of_all();

  std::mutex& mutex_ = mutex_of_all();
  std::vector<Box> boxes_;  // by node
};

/// The row of the table, "post". `office` outlives the job.
am::Kind post_kind(PostOffice& office);

}  // namespace test
