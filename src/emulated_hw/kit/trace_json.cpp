#include "emulated_hw/kit/trace_json.hpp"

#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "emulated_hw/kit/json_text.hpp"

namespace am::kit {

namespace {

// Tracks of a node, in the order in which they are shown: what it does, into the network, to each neighbour, out of the network.
unsigned track_of(const Grid& grid, unsigned port) {
  return port == Trace::injection ? 2 : port == 0 ? 2 + grid.ports() : 2 + port;
}
constexpr unsigned track_of_activities = 1;

// Process 0 means something else to those who read this.
NodeNumber process_of(NodeNumber node) { return node + 1; }

std::string name_of_link(const Grid& grid, NodeNumber node, unsigned port) {
  if (port == Trace::injection) return "into the network";
  if (port == 0) return "out of the network";
  return "to node " + std::to_string(grid.neighbour(node, port));
}

std::string_view name_of(const std::vector<std::string>& names, std::size_t number) {
  return number < names.size() ? std::string_view(names[number]) : std::string_view("?");
}

class Events {
 public:
  explicit Events(const Trace& trace) : trace_(trace) {}

  std::string all() {
    text_ = "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":" + json_text(trace_.names.title) +
            ",\"cycles\":" + std::to_string(trace_.cycles());
    if (const std::string missing = trace_.what_is_missing(); !missing.empty())
      text_ += ",\"missing\":" + json_text(missing);
    text_ += "},\"traceEvents\":[";
    add_names();
    for (const Trace::Activity& one : trace_.activities()) add(one);
    for (const Trace::Passage& one : trace_.passages()) add(one);
    std::size_t number = 0;
    for (const Trace::Way& way : trace_.ways()) add(way, number++);
    return std::move(text_) + "\n]}\n";
  }

 private:
  void begin(std::string_view phase, NodeNumber node, unsigned track) {
    text_ += is_first_ ? "\n" : ",\n";
    is_first_ = false;
    text_ += "{\"ph\":\"";
    text_ += phase;
    text_ += "\",\"pid\":" + std::to_string(process_of(node)) + ",\"tid\":" + std::to_string(track);
  }
  void add_name(std::string_view what, NodeNumber node, unsigned track, std::string_view name) {
    begin("M", node, track);
    text_ += ",\"name\":\"";
    text_ += what;
    text_ += "\",\"args\":{\"name\":" + json_text(name) + "}}";
  }

  // Of the tracks that have anything on them.
  void add_names() {
    const Grid& grid = trace_.grid();
    std::set<std::pair<NodeNumber, unsigned>> links;
    for (const Trace::Passage& one : trace_.passages()) links.emplace(one.node, one.port);
    std::set<NodeNumber> active;
    for (const Trace::Activity& one : trace_.activities()) active.insert(one.node);
    for (NodeNumber node = 0; node < grid.nodes(); ++node)
      add_name("process_name", node, 0, "node " + std::to_string(node));
    for (const NodeNumber node : active) add_name("thread_name", node, track_of_activities, "processor");
    for (const auto& [node, port] : links)
      add_name("thread_name", node, track_of(grid, port), name_of_link(grid, node, port));
  }

  void add(const Trace::Activity& one) {
    begin("X", one.node, track_of_activities);
    text_ += ",\"ts\":" + std::to_string(one.begin) + ",\"dur\":" + std::to_string(one.end - one.begin) +
             ",\"cat\":\"node\",\"name\":" + json_text(name_of(trace_.names.activities, one.what)) + "}";
  }

  void add(const Trace::Passage& one) {
    const Trace::Message& message = trace_.messages()[one.message];
    begin("X", one.node, track_of(trace_.grid(), one.port));
    text_ += ",\"ts\":" + std::to_string(one.begin) + ",\"dur\":" + std::to_string(one.flits) +
             ",\"cat\":\"link\",\"name\":\"message " + std::to_string(one.message) +
             "\",\"args\":{\"message\":" + std::to_string(one.message) +
             ",\"kind\":" + json_text(name_of(trace_.names.messages, message.kind)) +
             ",\"from\":" + std::to_string(message.from) + ",\"to\":" + std::to_string(message.to) +
             ",\"flits\":" + std::to_string(one.flits) + "}}";
  }

  void add(const Trace::Way& way, std::size_t number) {
    for (std::size_t i = 0; i < way.passages.size(); ++i) {
      const Trace::Passage& one = way.passages[i];
      const bool ends = i + 1 == way.passages.size();
      begin(i == 0 ? "s" : ends ? "f" : "t", one.node, track_of(trace_.grid(), one.port));
      text_ += ",\"ts\":" + std::to_string(one.begin) + ",\"id\":" + std::to_string(number) +
               ",\"cat\":\"way\",\"name\":\"message\"" + (ends ? ",\"bp\":\"e\"}" : "}");
    }
  }

  const Trace& trace_;
  std::string text_;
  bool is_first_ = true;
};

}  // namespace

std::string to_json(const Trace& trace) { return Events(trace).all(); }

}  // namespace am::kit
