// Radix sort, from the lowest digit to the highest, of keys that are spread over the nodes. For each digit all nodes
// learn how often it has each value on each node; so every node knows the place of each of its keys, and puts it
// there. Node 0 does the same alone, and compares.
//
//   amrun -n 4 build/bin/examples/radix_sort [keys] [--time]
//
// Shows: many small puts that end with one sync, bulk_get from everybody in turn, and two spread arrays that change
// places.
//
// With --time every node runs the sequential program, all at once, so that its processor is as fast as in the parallel run; the
// times of the fastest and of the slowest one are told.
#include <algorithm>
#include <am/am.hpp>
#include <am/splitc.hpp>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace am::splitc;
using am::splitc::sync;

using Key = std::uint32_t;

constexpr std::size_t most_keys = std::size_t{1}
                                  << 22;  // one node has room for all in a segment of 64 MiB, twice
constexpr unsigned digit_bits = 8;
constexpr unsigned key_bits = 32;

/// One number for each value that a digit can have.
using Histogram = std::array<std::size_t, std::size_t{1} << digit_bits>;

std::size_t digit(Key key, unsigned shift) { return (key >> shift) % std::tuple_size_v<Histogram>; }

Histogram count_digits(std::span<const Key> keys, unsigned shift) {
  Histogram count{};
  for (const Key key : keys) ++count[digit(key, shift)];
  return count;
}

/// Key k is a hash of k: the same for any number of nodes.
Key first_key(std::uint64_t k) {
  std::uint64_t h = (k + 1) * 0x9e3779b97f4a7c15u;
  for (int round = 0; round < 2; ++round) h = (h ^ (h >> 31)) * 0x94d049bb133111ebu;
  return static_cast<Key>(h >> 32);
}

/// The sequential program.
void sort_alone(std::vector<Key>& keys) {
  std::vector<Key> to(keys.size());
  for (unsigned shift = 0; shift < key_bits; shift += digit_bits) {
    Histogram place = count_digits(keys, shift);
    std::exclusive_scan(place.begin(), place.end(), place.begin(), std::size_t{0});
    for (const Key key : keys) to[place[digit(key, shift)]++] = key;
    std::swap(keys, to);
  }
}

class RadixSort {
 public:
  /// Collective, as sort.
  explicit RadixSort(std::size_t keys) : from_(keys), to_(keys), histograms_(procs(), 1), all_(procs()) {
    const std::span<Key> mine = from_.mine();
    for (const std::size_t k : my_elements(from_)) mine[k - from_.first()] = first_key(k);
  }

  void sort() {
    for (unsigned shift = 0; shift < key_bits; shift += digit_bits) pass(shift);
  }

  /// By node 0, when all have sorted.
  [[nodiscard]] bool equals(std::span<const Key> expected) const {
    std::vector<Key> whole(from_.size());
    for (int node = 0; node < procs(); ++node) {
      const std::size_t first = from_.first(node);
      bulk_read(std::span(whole).subspan(first, from_.end(node) - first), from_.blocks()[node]);
    }
    return std::ranges::equal(whole, expected);
  }

 private:
  void pass(unsigned shift) {
    Histogram place = first_places(shift);
    for (const Key key : from_.mine()) put(&to_[place[digit(key, shift)]++], key);
    sync();
    barrier();
    std::swap(from_, to_);
  }

  /// Where the first key of this node with each digit goes: behind all lower digits, and the same on the nodes before.
  Histogram first_places(unsigned shift) {
    *histograms_.mine() = count_digits(from_.mine(), shift);
    barrier();
    for (int i = 0; i < procs(); ++i) {
      const int node = (my_proc() + i) % procs();  // everybody begins with another one
      bulk_get(&all_[node], histograms_[node], sizeof(Histogram));
    }
    sync();
    Histogram place{};
    std::size_t before = 0;
    for (std::size_t d = 0; d < place.size(); ++d) {
      for (int node = 0; node < procs(); ++node) {
        if (node == my_proc()) place[d] = before;
        before += all_[node][d];
      }
    }
    return place;
  }

  block_array<Key> from_;
  block_array<Key> to_;
  spread_array<Histogram> histograms_;
  std::vector<Histogram> all_;
};

struct Arguments {
  std::size_t keys = 50'000;
  bool time = false;
};

/// 0, which is refused, where it is no number.
std::size_t number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

/// None if they are wrong.
std::optional<Arguments> arguments(int argc, char** argv) {
  Arguments a;
  std::vector<std::string_view> given(argv + 1, argv + argc);
  a.time = std::erase(given, "--time") > 0;
  if (!given.empty()) a.keys = number(given[0]);
  const bool right = given.size() <= 1 && a.keys > 0 && a.keys <= most_keys;
  return right ? std::optional(a) : std::nullopt;
}

template <class F>
double seconds_of(const F& f) {
  const double began = get_seconds();
  f();
  return get_seconds() - began;
}

/// Whether it went right, as node 0 sees it.
bool run(const Arguments& a) {
  std::vector<Key> alone(a.time || my_proc() == 0 ? a.keys : 0);
  for (std::size_t k = 0; k < alone.size(); ++k) alone[k] = first_key(k);
  RadixSort keys(a.keys);
  barrier();
  const double alone_took = seconds_of([&] { sort_alone(alone); });
  const double fastest = all_reduce_to_all_min(alone_took);
  const double slowest = all_reduce_to_all_max(alone_took);
  const double took = seconds_of([&] {
    keys.sort();
    barrier();
  });

  bool right = true;
  on_one([&] {
    right = std::ranges::is_sorted(alone) && keys.equals(alone);
    std::printf("radix_sort: %zu keys on %d nodes: %s\n", a.keys, procs(),
                right ? "the same as a sequential run" : "NOT the same as a sequential run");
    if (a.time) {
      std::fprintf(stderr,
                   "radix_sort: sequential %.6f to %.6f s, on %d nodes %.6f s: %.2f to %.2f times as fast\n",
                   fastest, slowest, procs(), took, fastest / took, slowest / took);
    }
  });
  return right;
}

}  // namespace

int main(int argc, char** argv) try {
  am::Node& node = am::start(argc, argv, {.interrupt_safe = true});  // handlers do not allocate
  const std::optional<Arguments> a = arguments(argc, argv);
  if (!a || a->keys < node.size()) {
    if (node.id() == 0) {
      std::fprintf(stderr, "usage: radix_sort [keys] [--time]; at least one key per node (%u), at most %zu\n",
                   node.size(), most_keys);
    }
    node.barrier();  // the first node that fails ends the job
    return 2;
  }
  const World world(node);
  return run(*a) ? 0 : 1;
} catch (const am::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
