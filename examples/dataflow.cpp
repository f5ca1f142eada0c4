// In how many ways n queens stand on a board of n x n, as a dataflow program in the manner of TAM, the Threaded Abstract
// Machine (T1 report, section 2.2.2, and its [CGSvE93]).
//
//   amrun -n 4 build/bin/examples/dataflow [queens] [--time]
//
// The words of TAM, and what they are here:
//   activation frame  the variables of one call: a board with queens on its first rows, and a slot for the result of each
//                     call that it makes in turn, one for each place of the next queen. Frames lie on all nodes
//   inlet             a handler. It stores what came in its slot of a frame, counts it, and computes nothing
//   entry count       how many results a frame waits for; the last one posts the thread that needs them
//   posted thread     a piece of the computation whose values are all there. The scheduler takes a frame and runs those that
//                     are posted there
//
// Calls go out as requests, on the low network; results come back on the high one, however many calls wait in the other.
//
// Memory is bounded: a caller hands out frames of the callee's node without asking, from a share of them that is its own.
// Where none is left it does the callee's work itself.
#include <algorithm>
#include <am/am.hpp>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

constexpr std::uint32_t most_queens = 14;

/// A queen in each of the first rows. A bit for each column of the next row that they threaten.
struct Board {
  std::uint32_t row = 0;
  std::uint32_t straight = 0;
  std::uint32_t leftward = 0;
  std::uint32_t rightward = 0;

  [[nodiscard]] std::uint32_t free_places(std::uint32_t size) const {
    return row == size ? 0 : ((1U << size) - 1) & ~(straight | leftward | rightward);
  }
  [[nodiscard]] Board with_queen(std::uint32_t place) const {
    return {row + 1, straight | place, (leftward | place) << 1, (rightward | place) >> 1};
  }
};

/// Takes the lowest place out of a set of some.
std::uint32_t take_place(std::uint32_t& places) {
  const std::uint32_t place = 1U << std::countr_zero(places);
  places ^= place;
  return place;
}

/// The sequential program.
std::uint64_t solutions(const Board& board, std::uint32_t size) {
  if (board.row == size) return 1;
  std::uint64_t sum = 0;
  for (std::uint32_t places = board.free_places(size); places != 0;)
    sum += solutions(board.with_queen(take_place(places)), size);
  return sum;
}

struct FrameName {
  am::NodeId node;
  std::uint32_t index;
};

/// Where a result goes.
struct Continuation {
  FrameName frame;
  std::uint32_t slot;
};

enum Thread : std::uint32_t { expand = 1, combine = 2 };  // a frame has a set of those that are posted

struct Frame {
  Board board;
  Continuation caller;
  std::uint32_t entry_count;
  std::uint32_t slots;
  std::array<std::uint64_t, most_queens> results;
  std::vector<FrameName> callees{};
  std::uint32_t posted = 0;
  Frame* next_ready = nullptr;
};

/// One node's frames and its scheduler.
class Machine {
 public:
  Machine(am::Node& node, std::uint32_t size)
      : node_(node), size_(size), frames_(node.size() * share), free_(node.size()) {
    for (Frame& frame : frames_) frame.callees.reserve(most_queens);
    for (std::vector<std::uint32_t>& free : free_)
      for (std::uint32_t i = 0; i < share; ++i) free.push_back(node.id() * share + i);
    node.attach(*this);
  }

  // inlets; a result may come in the middle of a call that comes
  void called(am::Request&, std::uint32_t index, Board board, Continuation caller) {
    const am::CriticalSection alone(node_);
    Frame& frame = frames_[index];
    frame.board = board;
    frame.caller = caller;
    post(frame, expand);
  }
  void returned(am::Reply&, std::uint32_t index, std::uint32_t slot, std::uint64_t result) {
    arrived(frames_[index], slot, result);
  }
  void ended(am::Request&) { has_ended_ = true; }

  /// All nodes together. The result is node 0's.
  std::uint64_t run() {
    has_ended_ = false;
    node_.barrier();
    if (node_.id() == 0) call({}, nobody);
    for (;;) {
      node_.poll();
      node_.wait_until([&] { return ready_ != nullptr || has_ended_; });
      Frame* frame = nullptr;
      std::uint32_t posted = 0;
      {
        const am::CriticalSection quiet(node_);
        if (ready_ == nullptr) break;
        frame = std::exchange(ready_, ready_->next_ready);
        posted = std::exchange(frame->posted, 0);
      }
      if ((posted & expand) != 0) run_expand(*frame);
      if ((posted & combine) != 0) run_combine(*frame);
    }
    node_.barrier();
    return total_;
  }

 private:
  static constexpr std::uint32_t share = 64;          // frames on each node for the calls of one
  static constexpr std::uint32_t rows_of_frames = 4;  // further rows are too little work for a frame each
  static constexpr Continuation nobody{{0, ~0U}, 0};

  // -- by inlets, and by the computation in a critical section --

  void post(Frame& frame, Thread thread) {
    if (frame.posted == 0)
      frame.next_ready = std::exchange(ready_, &frame);  // the last one first: so few are open
    frame.posted |= thread;
  }
  void arrived(Frame& frame, std::uint32_t slot, std::uint64_t result) {
    frame.results[slot] = result;
    if (--frame.entry_count == 0) post(frame, combine);
  }

  // -- threads --

  void run_expand(Frame& frame) {
    std::uint32_t places = frame.board.row < rows_of_frames ? frame.board.free_places(size_) : 0;
    if (places == 0) {
      expect(frame, 1);
      found_here(frame, 0, frame.board);
      return;
    }
    expect(frame, static_cast<std::uint32_t>(std::popcount(places)));
    for (std::uint32_t slot = 0; places != 0; ++slot) {
      const Board board = frame.board.with_queen(take_place(places));
      if (const std::optional<FrameName> callee = call(board, {name_of(frame), slot})) {
        frame.callees.push_back(*callee);
      } else {
        found_here(frame, slot, board);
      }
    }
  }
  /// The frame is another call's as soon as its result is sent.
  void run_combine(Frame& frame) {
    std::uint64_t sum = 0;
    for (std::uint32_t slot = 0; slot < frame.slots; ++slot) sum += frame.results[slot];
    for (const FrameName& callee : frame.callees) free_[callee.node].push_back(callee.index);
    frame.callees.clear();
    if (frame.caller.frame.index != nobody.frame.index) {
      const auto [to, index] = frame.caller.frame;
      node_.reply_to<&Machine::returned>(to, index, frame.caller.slot, sum);
      return;
    }
    total_ = sum;
    free_[node_.id()].push_back(name_of(frame).index);
    for (am::NodeId to = 0; to < node_.size(); ++to) node_.request<&Machine::ended>(to);
  }

  // -- of the threads --

  static void expect(Frame& frame, std::uint32_t results) { frame.slots = frame.entry_count = results; }
  void found_here(Frame& frame, std::uint32_t slot, const Board& board) {
    const std::uint64_t found = solutions(board, size_);
    const am::CriticalSection quiet(node_);
    arrived(frame, slot, found);
  }
  /// None where this node has no frame left there.
  std::optional<FrameName> call(const Board& board, const Continuation& caller) {
    const am::NodeId to = place_of(board);
    if (free_[to].empty()) return {};
    const std::uint32_t index = free_[to].back();
    free_[to].pop_back();
    node_.request<&Machine::called>(to, index, board, caller);
    return FrameName{to, index};
  }
  [[nodiscard]] FrameName name_of(const Frame& frame) const {
    return {node_.id(), static_cast<std::uint32_t>(&frame - frames_.data())};
  }
  /// A hash: the first board's, which has none, on node 0.
  [[nodiscard]] am::NodeId place_of(const Board& board) const {
    std::uint64_t h = board.straight * 0x9e3779b97f4a7c15u + board.leftward * 0xbf58476d1ce4e5b9u +
                      board.rightward * 0xd6e8feb86659fd93u;
    h ^= h >> 31;
    h *= 0x94d049bb133111ebu;
    return static_cast<am::NodeId>((h >> 33) % node_.size());
  }

  am::Node& node_;
  std::uint32_t size_;
  std::vector<Frame> frames_;                     // those that node s hands out begin at s * share
  std::vector<std::vector<std::uint32_t>> free_;  // by node: the frames there that this node may hand out
  Frame* ready_ = nullptr;                        // frames with posted threads
  bool has_ended_ = false;
  std::uint64_t total_ = 0;
};

template <class F>
double seconds_of(const am::Node& node, const F& f) {
  const am::Count began = node.count();
  f();
  return static_cast<double>(node.count() - began) * 1e-9;
}

/// Node 0 alone, then all nodes together, several times.
void measure(const am::Node& node, Machine& machine, std::uint32_t queens) {
  constexpr std::size_t rounds = 7;
  struct Round {
    double alone;
    double together;
    [[nodiscard]] double ratio() const { return alone / together; }
  };
  std::array<Round, rounds> all{};
  std::uint64_t sum = 0;  // so that no call is left out
  for (Round& round : all) {
    if (node.id() == 0) round.alone = seconds_of(node, [&] { sum += solutions({}, queens); });
    round.together = seconds_of(node, [&] { sum -= machine.run(); });
  }
  if (node.id() != 0) return;
  std::ranges::sort(all, {}, &Round::ratio);
  const Round& median = all[rounds / 2];
  std::fprintf(stderr,
               "dataflow: %u nodes: alone %.6f s, together %.6f s: %.2f times as fast (%.2f to %.2f in %zu "
               "rounds)%s\n",
               node.size(), median.alone, median.together, median.ratio(), all.front().ratio(),
               all.back().ratio(), rounds, sum == 0 ? "" : "; NOT the same result");
}

struct Arguments {
  std::uint32_t queens = 9;
  bool time = false;
};

/// None where they are wrong.
std::optional<Arguments> read_arguments(int argc, char** argv) {
  Arguments arguments;
  bool has_queens = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    if (text == "--time" && !arguments.time) {
      arguments.time = true;
      continue;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), arguments.queens);
    if (has_queens || error != std::errc() || end != text.data() + text.size()) return {};
    if (arguments.queens == 0 || arguments.queens > most_queens) return {};
    has_queens = true;
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) try {
  am::Node& node = am::start(argc, argv, {.interrupt_safe = true});  // handlers do not allocate
  const std::optional<Arguments> arguments = read_arguments(argc, argv);
  if (!arguments) {
    if (node.id() == 0) {
      std::fprintf(stderr, "usage: dataflow [queens] [--time]; a number from 1 to %u\n", most_queens);
    }
    node.barrier();  // the first node that fails ends the job
    return 2;
  }

  Machine machine(node, arguments->queens);
  if (arguments->time) measure(node, machine, arguments->queens);
  const std::uint64_t found = machine.run();
  bool right = true;
  if (node.id() == 0) {
    right = found == solutions({}, arguments->queens);
    std::printf("dataflow: queens %u, solutions %llu: %s\n", arguments->queens,
                static_cast<unsigned long long>(found),
                right ? "the same as a sequential run" : "NOT the same as a sequential run");
  }
  node.barrier();
  return right ? 0 : 1;
} catch (const am::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
