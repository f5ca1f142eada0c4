// Streams: values in order, by one and by many, with markers and ends, waiting and failable, to every node; and what is no stream.
#include <sched.h>
#include <am/collectives.hpp>

#include <numeric>

#include "support/streams.hpp"

namespace streams_test {

using namespace test;
using Streams = test::OnEverySubstrate;
using am::StreamStatus;

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
  Writing(Out& out, const Script& script, std::uint64_t seed) : out_(out), script_(script), random_(seed) {}
  [[nodiscard]] bool done() const { return ended_; }
  void go_on() {
    if (ended_) return;
    if (next_ == script_.size()) {
      check_is_ok(out_.end(), "end");
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
    if (random_.one_in(8)) check_is_ok(out_.flush(), "flush");
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

  Out& out_;
  const Script script_;
  test::Random random_;
  Value next_ = 0;
  bool marked_ = false;
  bool ended_ = false;
};

class Reading {
 public:
  Reading(In& in, const Script& script, std::uint64_t seed) : in_(in), script_(script), random_(seed) {}
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
  In& in_;
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
      In in(node, left, 5, capacity);
      Out out(node, (node.id() + 1) % 4, 5);
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

/// By messages these are read to where they belong, around the ring many times.
TEST_P(Streams, InLongPieces) {
  run(2, [](am::Node& node) {
    constexpr std::size_t capacity = 40'000;  // rings as long as by default where messages fill them
    constexpr Value piece = 7'777;
    constexpr Value values = 40 * piece;
    if (node.id() == 0) {
      Out out(node, 1, 8);
      std::vector<Value> numbers(piece);
      for (Value first = 0; first < values; first += numbers.size()) {
        std::iota(numbers.begin(), numbers.end(), first);
        check_is_ok(out.write(std::span<const Value>(numbers)).status, "write");
      }
    } else {
      In in(node, 0, 8, capacity);
      read_numbers(in, 0, values);
    }
    node.barrier();
  });
}

TEST_P(Streams, WaitForEachOther) {
  run(2, [](am::Node& node) {
    const Value values = rounds(20'000);
    if (node.id() == 0) {
      Out out(node, 1, 1);
      for (Value number = 0; number < values; ++number) {
        if (number % 40 == 0) check_is_ok(out.mark(number), "mark");
        check_is_ok(out.write(number), "write");
        if (number % 3000 == 0) node.poll();
      }
    } else {
      In in(node, 0, 1, 8);
      for (Value number = 0; number < values; ++number) {
        if (number % 40 == 0) read_marker(in, number);
        read_numbers(in, number, number + 1);
      }
      read_end(in);  // which the destructor says
      read_end(in);
      check_throws<am::Error>([&] { static_cast<void>(in.marker()); }, "none comes next");
    }
    node.barrier();
  });
}

/// Nobody flushes: polls do.
TEST_P(Streams, GoThereAndBack) {
  run(2, [](am::Node& node) {
    const am::NodeId other = 1 - node.id();
    In in(node, other, 1);
    Out out(node, other, 1);
    for (Value number = 0; number < rounds(300); ++number) {
      if (node.id() == 0) check_is_ok(out.write(number), "write");
      read_numbers(in, number, number + 1);
      if (node.id() == 1) check_is_ok(out.write(number), "write");
    }
    node.barrier();
  });
}

TEST_P(Streams, CallThePostThatReads) {
  run(2, [](am::Node& node) {
    const std::uint64_t seed = common_seed(node);
    const Script script(seed, rounds(20'000));
    if (node.id() == 0) {
      Out out(node, 1, 2);
      Writing writing(out, script, seed + 1);
      for (int turn = 0; !writing.done(); ++turn) {
        writing.go_on();
        if (turn % 16 == 0) node.poll();
      }
    } else {
      In in(node, 0, 2, 64);
      Reading reading(in, script, seed + 2);
      in.on_values([&] {
        for (int i = 0; i < 20; ++i) reading.go_on();
      });
      node.wait_until([&] { return reading.done(); });
    }
    node.barrier();
  });
}

TEST_P(Streams, ThatTheReaderCloses) {
  run(2, [](am::Node& node) {
    for (int i = 0; i < 20; ++i) {  // the segment has its memory back
      if (node.id() == 0) {
        Out out(node, 1, 6);
        check(write_until_refused(out) == StreamStatus::ended, "ended");
        check(out.end() == StreamStatus::ended, "nobody reads the end");
      } else {
        In in(node, 0, 6, 1 << 20);
        read_numbers(in, 1, 2);  // the first
      }
      node.barrier();
    }
  });
}

/// What comes behind the end goes nowhere: where the ring lay is another one meanwhile.
TEST_P(Streams, ThatEndedAreWrittenInVain) {
  run(2, [](am::Node& node) {
    const std::vector<Value> values(100, 7);
    for (int i = 0; i < 20; ++i) {
      std::optional<Out> out;
      std::optional<In> in;
      if (node.id() == 0) {
        out.emplace(node, 1, 6);
        write_numbers(*out, 0, 10);
        check_is_ok(out->end(), "end");
      } else {
        in.emplace(node, 0, 6, 16);
        read_numbers(*in, 0, 10);
        read_end(*in);
        in.reset();
      }
      node.barrier();
      if (node.id() == 1) in.emplace(node, 0, 7, 16);
      node.barrier();
      if (node.id() == 0) {
        for (int k = 0; k < 3; ++k) check(out->write(1) == StreamStatus::ended, "ended");
        const am::StreamProgress progress = out->write(std::span<const Value>(values));
        check(progress.count == 0 && progress.status == StreamStatus::ended, "ended");
        check(out->try_mark(1) == StreamStatus::ended, "ended");
        check_is_ok(out->flush(), "flush");
      }
      node.barrier();
      Value none = 0;
      if (in) check(in->try_read(none) == StreamStatus::again, "nothing was written here");
      node.barrier();
    }
  });
}

/// The writer has room for a few values more. A poll between two writes tells it that the reader has closed.
TEST_P(Streams, ThatTheReaderClosesAreWrittenNoFurther) {
  run(2, [](am::Node& node) {
    constexpr std::size_t capacity = 4;
    if (node.id() == 0) {
      Out out(node, 1, 6);
      check_is_ok(out.write(0), "write");
      check_is_ok(out.flush(), "flush");
      In goes(node, 1, 7);
      read_end(goes);  // by then the reader has closed
      node.barrier();
      std::size_t written = 0;
      for (; out.write(1) == StreamStatus::ok; ++written) node.poll();
      check(written < 2 * capacity, "no more than there was room for");
      const std::vector<Value> values(5'000);
      for (int i = 0; i < 100; ++i) {
        check(out.write(1) == StreamStatus::ended, "ended");
        const am::StreamProgress progress = out.write(std::span<const Value>(values));
        check(progress.count == 0 && progress.status == StreamStatus::ended, "ended");
        node.poll();
      }
    } else {
      {
        In in(node, 0, 6, capacity);
        read_numbers(in, 0, 1);
      }
      Out(node, 0, 7).end();
      node.barrier();
    }
    node.barrier();
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
    check_throws<am::Error>([&] { In(node, 0, 0, ~std::size_t{0}); }, "no room");
    check_throws<am::Error>([&] { In(node, 0, 0, std::size_t{1} << 27); }, "AM_SEGMENT");
    if (node.id() == 1) {
      am::StreamIn<Other> in(node, 0, 9);
      check_throws<am::Error>([&] { am::StreamIn<Other>(node, 0, 9); }, "one reader");
      Other value{};
      check(in.read(value) == StreamStatus::unreachable, "it was refused");
    } else {
      node.wait_until([&] { return am::stream_is_open(node, 1, 9) == am::Status::ok; });
      check_throws<am::Error>([&] { Out(node, 1, 9); }, "another type");
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
      Out out(node, 1, 1);
      Value by_posts = 0;
      std::function<void(am::Node&)> post = [&](am::Node& here) {
        write_numbers(out, posted + by_posts, posted + by_posts + 40);
        by_posts += 40;
        if (by_posts < values) here.post(post);
      };
      node.post(post);
      write_numbers(out, 0, values / 2);
      std::vector<Value> rest(values - values / 2);
      std::iota(rest.begin(), rest.end(), values / 2);
      for (std::span<const Value> left(rest); !left.empty();) {  // also where a write has left room
        const std::size_t some = std::min<std::size_t>(left.size(), 100);
        check_equal(out.write(left.first(some)).count, some, "written");
        left = left.subspan(some);
        if (!left.empty()) {
          write_numbers(out, left.front(), left.front() + 1);
          left = left.subspan(1);
        }
      }
      node.wait_until([&] { return by_posts >= values; });
      check_is_ok(out.mark(by_posts), "mark");
    } else {
      In in(node, 0, 1, 32);
      std::array<Value, 2> next{0, posted};
      Value value = 0;
      StreamStatus status = StreamStatus::ok;
      while ((status = in.read(value)) == StreamStatus::ok)
        check_equal(value, next[value / posted]++, "in order");
      check(status == StreamStatus::marker, "marker");
      check_equal(next[0], values, "of the computation");
      check_equal(next[1] - posted, in.marker(), "of the posts");
      read_end(in);
    }
    node.barrier();
  });
}

/// What was written before stays so, and the next value comes behind it.
TEST_P(Streams, WhoseWriteAPostThrowsOutOf) {
  run(2, [](am::Node& node) {
    constexpr Value last = Value{1} << 60;
    if (node.id() == 0) {
      Out out(node, 1, 1);
      write_numbers(out, 0, 5);
      std::vector<Value> values(1000);
      std::iota(values.begin(), values.end(), 5);
      node.post([](am::Node&) { throw std::runtime_error("of the post"); });
      check_throws<std::runtime_error>([&] { out.write(std::span<const Value>(values)); }, "of the post");
      node.barrier();
      check_is_ok(out.write(last), "write");
      check_is_ok(out.end(), "end");
    } else {
      In in(node, 0, 1, 64);
      node.barrier();
      Value value = 0;
      for (Value number = 0; in.read(value) == StreamStatus::ok && value != last; ++number)
        check_equal(value, number, "in order");
      check_equal(value, last, "the last one");
      read_end(in);
    }
    node.barrier();
  });
}

/// What is not read takes room, and nothing else does.
TEST_P(Streams, HaveTheRoomThatWasAskedFor) {
  run(2, [](am::Node& node) {
    constexpr std::size_t capacity = 8;
    std::optional<In> in;
    std::optional<Out> out;
    if (node.id() == 0) {
      out.emplace(node, 1, 1);
    } else {
      in.emplace(node, 0, 1, capacity);
    }
    const auto write = [&](Value values, bool marked) {
      for (Value i = 0; out && i < values; ++i) {
        check_is_ok(out->write(i), "write");
        if (marked) check_is_ok(out->mark(i), "mark");
      }
      if (out) check_is_ok(out->flush(), "flush");
    };
    const auto read = [&](Value values) {
      for (Value i = 0; in && i < values; ++i) {
        read_numbers(*in, i, i + 1);
        read_marker(*in, i);
      }
    };
    for (const Value reads : {capacity, Value{5}, capacity, Value{1}}) {
      write(reads, true);
      read(reads);
      node.barrier();
      write(capacity, true);  // there is room that does not depend on the reader, and for marks
      node.barrier();
      read(capacity);
    }
    // Without marks, which make each value known.
    write(capacity, false);
    if (in) read_numbers(*in, 0, capacity - 2);
    node.barrier();
    if (out) write_numbers(*out, 0, capacity - 2);
    node.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Contract, Streams, test::cells_of<Streams>(), test::name_of);

}  // namespace streams_test
