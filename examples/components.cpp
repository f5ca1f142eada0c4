// The connected components of a mesh in which half of the edges are missing, in the manner of Split-C. Each node has a strip
// of its rows. It joins what is connected within the strip by itself; then the nodes join what edges between strips connect,
// through global pointers. In the end each vertex knows its component, which is called by its first vertex.
//
//   amrun -n 4 build/bin/examples/components [side] [--time]
//
// Local work first, then global, on a mesh of which edges are left out: Krishnamurthy, Lumetta, Culler and Yelick, "Connected
// components on distributed memory machines", 1994. How trees of several nodes are joined is another way than theirs.
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
#include <utility>
#include <vector>

namespace {

using namespace am::splitc;
using am::splitc::sync;

using Vertex = std::uint32_t;  // row by row

class Mesh {
 public:
  explicit Mesh(Vertex side) : side_(side) {}
  [[nodiscard]] Vertex side() const { return side_; }
  [[nodiscard]] Vertex vertices() const { return side_ * side_; }
  [[nodiscard]] bool has_edge_right(Vertex v) const { return (v + 1) % side_ != 0 && is_there(v * 2); }
  [[nodiscard]] bool has_edge_down(Vertex v) const { return v < vertices() - side_ && is_there(v * 2 + 1); }

 private:
  /// One edge of two: a hash of its number, the same on every node.
  static bool is_there(std::uint64_t edge) {
    std::uint64_t h = edge * 0x9e3779b97f4a7c15u + 0xd6e8feb86659fd93u;
    h ^= h >> 31;
    h *= 0x94d049bb133111ebu;
    return h >> 63 != 0;
  }

  Vertex side_;
};

/// Trees over the vertices from `first` on, by one node: each vertex has one before it, a root itself.
class Trees {
 public:
  Trees(Vertex* parents, Vertex first, Vertex count) : parents_(parents), first_(first), count_(count) {
    for (Vertex v = first_; v < end(); ++v) parent(v) = v;
  }
  void join(const Mesh& mesh) {
    for (Vertex v = first_; v < end(); ++v) {
      if (mesh.has_edge_right(v)) unite(v, v + 1);
      if (mesh.has_edge_down(v) && v + mesh.side() < end()) unite(v, v + mesh.side());
    }
    for (Vertex v = first_; v < end(); ++v)
      parent(v) = parent(parent(v));  // whose parent comes first, and has its root
  }

 private:
  [[nodiscard]] Vertex end() const { return first_ + count_; }
  [[nodiscard]] Vertex& parent(Vertex v) const { return parents_[v - first_]; }
  [[nodiscard]] Vertex root(Vertex v) const {
    while (parent(v) != v) v = parent(v) = parent(parent(v));
    return v;
  }
  void unite(Vertex a, Vertex b) {
    a = root(a);
    b = root(b);
    parent(std::max(a, b)) = std::min(a, b);
  }

  Vertex* parents_;
  Vertex first_;
  Vertex count_;
};

/// How many components there are, and how many vertices the largest has.
struct Summary {
  Vertex components = 0;
  Vertex largest = 0;
  friend bool operator==(const Summary&, const Summary&) = default;
};

Summary summary_of(const Vertex* sizes, Vertex count) {
  Summary all;
  for (Vertex i = 0; i < count; ++i) {
    all.components += sizes[i] != 0 ? 1 : 0;
    all.largest = std::max(all.largest, sizes[i]);
  }
  return all;
}

/// One node's part. Made by all nodes together.
class Components {
 public:
  explicit Components(const Mesh& mesh)
      : mesh_(mesh),
        strip_((mesh.side() + procs() - 1) / procs() * mesh.side()),
        first_(begin_of(my_proc())),
        count_(begin_of(my_proc() + 1) - first_),
        parents_(procs(), strip_),
        sizes_(procs(), strip_) {}

  Summary run() {
    Trees(parents_.mine(), first_, count_).join(mesh_);
    std::fill_n(sizes_.mine(), strip_, 0);
    barrier();
    const std::vector<Vertex> tops = roots_of_strip();
    const std::vector<Edge> edges = edges_down();
    barrier();  // now nobody looks at the strips by themselves any more
    for (const Edge& edge : edges) unite(edge.first, edge.second);
    barrier();  // now no root gets a parent any more
    name_all(tops);
    barrier();
    const Summary mine = summary_of(sizes_.mine(), count_);
    return {all_reduce_to_all_add(mine.components), all_reduce_to_all_max(mine.largest)};
  }

  /// Node 0: of each vertex, the first one of its component.
  [[nodiscard]] std::vector<Vertex> gather() const {
    std::vector<Vertex> all(mesh_.vertices());
    for (Vertex v = 0; v < mesh_.vertices(); v += strip_)
      bulk_get(&all[v], parent(v), std::min(strip_, mesh_.vertices() - v) * sizeof(Vertex));
    sync();
    return all;
  }

 private:
  using Edge = std::pair<Vertex, Vertex>;

  [[nodiscard]] Vertex begin_of(am::NodeId node) const {
    return static_cast<Vertex>(std::min<std::uint64_t>(std::uint64_t{strip_} * node, mesh_.vertices()));
  }
  [[nodiscard]] Vertex end() const { return first_ + count_; }
  [[nodiscard]] global_ptr<Vertex> parent(Vertex v) const { return parents_[v / strip_] + v % strip_; }
  [[nodiscard]] global_ptr<Vertex> size(Vertex v) const { return sizes_[v / strip_] + v % strip_; }

  [[nodiscard]] std::vector<Vertex> roots_of_strip() const {
    const Vertex* const mine = parents_.mine();
    std::vector<Vertex> roots;
    for (Vertex v = first_; v < end(); ++v)
      if (mine[v - first_] == v) roots.push_back(v);
    return roots;
  }
  /// The edges to the next strip, between the roots of their ends; each once.
  [[nodiscard]] std::vector<Edge> edges_down() const {
    std::vector<Edge> edges;
    if (count_ == 0 || end() == mesh_.vertices()) return edges;
    std::vector<Vertex> row_below(mesh_.side());
    bulk_read(row_below.data(), parent(end()), row_below.size() * sizeof(Vertex));
    for (Vertex column = 0; column < mesh_.side(); ++column) {
      const Vertex v = end() - mesh_.side() + column;
      if (mesh_.has_edge_down(v)) edges.emplace_back(*parent(v), row_below[column]);
    }
    std::ranges::sort(edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
  }

  [[nodiscard]] Vertex root(Vertex v) const {
    for (;;) {
      const Vertex up = *parent(v);
      if (up == v) return v;
      v = up;
    }
  }
  /// Whatever other nodes join meanwhile: only a root gets a parent, and that is an earlier vertex, so there are no
  /// circles. Where another node was faster the roots are looked for again.
  void unite(Vertex a, Vertex b) const {
    for (;;) {
      a = root(a);
      b = root(b);
      if (a == b) return;
      if (a < b) std::swap(a, b);
      if (cmp_swap(parent(a), a, b) == a) return;
    }
  }

  /// Every vertex of the strip gets its root as its parent, and is counted there. The ways up from those that were roots of
  /// the strip (`tops`) are gone all at once, one step of each between two syncs. Whether another node has shortened its
  /// part of a way already makes no difference but to the number of steps.
  void name_all(const std::vector<Vertex>& tops) const {
    struct Way {
      Vertex from;
      Vertex up;
      Vertex next;
    };
    std::vector<Way> ways;
    for (const Vertex top : tops)
      if (const Vertex up = *parent(top); up != top) ways.push_back({top, up, up});
    std::vector<Way*> open;
    open.reserve(ways.size());
    for (Way& way : ways) open.push_back(&way);
    while (!open.empty()) {
      for (Way* way : open) get(&way->next, parent(way->up));
      sync();
      std::erase_if(open, [](const Way* way) { return way->next == way->up; });
      for (Way* way : open) way->up = way->next;
    }

    for (const Way& way : ways) *parent(way.from) = way.up;
    Vertex* const mine = parents_.mine();
    std::vector<Vertex> below(
        count_);  // of each top, how many vertices of the strip are under it; of the others none
    for (const Vertex top : tops) below[top - first_] = 1;
    for (Vertex i = 0; i < count_; ++i) {
      if (below[i] != 0) continue;
      const Vertex top = mine[i] - first_;
      ++below[top];
      mine[i] = mine[top];  // other nodes read those of tops alone
    }
    for (const Vertex top : tops) fetch_add(size(mine[top - first_]), below[top - first_]);
  }

  Mesh mesh_;
  Vertex strip_;  // vertices of one; of the last ones there may be less
  Vertex first_;
  Vertex count_;
  spread_array<Vertex> parents_;  // by vertex, strip by strip
  spread_array<Vertex> sizes_;    // of the component that is called by the vertex
};

/// The same by one node.
class Alone {
 public:
  explicit Alone(const Mesh& mesh) : mesh_(mesh), parents_(mesh.vertices()) {}
  Summary run() {
    Trees(parents_.data(), 0, mesh_.vertices()).join(mesh_);
    std::vector<Vertex> sizes(mesh_.vertices());
    for (const Vertex root : parents_) ++sizes[root];
    return summary_of(sizes.data(), mesh_.vertices());
  }
  [[nodiscard]] const std::vector<Vertex>& parents() const { return parents_; }

 private:
  Mesh mesh_;
  std::vector<Vertex> parents_;
};

template <class F>
double seconds_of(const F& f) {
  const double began = get_seconds();
  f();
  return get_seconds() - began;
}

/// Node 0 alone, then all nodes together, several times.
void measure(Components& together, Alone* alone) {
  constexpr std::size_t rounds = 7;
  struct Round {
    double alone;
    double together;
    [[nodiscard]] double ratio() const { return alone / together; }
  };
  std::array<Round, rounds> all{};
  for (Round& round : all) {
    if (alone != nullptr) round.alone = seconds_of([&] { alone->run(); });
    barrier();
    round.together = seconds_of([&] { together.run(); });
  }
  if (alone == nullptr) return;
  std::ranges::sort(all, {}, &Round::ratio);
  const Round& median = all[rounds / 2];
  std::fprintf(stderr,
               "components: %d nodes: alone %.6f s, together %.6f s: %.2f times as fast (%.2f to %.2f in %zu "
               "rounds)\n",
               procs(), median.alone, median.together, median.ratio(), all.front().ratio(),
               all.back().ratio(), rounds);
}

struct Arguments {
  Vertex side = 128;
  bool time = false;
};
constexpr Vertex longest_side = 2048;

/// None where they are wrong.
std::optional<Arguments> read_arguments(int argc, char** argv) {
  Arguments arguments;
  bool has_side = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    if (text == "--time" && !arguments.time) {
      arguments.time = true;
      continue;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), arguments.side);
    if (has_side || error != std::errc() || end != text.data() + text.size()) return {};
    if (arguments.side == 0 || arguments.side > longest_side) return {};
    has_side = true;
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) try {
  am::Node& node = am::start(argc, argv, {.interrupt_safe = true});  // handlers do not allocate
  const std::optional<Arguments> arguments = read_arguments(argc, argv);
  if (!arguments) {
    if (node.id() == 0) {
      std::fprintf(stderr, "usage: components [side] [--time]; a number from 1 to %u\n", longest_side);
    }
    node.barrier();  // the first node that fails ends the job
    return 2;
  }

  World world(node);
  const Mesh mesh(arguments->side);
  Components together(mesh);
  std::optional<Alone> alone;
  if (my_proc() == 0) alone.emplace(mesh);
  if (arguments->time) measure(together, alone ? &*alone : nullptr);

  const Summary found = together.run();
  bool right = true;
  on_one([&] {
    right = alone->run() == found && together.gather() == alone->parents();
    std::printf("components: mesh %u x %u, components %u, vertices of the largest %u: %s\n", mesh.side(),
                mesh.side(), found.components, found.largest,
                right ? "the same as a sequential run" : "NOT the same as a sequential run");
  });
  barrier();
  return right ? 0 : 1;
} catch (const am::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
