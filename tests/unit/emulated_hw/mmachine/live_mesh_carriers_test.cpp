// The M-Machine's network live, carried by many threads at once.

#include "live_network.hpp"

namespace mmachine_live_mesh_carriers_test {

using namespace am::mmachine;
using test::all_kinds, test::back_as, test::LiveNetwork, test::taken_as;

/// Random loads by several threads, each of several nodes, which take what they like: each message is counted once, and there is nothing
/// left when all have stopped.
TEST(MMachineLiveMeshCarriers, KeepsAllUnderManyCarriers) {
  test::Random seeds(test::seed());
  for (const auto& [rows, columns] : {std::pair{1u, 2u}, {2u, 3u}, {4u, 4u}, {8u, 1u}}) {
    LiveNetwork net(rows, columns);
    std::atomic<unsigned> asked = 0;
    net.takes_p0 = [&](NodeNumber at) {
      return (asked.fetch_add(1, std::memory_order_relaxed) + at) % 3 != 0;
    };
    constexpr unsigned threads = 4;
    using Sent = std::map<std::tuple<NodeNumber, NodeNumber, MessageKind>, std::uint64_t>;
    std::array<Sent, threads> sent;
    std::vector<std::jthread> running;
    for (unsigned t = 0; t < threads; ++t) {
      running.emplace_back([&net, &mine = sent[t], t, random = test::Random(seeds())]() mutable {
        for (int i = 0; i < 20'000; ++i) {
          const auto from =
              static_cast<NodeNumber>(random.below(net.nodes() + threads - 1 - t) / threads * threads + t);
          if (from >= net.nodes()) continue;
          const auto to = static_cast<NodeNumber>(random.below(net.nodes()));
          const MessageKind kind = all_kinds[random.below(4)];
          if (net.mesh().inject(from, {.destination = to, .source = from, .kind = kind}))
            ++mine[{to, from, kind}];
          if (!random.one_in(4)) net.mesh().carry(from, priority_of(kind));
          if (random.one_in(64)) net.mesh().look_after();
        }
      });
    }
    running.clear();
    net.look_after(20);
    ASSERT_TRUE(net.is_empty());
    std::uint64_t all = 0, taken_of_p0 = 0, back = 0, took = 0;
    for (const Sent& mine : sent) {
      for (const auto& [way, count] : mine) {
        const auto& [to, from, kind] = way;
        const std::uint64_t taken = net.count(to, from, taken_as(kind));
        if (priority_of(kind) == Priority::p1) {
          ASSERT_EQ(taken, count) << from << " to " << to;
        } else {
          ASSERT_EQ(taken + net.count(from, to, back_as(kind)), count) << from << " to " << to;
          taken_of_p0 += taken;
          back += count - taken;
        }
        all += count;
      }
    }
    for (NodeNumber at = 0; at < net.nodes(); ++at) took += net.times_took(at);
    EXPECT_EQ(took, taken_of_p0) << "nobody was killed";
    EXPECT_EQ(net.count_of_all(), all);
    EXPECT_GT(all, 1'000u);
    EXPECT_GT(back, 100u);
  }
}

}  // namespace mmachine_live_mesh_carriers_test
