// Heat along a rod that is cut into as many parts as there are nodes. In each step a node puts the values at its two ends into its
// neighbours' memory, and a handler there notes that they have come.
//
//   amrun -n 4 build/bin/examples/heat [values per node] [steps]
//
// Shows: global memory that all nodes have, put_notify, and that a neighbour may be a step ahead: so there are two sets of ends.
#include <algorithm>
#include <am/am.hpp>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

/// One node's part. Where the rod ends it stays cold.
class Rod {
 public:
  Rod(am::Node& node, std::size_t values)
      : node_(node), now_(values + 2), next_(values + 2), ends_(am::allocate_symmetric<double>(node, 4)) {
    if (node.id() == 0) now_[1] = 1e6;  // hot at its beginning
    node.attach(*this);
    node.barrier();  // all nodes have attached
  }

  void end_came(am::Request&, std::size_t step) { ++came_[step % 2]; }

  void run_step(std::size_t step) {
    const std::size_t set = 2 * (step % 2);
    std::size_t neighbours = 0;
    if (node_.id() > 0) give(node_.id() - 1, set + 1, now_[1], step, neighbours);
    if (node_.id() + 1 < node_.size()) give(node_.id() + 1, set, now_[now_.size() - 2], step, neighbours);
    node_.wait_until([&] { return came_[step % 2] == neighbours; });
    came_[step % 2] = 0;
    const double* const ends = ends_.local();
    now_.front() = ends[set];
    now_.back() = ends[set + 1];
    for (std::size_t i = 1; i + 1 < now_.size(); ++i)
      next_[i] = (now_[i - 1] + 2 * now_[i] + now_[i + 1]) / 4;
    std::swap(now_, next_);
  }
  [[nodiscard]] std::span<const double> values() const { return std::span(now_).subspan(1, now_.size() - 2); }

 private:
  void give(am::NodeId to, std::size_t place, double value, std::size_t step, std::size_t& neighbours) {
    const std::array<double, 1> end{value};
    am::put_notify<&Rod::end_came>(node_, ends_.on(to) + static_cast<std::ptrdiff_t>(place),
                                   std::span<const double>(end), step);
    ++neighbours;
  }

  am::Node& node_;
  std::vector<double> now_, next_;
  am::GlobalPtr<double> ends_;  // of even and odd steps: what comes from below, and from above
  std::array<std::size_t, 2> came_{};
};

/// 0, which is refused, where it is no number.
std::size_t number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

/// What one node alone computes.
double sum_of_one(std::size_t values, std::size_t steps) {
  std::vector<double> now(values + 2), next(values + 2);
  now[1] = 1e6;
  for (; steps != 0; --steps) {
    for (std::size_t i = 1; i <= values; ++i) next[i] = (now[i - 1] + 2 * now[i] + now[i + 1]) / 4;
    std::swap(now, next);
  }
  double sum = 0;
  for (std::size_t i = 1; i <= values; ++i) sum += static_cast<double>(i) * now[i];
  return sum;
}

}  // namespace

int main(int argc, char** argv) try {
  am::Node& node = am::start(argc, argv, {.interrupt_safe = true});  // handlers do not allocate
  const std::size_t values = argc > 1 ? number(argv[1]) : 100;
  const std::size_t steps = argc > 2 ? number(argv[2]) : 1000;
  if (values == 0 || steps == 0 || argc > 3) {
    if (node.id() == 0) std::fprintf(stderr, "usage: heat [values per node] [steps]; numbers above 0\n");
    node.barrier();
    return 2;
  }
  Rod rod(node, values);
  for (std::size_t step = 0; step < steps; ++step) rod.run_step(step);
  double weighted = 0;  // by place, so that a value in a wrong one shows
  for (std::size_t i = 0; i < values; ++i)
    weighted += static_cast<double>(node.id() * values + i + 1) * rod.values()[i];
  const double sum = am::all_reduce(node, weighted, std::plus<>());
  const double alone = sum_of_one(node.size() * values, steps);
  const bool right = std::abs(sum - alone) <= 1e-9 * alone;
  if (node.id() == 0)
    std::printf("heat: %zu values on %u nodes, %zu steps: %s\n", node.size() * values, node.size(), steps,
                right ? "the same as on one" : "NOT the same as on one");
  node.barrier();
  return right ? 0 : 1;
} catch (const am::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
