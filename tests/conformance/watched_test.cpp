// The contract while a watchdog looks (AM_WATCHDOG): it reads what nodes write, and changes nothing.
#include <cstdlib>

#include "support/job.hpp"

namespace watched_test {

using test::check;
using test::check_equal;
using test::rounds;

class Watched : public test::OnEverySubstrate {
 protected:
  void SetUp() override { setenv("AM_WATCHDOG", "40ms", 1); }  // NOLINT(concurrency-mt-unsafe)
  void TearDown() override { unsetenv("AM_WATCHDOG"); }        // NOLINT(concurrency-mt-unsafe)
};

struct Taken {
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
  std::uint64_t bytes = 0;
  std::uint64_t posts = 0;
  void ask(am::Request& request, am::Payload payload) {
    ++requests;
    bytes += payload.size();
    check(request.reply<&Taken::answer>() == am::Status::ok, "reply");
  }
  void answer(am::Reply&) { ++replies; }
};

TEST_P(Watched, MessagesBarriersAndPosts) {
  run(3, [](am::Node& node) {
    Taken taken;
    node.attach(taken);
    const std::vector<std::byte> payload(3000);
    const std::uint64_t times = rounds(300);
    for (std::uint64_t i = 0; i < times; ++i) {
      node.post([](am::Node& its) { ++its.state<Taken>().posts; });
      for (am::NodeId to = 0; to < node.size(); ++to) {
        const std::size_t size = i % 3 == 0 ? payload.size() : 0;
        check(node.request<&Taken::ask>(to, am::Payload(payload.data(), size)) == am::Status::ok, "request");
      }
      node.wait_until([&] { return taken.replies == 3 * (i + 1); });
      node.barrier();
    }
    check_equal(taken.requests, 3 * times, "requests");
    check_equal(taken.bytes, 3 * 3000 * ((times + 2) / 3), "bytes");
    check_equal(taken.posts, times, "posts");
    node.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Watched, test::cells_of<Watched>(), test::name_of);

}  // namespace watched_test
