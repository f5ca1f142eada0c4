// A transfer in the background (T1 report, section 3.9 and appendix A.10): an outlet handler sends a block to the right
// neighbour whenever the network takes one, while the node computes and knows nothing of it.
//
//   AM_DISPATCH=thread amrun -n 4 build/bin/examples/background_transfer [MiB]
//   AM_DISPATCH=interrupt amrun -n 4 build/bin/examples/background_transfer [MiB]
//
// In the polling mode the blocks wait until the computation is done, and go then.
#include <am/am.hpp>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <system_error>

namespace {

using Block = std::array<std::uint64_t, 128>;  // 1 KiB: one packet

/// What goes out and comes in on one node. Handlers work on it while the computation runs, so the computation looks at it
/// in a critical section only, or in the predicate of a wait.
class Transfer {
 public:
  Transfer(am::NodeId to, std::uint64_t blocks) : to_(to), blocks_(blocks) {}

  /// The outlet: one block, or none if the network is full just now. It must send or take itself away.
  void send_next(am::LowEvent& event) {
    Block block;
    for (std::uint64_t i = 0; i < block.size(); ++i) block[i] = sent_ * block.size() + i;
    const am::Payload bytes(block.data(), sizeof block);
    if (event.try_request<&Transfer::take>(to_, sent_, bytes) == am::Status::ok) ++sent_;
    if (sent_ == blocks_) event.node().on_outlet({});
  }
  void take(am::Request&, std::uint64_t number, am::Payload bytes) {
    const auto values = bytes.as<std::uint64_t>();
    for (std::uint64_t i = 0; i < values.size(); ++i)
      wrong_ += values[i] != number * values.size() + i ? 1 : 0;
    ++received_;
  }

  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] std::uint64_t wrong() const { return wrong_; }
  [[nodiscard]] bool complete() const { return sent_ == blocks_ && received_ == blocks_; }

 private:
  am::NodeId to_;
  std::uint64_t blocks_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t wrong_ = 0;
};

/// Some arithmetic that takes a while, and calls nothing.
double computation() {
  double sum = 0;
  for (std::uint64_t i = 0; i < 50'000'000; ++i)
    sum += (i % 2 == 0 ? 4.0 : -4.0) / static_cast<double>(2 * i + 1);
  return sum;
}

/// 0, which is refused, where it is no number from 1 to 1024.
std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value <= 1024 ? value : 0;
}

}  // namespace

int main(int argc, char** argv) try {
  am::Node& node = am::start(argc, argv, {.interrupt_safe = true});  // handlers do not allocate
  const std::uint64_t mebibytes = argc > 1 ? number(argv[1]) : 16;
  if (mebibytes == 0 || argc > 2) {
    if (node.id() == 0) std::fprintf(stderr, "usage: background_transfer [MiB]; a number from 1 to 1024\n");
    node.barrier();  // the first node that fails ends the job
    return 2;
  }
  const std::uint64_t blocks = mebibytes << 10;
  Transfer transfer((node.id() + 1) % node.size(), blocks);
  node.attach(transfer);
  node.barrier();  // all nodes have attached
  node.on_outlet([&transfer](am::LowEvent& event) { transfer.send_next(event); });

  const double pi = computation();
  std::uint64_t sent_meanwhile = 0;
  {
    const am::CriticalSection quiet(node);
    sent_meanwhile = transfer.sent();
  }
  node.wait_until([&] { return transfer.complete(); });
  std::printf("node %u: pi is %.6f; %llu of %llu blocks went while it computed, %llu values came wrong\n",
              node.id(), pi, static_cast<unsigned long long>(sent_meanwhile),
              static_cast<unsigned long long>(blocks), static_cast<unsigned long long>(transfer.wrong()));
  node.barrier();
  return transfer.wrong() == 0 ? 0 : 1;
} catch (const am::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
