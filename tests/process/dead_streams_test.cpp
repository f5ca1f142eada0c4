// Streams whose other end dies: a reader gets what was written, then `unreachable`; so does a writer. Also of one that was spliced on.
// And a ring of streams that wait for each other, which a report names.

#include "process/amrun_job.hpp"
#include "support/streams.hpp"

namespace amrun_test::dead_streams_test {

using namespace test;
using am::StreamStatus;
constexpr Value values = 1000;

[[noreturn]] void die() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

void survive(am::Node& node) {
  node.on_peer_death([](am::Node&, am::NodeId) {});
}

void read_unreachable(In& in) {
  Value none = 0;
  check(in.read(none) == StreamStatus::unreachable, "unreachable");
}

/// Node 0 dies while a writer is in full swing. Node 1 has spliced the stream of node 2 to it, where there are three.
const Role die_as_reader("die_as_reader", Role::told, [](am::Node& node) {
  survive(node);
  if (node.id() == 0) {
    In in(node, 1, 1);
    for (Value i = 0; i < values; ++i) read_numbers(in, 1, 2);
    die();
  }
  if (node.id() + 1 != node.size()) {
    am::splice(In(node, 2, 1), Out(node, 0, 1));
    return node.wait_until([&] { return node.is_gone(2); });
  }
  Out out(node, node.id() - 1, 1);
  const StreamStatus status = write_until_refused(out);
  // Where node 1 passes it on itself it closes its end.
  check(status == StreamStatus::unreachable || (status == StreamStatus::ended && node.size() == 3),
        "refused");
});

/// Node 0 dies; the last node sees it.
const Role die_as_writer("die_as_writer", Role::told, [](am::Node& node) {
  survive(node);
  const am::NodeId last = node.size() - 1;
  if (node.id() == 0) {
    Out out(node, 1, 1);
    write_numbers(out, 0, values);
    check_is_ok(out.flush(), "flush");
    poll_until_quiet(node);
    // What it has sent by messages has to come: the reader says so.
    In back(node, last, 2);
    read_numbers(back, values - 1, values);
    die();
  }
  if (node.id() != last) {
    am::splice(In(node, 0, 1), Out(node, last, 1));
    node.wait_until([&] { return node.is_gone(0); });
    node.poll();
    return;
  }
  In in(node, last - 1, 1);
  Out back(node, 0, 2);
  read_numbers(in, 0, values);
  check_is_ok(back.write(values - 1), "write");
  read_unreachable(in);
});

/// Node 1 splices what node 0 writes to node 2, and leaves, or goes on. Node 2 never comes to the splice, since it dies; or it does later.
const Role splice_and("splice_and", Role::told, [](am::Node& node, const Arguments& arguments) {
  const bool dies = arguments.at(0) == "die";
  survive(node);
  if (node.id() == 0) {
    Out out(node, 1, 1);
    node.barrier();
    if (dies) return check(write_until_refused(out) == StreamStatus::unreachable, "unreachable");
    return write_numbers(out, 0, values);
  }
  if (node.id() == 1) {
    In in(node, 0, 1, 16);
    Out out(node, 2, 1);
    node.barrier();
    out.write(7);
    am::splice(std::move(in), std::move(out));
    if (dies) node.wait_until([&] { return node.is_gone(2) && node.is_gone(0); });
    return;
  }
  In in(node, 1, 1, 16);
  node.barrier();
  if (dies) die();
  node.wait_until([&] { return node.is_gone(1); });
  read_numbers(in, 7, 8);
  read_numbers(in, 0, values);
  read_end(in);
});

/// Node 1 reads in posts, of which nobody tells it that node 0 is dead.
const Role read_in_posts("read_in_posts", Role::told, [](am::Node& node) {
  survive(node);
  if (node.id() == 0) {
    Out out(node, 1, 1);
    node.barrier();
    die();
  }
  In in(node, 0, 1);
  StreamStatus status = StreamStatus::again;
  in.on_values([&] {
    Value value = 0;
    status = in.try_read(value);
  });
  node.barrier();
  node.wait_until([&] { return status != StreamStatus::again; });
  check(status == StreamStatus::unreachable, "unreachable");
});

/// Node 0 dies when what it wrote is at node 1, which passes it on to a reader that has room for a few of it and reads later.
const Role die_behind_a_relay("die_behind_a_relay", Role::told, [](am::Node& node) {
  survive(node);
  constexpr Value many = 3'000;
  if (node.id() == 0) {
    Out out(node, 1, 1);
    write_numbers(out, 0, many);
    check_is_ok(out.flush(), "flush");
    node.barrier();
    die();
  }
  if (node.id() == 1) {
    am::splice(In(node, 0, 1), Out(node, 2, 1));
    node.barrier();
    return node.wait_until([&] { return node.is_gone(2); });
  }
  In in(node, 1, 1, 16);
  node.barrier();
  node.wait_until([&] { return node.is_gone(0); });
  read_numbers(in, 0, many);
  read_unreachable(in);
});

/// What reads in posts is not run while the node leaves, though there is more for it; its objects are gone.
const Role leave_unread("leave_unread", [](am::Node& node) {
  if (node.id() == 0) {
    Out out(node, 1, 1);
    node.barrier();
    for (Value i = 0; i < 8; ++i) out.write(i);
    while (!node.is_gone(1)) node.poll();
    return;
  }
  static In& in = *new In(node, 0, 1);
  static bool is_over = false;
  in.on_values([] {
    if (is_over) _exit(7);
  });
  node.barrier();
  is_over = true;
});

/// Values overtake the word that says who writes them: credits are told all the same.
const Role read_in_posts_with_faults("read_in_posts_with_faults", [](am::Node& node) {
  constexpr Value many = 20'000;
  if (node.id() == 0) {
    Out out(node, 1, 1);
    write_numbers(out, 0, many);
    out.end();
  } else {
    In in(node, 0, 1, 64);
    Value next = 0;
    in.on_values([&] {
      Value value = 0;
      while (in.try_read(value) == StreamStatus::ok) next += value == next ? 1 : 0;
    });
    node.wait_until([&] { return next == many; });
  }
  node.barrier();
});

/// Node 1 polls no more: a writer, whose values wait in its network, reports that it waits.
const Role write_to_one_that_computes("write_to_one_that_computes", [](am::Node& node) {
  if (node.id() == 0) {
    Out out(node, 1, 1);
    node.barrier();
    write_until_refused(out);
  }
  const In in(node, 0, 1, 1 << 20);
  node.barrier();
  for (;;) pause();
});

/// Each writes, and none reads.
const Role fill_a_ring("fill_a_ring", [](am::Node& node) {
  const am::StreamIn<int> in(node, (node.id() + 2) % 3, 1, 16);
  am::StreamOut<int> out(node, (node.id() + 1) % 3, 1);
  for (;;) out.write(1);
});

class DeadStreams : public testing::TestWithParam<const char*> {
 protected:
  static void expect_well(const char* nodes, const char* role, const testing::Matcher<std::string>& err) {
    expect_end(run_job({"-n", nodes}, {role}, {{std::string("AM_TRANSPORT=") + GetParam()}}), 0, err);
  }
};

TEST_P(DeadStreams, AreUnreachableAtTheOtherEnd) {
  for (const char* const role : {"die_as_reader", "die_as_writer"}) {
    for (const char* const nodes : {"2", "3"}) {
      SCOPED_TRACE(role);
      expect_well(nodes, role, testing::HasSubstr("was killed by signal 9"));
    }
  }
}

/// Where memory is shared; elsewhere who splices passes the values on, and cannot leave.
TEST(SplicedStreams, GoToNodesThatDieAndComeFromThoseThatLeave) {
  for (const char* const how : {"die", "leave"})
    expect_end(run_job({"-n", "3"}, {"splice_and", how}), 0, testing::_);
}

TEST_P(DeadStreams, AreReadToTheirEndBehindARelay) { expect_well("3", "die_behind_a_relay", testing::_); }

TEST_P(DeadStreams, AreNotReadInPostsOfANodeThatLeaves) { expect_well("2", "leave_unread", testing::_); }

TEST_P(DeadStreams, TellWhoReadsInPosts) { expect_well("2", "read_in_posts", testing::_); }

INSTANTIATE_TEST_SUITE_P(Networks, DeadStreams, testing::Values("shm", "tcp"),
                         [](const auto& network) { return std::string(network.param); });

TEST(StreamsInARing, AreNamedWhenTheyStandStill) {
  const std::string ring =
      "these nodes wait for each other: (0 -> 1 -> 2 -> 0|1 -> 2 -> 0 -> 1|2 -> 0 -> 1 -> 2)";
  expect_end(run_job({"-n", "3"}, {"fill_a_ring"}, {{"AM_TIMEOUT=1s", "AM_REPORT_AFTER=300ms"}}),
             testing::Ne(0),
             testing::AllOf(testing::ContainsRegex(ring),
                            testing::ContainsRegex("in a write to a stream, for node [012]")));
}

TEST(StreamsByMessages, AreReadInPostsWhateverComesFirst) {
  for (const char* const seed : {"1", "7", "12"})
    expect_end(run_job({"-n", "2"}, {"read_in_posts_with_faults"},
                       {{"AM_TRANSPORT=tcp", "AM_TIMEOUT=20s",
                         std::string("AM_FAULTS=refuse=0.5,delay=0.5,seed=") + seed}}),
               0, testing::_);
}

TEST(StreamsByMessages, WhoseReaderDoesNotPollReport) {
  expect_end(run_job({"-n", "2"}, {"write_to_one_that_computes"},
                     {{"AM_TRANSPORT=tcp", "AM_TIMEOUT=1s", "AM_REPORT_AFTER=300ms"}}),
             testing::Ne(0), testing::HasSubstr("in a write to a stream, for node 1"));
}

}  // namespace amrun_test::dead_streams_test
