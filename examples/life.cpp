// Conway's game of life on a torus whose rows are split over the nodes. In each generation a node sends its first and
// last row to its neighbours as active messages. Node 0 collects the end and compares it with a sequential run.
//
//   amrun -n 4 build/bin/examples/life [rows] [columns] [generations]
//
// A neighbour may be one generation ahead, never two: it needs our row to go on. So edges are kept in two sets, for
// even and odd generations.
#include <am/am.hpp>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

using Row = std::span<std::uint8_t>;
using ConstRow = std::span<const std::uint8_t>;

/// The next generation of one row, from it and its neighbours.
void step_row(ConstRow above, ConstRow row, ConstRow below, Row next) {
  const std::size_t n = row.size();
  for (std::size_t x = 0; x < n; ++x) {
    const std::size_t left = x == 0 ? n - 1 : x - 1;
    const std::size_t right = x + 1 == n ? 0 : x + 1;
    const int neighbours = above[left] + above[x] + above[right] + row[left] + row[right] + below[left] +
                           below[x] + below[right];
    next[x] = static_cast<std::uint8_t>(neighbours == 3 || (neighbours == 2 && row[x] != 0));
  }
}

/// The first generation is the same on every node: a hash of the place.
std::uint8_t first_generation(std::size_t y, std::size_t x) {
  std::uint64_t h = y * 0x9e3779b97f4a7c15u + x * 0xbf58476d1ce4e5b9u;
  h ^= h >> 31;
  h *= 0x94d049bb133111ebu;
  return static_cast<std::uint8_t>((h >> 60) < 5);
}

class Field {
 public:
  Field(std::size_t rows, std::size_t columns) : columns_(columns), cells_(rows * columns) {}
  [[nodiscard]] std::size_t rows() const { return cells_.size() / columns_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] Row row(std::size_t y) { return {cells_.data() + y * columns_, columns_}; }
  [[nodiscard]] ConstRow row(std::size_t y) const { return {cells_.data() + y * columns_, columns_}; }
  void fill(std::size_t first_row) {
    for (std::size_t y = 0; y < rows(); ++y)
      for (std::size_t x = 0; x < columns_; ++x) row(y)[x] = first_generation(first_row + y, x);
  }
  bool operator==(const Field&) const = default;

 private:
  std::size_t columns_;
  std::vector<std::uint8_t> cells_;
};

/// One node's strip of the torus.
class Strip {
 public:
  enum Side : std::uint32_t { above, below };

  Strip(am::Node& node, std::size_t rows, std::size_t columns)
      : node_(node),
        first_(begin(node.id(), rows)),
        now_(begin(node.id() + 1, rows) - first_, columns),
        next_(now_) {
    now_.fill(first_);
    for (auto& set : edges_)
      for (auto& edge : set) edge.cells.resize(columns);
  }

  // handlers
  void edge(am::Request&, std::uint64_t generation, Side side, am::Payload cells) {
    Edge& e = edges_[generation % 2][side];
    std::memcpy(e.cells.data(), cells.data(), cells.size());
    e.generation = generation;
  }
  void collect(am::Request&, std::uint64_t first_row, am::Payload cells) {
    std::memcpy(whole_->row(first_row).data(), cells.data(), cells.size());
    rows_collected_ += cells.size() / whole_->columns();
  }

  void step(std::uint64_t generation) {  // counted from 1
    const am::NodeId n = node_.size();
    node_.request<&Strip::edge>((node_.id() + n - 1) % n, generation, below, now_.row(0));
    node_.request<&Strip::edge>((node_.id() + 1) % n, generation, above, now_.row(now_.rows() - 1));
    auto& set = edges_[generation % 2];
    node_.wait_until(
        [&] { return set[above].generation == generation && set[below].generation == generation; });
    for (std::size_t y = 0; y < now_.rows(); ++y) {
      const ConstRow up = y == 0 ? ConstRow(set[above].cells) : ConstRow(now_.row(y - 1));
      const ConstRow down = y + 1 == now_.rows() ? ConstRow(set[below].cells) : ConstRow(now_.row(y + 1));
      step_row(up, now_.row(y), down, next_.row(y));
    }
    std::swap(now_, next_);
  }

  /// Node 0 gets all strips, in one piece each; the library cuts what is longer than a packet.
  void gather(Field* whole) {
    whole_ = whole;
    node_.barrier();
    node_.request<&Strip::collect>(0, std::uint64_t{first_},
                                   std::span(now_.row(0).data(), now_.rows() * now_.columns()));
    if (whole != nullptr) node_.wait_until([&] { return rows_collected_ == whole->rows(); });
  }

 private:
  struct Edge {
    std::uint64_t generation = 0;
    std::vector<std::uint8_t> cells{};
  };
  [[nodiscard]] std::size_t begin(am::NodeId id, std::size_t rows) const { return rows * id / node_.size(); }

  am::Node& node_;
  std::size_t first_;
  Field now_;
  Field next_;
  std::array<std::array<Edge, 2>, 2> edges_;  // by generation's parity and side
  Field* whole_ = nullptr;
  std::size_t rows_collected_ = 0;
};

Field run_alone(std::size_t rows, std::size_t columns, std::uint64_t generations) {
  Field now(rows, columns);
  Field next(rows, columns);
  now.fill(0);
  for (std::uint64_t g = 0; g < generations; ++g) {
    for (std::size_t y = 0; y < rows; ++y)
      step_row(now.row((y + rows - 1) % rows), now.row(y), now.row((y + 1) % rows), next.row(y));
    std::swap(now, next);
  }
  return now;
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr std::size_t most_cells = std::size_t{1} << 30;

/// The i-th argument; 0, which is refused, where it is no number.
std::size_t number(int argc, char** argv, int i, std::size_t otherwise) {
  if (argc <= i) return otherwise;
  const std::string_view text = argv[i];
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

}  // namespace

int main(int argc, char** argv) try {
  am::Node& node = am::start(argc, argv, {.interrupt_safe = true});  // handlers do not allocate
  const std::size_t rows = number(argc, argv, 1, 512);
  const std::size_t columns = number(argc, argv, 2, 512);
  const std::size_t generations = number(argc, argv, 3, 200);
  if (rows < node.size() || columns == 0 || rows > most_cells / columns || generations == 0 || argc > 4) {
    if (node.id() == 0) {
      std::fprintf(
          stderr,
          "usage: life [rows] [columns] [generations]; at least one row per node (%u), at most 2^30 cells\n",
          node.size());
    }
    node.barrier();  // the first node that fails ends the job
    return 2;
  }

  Strip strip(node, rows, columns);
  node.attach(strip);
  node.barrier();  // all nodes have attached
  const double began = seconds();
  for (std::uint64_t g = 1; g <= generations; ++g) strip.step(g);
  node.barrier();
  const double took = seconds() - began;

  bool right = true;
  if (node.id() == 0) {
    Field whole(rows, columns);
    strip.gather(&whole);
    right = whole == run_alone(rows, columns, generations);
    std::printf("life: %zu x %zu torus on %u nodes, %zu generations: %.0f generations per second; %s\n", rows,
                columns, node.size(), generations, static_cast<double>(generations) / took,
                right ? "the same as a sequential run" : "NOT the same as a sequential run");
  } else {
    strip.gather(nullptr);
  }
  node.barrier();
  return right ? 0 : 1;
} catch (const am::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
