// What tests of a node's sends have in common, which run no node: what sends, what lies in the packets that were sent, and memory that
// runs out.
#pragma once

#include <gtest/gtest.h>

#include <new>

#include "core/messages/members.hpp"
#include "core/messages/sender.hpp"
#include "host/memory.hpp"
#include "transports/transport.hpp"

namespace am::core::test_messages {

/// Memory of which no block is larger than a test says.
class Scarce final : public std::pmr::memory_resource {
 public:
  std::size_t largest = ~std::size_t{0};
  std::size_t given = 0;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (bytes > largest) throw std::bad_alloc();
    given += bytes;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    given -= bytes;
    std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
};

/// What a node has that sends over a network, and how often that asked for something.
template <class Network>
class SendingNode : protected Sender::Owner {
 protected:
  template <class... OfNetwork>
  SendingNode(NodeId self, std::shared_ptr<host::Memory> memory, OfNetwork&&... of_network)
      : memory_(std::move(memory)),
        network_(std::forward<OfNetwork>(of_network)...),
        rings_(impl::link_count(memory_->nodes())),
        traffic_(rings_.size()),
        sender_({.board = memory_->board(),
                 .self = self,
                 .network = network_,
                 .rings = rings_.data(),
                 .memory = &rows_memory_},
                *this) {
    sender_.attach(traffic_.data(), events_);
  }
  void room_is_wanted() noexcept override { ++wanted_; }
  void row_begins() noexcept override { ++rows_; }
  void ring_doorbell(NodeId /*to*/, Priority /*priority*/) noexcept override {}

  std::shared_ptr<host::Memory> memory_;
  Network network_;
  std::vector<impl::Producer> rings_;
  std::vector<impl::Traffic> traffic_;
  impl::EventState events_;
  int wanted_ = 0;
  int rows_ = 0;
  Scarce rows_memory_;
  Sender sender_;
};

/// The payload of a packet, or its piece of one.
inline Payload payload_of(const impl::Packet& packet) {
  return {packet.payload(packet.head().words(), packet.head().place()), packet.payload_bytes};
}

/// The members that are listed behind a multicast's payload, which ends before them.
inline std::vector<NodeId> take_list(Payload& payload) {
  Members members;
  EXPECT_TRUE(split(payload, members));
  std::vector<NodeId> list;
  for (std::size_t i = 0; i < members.count; ++i) list.push_back(members[i]);
  return list;
}

}  // namespace am::core::test_messages
