#include "amsim/trace/views.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "amsim/trace/json_text.hpp"
#include "emulated_hw/kit/text.hpp"

namespace amsim {

namespace {

using namespace am::kit;

constexpr unsigned track_of_activities = 1;

// Which process has which tracks, and what these are called.
class Tracks {
 public:
  explicit Tracks(const Topology& topology)
      : topology_(topology), routers_are_nodes_(!std::holds_alternative<FatTree>(topology)) {
    for (NodeNumber node = 0; node < nodes_of(topology); ++node) {
      any_place_of(topology, node, [&](const Place& place) {
        node_at_[{place.router, place.port}] = node;
        return false;
      });
    }
  }

  // Process 0 means something else to those who read this.
  static unsigned process_of_node(NodeNumber node) { return node + 1; }
  [[nodiscard]] unsigned process_of(RouterNumber router, unsigned port) const {
    return router + 1 + (routers_are_nodes_ || port == Trace::injection ? 0 : nodes_of(topology_));
  }
  // In the order in which they are shown: what a node does, into the network, to each neighbour, out of the network.
  [[nodiscard]] unsigned track_of(unsigned port) const {
    if (port == Trace::injection) return 2;
    return routers_are_nodes_ && port == 0 ? 2 + ports_of(topology_) : 2 + port;
  }
  [[nodiscard]] std::string name_of(RouterNumber router, unsigned port) const {
    if (port == Trace::injection) return "into the network";
    const RouterNumber next = neighbour(topology_, router, port);
    if (next != nowhere) return text_of(routers_are_nodes_ ? "to node " : "to router ", next);
    if (routers_are_nodes_) return "out of the network";
    return text_of("to node ", node_at_.at({router, port}));
  }
  // Of processes that are no nodes.
  [[nodiscard]] RouterNumber routers() const { return routers_are_nodes_ ? 0 : routers_of(topology_); }

 private:
  const Topology& topology_;
  const bool routers_are_nodes_;
  std::map<std::pair<RouterNumber, unsigned>, NodeNumber> node_at_;
};

std::string_view name_of(const std::vector<std::string>& names, std::size_t number) {
  return number < names.size() ? std::string_view(names[number]) : std::string_view("?");
}

class Events {
 public:
  explicit Events(const Trace& trace) : trace_(trace), tracks_(trace.topology()) {}

  std::string all() {
    const std::string missing = trace_.what_is_missing();
    text_ =
        text_of("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":", json_text(trace_.names.title),
                ",\"cycles\":", trace_.cycles(),
                missing.empty() ? "" : text_of(",\"missing\":", json_text(missing)), "},\"traceEvents\":[");
    add_names();
    for (const Trace::Activity& one : trace_.activities()) add(one);
    for (const Trace::Passage& one : trace_.passages()) add(one);
    std::size_t number = 0;
    for (const Trace::Way& way : trace_.ways()) add(way, number++);
    return std::move(text_) + "\n]}\n";
  }

 private:
  void begin(std::string_view phase, const Trace::Passage& one) {
    begin(phase, tracks_.process_of(one.router, one.port), tracks_.track_of(one.port));
  }
  void begin(std::string_view phase, unsigned process, unsigned track) {
    text_ += is_first_ ? "\n" : ",\n";
    is_first_ = false;
    text_ += text_of("{\"ph\":\"", phase, "\",\"pid\":", process, ",\"tid\":", track);
  }
  void add_name(std::string_view what, unsigned process, unsigned track, std::string_view name) {
    begin("M", process, track);
    text_ += text_of(",\"name\":\"", what, "\",\"args\":{\"name\":", json_text(name), "}}");
  }

  // Of the tracks that have anything on them.
  void add_names() {
    std::set<std::pair<RouterNumber, unsigned>> links;
    for (const Trace::Passage& one : trace_.passages()) links.emplace(one.router, one.port);
    std::set<NodeNumber> active;
    for (const Trace::Activity& one : trace_.activities()) active.insert(one.node);
    for (NodeNumber node = 0; node < nodes_of(trace_.topology()); ++node)
      add_name("process_name", Tracks::process_of_node(node), 0, text_of("node ", node));
    for (RouterNumber router = 0; router < tracks_.routers(); ++router)
      add_name("process_name", tracks_.process_of(router, 0), 0, text_of("router ", router));
    for (const NodeNumber node : active)
      add_name("thread_name", Tracks::process_of_node(node), track_of_activities, "processor");
    for (const auto& [router, port] : links)
      add_name("thread_name", tracks_.process_of(router, port), tracks_.track_of(port),
               tracks_.name_of(router, port));
  }

  void add(const Trace::Activity& one) {
    begin("X", Tracks::process_of_node(one.node), track_of_activities);
    text_ +=
        text_of(",\"ts\":", one.begin, ",\"dur\":", one.end - one.begin,
                ",\"cat\":\"node\",\"name\":", json_text(name_of(trace_.names.activities, one.what)), "}");
  }

  void add(const Trace::Passage& one) {
    const Trace::Message& message = trace_.messages()[one.message];
    begin("X", one);
    text_ += text_of(",\"ts\":", one.begin, ",\"dur\":", one.flits, ",\"cat\":\"link\",\"name\":\"message ",
                     one.message, "\",\"args\":{\"message\":", one.message,
                     ",\"kind\":", json_text(name_of(trace_.names.messages, message.kind)),
                     ",\"from\":", message.from, ",\"to\":", message.to, ",\"flits\":", one.flits, "}}");
  }

  void add(const Trace::Way& way, std::size_t number) {
    for (std::size_t i = 0; i < way.passages.size(); ++i) {
      const Trace::Passage& one = way.passages[i];
      const bool ends = i + 1 == way.passages.size();
      begin(i == 0 ? "s" : ends ? "f" : "t", one);
      text_ += text_of(",\"ts\":", one.begin, ",\"id\":", number, ",\"cat\":\"way\",\"name\":\"message\"",
                       ends ? ",\"bp\":\"e\"}" : "}");
    }
  }

  const Trace& trace_;
  const Tracks tracks_;
  std::string text_;
  bool is_first_ = true;
};

}  // namespace

std::string to_json(const am::kit::Trace& trace) { return Events(trace).all(); }

}  // namespace amsim
