// A histogram whose bins are dealt out over the nodes: each node sends every number that it draws to the node that has its bin.
//
//   amrun -n 4 build/bin/examples/histogram [numbers per node]
//
// Shows: an object attached to the node, whose member function is the handler; and am::settle: the end of a phase in which nobody
// answers, so nobody knows by itself what is still under way.
#include <am/am.hpp>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

constexpr std::uint32_t bins = 1000;

class Histogram {
 public:
  explicit Histogram(am::Node& node) : node_(node), mine_(bins / node.size() + 1), sent_(node.size()) {
    node.attach(*this);
    node.barrier();  // all nodes have attached
  }

  void count(am::Request&, std::uint32_t bin) {
    ++mine_[bin / node_.size()];
    ++came_;
  }

  void add(std::uint32_t bin) {
    const am::NodeId owner = bin % node_.size();
    ++sent_[owner];
    node_.request<&Histogram::count>(owner, bin);
  }
  /// When it returns, every node has what all have added.
  void settle() {
    am::settle(node_, sent_, [this](std::uint64_t all) { return came_ >= all; });
  }
  [[nodiscard]] std::uint64_t largest_bin() const {
    std::uint64_t largest = 0;
    for (const std::uint64_t times : mine_) largest = times > largest ? times : largest;
    return largest;
  }
  [[nodiscard]] std::uint64_t counted() const { return came_; }

 private:
  am::Node& node_;
  std::vector<std::uint64_t> mine_;  // bin b at b / nodes
  std::vector<std::uint64_t> sent_;  // by node
  std::uint64_t came_ = 0;
};

/// 0, which is refused, where it is no number.
std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

}  // namespace

int main(int argc, char** argv) try {
  am::Node& node = am::start(argc, argv, {.interrupt_safe = true});  // handlers do not allocate
  const std::uint64_t draws = argc > 1 ? number(argv[1]) : 100'000;
  if (draws == 0 || argc > 2) {
    if (node.id() == 0) std::fprintf(stderr, "usage: histogram [numbers per node]; a number above 0\n");
    node.barrier();
    return 2;
  }
  Histogram histogram(node);
  std::mt19937_64 random(node.id());
  for (std::uint64_t i = 0; i < draws; ++i) histogram.add(static_cast<std::uint32_t>(random() % bins));
  histogram.settle();
  const std::uint64_t all = am::all_reduce(node, histogram.counted(), std::plus<>());
  const auto largest = am::all_reduce(node, histogram.largest_bin(),
                                      [](std::uint64_t a, std::uint64_t b) { return a > b ? a : b; });
  if (node.id() == 0)
    std::printf("histogram: %llu numbers in %u bins, %llu in the fullest: %s\n",
                static_cast<unsigned long long>(all), bins, static_cast<unsigned long long>(largest),
                all == draws * node.size() ? "none is missing" : "WRONG");
  node.barrier();
  return all == draws * node.size() ? 0 : 1;
} catch (const am::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
