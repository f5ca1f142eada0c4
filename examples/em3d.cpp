// EM3D: electromagnetic waves, as the kernel of "Parallel Programming in Split-C" (Culler and others, 1993) computes
// them. A graph has electric and magnetic places; in each half of a step the values of one kind are computed from
// values of the other, along weighted edges. Node 0 computes the same alone, and compares every bit.
//
//   amrun -n 4 build/bin/examples/em3d [places of each kind] [plain|ghost|bundled] [steps] [--time]
//
// Three of the paper's versions, which differ in how a node comes by the values of others:
//
//   plain    through the global pointer of each edge, when it is needed
//   ghost    by a get of each value, once for every half step, into a ghost of it; all edges are plain pointers then
//   bundled  the owner stores all that a node needs of it into that node's ghosts, in one piece
//
// Shows: global pointers that lie in global memory, split-phase gets, bulk_store and all_store_sync.
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
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace am::splitc;
using am::splitc::sync;

constexpr std::size_t degree = 20;
constexpr std::size_t most_places = std::size_t{1}
                                    << 17;  // of 80 MiB of edges; the sequential run takes the same
constexpr std::size_t most_steps = 1000;    // the values stay finite

enum Kind : std::uint64_t { electric, magnetic };
enum class Version : std::uint8_t { plain, ghost, bundled };
constexpr std::array<std::string_view, 3> version_names = {"plain", "ghost", "bundled"};

std::uint64_t hash(std::uint64_t kind, std::uint64_t place, std::uint64_t i) {
  std::uint64_t h = kind * 0x9e3779b97f4a7c15u + place * 0xbf58476d1ce4e5b9u + i * 0xd6e8feb86659fd93u + 1;
  for (int round = 0; round < 2; ++round) h = (h ^ (h >> 31)) * 0x94d049bb133111ebu;
  return h ^ (h >> 29);
}

/// From -1 to 1.
double fraction(std::uint64_t h) { return static_cast<double>(h >> 11) * 0x1p-52 - 1; }

double first_value(Kind kind, std::size_t place) { return fraction(hash(kind, place, degree)); }

struct Edge {
  std::size_t from;  ///< a place of the other kind
  double weight;
};

/// Edge i of a place. One in fifty comes from anywhere, the others from around it. The same on any number of nodes.
Edge edge(Kind kind, std::size_t place, std::size_t i, std::size_t places) {
  constexpr std::size_t around = 20;
  const std::uint64_t h = hash(kind, place, i);
  const std::size_t from = h % 50 == 0
                               ? (h >> 8) % places
                               : (place + around * places - around + (h >> 8) % (2 * around + 1)) % places;
  return {from, fraction(hash(kind, place, i + 2 * degree)) / (10 * degree)};
}

/// The new values. `from` are the edges, plain pointers or global ones: the sums are the same.
template <class Pointer>
void compute(std::span<double> values, const std::vector<Pointer>& from, const std::vector<double>& weights) {
  std::size_t e = 0;
  for (double& value : values) {
    double sum = value;
    for (const std::size_t end = e + degree; e < end; ++e) sum -= weights[e] * *from[e];
    value = sum;
  }
}

/// The sequential program.
class Alone {
 public:
  explicit Alone(std::size_t places) {
    for (const Kind kind : {electric, magnetic}) {
      values_[kind].resize(places);
      for (std::size_t k = 0; k < places; ++k) values_[kind][k] = first_value(kind, k);
    }
    for (const Kind kind : {electric, magnetic}) {
      for (std::size_t k = 0; k < places; ++k) {
        for (std::size_t i = 0; i < degree; ++i) {
          const Edge e = edge(kind, k, i, places);
          from_[kind].push_back(&values_[1 - kind][e.from]);
          weights_[kind].push_back(e.weight);
        }
      }
    }
  }
  void step() {
    for (const Kind kind : {electric, magnetic})
      compute<const double*>(values_[kind], from_[kind], weights_[kind]);
  }
  [[nodiscard]] const std::vector<double>& values(Kind kind) const { return values_[kind]; }

 private:
  std::array<std::vector<double>, 2> values_;
  std::array<std::vector<const double*>, 2> from_;
  std::array<std::vector<double>, 2> weights_;
};

/// Which places live where: those of a node are one behind the other.
struct Layout {
  std::size_t places;

  [[nodiscard]] std::size_t begin(int node) const { return places * node / procs(); }
  [[nodiscard]] std::size_t count(int node) const { return begin(node + 1) - begin(node); }
  [[nodiscard]] std::size_t most() const { return (places + procs() - 1) / procs(); }
  [[nodiscard]] int owner(std::size_t place) const {
    return static_cast<int>(((place + 1) * procs() - 1) / places);
  }
  [[nodiscard]] global_ptr<double> at(const spread_array<double>& values, std::size_t place) const {
    return values[owner(place)] + (place - begin(owner(place)));
  }
};

/// Copies of the values that this node needs of others, sorted by place, which is by owner, too.
class Ghosts {
 public:
  Ghosts(Layout layout, const spread_array<double>& values, std::vector<std::size_t> needed)
      : layout_(layout), places_(std::move(needed)) {
    std::erase_if(places_, [&](std::size_t place) { return layout_.owner(place) == my_proc(); });
    std::ranges::sort(places_);
    places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
    values_ = local_malloc<double>(places_.size() + 1);  // there may be none
    for (const std::size_t place : places_) originals_.push_back(layout_.at(values, place));
  }

  [[nodiscard]] const double* of(std::size_t place) const { return values_ + index_of(place); }

  /// Gets all from their owners.
  void fetch() {
    for (std::size_t g = 0; g < originals_.size(); ++g) get(values_ + g, originals_[g]);
    sync();
  }

  /// Tells the owners what to store here, and hears from the others what to store there. Collective.
  void agree() {
    const spread_array<Wish> wishes(procs(), procs());
    auto* offsets = local_malloc<std::uint32_t>(places_.size() + 1);
    for (int owner = 0; owner < procs(); ++owner) {
      const std::size_t begin = index_of(layout_.begin(owner));
      const std::size_t end = index_of(layout_.begin(owner + 1));
      for (std::size_t g = begin; g < end; ++g)
        offsets[g] = static_cast<std::uint32_t>(places_[g] - layout_.begin(owner));
      store(wishes[owner] + my_proc(),
            Wish{to_global(offsets + begin), to_global(values_ + begin), end - begin});
    }
    all_store_sync();
    for (int i = 1; i < procs(); ++i) {  // everybody begins with another one
      const Wish wish = wishes.mine()[(my_proc() + i) % procs()];
      if (wish.count == 0) continue;
      Bundle& bundle = bundles_.emplace_back(Bundle{wish.ghosts, {}, {}});
      bundle.offsets.resize(wish.count);
      bundle.values.resize(wish.count);
      bulk_get(bundle.offsets.data(), wish.offsets, wish.count * sizeof(std::uint32_t));
    }
    sync();
    all_spread_free(wishes);
    local_free(offsets);
  }

  /// Stores this node's values where they are needed, and returns when all that it needs have come. Collective.
  void exchange(std::span<const double> mine) {
    for (Bundle& bundle : bundles_) {
      std::ranges::transform(bundle.offsets, bundle.values.begin(), [&](std::uint32_t i) { return mine[i]; });
      bulk_store(bundle.ghosts, bundle.values.data(), bundle.values.size() * sizeof(double));
    }
    all_store_sync();
  }

 private:
  /// What a node asks of an owner: values at these offsets of its block.
  struct Wish {
    global_ptr<const std::uint32_t> offsets;
    global_ptr<double> ghosts;
    std::uint64_t count;
  };
  struct Bundle {
    global_ptr<double> ghosts;
    std::vector<std::uint32_t> offsets;
    std::vector<double> values;
  };
  [[nodiscard]] std::size_t index_of(std::size_t place) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(places_, place) - places_.begin());
  }

  Layout layout_;
  std::vector<std::size_t> places_;
  std::vector<global_ptr<const double>> originals_;
  double* values_;
  std::vector<Bundle> bundles_;
};

/// What one node has of the graph.
class Share {
 public:
  Share(std::size_t places, Version version) : layout_{places}, version_(version) {
    for (const Kind kind : {electric, magnetic}) {
      Half& half = halves_[kind];
      half.all = spread_array<double>(procs(), layout_.most());
      half.mine = {half.all.mine(), layout_.count(my_proc())};
      for (std::size_t k = 0; k < half.mine.size(); ++k)
        half.mine[k] = first_value(kind, layout_.begin(my_proc()) + k);
    }
    for (const Kind kind : {electric, magnetic}) connect(kind);
  }

  void step() {
    half_step(halves_[electric], halves_[magnetic]);
    half_step(halves_[magnetic], halves_[electric]);
  }

  /// Whether all nodes together have the values of the sequential program.
  [[nodiscard]] bool same_as(const Alone& alone) const {
    return std::ranges::all_of(std::array{electric, magnetic}, [&](Kind kind) {
      std::vector<double> whole(layout_.places);
      for (int node = 0; node < procs(); ++node)
        bulk_read(whole.data() + layout_.begin(node), halves_[kind].all[node],
                  layout_.count(node) * sizeof(double));
      return whole == alone.values(kind);
    });
  }

 private:
  /// The places of one kind that live here.
  struct Half {
    spread_array<double> all;  ///< a block for each node
    std::span<double> mine;
    std::vector<double> weights;
    std::vector<global_ptr<const double>> far;  ///< the edges of the plain version,
    std::vector<const double*> from;            ///< and those of the others, for which
    std::optional<Ghosts> ghosts;               ///< these are of the other kind
  };

  void connect(Kind kind) {
    Half& half = halves_[kind];
    const Half& other = halves_[1 - kind];
    std::vector<std::size_t> from;
    for (std::size_t k = 0; k < half.mine.size(); ++k) {
      for (std::size_t i = 0; i < degree; ++i) {
        const Edge e = edge(kind, layout_.begin(my_proc()) + k, i, layout_.places);
        from.push_back(e.from);
        half.weights.push_back(e.weight);
      }
    }
    if (version_ == Version::plain) {
      for (const std::size_t place : from) half.far.push_back(layout_.at(other.all, place));
      return;
    }
    half.ghosts.emplace(layout_, other.all, from);
    for (const std::size_t place : from) {
      const global_ptr<double> original = layout_.at(other.all, place);
      half.from.push_back(original.is_local() ? original.local() : half.ghosts->of(place));
    }
    if (version_ == Version::bundled) half.ghosts->agree();
  }

  /// All nodes have come to its end before one begins the next.
  void half_step(Half& half, const Half& other) {
    switch (version_) {
      case Version::plain:
        compute(half.mine, half.far, half.weights);
        return barrier();
      case Version::ghost:
        half.ghosts->fetch();
        compute(half.mine, half.from, half.weights);
        return barrier();
      case Version::bundled:  // nobody leaves the next exchange before all have entered it
        half.ghosts->exchange(other.mine);
        return compute(half.mine, half.from, half.weights);
    }
  }

  Layout layout_;
  Version version_;
  std::array<Half, 2> halves_;
};

struct Arguments {
  std::size_t places = 500;
  Version version = Version::bundled;
  std::size_t steps = 10;
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
  if (!given.empty()) a.places = number(given[0]);
  if (given.size() > 1) {
    const auto name = std::ranges::find(version_names, given[1]);
    if (name == version_names.end()) return {};
    a.version = static_cast<Version>(name - version_names.begin());
  }
  if (given.size() > 2) a.steps = number(given[2]);
  const bool right =
      given.size() <= 3 && a.places > 0 && a.places <= most_places && a.steps > 0 && a.steps <= most_steps;
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
  std::optional<Alone> alone;
  if (a.time || my_proc() == 0) alone.emplace(a.places);
  Share share(a.places, a.version);
  barrier();
  const double alone_took = seconds_of([&] {
    for (std::size_t s = 0; alone && s < a.steps; ++s) alone->step();
  });
  const double fastest = all_reduce_to_all_min(alone_took);
  const double slowest = all_reduce_to_all_max(alone_took);
  const double took = seconds_of([&] {
    for (std::size_t s = 0; s < a.steps; ++s) share.step();
    barrier();
  });

  bool right = true;
  on_one([&] {
    right = share.same_as(*alone);
    std::printf("em3d: 2 x %zu places of degree %zu on %d nodes, %zu steps, %s: %s\n", a.places, degree,
                procs(), a.steps, version_names.at(static_cast<std::size_t>(a.version)).data(),
                right ? "the same as a sequential run" : "NOT the same as a sequential run");
    if (a.time) {
      std::fprintf(stderr,
                   "em3d: sequential %.6f to %.6f s, on %d nodes %.6f s: %.2f to %.2f times as fast\n",
                   fastest, slowest, procs(), took, fastest / took, slowest / took);
    }
  });
  return right;
}

}  // namespace

int main(int argc, char** argv) try {
  am::Node& node = am::start(argc, argv, {.interrupt_safe = true});  // handlers do not allocate
  const std::optional<Arguments> a = arguments(argc, argv);
  if (!a || a->places < node.size()) {
    if (node.id() == 0) {
      std::fprintf(stderr,
                   "usage: em3d [places] [plain|ghost|bundled] [steps] [--time]; at least one place per node "
                   "(%u), at most "
                   "%zu, and at most %zu steps\n",
                   node.size(), most_places, most_steps);
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
