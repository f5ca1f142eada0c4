// Memory for a live network, and nodes that count what comes.
#pragma once

#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

#include "emulated_hw/kit/live_channel.hpp"
#include "emulated_hw/kit/ports.hpp"
#include "support/random.hpp"

namespace test {

/// What that memory is made of, which has to be aligned as this is.
struct alignas(64) Line {
  std::byte bytes[64];
};

/// Writes something over a word of the routers: anything, or what lies elsewhere, but for a bit.
inline void scribble(std::vector<Line>& memory, Random& random) {
  const auto any_word = [&] {
    return memory[random.below(memory.size())].bytes + sizeof(std::uint64_t) * random.below(8);
  };
  std::byte* const at = any_word();
  std::uint64_t word = random();
  if (!random.one_in(4)) {
    std::memcpy(&word, random.one_in(2) ? at : any_word(), sizeof word);
    word ^= std::uint64_t{1} << random.below(64);
  }
  std::memcpy(at, &word, sizeof word);
}

/// Random loads by several threads, each of several nodes: act(thread, node, number, random) for one of its nodes, so many times.
template <class Act>
void load_by_threads(am::kit::NodeNumber nodes, unsigned threads, int times, Random& seeds, Act act) {
  std::vector<std::jthread> running;
  for (unsigned thread = 0; thread < threads; ++thread) {
    running.emplace_back([=, random = Random(seeds())]() mutable {
      for (int i = 0; i < times; ++i) {
        const auto node = static_cast<am::kit::NodeNumber>(
            random.below(nodes + threads - 1 - thread) / threads * threads + thread);
        if (node < nodes) act(thread, node, i, random);
      }
    });
  }
}

/// `Counted`: what is counted at a node of another one, of so many kinds.
template <class Mesh, class Counted, std::size_t kinds>
class LiveNetworkOf : public Mesh::Nodes {
 public:
  using NodeNumber = am::kit::NodeNumber;
  [[nodiscard]] std::atomic<std::uint64_t>& arrivals(NodeNumber at, NodeNumber from,
                                                     Counted what) noexcept override {
    return arrivals_[place(at, from, what)];
  }
  void arrived(NodeNumber /*at*/, NodeNumber /*from*/, Counted /*what*/) noexcept override { ++told_; }
  void show(NodeNumber at, NodeNumber from, Counted what) noexcept override {
    shown_[place(at, from, what)] = count(at, from, what);
  }
  void has_room(NodeNumber at) noexcept override { ++room_[at]; }

  [[nodiscard]] std::uint64_t count(NodeNumber at, NodeNumber from, Counted what) {
    return am::kit::Entry{arrivals(at, from, what).load()}.count();
  }
  [[nodiscard]] std::uint64_t shown(NodeNumber at, NodeNumber from, Counted what) const {
    return shown_[place(at, from, what)];
  }
  [[nodiscard]] std::uint64_t count_of_all() const {
    std::uint64_t all = 0;
    for (const std::atomic<std::uint64_t>& word : arrivals_) all += am::kit::Entry{word.load()}.count();
    return all;
  }
  [[nodiscard]] unsigned room_told(NodeNumber at) const noexcept { return room_[at]; }
  [[nodiscard]] unsigned told() const noexcept { return told_; }
  [[nodiscard]] NodeNumber nodes() const noexcept { return nodes_; }
  [[nodiscard]] Mesh& mesh() noexcept { return mesh_; }
  /// Nothing has been let into any channel that has not left it.
  [[nodiscard]] bool is_empty() const {
    for (NodeNumber node = 0; node < nodes_; ++node) {
      for (const auto& input : mesh_.router(node).inputs) {
        if (input.first(am::kit::Look()).is_there) return false;
      }
    }
    return true;
  }
  void look_after(unsigned times) {
    for (; times != 0; --times) mesh_.look_after();
  }
  void scribble(Random& random) { test::scribble(memory_, random); }

 protected:
  template <class... Shape>
  explicit LiveNetworkOf(NodeNumber nodes, const Shape&... shape)
      : nodes_(nodes),
        memory_(Mesh::bytes(nodes) / sizeof(Line)),
        arrivals_(kinds * nodes * nodes),
        shown_(arrivals_.size()),
        room_(nodes),
        mesh_(shape..., memory_.front().bytes, *this) {}

  const NodeNumber nodes_;
  std::vector<Line> memory_;
  std::vector<std::atomic<std::uint64_t>> arrivals_;

 private:
  [[nodiscard]] std::size_t place(NodeNumber at, NodeNumber from, Counted what) const noexcept {
    return (std::size_t{at} * nodes_ + from) * kinds + static_cast<std::size_t>(what);
  }
  std::vector<std::atomic<std::uint64_t>> shown_;
  std::vector<std::atomic<unsigned>> room_;
  std::atomic<unsigned> told_ = 0;

 protected:
  Mesh mesh_;
};

}  // namespace test
