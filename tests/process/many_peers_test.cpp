// More peers than a system likes, over TCP: none is lost, and none waits for ever.
#include <sys/resource.h>
#include <am/am.hpp>

#include "process/command.hpp"
#include "process/surroundings.hpp"

namespace process_test::many_peers_test {

using namespace testing;

struct Seen {
  am::NodeId asked = 0;
  am::NodeId answers = 0;

  void ask(am::Request& request) {
    ++asked;
    request.reply<&Seen::answer>();
  }
  void answer(am::Reply&) { ++answers; }
};

/// All ask all, themselves too, after node 0 has computed for so many seconds.
const Role ask_all("ask_all", [](am::Node& node, const Arguments& arguments) {
  Seen seen;
  node.attach(seen);
  node.barrier();
  const am::Count until = node.count() + std::strtoull(arguments.at(0).c_str(), nullptr, 10) * 1'000'000'000;
  while (node.id() == 0 && node.count() < until) {
  }
  for (am::NodeId n = 0; n < node.size(); ++n) node.request<&Seen::ask>((node.id() + n) % node.size());
  node.wait_until([&] { return seen.asked == node.size() && seen.answers == node.size(); });
  node.barrier();
});

std::vector<std::string> job(am::NodeId nodes, const char* seconds) {
  return {amrun, "-n", std::to_string(nodes), "--bind", "none", this_program(), "--node", "ask_all", seconds};
}
const std::vector<std::string> over_tcp = {"AM_TRANSPORT=tcp", "AM_TIMEOUT=60s", "AM_REPORT_AFTER=50s"};

/// Two that connect to each other at once use two for a while: there is one for each peer, and a few.
TEST(ManyPeers, ConnectWithFewDescriptors) {
  for (const rlim_t more : {10, 14}) {
    SCOPED_TRACE(more);
    expect_end(run(job(12, "0"), {over_tcp, [more] { limit_for_good(RLIMIT_NOFILE, 11 + more); }}), 0,
               IsEmpty());
  }
}

/// A system keeps only so many connections for a node that computes. It is not lost, also not when that takes longer than a host may be
/// silent.
TEST(ManyPeers, CallANodeThatComputes) {
  std::vector<std::string> command = {
      "unshare",
      "-rn",
      "sh",
      "-c",
      "ip link set lo up && echo 2 > /proc/sys/net/core/somaxconn || exit 96; exec \"$@\"",
      "sh"};
  for (const std::string& word : job(12, "3")) command.push_back(word);
  std::vector<std::string> environment = over_tcp;
  environment.push_back("AM_HOST_TIMEOUT=1s");
  if (run({"unshare", "-rn", "true"}).exit_code != 0) GTEST_SKIP() << "no network of its own for a job";
  const Outcome outcome = run(command, {environment});
  if (outcome.exit_code == not_permitted) GTEST_SKIP() << "the system's limit is not to be changed here";
  expect_end(outcome, 0, IsEmpty());
}

}  // namespace process_test::many_peers_test
