// Work that goes on when nodes die. Node 0 deals out tasks; when a worker dies, what it had not answered goes to another one.
//
//   amrun -n 4 build/bin/examples/survivors [worker that dies]
//
// Shows: on_peer_death, by which a node says that it means to survive, and a status that a program looks at: `unreachable`.
#include <am/am.hpp>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

constexpr std::uint32_t tasks = 2000;
constexpr std::uint32_t open_at_once = 8;  // of one worker

void solve(am::Request& request, std::uint32_t task);

/// Node 0's: what is to be done, and what each worker has of it.
class Dealer {
 public:
  explicit Dealer(am::Node& node) : node_(node), given_(node.size()) {
    for (std::uint32_t task = 0; task < tasks; ++task) waiting_.push_back(task);
    node.attach(*this);
    node.on_peer_death([this](am::Node&, am::NodeId dead) { take_back(dead); });
  }

  void solved(am::Reply& reply, std::uint32_t task, std::uint64_t result) {
    std::erase(given_[reply.from()], task);
    sum_ += result;
    ++done_;
    has_news_ = true;
  }

  std::uint64_t run() {
    for (bool over = false; !over;) {
      for (am::NodeId worker = 1; worker < node_.size(); ++worker) deal(worker);
      node_.wait_until([&] {
        over = done_ == tasks;
        return over || std::exchange(has_news_, false);
      });
    }
    return sum_;
  }
  [[nodiscard]] std::uint32_t taken_back() const { return taken_back_; }

 private:
  void deal(am::NodeId worker) {
    while (const auto task = next_for(worker)) {
      if (node_.request<solve>(worker, *task) != am::Status::ok) return take_back(worker);
    }
  }
  /// Noted before it is sent: the answer may come while the request waits for room.
  std::optional<std::uint32_t> next_for(am::NodeId worker) {
    const am::CriticalSection alone(node_);  // solved() changes the same
    if (waiting_.empty() || node_.is_gone(worker) || given_[worker].size() == open_at_once) return {};
    const std::uint32_t task = waiting_.front();
    waiting_.pop_front();
    given_[worker].push_back(task);
    return task;
  }
  void take_back(am::NodeId dead) {
    const am::CriticalSection alone(node_);
    for (const std::uint32_t task : given_[dead]) waiting_.push_back(task);
    taken_back_ += static_cast<std::uint32_t>(given_[dead].size());
    given_[dead].clear();
    has_news_ = true;
  }

  am::Node& node_;
  std::deque<std::uint32_t> waiting_;
  std::vector<std::vector<std::uint32_t>> given_;  // by worker
  std::uint64_t sum_ = 0;
  std::uint32_t done_ = 0;
  std::uint32_t taken_back_ = 0;
  bool has_news_ = false;
};

/// A worker's.
struct Worker {
  bool dies = false;
  bool is_over = false;
  std::uint32_t solved = 0;
};
void over(am::Request& request) { request.state<Worker>().is_over = true; }
void solve(am::Request& request, std::uint32_t task) {
  Worker& worker = request.state<Worker>();
  if (worker.dies && ++worker.solved == 100) std::raise(SIGKILL);
  request.reply<&Dealer::solved>(task, std::uint64_t{task} * task);
}

/// More than any job has, where it is no number.
std::uint32_t number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : ~0U;
}

int deal_out(am::Node& node) {
  Dealer dealer(node);
  node.barrier();
  const std::uint64_t sum = dealer.run();
  for (am::NodeId worker = 1; worker < node.size(); ++worker) node.request<over>(worker);
  std::uint64_t expected = 0;
  for (std::uint64_t task = 0; task < tasks; ++task) expected += task * task;
  std::printf("survivors: %u tasks, %u of them twice: %s\n", tasks, dealer.taken_back(),
              sum == expected ? "right" : "WRONG");
  return sum == expected ? 0 : 1;
}

int work(am::Node& node, bool dies) {
  Worker worker{.dies = dies};
  node.attach(worker);
  node.on_peer_death([](am::Node&, am::NodeId) {});    // goes on
  node.barrier();                                      // all nodes have attached, and mean to survive
  node.wait_until([&] { return worker.is_over; }, 0);  // an error when node 0 dies
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  am::Node& node = am::start(argc, argv);
  const std::uint32_t dies = argc > 1 ? number(argv[1]) : node.size() - 1;
  if (node.size() < 3 || dies == 0 || dies >= node.size() || argc > 2) {
    if (node.id() == 0) std::fprintf(stderr, "usage: survivors [worker that dies], on 3 nodes or more\n");
    node.barrier();
    return 2;
  }
  return node.id() == 0 ? deal_out(node) : work(node, node.id() == dies);
} catch (const am::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
