// Clauses 1 and 2 of the contract: what was accepted is delivered exactly once, and in order between two nodes at one
// priority; under random loads, from several senders, in all sizes, to oneself, in a job of 64 nodes.
#include <algorithm>
#include <array>
#include <vector>

#include "support/job.hpp"

namespace delivery_test {

using test::check;
using test::check_equal;
using test::mix;
using test::Random;
using test::rounds;
using Delivery = test::OnEverySubstrate;
using DeliveryToManyNodes = test::OnManyNodes;

constexpr std::size_t most_payload = 3000;

/// The load from one node to another at one priority, as both ends compute it: a stream of messages, each with a number
/// and a payload whose size and content follow from the seed.
class Stream {
 public:
  Stream(am::NodeId from, am::NodeId to, am::Priority priority)
      : random_(mix(test::seed(), mix(from, 2 * std::uint64_t{to} + static_cast<std::uint64_t>(priority)))) {}

  /// Sizes: mostly none, then small, then around and beyond a packet.
  std::size_t next_size() {
    const std::uint64_t dice = random_.below(64);
    if (dice < 48) return 0;
    if (dice < 62) return 1 + random_.below(200);
    return 1 + random_.below(most_payload);
  }
  std::uint64_t next_word() { return random_(); }

 private:
  Random random_;
};

struct Receiver {
  Stream stream;
  std::uint64_t next = 0;

  void take(std::uint64_t number, std::uint64_t word, am::Payload payload) {
    check_equal(number, next++, "the number of a message from one node at one priority");
    const std::size_t size = stream.next_size();
    check_equal(word, stream.next_word(), "its first word");
    check_equal(payload.size(), size, "the size of its payload");
    const auto wrong =
        std::ranges::find_if(payload.bytes(), [&](std::byte b) { return b != std::byte(word); });
    check(wrong == payload.bytes().end(), "a byte of its payload is wrong");
  }
};

struct Load {
  std::array<std::vector<Receiver>, 2> receivers;  // by priority, then sender
  am::NodeId finished = 0;

  explicit Load(const am::Node& node) {
    for (am::NodeId from = 0; from < node.size(); ++from) {
      receivers[0].push_back({Stream(from, node.id(), am::Priority::low)});
      receivers[1].push_back({Stream(from, node.id(), am::Priority::high)});
    }
  }
};

void low(am::Request& request, std::uint64_t number, std::uint64_t word) {
  request.state<Load>().receivers[0][request.from()].take(number, word, {});
}
void low_payload(am::Request& request, std::uint64_t number, std::uint64_t word, am::Payload payload) {
  request.state<Load>().receivers[0][request.from()].take(number, word, payload);
}
void high(am::Reply& reply, std::uint64_t number, std::uint64_t word) {
  reply.state<Load>().receivers[1][reply.from()].take(number, word, {});
}
void high_payload(am::Reply& reply, std::uint64_t number, std::uint64_t word, am::Payload payload) {
  reply.state<Load>().receivers[1][reply.from()].take(number, word, payload);
}
void finished(am::Request& request) { ++request.state<Load>().finished; }

struct Sender {
  am::NodeId to;
  am::Priority priority;
  Stream stream;
  std::uint64_t number = 0;

  /// One message, by any of the ways that exist. Again and again until it is accepted.
  void send(am::Node& node, Random& random) {
    const std::size_t size = stream.next_size();
    const std::uint64_t word = stream.next_word();
    const std::vector<std::byte> bytes(size, std::byte(word));
    const bool is_low = priority == am::Priority::low;
    am::Status status = am::Status::again;
    switch (random.below(3)) {
      case 0:  // waiting
        if (size == 0) {
          status = is_low ? node.request<low>(to, number, word) : node.reply_to<high>(to, number, word);
        } else {
          status = is_low ? node.request<low_payload>(to, number, word, bytes)
                          : node.reply_to<high_payload>(to, number, word, bytes);
        }
        break;
      case 1:  // failable
        while (status == am::Status::again) {
          if (size == 0) {
            status =
                is_low ? node.try_request<low>(to, number, word) : node.try_reply_to<high>(to, number, word);
          } else {
            status = is_low ? node.try_request<low_payload>(to, number, word, bytes)
                            : node.try_reply_to<high_payload>(to, number, word, bytes);
          }
          if (status == am::Status::again) test::poll_or_yield(node);
        }
        break;
      default: {  // in place
        am::Draft draft = is_low ? node.prepare<low_payload>(to, size, number, word)
                                 : node.prepare<high_payload>(to, size, number, word);
        std::ranges::copy(bytes, draft.data().begin());
        status = draft.commit();
      }
    }
    check_equal(am::to_string(status), "ok", "a send");
    ++number;
  }
};

void exchange(am::Node& node, std::uint64_t messages) {
  Load load(node);
  node.attach(load);
  Random random(mix(test::seed(), node.id()));
  std::vector<Sender> senders;
  for (am::NodeId to = 0; to < node.size(); ++to) {
    senders.push_back({to, am::Priority::low, Stream(node.id(), to, am::Priority::low)});
    senders.push_back({to, am::Priority::high, Stream(node.id(), to, am::Priority::high)});
  }
  std::uint64_t left = messages * senders.size();
  while (left != 0) {
    Sender& sender = senders[random.below(senders.size())];
    const std::uint64_t burst = 1 + random.below(32);
    for (std::uint64_t i = 0; i < burst && left != 0; ++i) {
      if (sender.number == messages) break;
      sender.send(node, random);
      --left;
    }
    if (random.one_in(8)) node.poll();
  }
  for (am::NodeId to = 0; to < node.size(); ++to)
    check(node.request<finished>(to) == am::Status::ok, "finished");
  node.wait_until([&] {
    return load.finished == node.size() &&
           std::ranges::all_of(load.receivers[1], [&](const Receiver& r) { return r.next == messages; });
  });
  for (const auto& by_sender : load.receivers) {
    for (const Receiver& receiver : by_sender) check_equal(receiver.next, messages, "messages from one node");
  }
  node.barrier();
  node.poll();
  for (const auto& by_sender : load.receivers) {
    for (const Receiver& receiver : by_sender)
      check_equal(receiver.next, messages, "messages, after a last look");
  }
}

TEST_P(Delivery, ExactlyOnceAndInOrderBetweenTwo) {
  run(2, [](am::Node& node) { exchange(node, rounds(30'000)); });
}

TEST_P(Delivery, ExactlyOnceAndInOrderAmongFive) {
  run(5, [](am::Node& node) { exchange(node, rounds(3'000)); });
}

TEST_P(Delivery, ToOneself) {
  run(1, [](am::Node& node) { exchange(node, rounds(100'000)); });
}

TEST_P(DeliveryToManyNodes, GetEachMessageOnceAndInOrder) {
  run(64, [](am::Node& node) { exchange(node, rounds(20)); });
}

// A million and more short ones over the inline path, where a lost or doubled line would be found by its number.
struct Flood {
  std::vector<std::uint64_t> next;
  std::uint64_t sum = 0;
};

void drop(am::Request& request, std::uint64_t number) {
  auto& flood = request.state<Flood>();
  check_equal(number, flood.next[request.from()]++, "the number of a short message");
  flood.sum = mix(flood.sum, number);
}

TEST_P(Delivery, FloodFromSeveralSenders) {
  run(3, [](am::Node& node) {
    Flood flood{std::vector<std::uint64_t>(node.size())};
    node.attach(flood);
    const std::uint64_t messages = rounds(700'000);
    if (node.id() != 0) {
      for (std::uint64_t i = 0; i < messages; ++i)
        check(node.request<drop>(0, i) == am::Status::ok, "request");
    } else {
      node.wait_until([&] { return flood.next[1] == messages && flood.next[2] == messages; });
    }
    node.barrier();
    node.poll();
    check_equal(flood.next[1] + flood.next[2], node.id() == 0 ? 2 * messages : 0, "messages in the end");
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Delivery, test::cells_of<Delivery>(), test::name_of);
INSTANTIATE_TEST_SUITE_P(Contract, DeliveryToManyNodes, test::cells_of<DeliveryToManyNodes>(), test::name_of);

}  // namespace delivery_test
