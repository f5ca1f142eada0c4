// Streams whose other end dies: a reader gets what was written, then `unreachable`; so does a writer. Also of one that was spliced on.
// And a ring of streams that wait for each other, which a report names.

#include <cstdint>
#include <optional>

#include "process/amrun_job.hpp"

namespace amrun_test::dead_streams_test {

using am::StreamStatus;
constexpr std::uint64_t values = 1000;

[[noreturn]] void die() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/// Node 0 dies while a writer is in full swing. Node 1 has spliced the stream of node 2 to it, where there are three.
int die_as_reader(am::Node& node) {
  if (node.id() == 0) {
    am::StreamIn<std::uint64_t> in(node, 1, 1);
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < values; ++i) {
      if (in.read(value) != StreamStatus::ok) return 1;
    }
    die();
  }
  if (node.id() + 1 != node.size()) {
    am::StreamIn<std::uint64_t> in(node, 2, 1);
    am::splice(std::move(in), am::StreamOut<std::uint64_t>(node, 0, 1));
    node.wait_until([&] { return node.is_gone(2); });
    return 0;
  }
  am::StreamOut<std::uint64_t> out(node, node.id() - 1, 1);
  StreamStatus status = StreamStatus::ok;
  while (status == StreamStatus::ok) status = out.write(1);
  // Where node 1 passes it on itself it closes its end.
  return status == StreamStatus::unreachable || (status == StreamStatus::ended && node.size() == 3) ? 0 : 2;
}

/// "reader" or "writer": node 0 dies as that; the last node sees it.
int die_as(const Arguments& arguments) {
  am::Node& node = am::start(0, nullptr);
  node.on_peer_death([](am::Node&, am::NodeId) {});
  const am::NodeId last = node.size() - 1;
  std::uint64_t value = 0;
  if (arguments.at(0) == "reader") return die_as_reader(node);
  if (node.id() == 0) {
    am::StreamOut<std::uint64_t> out(node, 1, 1);
    for (std::uint64_t i = 0; i < values; ++i) out.write(i);
    if (out.flush() != StreamStatus::ok) return 1;
    while (node.poll() != 0) {
    }
    // What it has sent by messages has to come: the reader says so.
    am::StreamIn<std::uint64_t> back(node, last, 2);
    if (back.read(value) != StreamStatus::ok) return 1;
    die();
  }
  if (node.id() != last) {
    am::StreamIn<std::uint64_t> in(node, 0, 1);
    am::splice(std::move(in), am::StreamOut<std::uint64_t>(node, last, 1));
    node.wait_until([&] { return node.is_gone(0); });
    node.poll();
    return 0;
  }
  am::StreamIn<std::uint64_t> in(node, last - 1, 1);
  am::StreamOut<std::uint64_t> back(node, 0, 2);
  for (std::uint64_t i = 0; i < values; ++i) {
    if (in.read(value) != StreamStatus::ok || value != i) return 3;
    if (i + 1 == values && back.write(i) != StreamStatus::ok) return 4;
  }
  return in.read(value) == StreamStatus::unreachable ? 0 : 5;
}

/// Node 1 splices what node 0 writes to node 2, and leaves, or goes on. Node 2 never comes to the splice, since it dies; or it does later.
int splice_and(const Arguments& arguments) {
  am::Node& node = am::start(0, nullptr);
  const bool dies = arguments.at(0) == "die";
  node.on_peer_death([](am::Node&, am::NodeId) {});
  if (node.id() == 0) {
    am::StreamOut<std::uint64_t> out(node, 1, 1);
    node.barrier();
    StreamStatus status = StreamStatus::ok;
    std::uint64_t written = 0;
    while (status == StreamStatus::ok && (dies || written < values)) status = out.write(written++);
    return status == (dies ? StreamStatus::unreachable : StreamStatus::ok) ? 0 : 1;
  }
  if (node.id() == 1) {
    am::StreamIn<std::uint64_t> in(node, 0, 1, 16);
    am::StreamOut<std::uint64_t> out(node, 2, 1);
    node.barrier();
    out.write(7);
    am::splice(std::move(in), std::move(out));
    if (!dies) return 0;
    node.wait_until([&] { return node.is_gone(2) && node.is_gone(0); });
    return 0;
  }
  am::StreamIn<std::uint64_t> in(node, 1, 1, 16);
  node.barrier();
  if (dies) die();
  node.wait_until([&] { return node.is_gone(1); });
  std::uint64_t value = 0;
  if (in.read(value) != StreamStatus::ok || value != 7) return 2;
  for (std::uint64_t i = 0; i < values; ++i) {
    if (in.read(value) != StreamStatus::ok || value != i) return 3;
  }
  return in.read(value) == StreamStatus::ended ? 0 : 4;
}

/// Node 1 reads in posts, of which nobody tells it that node 0 is dead.
int read_in_posts(const Arguments& /*arguments*/) {
  am::Node& node = am::start(0, nullptr);
  node.on_peer_death([](am::Node&, am::NodeId) {});
  if (node.id() == 0) {
    am::StreamOut<std::uint64_t> out(node, 1, 1);
    node.barrier();
    die();
  }
  am::StreamIn<std::uint64_t> in(node, 0, 1);
  StreamStatus status = StreamStatus::again;
  in.on_values([&] {
    std::uint64_t value = 0;
    status = in.try_read(value);
  });
  node.barrier();
  node.wait_until([&] { return status != StreamStatus::again; });
  return status == StreamStatus::unreachable ? 0 : 1;
}

/// Node 0 dies when what it wrote is at node 1, which passes it on to a reader that has room for a few of it and reads later.
int die_behind_a_relay(const Arguments& /*arguments*/) {
  am::Node& node = am::start(0, nullptr);
  node.on_peer_death([](am::Node&, am::NodeId) {});
  constexpr std::uint64_t many = 3'000;
  if (node.id() == 0) {
    am::StreamOut<std::uint64_t> out(node, 1, 1);
    for (std::uint64_t i = 0; i < many; ++i) out.write(i);
    if (out.flush() != StreamStatus::ok) return 1;
    node.barrier();
    die();
  }
  if (node.id() == 1) {
    am::StreamIn<std::uint64_t> in(node, 0, 1);
    am::splice(std::move(in), am::StreamOut<std::uint64_t>(node, 2, 1));
    node.barrier();
    node.wait_until([&] { return node.is_gone(2); });
    return 0;
  }
  am::StreamIn<std::uint64_t> in(node, 1, 1, 16);
  node.barrier();
  node.wait_until([&] { return node.is_gone(0); });
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < many; ++i) {
    if (in.read(value) != StreamStatus::ok || value != i) return 3;
  }
  return in.read(value) == StreamStatus::unreachable ? 0 : 4;
}

/// What reads in posts is not run while the node leaves, though there is more for it; its objects are gone.
int leave_unread(const Arguments& /*arguments*/) {
  am::Node& node = am::start(0, nullptr);
  if (node.id() == 0) {
    am::StreamOut<std::uint64_t> out(node, 1, 1);
    node.barrier();
    for (std::uint64_t i = 0; i < 8; ++i) out.write(i);
    while (!node.is_gone(1)) node.poll();
    return 0;
  }
  static am::StreamIn<std::uint64_t>& in = *new am::StreamIn<std::uint64_t>(node, 0, 1);
  static bool is_over = false;
  in.on_values([] {
    if (is_over) _exit(7);
  });
  node.barrier();
  is_over = true;
  return 0;
}

/// Values overtake the word that says who writes them: credits are told all the same.
int read_in_posts_with_faults(const Arguments& /*arguments*/) {
  am::Node& node = am::start(0, nullptr);
  constexpr std::uint64_t many = 20'000;
  if (node.id() == 0) {
    am::StreamOut<std::uint64_t> out(node, 1, 1);
    for (std::uint64_t i = 0; i < many; ++i) out.write(i);
    out.end();
  } else {
    am::StreamIn<std::uint64_t> in(node, 0, 1, 64);
    std::uint64_t next = 0;
    in.on_values([&] {
      std::uint64_t value = 0;
      while (in.try_read(value) == StreamStatus::ok) next += value == next ? 1 : 0;
    });
    node.wait_until([&] { return next == many; });
  }
  node.barrier();
  return 0;
}

/// Node 1 polls no more: a writer, whose values wait in its network, reports that it waits.
int write_to_one_that_computes(const Arguments& /*arguments*/) {
  am::Node& node = am::start(0, nullptr);
  if (node.id() == 0) {
    am::StreamOut<std::uint64_t> out(node, 1, 1);
    node.barrier();
    for (;;) out.write(1);
  }
  const am::StreamIn<std::uint64_t> in(node, 0, 1, 1 << 20);
  node.barrier();
  for (;;) pause();
}

/// Each writes, and none reads.
int fill_a_ring(const Arguments& /*arguments*/) {
  am::Node& node = am::start(0, nullptr);
  const am::StreamIn<int> in(node, (node.id() + 2) % 3, 1, 16);
  am::StreamOut<int> out(node, (node.id() + 1) % 3, 1);
  for (;;) out.write(1);
}

class DeadStreams : public testing::TestWithParam<const char*> {};

TEST_P(DeadStreams, AreUnreachableAtTheOtherEnd) {
  for (const auto& [how, nodes] :
       {std::pair{"reader", "2"}, {"reader", "3"}, {"writer", "2"}, {"writer", "3"}}) {
    Amrun amrun(job({"-n", nodes}, {"die_as", how}), {{std::string("AM_TRANSPORT=") + GetParam()}});
    const auto outcome = amrun.outcome();
    EXPECT_EQ(outcome.exit_code, 0) << how << ": " << outcome.err;
    EXPECT_THAT(outcome.err, testing::HasSubstr("was killed by signal 9")) << how;
  }
}

/// Where memory is shared; elsewhere who splices passes the values on, and cannot leave.
TEST(SplicedStreams, GoToNodesThatDieAndComeFromThoseThatLeave) {
  for (const std::string how : {"die", "leave"}) {
    Amrun amrun(job({"-n", "3"}, {"splice_and", how}));
    const auto outcome = amrun.outcome();
    EXPECT_EQ(outcome.exit_code, 0) << how << ": " << outcome.err;
  }
}

TEST_P(DeadStreams, AreReadToTheirEndBehindARelay) {
  Amrun amrun(job({"-n", "3"}, {"die_behind_a_relay"}), {{std::string("AM_TRANSPORT=") + GetParam()}});
  const auto outcome = amrun.outcome();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_P(DeadStreams, AreNotReadInPostsOfANodeThatLeaves) {
  Amrun amrun(job({"-n", "2"}, {"leave_unread"}), {{std::string("AM_TRANSPORT=") + GetParam()}});
  const auto outcome = amrun.outcome();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_P(DeadStreams, TellWhoReadsInPosts) {
  Amrun amrun(job({"-n", "2"}, {"read_in_posts"}), {{std::string("AM_TRANSPORT=") + GetParam()}});
  const auto outcome = amrun.outcome();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Networks, DeadStreams, testing::Values("shm", "tcp"),
                         [](const auto& network) { return std::string(network.param); });

TEST(StreamsInARing, AreNamedWhenTheyStandStill) {
  Amrun amrun(job({"-n", "3"}, {"fill_a_ring"}), {{"AM_TIMEOUT=1s", "AM_REPORT_AFTER=300ms"}});
  const auto outcome = amrun.outcome();
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err,
              testing::ContainsRegex(
                  "these nodes wait for each other: (0 -> 1 -> 2 -> 0|1 -> 2 -> 0 -> 1|2 -> 0 -> 1 -> 2)"));
  EXPECT_THAT(outcome.err, testing::ContainsRegex("in a write to a stream, for node [012]"));
}

TEST(StreamsByMessages, AreReadInPostsWhateverComesFirst) {
  for (const char* const seed : {"1", "7", "12"}) {
    Amrun amrun(
        job({"-n", "2"}, {"read_in_posts_with_faults"}),
        {{"AM_TRANSPORT=tcp", "AM_TIMEOUT=20s", std::string("AM_FAULTS=refuse=0.5,delay=0.5,seed=") + seed}});
    const auto outcome = amrun.outcome();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
}

TEST(StreamsByMessages, WhoseReaderDoesNotPollReport) {
  Amrun amrun(job({"-n", "2"}, {"write_to_one_that_computes"}),
              {{"AM_TRANSPORT=tcp", "AM_TIMEOUT=1s", "AM_REPORT_AFTER=300ms"}});
  const auto outcome = amrun.outcome();
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, testing::HasSubstr("in a write to a stream, for node 1"));
}

const Roles roles = {{"die_as", die_as},
                     {"fill_a_ring", fill_a_ring},
                     {"splice_and", splice_and},
                     {"read_in_posts", read_in_posts},
                     {"die_behind_a_relay", die_behind_a_relay},
                     {"leave_unread", leave_unread},
                     {"read_in_posts_with_faults", read_in_posts_with_faults},
                     {"write_to_one_that_computes", write_to_one_that_computes}};

}  // namespace amrun_test::dead_streams_test
