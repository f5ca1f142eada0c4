// The product of two matrices by Cannon's algorithm, in the manner of Split-C. Each node has one block of each factor,
// multiplies them, and passes them on by signalling stores: the left factor's to the node on its left, the right factor's
// to the one above.
//
//   amrun -n 4 build/bin/examples/matrix_multiply [size] [--time]
//
// Where the number of nodes is a square they are a grid of q x q. Otherwise they stand in one row: the left factor's blocks
// go round as ever, and the right factor's, which would go up to the same node again, stay: a node has a whole column of
// them. So any number of nodes shares the work. Where the size cannot be divided blocks are filled up with zeros.
//
// The values are small whole numbers, so sums are exact, and the result is the same whatever their order.
#include <algorithm>
#include <am/am.hpp>
#include <am/splitc.hpp>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

using namespace am::splitc;
using am::splitc::sync;

/// Names values that lie somewhere row by row, as a span does.
struct Block {
  double* values;
  std::size_t rows;
  std::size_t columns;
  [[nodiscard]] double* row(std::size_t i) const { return values + i * columns; }
};

/// c += a * b. By tiles of b that stay in the cache, four of their rows at a time.
void add_product(Block a, Block b, Block c) {
  constexpr std::size_t tile_rows = 64;
  constexpr std::size_t tile_columns = 256;
  for (std::size_t k0 = 0; k0 < b.rows; k0 += tile_rows) {
    const std::size_t k1 = std::min(k0 + tile_rows, b.rows);
    for (std::size_t j0 = 0; j0 < b.columns; j0 += tile_columns) {
      const std::size_t width = std::min(tile_columns, b.columns - j0);
      for (std::size_t i = 0; i < c.rows; ++i) {
        const double* const left = a.row(i);
        double* const sums = c.row(i) + j0;
        std::size_t k = k0;
        for (; k + 4 <= k1; k += 4) {
          const std::array<const double*, 4> right = {b.row(k) + j0, b.row(k + 1) + j0, b.row(k + 2) + j0,
                                                      b.row(k + 3) + j0};
          for (std::size_t j = 0; j < width; ++j) {
            sums[j] += left[k] * right[0][j] + left[k + 1] * right[1][j] + left[k + 2] * right[2][j] +
                       left[k + 3] * right[3][j];
          }
        }
        for (; k < k1; ++k)
          for (std::size_t j = 0; j < width; ++j) sums[j] += left[k] * b.row(k)[j0 + j];
      }
    }
  }
}

enum class Factor : std::uint64_t { left = 1, right = 2 };

/// From -8 to 7: a hash of the place, so that every node makes its own blocks.
double element(Factor factor, std::size_t i, std::size_t j) {
  std::uint64_t h = static_cast<std::uint64_t>(factor) * 0xd6e8feb86659fd93u + i * 0x9e3779b97f4a7c15u +
                    j * 0xbf58476d1ce4e5b9u;
  h ^= h >> 31;
  h *= 0x94d049bb133111ebu;
  return static_cast<double>(h >> 60) - 8;
}

/// What lies at block (row, column) of the factor.
void fill(Block block, Factor factor, std::size_t row, std::size_t column, std::size_t size) {
  for (std::size_t y = 0; y < block.rows; ++y) {
    for (std::size_t x = 0; x < block.columns; ++x) {
      const std::size_t i = row * block.rows + y;
      const std::size_t j = column * block.columns + x;
      block.row(y)[x] = i < size && j < size ? element(factor, i, j) : 0;
    }
  }
}

std::size_t part_of(std::size_t size, std::size_t parts) {
  return size / parts + (size % parts != 0 ? 1 : 0);
}

/// The nodes, row by row: q x q, or all in one row.
struct Grid {
  explicit Grid(am::NodeId nodes) : rows(1), columns(nodes) {
    for (am::NodeId q = 1; q <= nodes / q; ++q)
      if (q * q == nodes) rows = columns = q;
  }
  am::NodeId rows;
  am::NodeId columns;
};

/// One node's part of the multiplication. Made by all nodes together.
class Multiplication {
 public:
  explicit Multiplication(std::size_t size)
      : size_(size),
        grid_(procs()),
        row_(my_proc() / grid_.columns),
        column_(my_proc() % grid_.columns),
        height_(part_of(size, grid_.rows)),
        width_(part_of(size, grid_.columns)),
        left_(procs(), (grid_.columns > 1 ? 2 : 1) * height_ * width_),
        right_(procs(), (right_moves() ? 2 : grid_.columns) * width_ * width_),
        product_(procs(), height_ * width_) {}

  [[nodiscard]] const Grid& grid() const { return grid_; }

  /// The blocks of the first step; the product is zero.
  void begin() {
    fill(left(0), Factor::left, row_, inner(0), size_);
    if (right_moves()) {
      fill(right(0), Factor::right, inner(0), column_, size_);
    } else {
      for (am::NodeId step = 0; step < grid_.columns; ++step)
        fill(right(step), Factor::right, inner(step), column_, size_);
    }
    std::fill_n(product_.mine(), product_.block(), 0.0);
    barrier();
  }

  /// Blocks are sent before they are multiplied, so that they travel meanwhile. Where they go was last used in the step
  /// before, which all nodes have ended: all_store_sync says so.
  void run() {
    for (am::NodeId step = 0; step < grid_.columns; ++step) {
      const bool is_last = step + 1 == grid_.columns;
      if (!is_last) pass_on(step);
      add_product(left(step), right(step), {product_.mine(), height_, width_});
      if (!is_last) all_store_sync();
    }
    barrier();
  }

  /// Node 0: the whole product, fetched from all nodes.
  [[nodiscard]] std::vector<double> gather() const {
    const std::size_t bytes = product_.block() * sizeof(double);
    std::vector<double> blocks(procs() * product_.block());
    for (int node = 0; node < procs(); ++node)
      bulk_get(blocks.data() + node * product_.block(), product_[node], bytes);
    sync();
    std::vector<double> whole(size_ * size_);
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < size_; ++j) {
        const std::size_t node = i / height_ * grid_.columns + j / width_;
        whole[i * size_ + j] = blocks[node * product_.block() + i % height_ * width_ + j % width_];
      }
    }
    return whole;
  }

 private:
  [[nodiscard]] bool right_moves() const { return grid_.rows > 1; }
  /// Which blocks are multiplied in a step: the left factor's of this column, the right factor's of this row. They are
  /// different ones on all nodes of a row, and of a column; the next step's are the neighbours'.
  [[nodiscard]] am::NodeId inner(am::NodeId step) const { return (row_ + column_ + step) % grid_.columns; }

  // Where a step's blocks lie in a node's memory. Those that move are in the first place and in the second in turn.
  [[nodiscard]] std::size_t left_place(am::NodeId step) const { return step % 2 * height_ * width_; }
  [[nodiscard]] std::size_t right_place(am::NodeId step) const {
    return (right_moves() ? step % 2 : inner(step)) * width_ * width_;
  }
  [[nodiscard]] Block left(am::NodeId step) const {
    return {left_.mine() + left_place(step), height_, width_};
  }
  [[nodiscard]] Block right(am::NodeId step) const {
    return {right_.mine() + right_place(step), width_, width_};
  }

  void pass_on(am::NodeId step) const {
    const am::NodeId on_the_left = row_ * grid_.columns + (column_ + grid_.columns - 1) % grid_.columns;
    bulk_store(left_[on_the_left] + left_place(step + 1), left(step).values,
               height_ * width_ * sizeof(double));
    if (!right_moves()) return;
    const am::NodeId above = (row_ + grid_.rows - 1) % grid_.rows * grid_.columns + column_;
    bulk_store(right_[above] + right_place(step + 1), right(step).values, width_ * width_ * sizeof(double));
  }

  std::size_t size_;
  Grid grid_;
  am::NodeId row_;
  am::NodeId column_;
  std::size_t height_;  // of the blocks of the left factor and of the product
  std::size_t width_;   // of all blocks, and the height of the right factor's
  spread_array<double> left_;
  spread_array<double> right_;
  spread_array<double> product_;
};

/// The whole product by one node.
class Alone {
 public:
  explicit Alone(std::size_t size) : size_(size), left_(size * size), right_(left_), product_(left_) {
    fill(block(left_), Factor::left, 0, 0, size);
    fill(block(right_), Factor::right, 0, 0, size);
  }
  void run() {
    std::ranges::fill(product_, 0.0);
    add_product(block(left_), block(right_), block(product_));
  }
  [[nodiscard]] const std::vector<double>& product() const { return product_; }

 private:
  [[nodiscard]] Block block(std::vector<double>& values) const { return {values.data(), size_, size_}; }

  std::size_t size_;
  std::vector<double> left_;
  std::vector<double> right_;
  std::vector<double> product_;
};

/// Node 0: whether the result is right. Says so.
bool compare(std::size_t size, const Multiplication& together, const Alone& alone) {
  const std::vector<double> product = together.gather();
  double sum = 0;
  for (const double value : product) sum += value;
  const bool right = product == alone.product();
  std::printf("matrix_multiply: %zu x %zu, the values' sum is %.0f: %s\n", size, size, sum,
              right ? "the same as a sequential run" : "NOT the same as a sequential run");
  return right;
}

template <class F>
double seconds_of(const F& f) {
  const double began = get_seconds();
  f();
  return get_seconds() - began;
}

/// Each node (on a processor of its own) alone, all at once, then all nodes together, several times: how much faster than the fastest one alone.
void measure(Multiplication& together, Alone& alone) {
  constexpr std::size_t rounds = 7;
  struct Round {
    double alone;
    double together;
    [[nodiscard]] double ratio() const { return alone / together; }
  };
  std::array<Round, rounds> all{};
  for (Round& round : all) {
    barrier();
    round.alone = all_reduce_to_all_min(seconds_of([&] { alone.run(); }));
    together.begin();
    round.together = seconds_of([&] { together.run(); });
  }
  if (my_proc() != 0) return;
  std::ranges::sort(all, {}, &Round::ratio);
  const Round& median = all[rounds / 2];
  std::fprintf(stderr,
               "matrix_multiply: %u x %u nodes: alone %.6f s, together %.6f s: %.2f times as fast (%.2f to "
               "%.2f in %zu rounds)\n",
               together.grid().rows, together.grid().columns, median.alone, median.together, median.ratio(),
               all.front().ratio(), all.back().ratio(), rounds);
}

struct Arguments {
  std::size_t size = 240;
  bool time = false;
};
constexpr std::size_t most = 1024;

/// None where they are wrong.
std::optional<Arguments> read_arguments(int argc, char** argv) {
  Arguments arguments;
  bool has_size = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    if (text == "--time" && !arguments.time) {
      arguments.time = true;
      continue;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), arguments.size);
    if (has_size || error != std::errc() || end != text.data() + text.size()) return {};
    if (arguments.size == 0 || arguments.size > most) return {};
    has_size = true;
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) try {
  am::Node& node = am::start(argc, argv, {.interrupt_safe = true});  // handlers do not allocate
  const std::optional<Arguments> arguments = read_arguments(argc, argv);
  if (!arguments) {
    if (node.id() == 0) {
      std::fprintf(stderr, "usage: matrix_multiply [size] [--time]; a number from 1 to %zu\n", most);
    }
    node.barrier();  // the first node that fails ends the job
    return 2;
  }

  World world(node);
  Multiplication together(arguments->size);
  std::optional<Alone> alone;
  if (arguments->time || my_proc() == 0) alone.emplace(arguments->size);
  if (arguments->time) measure(together, *alone);

  together.begin();
  together.run();
  bool right = true;
  on_one([&] {
    alone->run();
    right = compare(arguments->size, together, *alone);
  });
  barrier();
  return right ? 0 : 1;
} catch (const am::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
