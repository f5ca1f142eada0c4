#include "one_hop.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <vector>
#ifdef AMBENCH_BOOST
#include <boost/lockfree/spsc_queue.hpp>
#endif

#include "emulated_hw/t1/live_mesh.hpp"
#include "timing.hpp"

namespace ambench {

namespace {

constexpr int count = 1000;
constexpr am::t1::NodeNumber columns = 16;
constexpr am::t1::NodeNumber farthest = columns / 2;

// Counts what comes, and tells nobody.
class NodesThatSleep final : public am::t1::LiveMesh::Nodes {
 public:
  std::atomic<std::uint64_t>& arrivals(am::t1::NodeNumber at, am::t1::NodeNumber,
                                       am::t1::Counted) noexcept override {
    return arrived_[at];
  }
  void arrived(am::t1::NodeNumber, am::t1::NodeNumber, am::t1::Counted) noexcept override {}
  void show(am::t1::NodeNumber, am::t1::NodeNumber, am::t1::Counted) noexcept override {}
  void has_room(am::t1::NodeNumber) noexcept override {}

 private:
  std::atomic<std::uint64_t> arrived_[columns] = {};
};

struct alignas(64) Line {
  std::byte bytes[64];
};

}  // namespace

double live_hop_ns() {
  NodesThatSleep nodes;
  std::vector<Line> memory(am::t1::LiveMesh::bytes(columns) / sizeof(Line));
  am::t1::LiveMesh mesh({.rows = 1, .columns = columns}, memory.front().bytes, nodes);
  const auto batch_to = [&](am::t1::NodeNumber destination) {
    return median_batch_ns([&] {
      for (int i = 0; i < count; ++i) {
        if (!mesh.inject(0, am::t1::Priority::low, {.destination = destination, .source = 0})) std::abort();
        mesh.carry(0, am::t1::Priority::low);
      }
    });
  };
  return (batch_to(farthest) - batch_to(1)) / (count * (farthest - 1.0));
}

std::optional<double> spsc_queue_ns() {
#ifdef AMBENCH_BOOST
  boost::lockfree::spsc_queue<std::uint32_t, boost::lockfree::capacity<am::kit::LiveChannel::places>> queue;
  std::uint32_t sum = 0;
  const double ns = median_batch_ns([&] {
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t packet = i;
      if (!queue.push(packet) || !queue.pop(packet)) std::abort();
      sum += packet;
    }
  });
  const volatile std::uint32_t used = sum;
  (void)used;
  return ns / count;
#else
  return std::nullopt;
#endif
}

}  // namespace ambench
