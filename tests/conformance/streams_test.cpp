// Streams: values in order, by one and by many, with markers and ends, waiting and failable, to every node; spliced on; and what is no
// stream.
#include <sched.h>
#include <am/collectives.hpp>
#include <am/stream.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/job.hpp"

namespace streams_test {

using namespace test;
using Streams = test::OnEverySubstrate;
using am::StreamStatus;
using Value = std::uint64_t;

/// What a stream carries: values and, in front of some, markers, which follow from a seed.
class Script {
 public:
  Script(std::uint64_t seed, Value values) : seed_(seed), values_(values) {}
  [[nodiscard]] Value size() const { return values_; }
  [[nodiscard]] Value value(Value number) const { return test::mix(seed_, number); }
  [[nodiscard]] bool has_marker(Value number) const { return test::mix(seed_ + 1, number) % 50 == 0; }

 private:
  std::uint64_t seed_;
  Value values_;
};

/// Writes it by everything that there is, a bit at a time.
class Writing {
 public:
  Writing(am::StreamOut<Value>& out, const Script& script, std::uint64_t seed)
      : out_(out), script_(script), random_(seed) {}
  [[nodiscard]] bool done() const { return ended_; }
  void go_on() {
    if (ended_) return;
    if (next_ == script_.size()) {
      check(out_.end() == StreamStatus::ok, "end");
      check(out_.write(0) == StreamStatus::ended, "nothing goes behind the end");
      ended_ = true;
      return;
    }
    if (!marked_ && script_.has_marker(next_)) {
      marked_ = is_ok(out_.try_mark(next_));
      return;
    }
    Value end = next_ + 1;
    const Value most = next_ + 1 + random_.below(300);
    while (end < std::min(most, script_.size()) && !script_.has_marker(end)) ++end;
    if (end == next_ + 1) {
      if (is_ok(out_.try_write(script_.value(next_)))) wrote(1);
      return;
    }
    std::vector<Value> values;
    for (Value number = next_; number < end; ++number) values.push_back(script_.value(number));
    const am::StreamProgress progress = out_.try_write(std::span<const Value>(values));
    check(progress.status == StreamStatus::ok ? progress.count == values.size() : !is_ok(progress.status),
          "all, or not");
    wrote(progress.count);
    if (random_.one_in(8)) check(out_.flush() == StreamStatus::ok, "flush");
  }

 private:
  static bool is_ok(StreamStatus status) {
    check(status == StreamStatus::ok || status == StreamStatus::again, "ok or again");
    return status == StreamStatus::ok;
  }
  void wrote(Value count) {
    next_ += count;
    if (count != 0) marked_ = false;
  }

  am::StreamOut<Value>& out_;
  const Script script_;
  test::Random random_;
  Value next_ = 0;
  bool marked_ = false;
  bool ended_ = false;
};

class Reading {
 public:
  Reading(am::StreamIn<Value>& in, const Script& script, std::uint64_t seed)
      : in_(in), script_(script), random_(seed) {}
  [[nodiscard]] bool done() const { return ended_; }
  void go_on() {
    if (ended_) return;
    if (random_.one_in(2)) {
      Value value = 0;
      const StreamStatus status = in_.try_read(value);
      if (status == StreamStatus::ok) got(value);
      met(status);
    } else {
      std::array<Value, 100> values{};
      const auto wanted = std::span(values).first(1 + random_.below(values.size()));
      const am::StreamProgress progress = in_.try_read(wanted);
      for (const Value value : wanted.first(progress.count)) got(value);
      met(progress.status);
    }
  }
  void met(StreamStatus status) {
    if (status == StreamStatus::marker) {
      check_equal(in_.marker(), next_, "the marker in front of this value");
      check(script_.has_marker(next_) && !marked_, "one marker where there is one");
      marked_ = true;
    }
    check(status != StreamStatus::unreachable, "unreachable");
    if (status != StreamStatus::ended) return;
    check_equal(next_, script_.size(), "values before the end");
    ended_ = true;
  }
  void got(Value value) {
    check_equal(value, script_.value(next_), "a value");
    check(marked_ || !script_.has_marker(next_), "the marker comes first");
    ++next_;
    marked_ = false;
  }

 private:
  am::StreamIn<Value>& in_;
  const Script script_;
  test::Random random_;
  Value next_ = 0;
  bool marked_ = false;
  bool ended_ = false;
};

std::uint64_t common_seed(am::Node& node) { return am::broadcast(node, test::seed(), 0); }

TEST_P(Streams, AroundARingByOneAndByMany) {
  run(4, [](am::Node& node) {
    const std::uint64_t seed = common_seed(node);
    for (const std::size_t capacity : {2u, 64u, 0u}) {
      const Value values = rounds(capacity == 2 ? 300 : 3'000);
      const am::NodeId left = (node.id() + 3) % 4;
      am::StreamIn<Value> in(node, left, 5, capacity);
      am::StreamOut<Value> out(node, (node.id() + 1) % 4, 5);
      Writing writing(out, Script(seed + node.id(), values), seed + 10 + node.id());
      Reading reading(in, Script(seed + left, values), seed + 20 + node.id());
      while (!writing.done() || !reading.done()) {
        writing.go_on();
        reading.go_on();
        if (node.poll() == 0) sched_yield();
      }
      node.barrier();
    }
  });
}

TEST_P(Streams, WaitForEachOther) {
  run(2, [](am::Node& node) {
    const Value values = rounds(20'000);
    if (node.id() == 0) {
      am::StreamOut<Value> out(node, 1, 1);
      for (Value number = 0; number < values; ++number) {
        if (number % 40 == 0) check(out.mark(number) == StreamStatus::ok, "mark");
        check(out.write(number) == StreamStatus::ok, "write");
        if (number % 3000 == 0) node.poll();
      }
    } else {
      am::StreamIn<Value> in(node, 0, 1, 8);
      Value value = 0;
      for (Value number = 0; number < values; ++number) {
        if (number % 40 == 0) {
          check(in.read(value) == StreamStatus::marker, "marker");
          check_equal(in.marker(), number, "marker");
        }
        check(in.read(value) == StreamStatus::ok, "read");
        check_equal(value, number, "value");
      }
      check(in.read(value) == StreamStatus::ended, "the destructor ends it");
      check(in.read(value) == StreamStatus::ended, "for good");
      check_throws<am::Error>([&] { static_cast<void>(in.marker()); }, "none comes next");
    }
    node.barrier();
  });
}

/// Nobody flushes: polls do.
TEST_P(Streams, GoThereAndBack) {
  run(2, [](am::Node& node) {
    const am::NodeId other = 1 - node.id();
    am::StreamIn<Value> in(node, other, 1);
    am::StreamOut<Value> out(node, other, 1);
    for (Value number = 0; number < rounds(300); ++number) {
      Value back = 0;
      if (node.id() == 0) check(out.write(number) == StreamStatus::ok, "write");
      check(in.read(back) == StreamStatus::ok, "read");
      check_equal(back, number, "value");
      if (node.id() == 1) check(out.write(number) == StreamStatus::ok, "write");
    }
    node.barrier();
  });
}

TEST_P(Streams, CallThePostThatReads) {
  run(2, [](am::Node& node) {
    const std::uint64_t seed = common_seed(node);
    const Script script(seed, rounds(20'000));
    if (node.id() == 0) {
      am::StreamOut<Value> out(node, 1, 2);
      Writing writing(out, script, seed + 1);
      for (int turn = 0; !writing.done(); ++turn) {
        writing.go_on();
        if (turn % 16 == 0) node.poll();
      }
    } else {
      am::StreamIn<Value> in(node, 0, 2, 64);
      Reading reading(in, script, seed + 2);
      in.on_values([&] {
        for (int i = 0; i < 20; ++i) reading.go_on();
      });
      node.wait_until([&] { return reading.done(); });
    }
    node.barrier();
  });
}

/// iWarp's GetRow (3.1.2): each takes what is its own and hands on the rest, of which it sees nothing.
TEST_P(Streams, AreSplicedOn) {
  run(4, [](am::Node& node) {
    const Value part = rounds(3'000);
    const am::NodeId last = node.size() - 1;
    if (node.id() == 0) {
      am::StreamOut<Value> out(node, 1, 3);
      for (Value number = 0; number < last * part; ++number) {
        check(out.write(number) == StreamStatus::ok, "write");
        if (number % part == part / 2) check(out.mark(number) == StreamStatus::ok, "mark");
      }
    } else {
      am::StreamIn<Value> in(node, node.id() - 1, 3, 32);
      Value value = 0;
      for (Value i = 0; i < part; ++i) {
        const Value number = (node.id() - 1) * part + i;
        check(in.read(value) == StreamStatus::ok, "read");
        check_equal(value, number, "value");
        if (i == part / 2) {
          check(in.read(value) == StreamStatus::marker, "marker");
          check_equal(in.marker(), number, "marker");
        }
      }
      if (node.id() == last) {
        check(in.read(value) == StreamStatus::ended, "the end comes, too");
      } else {
        am::splice(std::move(in), am::StreamOut<Value>(node, node.id() + 1, 3));
      }
    }
    node.barrier();
  });
}

/// PutRow: each sends its own, and behind it what others send.
TEST_P(Streams, AreSplicedBehindTheirOwn) {
  run(4, [](am::Node& node) {
    const Value part = rounds(2'000);
    std::optional<am::StreamIn<Value>> in;
    if (node.id() != 0) in.emplace(node, node.id() - 1, 4, 16);
    if (node.id() != 3) {
      am::StreamOut<Value> out(node, node.id() + 1, 4);
      for (Value i = 0; i < part; ++i) check(out.write(node.id() * part + i) == StreamStatus::ok, "write");
      if (in) am::splice(*std::move(in), std::move(out));
    } else {
      for (const am::NodeId sender : {2u, 1u, 0u}) {
        for (Value i = 0; i < part; ++i) {
          Value value = 0;
          check(in->read(value) == StreamStatus::ok, "read");
          check_equal(value, sender * part + i, "value");
        }
      }
      Value value = 0;
      check(in->read(value) == StreamStatus::ended, "one end");
    }
    node.barrier();
  });
}

TEST_P(Streams, ThatTheReaderCloses) {
  run(2, [](am::Node& node) {
    for (int i = 0; i < 20; ++i) {  // the segment has its memory back
      if (node.id() == 0) {
        am::StreamOut<Value> out(node, 1, 6);
        StreamStatus status = StreamStatus::ok;
        while (status == StreamStatus::ok) status = out.write(1);
        check(status == StreamStatus::ended, "ended");
        check(out.end() == StreamStatus::ended, "nobody reads the end");
      } else {
        am::StreamIn<Value> in(node, 0, 6, 1 << 20);
        Value value = 0;
        check(in.read(value) == StreamStatus::ok, "the first");
      }
      node.barrier();
    }
  });
}

struct Other {
  double x, y;
};

TEST_P(Streams, ThatAreNone) {
  run(2, [](am::Node& node) {
    check(am::stream_is_open(node, 2, 0) == am::Status::no_such_node, "no node 2");
    check_throws<am::Error>([&] { am::StreamIn<int>(node, 2, 0); }, "no node 2");
    check_throws<am::Error>([&] { am::StreamOut<int>(node, 2, 0); }, "no node 2");
    check_throws<am::Error>([&] { am::StreamIn<Value>(node, 0, 0, ~std::size_t{0}); }, "no room");
    check_throws<am::Error>([&] { am::StreamIn<Value>(node, 0, 0, std::size_t{1} << 27); }, "AM_SEGMENT");
    if (node.id() == 1) {
      am::StreamIn<Other> in(node, 0, 9);
      check_throws<am::Error>([&] { am::StreamIn<Other>(node, 0, 9); }, "one reader");
      Other value{};
      check(in.read(value) == StreamStatus::unreachable, "it was refused");
    } else {
      node.wait_until([&] { return am::stream_is_open(node, 1, 9) == am::Status::ok; });
      check_throws<am::Error>([&] { am::StreamOut<Value>(node, 1, 9); }, "another type");
      check(am::stream_is_open(node, 1, 9) == am::Status::again, "it is taken");
    }
    node.barrier();
    am::StreamIn<Other> in(node, node.id(), 9);  // from itself
    am::StreamOut<Other> out(node, node.id(), 9);
    check(out.write({1, 2}) == StreamStatus::ok && out.end() == StreamStatus::ok, "write");
    Other value{};
    check(in.read(value) == StreamStatus::ok && value.y == 2 && in.read(value) == StreamStatus::ended,
          "read");
    node.barrier();
  });
}

/// A wait runs posts, which write to the same stream: nothing is lost of either, and each comes in order.
TEST_P(Streams, ThatAPostWritesWhileAWriteWaits) {
  run(2, [](am::Node& node) {
    constexpr Value posted = Value{1} << 60;
    const Value values = rounds(20'000);
    if (node.id() == 0) {
      am::StreamOut<Value> out(node, 1, 1);
      Value by_posts = 0;
      std::function<void(am::Node&)> post = [&](am::Node& here) {
        for (int i = 0; i < 40; ++i) check(out.write(posted + by_posts++) == StreamStatus::ok, "write");
        if (by_posts < values) here.post(post);
      };
      node.post(post);
      for (Value number = 0; number < values; ++number) check(out.write(number) == StreamStatus::ok, "write");
      node.wait_until([&] { return by_posts >= values; });
      check(out.mark(by_posts) == StreamStatus::ok, "mark");
    } else {
      am::StreamIn<Value> in(node, 0, 1, 32);
      std::array<Value, 2> next{0, posted};
      Value value = 0;
      StreamStatus status = StreamStatus::ok;
      while ((status = in.read(value)) == StreamStatus::ok)
        check_equal(value, next[value / posted]++, "in order");
      check(status == StreamStatus::marker, "marker");
      check_equal(next[0], values, "of the computation");
      check_equal(next[1] - posted, in.marker(), "of the posts");
      check(in.read(value) == StreamStatus::ended, "ended");
    }
    node.barrier();
  });
}

/// What is not read takes room, and nothing else does.
TEST_P(Streams, HaveTheRoomThatWasAskedFor) {
  run(2, [](am::Node& node) {
    constexpr std::size_t capacity = 8;
    std::optional<am::StreamIn<Value>> in;
    std::optional<am::StreamOut<Value>> out;
    if (node.id() == 0) {
      out.emplace(node, 1, 1);
    } else {
      in.emplace(node, 0, 1, capacity);
    }
    for (const Value reads : {capacity, Value{5}, capacity, Value{1}}) {
      for (Value i = 0; out && i < reads; ++i) {
        check(out->write(i) == StreamStatus::ok, "write");
        check(out->mark(i) == StreamStatus::ok, "mark");
      }
      if (out) check(out->flush() == StreamStatus::ok, "flush");
      Value value = 0;
      for (Value i = 0; in && i < reads; ++i) {
        check(in->read(value) == StreamStatus::ok && in->read(value) == StreamStatus::marker, "read");
        check_equal(in->marker(), i, "marker");
      }
      node.barrier();
      for (std::size_t i = 0; out && i < capacity; ++i) {
        check(out->write(i) == StreamStatus::ok, "room that does not depend on the reader");
        check(out->mark(i) == StreamStatus::ok, "and for marks");
      }
      if (out) check(out->flush() == StreamStatus::ok, "flush");
      node.barrier();
      for (std::size_t i = 0; in && i < capacity; ++i) {
        check(in->read(value) == StreamStatus::ok && in->read(value) == StreamStatus::marker, "read");
        check_equal(in->marker(), i, "marker");
      }
    }
    // Without marks, which make each value known.
    for (Value i = 0; out && i < capacity; ++i) check(out->write(i) == StreamStatus::ok, "write");
    if (out) check(out->flush() == StreamStatus::ok, "flush");
    Value value = 0;
    for (Value i = 0; in && i < capacity - 2; ++i) check(in->read(value) == StreamStatus::ok, "read");
    node.barrier();
    for (std::size_t i = 0; out && i < capacity - 2; ++i) check(out->write(i) == StreamStatus::ok, "room");
    node.barrier();
  });
}

/// Nobody comes to the splice: the writer hears of that, the middle has its memory back, and another stream of the same nodes, whose ring has
/// the same number, stays as it is.
TEST_P(Streams, ThatAreClosedBeforeTheSplice) {
  run(3, [](am::Node& node) {
    for (int i = 0; i < 8; ++i) {
      if (node.id() == 0) {
        am::StreamOut<Value> out(node, 1, 7);
        node.barrier();
        node.barrier();
        StreamStatus status = StreamStatus::ok;
        while (status == StreamStatus::ok) status = out.write(1);
        check(status == StreamStatus::ended, "ended");
        node.barrier();
        am::StreamOut<Value> other(node, 2, 8);
        check(other.write(5) == StreamStatus::ok, "another stream");
      } else if (node.id() == 1) {
        am::StreamIn<Value> in(node, 0, 7, 1 << 20);
        am::StreamOut<Value> out(node, 2, 7);
        check(out.write(2) == StreamStatus::ok, "write");
        node.barrier();
        am::splice(std::move(in), std::move(out));
        node.barrier();
        node.barrier();
      } else {
        std::optional<am::StreamIn<Value>> in(std::in_place, node, 1, 7);
        am::StreamIn<Value> other(node, 0, 8, 4);
        node.barrier();
        node.barrier();
        in.reset();
        node.barrier();
        Value value = 0;
        check(other.read(value) == StreamStatus::ok && value == 5, "read");
      }
      node.barrier();
    }
  });
}

/// Of an end that has on_values, and to an end that has; which an exception does not end. Numbers of both ends are free again.
TEST_P(Streams, AreSplicedWhilePostsRead) {
  run(3, [](am::Node& node) {
    const Value values = rounds(1'000);
    const auto first = [](const StreamStatus status) { return status == StreamStatus::ok; };
    if (node.id() == 0) {
      am::StreamOut<Value> out(node, 1, 2);
      for (Value number = 0; number < values; ++number) check(first(out.write(number)), "write");
      check(out.end() == StreamStatus::ok, "end");
      am::StreamOut<Value> again(node, 1, 2);
      check(first(again.write(values)), "write");
    } else if (node.id() == 1) {
      am::StreamIn<Value> in(node, 0, 2, 64);
      Value got = 0;
      Value value = 0;
      in.on_values([&] { got += first(in.try_read(value)) ? 1 : 0; });
      node.wait_until([&] { return got > 10; });
      in.on_values({});
      am::StreamOut<Value> out(node, 2, 2);
      check(first(out.write(got)), "write");
      in.on_values([&] { check(false, "an end that is spliced away"); });
      am::splice(std::move(in), std::move(out));
      am::StreamIn<Value> again(node, 0, 2);
      check(first(again.read(value)) && value == values, "read");
    } else {
      am::StreamIn<Value> in(node, 1, 2, 4);
      Value next = 0;
      bool ended = false;
      bool has_thrown = false;
      bool caught = false;
      check(first(in.read(next)), "how many were read before");
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

/// Kung's deadlock: all write before they read, and queues hold none of it. Spooled, it waits in their memories; from the beginning, or later.
TEST_P(Streams, WaitInMemoryWhereTheyAreSpooled) {
  run(3, [](am::Node& node) {
    const Value values = rounds(2'000);
    const am::NodeId left = (node.id() + 2) % 3;
    for (const Value before : {Value{0}, Value{3}}) {
      am::StreamIn<Value> in(node, left, 5, 8);
      check_throws<am::Error>([&] { in.spool(0); }, "values, not 0 (");
      check_throws<am::Error>([&] { in.spool(~std::size_t{0}); }, "it holds 1 to");
      am::StreamOut<Value> out(node, (node.id() + 1) % 3, 5);
      Value value = 0;
      for (Value number = 0; number < before + 2; ++number)
        check(out.write(number) == StreamStatus::ok, "write");
      check(out.flush() == StreamStatus::ok, "flush");
      for (Value number = 0; number < before; ++number)
        check(in.read(value) == StreamStatus::ok && value == number, "read before");
      in.spool(10);
      in.spool(values + 10);
      for (Value number = before + 2; number < values; ++number) {
        if (number % (values / 7) == 1) check(out.mark(number) == StreamStatus::ok, "mark");
        check(out.write(number) == StreamStatus::ok, "write");
      }
      check(out.end() == StreamStatus::ok, "end");
      Value number = before;
      for (StreamStatus status = StreamStatus::ok; (status = in.read(value)) != StreamStatus::ended;) {
        if (status == StreamStatus::marker) {
          check_equal(in.marker(), number, "marker");
        } else {
          check(status == StreamStatus::ok, "ok");
          check_equal(value, number++, "value");
        }
      }
      check_equal(number, values, "all");
      node.barrier();
    }
  });
}

/// What waits in memory goes on, too, and comes by values that nobody reads.
TEST_P(Streams, AreSplicedFromASpool) {
  run(3, [](am::Node& node) {
    const Value values = rounds(1'000);
    if (node.id() == 0) {
      am::StreamOut<Value> out(node, 1, 2);
      for (Value number = 0; number < values; ++number) check(out.write(number) == StreamStatus::ok, "write");
      check(out.end() == StreamStatus::ok, "end");
      node.barrier();
    } else if (node.id() == 1) {
      am::StreamIn<Value> in(node, 0, 2, 4);
      in.spool(values);
      node.barrier();  // node 0 has written all of it
      am::splice(std::move(in), am::StreamOut<Value>(node, 2, 2));
    } else {
      am::StreamIn<Value> in(node, 1, 2, 4);
      node.barrier();
      Value value = 0;
      for (Value number = 0; number < values; ++number)
        check(in.read(value) == StreamStatus::ok && value == number, "read");
      check(in.read(value) == StreamStatus::ended, "ended");
    }
    node.barrier();
  });
}

/// The last reader is not left without news.
TEST_P(Streams, OfAnotherTypeAreSplicedOnInVain) {
  run(3, [](am::Node& node) {
    if (node.id() == 0) {
      check_throws<am::Error>([&] { am::StreamOut<Value>(node, 1, 9); }, "another type");
    } else if (node.id() == 1) {
      am::StreamIn<Other> in(node, 0, 9);
      am::splice(std::move(in), am::StreamOut<Other>(node, 2, 9));
    } else {
      am::StreamIn<Other> in(node, 1, 9);
      Other value{};
      check(in.read(value) == StreamStatus::unreachable, "it was refused");
    }
    node.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Streams, test::cells_of<Streams>(), test::name_of);

}  // namespace streams_test
