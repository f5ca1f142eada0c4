// Counters that live on their nodes; every node adds to all of them by active messages and is told the value before.
//
//   amrun -n 4 build/bin/examples/fetch_add [additions per counter]
//
// A handler is atomic: no other handler and no critical section of its node runs at the same time, so reading and
// writing the counter needs no lock.
#include <am/am.hpp>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <utility>

namespace {

std::uint64_t answers = 0;
std::int64_t highest = -1;

void added(am::Reply&, std::int64_t before) {
  ++answers;
  if (before > highest) highest = before;
}

void add(am::Request& request, am::GlobalPtr<std::int64_t> counter, std::int64_t by) {
  std::int64_t& value = *counter.local();
  request.reply<added>(std::exchange(value, value + by));
}

/// 0, which is refused, where it is no number.
std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

}  // namespace

int main(int argc, char** argv) try {
  am::Node& node = am::start(argc, argv, {.interrupt_safe = true});  // handlers do not allocate
  const std::uint64_t additions = argc > 1 ? number(argv[1]) : 10000;
  if (additions == 0 || argc > 2) {
    if (node.id() == 0) std::fprintf(stderr, "usage: fetch_add [additions per counter]; a number above 0\n");
    node.barrier();  // the first node that fails ends the job
    return 2;
  }
  const auto mine = am::allocate<std::int64_t>(node);  // zero
  const auto counters = am::all_gather(node, mine);

  std::uint64_t sent = 0;
  for (std::uint64_t i = 0; i < additions; ++i) {
    for (am::NodeId to = 0; to < node.size(); ++to, ++sent)
      node.request<add>(to, counters[to], std::int64_t{1});
  }
  node.wait_until([&] { return answers == sent; });
  node.barrier();  // every node has all its answers, so every addition was made

  const auto expected = static_cast<std::int64_t>(additions * node.size());
  const std::int64_t value = *mine.local();
  const bool right = value == expected;
  std::printf("node %u: counter %lld, expected %lld: %s; highest value before an addition of ours: %lld\n",
              node.id(), static_cast<long long>(value), static_cast<long long>(expected),
              right ? "right" : "WRONG", static_cast<long long>(highest));
  node.barrier();
  return right ? 0 : 1;
} catch (const am::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
