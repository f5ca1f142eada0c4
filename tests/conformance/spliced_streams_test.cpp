// Streams that are spliced on, by nodes that take their own out of them or put it in, and streams whose values wait in memory.

#include "support/streams.hpp"

namespace spliced_streams_test {

using namespace test;
using SplicedStreams = test::OnEverySubstrate;
using am::StreamStatus;

/// iWarp's GetRow (3.1.2): each takes what is its own and hands on the rest, of which it sees nothing.
TEST_P(SplicedStreams, GoOnToTheNext) {
  run(4, [](am::Node& node) {
    const Value part = rounds(3'000);
    const am::NodeId last = node.size() - 1;
    if (node.id() == 0) {
      Out out(node, 1, 3);
      for (Value number = 0; number < last * part; ++number) {
        check_is_ok(out.write(number), "write");
        if (number % part == part / 2) check_is_ok(out.mark(number), "mark");
      }
    } else {
      In in(node, node.id() - 1, 3, 32);
      const Value first = (node.id() - 1) * part;
      read_numbers(in, first, first + part / 2 + 1);
      read_marker(in, first + part / 2);
      read_numbers(in, first + part / 2 + 1, first + part);
      if (node.id() == last) {
        read_end(in);
      } else {
        am::splice(std::move(in), Out(node, node.id() + 1, 3));
      }
    }
    node.barrier();
  });
}

/// PutRow: each sends its own, and behind it what others send.
TEST_P(SplicedStreams, GoOnBehindTheirOwn) {
  run(4, [](am::Node& node) {
    const Value part = rounds(2'000);
    std::optional<In> in;
    if (node.id() != 0) in.emplace(node, node.id() - 1, 4, 16);
    if (node.id() != 3) {
      Out out(node, node.id() + 1, 4);
      write_numbers(out, node.id() * part, (node.id() + 1) * part);
      if (in) am::splice(*std::move(in), std::move(out));
    } else {
      for (const am::NodeId sender : {2u, 1u, 0u}) read_numbers(*in, sender * part, (sender + 1) * part);
      read_end(*in);
    }
    node.barrier();
  });
}

/// Nobody comes to the splice: the writer hears of that, the middle has its memory back, and another stream of the same nodes, whose ring has
/// the same number, stays as it is.
TEST_P(SplicedStreams, ThatAreClosedBefore) {
  run(3, [](am::Node& node) {
    for (int i = 0; i < 8; ++i) {
      if (node.id() == 0) {
        Out out(node, 1, 7);
        node.barrier();
        node.barrier();
        check(write_until_refused(out) == StreamStatus::ended, "ended");
        node.barrier();
        Out other(node, 2, 8);
        check_is_ok(other.write(5), "another stream");
      } else if (node.id() == 1) {
        In in(node, 0, 7, 1 << 20);
        Out out(node, 2, 7);
        check_is_ok(out.write(2), "write");
        node.barrier();
        am::splice(std::move(in), std::move(out));
        node.barrier();
        node.barrier();
      } else {
        std::optional<In> in(std::in_place, node, 1, 7);
        In other(node, 0, 8, 4);
        node.barrier();
        node.barrier();
        in.reset();
        node.barrier();
        read_numbers(other, 5, 6);
      }
      node.barrier();
    }
  });
}

/// Of an end that has on_values, and to an end that has; which an exception does not end. Numbers of both ends are free again.
TEST_P(SplicedStreams, WhilePostsRead) {
  run(3, [](am::Node& node) {
    const Value values = rounds(1'000);
    if (node.id() == 0) {
      Out out(node, 1, 2);
      write_numbers(out, 0, values);
      check_is_ok(out.end(), "end");
      Out again(node, 1, 2);
      check_is_ok(again.write(values), "write");
    } else if (node.id() == 1) {
      In in(node, 0, 2, 64);
      Value got = 0;
      Value value = 0;
      in.on_values([&] { got += in.try_read(value) == StreamStatus::ok ? 1 : 0; });
      node.wait_until([&] { return got > 10; });
      in.on_values({});
      Out out(node, 2, 2);
      check_is_ok(out.write(got), "write");
      in.on_values([&] { check(false, "an end that is spliced away"); });
      am::splice(std::move(in), std::move(out));
      In again(node, 0, 2);
      read_numbers(again, values, values + 1);
    } else {
      In in(node, 1, 2, 4);
      Value next = 0;
      bool ended = false;
      bool has_thrown = false;
      bool caught = false;
      check_is_ok(in.read(next), "how many were read before");
      in.on_values([&] {
        if (!std::exchange(has_thrown, true)) throw std::runtime_error("a post");
        Value value = 0;
        StreamStatus status = StreamStatus::ok;
        for (int i = 0; i < 3 && (status = in.try_read(value)) == StreamStatus::ok; ++i)
          check_equal(value, next++, "value");
        if (status != StreamStatus::ended) return;
        check(!ended, "told once");
        ended = true;
      });
      while (!ended) {
        try {
          node.wait_until([&] { return ended; });
        } catch (const std::runtime_error&) {
          caught = true;
        }
      }
      check_equal(next, values, "all");
      check(caught, "what a post throws");
      for (int i = 0; i < 100; ++i) node.poll();
    }
    node.barrier();
  });
}

/// The last reader is not left without news.
TEST_P(SplicedStreams, OfAnotherTypeGoOnInVain) {
  run(3, [](am::Node& node) {
    if (node.id() == 0) {
      check_throws<am::Error>([&] { Out(node, 1, 9); }, "another type");
    } else if (node.id() == 1) {
      am::StreamIn<double> in(node, 0, 9);
      am::splice(std::move(in), am::StreamOut<double>(node, 2, 9));
    } else {
      am::StreamIn<double> in(node, 1, 9);
      double value = 0;
      check(in.read(value) == StreamStatus::unreachable, "it was refused");
    }
    node.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, SplicedStreams, test::cells_of<SplicedStreams>(), test::name_of);

using SpooledStreams = test::OnEverySubstrate;

/// Kung's deadlock: all write before they read, and queues hold none of it. Spooled, it waits in their memories; from the beginning, or later.
TEST_P(SpooledStreams, WaitInMemory) {
  run(3, [](am::Node& node) {
    const Value values = rounds(2'000);
    const am::NodeId left = (node.id() + 2) % 3;
    for (const Value before : {Value{0}, Value{3}}) {
      In in(node, left, 5, 8);
      check_throws<am::Error>([&] { in.spool(0); }, "values, not 0 (");
      check_throws<am::Error>([&] { in.spool(~std::size_t{0}); }, "it holds 1 to");
      Out out(node, (node.id() + 1) % 3, 5);
      write_numbers(out, 0, before + 2);
      check_is_ok(out.flush(), "flush");
      read_numbers(in, 0, before);
      in.spool(10);
      in.spool(values + 10);
      for (Value number = before + 2; number < values; ++number) {
        if (number % (values / 7) == 1) check_is_ok(out.mark(number), "mark");
        check_is_ok(out.write(number), "write");
      }
      check_is_ok(out.end(), "end");
      Value number = before;
      Value value = 0;
      for (StreamStatus status = StreamStatus::ok; (status = in.read(value)) != StreamStatus::ended;) {
        if (status == StreamStatus::marker) {
          check_equal(in.marker(), number, "marker");
        } else {
          check_is_ok(status, "read");
          check_equal(value, number++, "value");
        }
      }
      check_equal(number, values, "all");
      node.barrier();
    }
  });
}

/// What waits in memory goes on, too, and comes by values that nobody reads.
TEST_P(SpooledStreams, AreSplicedOn) {
  run(3, [](am::Node& node) {
    const Value values = rounds(1'000);
    if (node.id() == 0) {
      Out out(node, 1, 2);
      write_numbers(out, 0, values);
      check_is_ok(out.end(), "end");
      node.barrier();
    } else if (node.id() == 1) {
      In in(node, 0, 2, 4);
      in.spool(values);
      node.barrier();  // node 0 has written all of it
      am::splice(std::move(in), Out(node, 2, 2));
    } else {
      In in(node, 1, 2, 4);
      node.barrier();
      read_numbers(in, 0, values);
      read_end(in);
    }
    node.barrier();
  });
}

/// Who passes a stream on and leaves has not come to its end.
TEST_P(SpooledStreams, EndWithNodesThatPassThemOn) {
  run(3, [](am::Node& node) {
    const Value values = 100;
    if (node.id() == 0) {
      Out out(node, 1, 2);
      write_numbers(out, 0, values);
      check_is_ok(out.flush(), "flush");
      node.barrier();
      node.wait_until([&] { return node.is_gone(1); });
      return;
    }
    if (node.id() == 1) {
      In in(node, 0, 2, 4);
      in.spool(1'000);
      node.barrier();  // node 0 has written
      return am::splice(std::move(in), Out(node, 2, 2));
    }
    In in(node, 1, 2);
    node.barrier();
    Value value = 0;
    StreamStatus status = StreamStatus::ok;
    for (Value number = 0; (status = in.read(value)) == StreamStatus::ok; ++number)
      check_equal(value, number, "value");
    check(status == StreamStatus::unreachable, "it has no end");
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, SpooledStreams, test::cells_of<SpooledStreams>(), test::name_of);

}  // namespace spliced_streams_test
