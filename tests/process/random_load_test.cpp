// Everything at once, for a while, in each mode: 16 nodes that send each other messages of all kinds and
// sizes, form critical sections, mask events, compute, sleep, wait, and pass barriers and collectives, by a seed. Each
// message is counted where it is sent and where it runs, and the counts of all nodes agree at every barrier.
//
// TEST_SECONDS says for how long (2); ten minutes are for a person to run.
#include <am/collectives.hpp>
#include <am/multicast.hpp>
#include <am/safe_new.hpp>

#include "support/job.hpp"
#include "support/patterns.hpp"

namespace random_load_test {

using am::Node;
using am::NodeId;
using namespace test;

constexpr NodeId nodes = 16;

std::uint64_t seconds() { return test::asked_seconds().value_or(2); }

/// What one node has sent to, and run for, everybody. Handlers and computation share it under critical sections. Each level
/// counts for itself what it has run: in the interrupt mode high handlers preempt low ones anywhere.
struct Load {
  std::array<std::uint64_t, nodes> sent{};  // to each
  std::uint64_t lows_ran = 0;
  std::uint64_t highs_ran = 0;
  std::uint64_t posts_ran = 0;  // in the place of the requests that posted them
  std::uint64_t due = 0;        // events of its own (timelets) that have been asked for
  bool in_section = false;

  void check_event(int bytes_wrong) const {
    check(!in_section, "an event ran in a critical section");
    check(bytes_wrong == 0, "a payload came as it was sent");
  }
  void low_event(int bytes_wrong) {
    check_event(bytes_wrong);
    ++lows_ran;
  }
  void high_event(int bytes_wrong) {
    check_event(bytes_wrong);
    ++highs_ran;
  }
};

int wrong_bytes(am::Payload payload) {
  int wrong = 0;
  for (std::size_t i = 0; i < payload.size(); ++i)
    wrong += payload.bytes()[i] != pattern(i, payload.size()) ? 1 : 0;
  return wrong;
}

void high(am::Reply& reply) { reply.state<Load>().high_event(0); }
void high_bytes(am::Reply& reply, am::Payload payload) {
  reply.state<Load>().high_event(wrong_bytes(payload));
}
void low(am::Request& request) { request.state<Load>().low_event(0); }
void low_bytes(am::Request& request, am::Payload payload) {
  request.state<Load>().low_event(wrong_bytes(payload));
}
/// Answers, waiting for room if need be; the answer is counted as sent from here.
void low_that_answers(am::Request& request) {
  auto& load = request.state<Load>();
  load.low_event(0);
  if (request.reply<high>() == am::Status::ok) {
    const am::CriticalSection quiet(request.node());
    ++load.sent[request.from()];
  }
}
/// Counts as run when its post has: what that sends is waited for, too.
void low_that_posts(am::Request& request) {
  request.state<Load>().check_event(0);
  request.post([](Node& node) {
    const am::CriticalSection quiet(node);
    const auto to = (node.id() + 1) % nodes;
    auto& load = node.state<Load>();
    if (node.try_reply_to<high>(to) == am::Status::ok) ++load.sent[to];
    ++load.posts_ran;
  });
}

class Driver {
 public:
  Driver(Node& node, std::uint64_t seed) : node_(node), random_(test::mix(seed, node.id())), bytes_(100'000) {
    node_.attach(load_);
  }

  void round() {
    node_.barrier();
    for (int step = 0; step < 200; ++step) do_something();
    settle();
  }

 private:
  void do_something() {
    const auto to = static_cast<NodeId>(random_.below(nodes));
    const std::size_t size = random_.below(random_.one_in(50) ? bytes_.size() : 1500);
    switch (random_.below(14)) {
      case 0:
        return note(node_.request<low>(to), to);
      case 1:
        return note(node_.try_request<low>(to), to);
      case 2:
        return note(node_.reply_to<high>(to), to);
      case 3:
        return note(node_.request<low_that_answers>(to), to);
      case 4:
        return note(node_.request<low_that_posts>(to), to);
      case 5:
        return note(node_.request<low_bytes>(to, payload(size)), to);
      case 6:
        return note(node_.try_request<low_bytes>(to, payload(size)), to);
      case 7:
        return note(node_.try_reply_to<high_bytes>(to, payload(size)), to);
      case 8:
        return tell_some();
      case 9:
        return work_in_a_section();
      case 10:
        return mask_for_a_while();
      case 11:
        node_.poll();
        return;
      case 12:
        return ask_for_a_timelet();
      default:
        return compute();
    }
  }

  am::Payload payload(std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) bytes_[i] = pattern(i, size);
    return {bytes_.data(), size};
  }
  void note(am::Status status, NodeId to) {
    check(status == am::Status::ok || status == am::Status::again, "ok or again");
    const am::CriticalSection quiet(node_);
    load_.sent[to] += status == am::Status::ok ? 1 : 0;
  }
  void tell_some() {
    const auto first = static_cast<NodeId>(random_.below(nodes - 2));
    const am::Group group{first, first + 1, first + 2};
    check(node_.multicast<low>(group) == am::Status::ok, "multicast");
    const am::CriticalSection quiet(node_);
    for (NodeId member = first; member < first + 3; ++member) ++load_.sent[member];
  }
  void work_in_a_section() {
    const am::CriticalSection quiet(node_);
    load_.in_section = true;
    compute();
    load_.in_section = false;
  }
  void mask_for_a_while() {
    const am::Event kind = random_.one_in(2) ? am::Event::low_message : am::Event::timelet;
    node_.enable_event(kind, false);
    compute();
    node_.poll();
    node_.enable_event(kind, true);
  }
  void ask_for_a_timelet() {
    {
      const am::CriticalSection quiet(node_);
      ++load_.due;
    }
    node_.on_timelet(node_.count() + random_.below(200'000), [this](am::LowEvent&) { load_.low_event(0); });
  }
  void compute() {
    volatile std::uint64_t sum = 0;
    for (std::uint64_t i = random_.below(20'000); i != 0; --i) sum = sum + i;
  }

  /// Until what all have sent has run everywhere. Answers and posts are sends of their own, so until two sums in a row say the same.
  void settle() {
    for (std::uint64_t before = ~std::uint64_t{0};;) {
      std::array<std::uint64_t, nodes> sent{};
      std::array<std::uint64_t, 1> ran{};
      {
        const am::CriticalSection quiet(node_);
        sent = load_.sent;
        sent[node_.id()] += load_.due;
        ran[0] = load_.lows_ran + load_.highs_ran + load_.posts_ran;
      }
      am::all_reduce(node_, std::span(sent), std::plus<>());
      am::all_reduce(node_, std::span(ran), std::plus<>());
      const std::uint64_t total = std::accumulate(sent.begin(), sent.end(), std::uint64_t{0});
      if (ran[0] == total && total == before) return;
      before = total;
      test::poll_or_yield(node_);
    }
  }

  Node& node_;
  test::Random random_;
  std::vector<std::byte> bytes_;
  Load load_;
};

void run_for_a_while(Node& node) {
  Driver driver(node, test::seed());
  const am::Count end = node.count() + seconds() * 1'000'000'000;
  for (bool more = true; more;) {
    driver.round();
    more = am::broadcast(node, node.count() < end ? 1 : 0) == 1;
  }
  node.barrier();
}

using RandomLoad = test::OnSubstrates<test::Suite{.threads = false, .faults = false}>;

TEST_P(RandomLoad, OfAllKindsEnds) { run(nodes, run_for_a_while); }
INSTANTIATE_TEST_SUITE_P(Modes, RandomLoad, test::cells_of<RandomLoad>(), test::name_of);

}  // namespace random_load_test
