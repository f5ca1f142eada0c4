// Sample sort (in Split-C: Culler and others, 1993; Bader and JaJa, 1996). A sample of the keys gives splitters, one
// between each two nodes; each node sends every other one the keys that belong there, in one piece, and sorts what it
// got. Node 0 sorts all keys alone, and compares.
//
//   amrun -n 4 build/bin/examples/sample_sort [keys] [--time]
//
// Shows: stores, of which only the receiver hears; store_sync, which waits for so many bytes; and memory of a size
// that only its owner knows, to which it hands out global pointers.
//
// With --time every node runs the sequential program, all at once, so that its processor is as fast as in the parallel run; the
// times of the fastest and of the slowest one are told.
#include <algorithm>
#include <am/am.hpp>
#include <am/splitc.hpp>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

using namespace am::splitc;

using Key = std::uint32_t;

constexpr std::size_t most_keys = std::size_t{1}
                                  << 22;  // one node has room for all in a segment of 64 MiB, twice

/// Key k is a hash of k: the same for any number of nodes.
Key first_key(std::uint64_t k) {
  std::uint64_t h = (k + 1) * 0x9e3779b97f4a7c15u;
  for (int round = 0; round < 2; ++round) h = (h ^ (h >> 31)) * 0x94d049bb133111ebu;
  return static_cast<Key>(h >> 32);
}

/// Keys begin(node) to begin(node + 1) are those that a node has at first.
std::size_t begin(std::size_t keys, int node) { return keys * node / procs(); }

class SampleSort {
 public:
  /// Collective, as all that is public but `equals`.
  explicit SampleSort(std::size_t keys)
      : samples_(1, procs() * samples_each),
        splitters_(procs(), procs()),
        counts_(procs(), procs()),
        places_(procs(), procs()),
        keys_(begin(keys, my_proc() + 1) - begin(keys, my_proc())),
        bundles_(keys_.size()) {
    for (std::size_t k = 0; k < keys_.size(); ++k) keys_[k] = first_key(begin(keys, my_proc()) + k);
  }

  void sort() {
    choose_splitters();
    split();
    distribute();
    std::ranges::sort(sorted_);
  }

  /// When all have sorted. It tells node 0, which may ask then, where the keys are.
  void gather() { blocks_ = all_gather(Block{to_global(sorted_.data()), sorted_.size()}); }
  [[nodiscard]] bool equals(std::span<const Key> expected) const {
    std::vector<Key> whole;
    for (const Block& block : blocks_) {
      const std::size_t before = whole.size();
      whole.resize(before + block.keys);
      bulk_read(whole.data() + before, block.first, block.keys * sizeof(Key));
    }
    return std::ranges::equal(whole, expected);
  }

 private:
  static constexpr std::size_t samples_each = 512;  ///< the nodes' shares differ by some percent
  struct Block {
    global_ptr<Key> first;
    std::uint64_t keys;
  };

  /// Node 0 sorts samples of all. The splitters come down a binomial tree.
  void choose_splitters() {
    std::vector<Key> sample(samples_each);
    for (std::size_t i = 0; i < samples_each; ++i) sample[i] = keys_[keys_.size() * i / samples_each];
    bulk_store(samples_[0] + my_proc() * samples_each, sample.data(), samples_each * sizeof(Key));
    const std::size_t bytes = (procs() - 1) * sizeof(Key);
    if (my_proc() == 0) {
      store_sync(procs() * samples_each * sizeof(Key));
      const std::span all(samples_.mine(), procs() * samples_each);
      std::ranges::sort(all);
      for (int i = 1; i < procs(); ++i) splitters_.mine()[i - 1] = all[i * samples_each];
    } else {
      store_sync(bytes);
    }
    for (int step = std::bit_ceil(static_cast<unsigned>(my_proc()) + 1); my_proc() + step < procs();
         step *= 2)
      bulk_store(splitters_[my_proc() + step], splitters_.mine(), bytes);
    barrier();  // else somebody's count could be taken for splitters
  }

  /// Puts the keys in the order of the nodes that they go to.
  void split() {
    // A binary search without a branch, which would be guessed wrong every other time. Behind the last splitter are
    // greatest keys, so that it always has as many steps.
    std::vector<Key> splitters(std::bit_ceil(static_cast<std::size_t>(procs())),
                               std::numeric_limits<Key>::max());
    std::copy_n(splitters_.mine(), procs() - 1, splitters.begin());
    const auto node_of = [&](Key key) {
      std::size_t node = 0;
      for (std::size_t half = splitters.size() / 2; half > 0; half /= 2)
        node += splitters[node + half - 1] <= key ? half : 0;
      return std::min<std::size_t>(node, procs() - 1);
    };
    ends_.assign(procs(), 0);
    for (const Key key : keys_) ++ends_[node_of(key)];
    std::exclusive_scan(ends_.begin(), ends_.end(), ends_.begin(), std::size_t{0});
    for (const Key key : keys_) bundles_[ends_[node_of(key)]++] = key;  // begins become ends
  }

  /// Tells each node how many keys come, hears where to store them, and does so.
  void distribute() {
    const auto bundle = [&](std::size_t node) {
      const std::size_t first = node == 0 ? 0 : ends_[node - 1];
      return std::span(bundles_).subspan(first, ends_[node] - first);
    };
    for (int i = 0; i < procs(); ++i) {
      const int to = (my_proc() + i) % procs();  // everybody begins with another one
      store(counts_[to] + my_proc(), std::uint64_t{bundle(to).size()});
    }
    all_store_sync();

    const std::span<const std::uint64_t> counts(counts_.mine(), procs());
    const auto total = std::reduce(counts.begin(), counts.end());
    sorted_ = {local_malloc<Key>(total + 1), total};  // there may be none
    auto place = to_global(sorted_.data());
    for (int from = 0; from < procs(); ++from) {
      store(places_[from] + my_proc(), place);
      place += static_cast<std::ptrdiff_t>(counts[from]);
    }
    all_store_sync();

    for (int i = 0; i < procs(); ++i) {
      const int to = (my_proc() + i) % procs();
      bulk_store(places_.mine()[to], bundle(to).data(), bundle(to).size_bytes());
    }
    all_store_sync();
  }

  spread_array<Key> samples_;             ///< at node 0, of all
  spread_array<Key> splitters_;           ///< the same on every node: the first key of nodes 1, 2, ...
  spread_array<std::uint64_t> counts_;    ///< at each node, how many keys it gets from each
  spread_array<global_ptr<Key>> places_;  ///< at each node, where its keys for each go to
  std::vector<Key> keys_;
  std::vector<Key> bundles_;
  std::vector<std::size_t> ends_;  ///< of the bundles, by node
  std::span<Key> sorted_;
  std::vector<Block> blocks_;
};

struct Arguments {
  std::size_t keys = 100'000;
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
  SampleSort keys(a.keys);
  barrier();
  const double alone_took = seconds_of([&] { std::ranges::sort(alone); });
  const double fastest = all_reduce_to_all_min(alone_took);
  const double slowest = all_reduce_to_all_max(alone_took);
  const double took = seconds_of([&] {
    keys.sort();
    barrier();
  });

  keys.gather();
  bool right = true;
  on_one([&] {
    right = keys.equals(alone);
    std::printf("sample_sort: %zu keys on %d nodes: %s\n", a.keys, procs(),
                right ? "the same as a sequential run" : "NOT the same as a sequential run");
    if (a.time) {
      std::fprintf(stderr,
                   "sample_sort: sequential %.6f to %.6f s, on %d nodes %.6f s: %.2f to %.2f times as fast\n",
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
      std::fprintf(stderr,
                   "usage: sample_sort [keys] [--time]; at least one key per node (%u), at most %zu\n",
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
