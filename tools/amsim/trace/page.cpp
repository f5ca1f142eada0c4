#include "amsim/trace/views.hpp"

#include <array>
#include <string_view>

#include "amsim/trace/flat_grid.hpp"
#include "amsim/trace/json_text.hpp"
#include "amsim/trace/page_text.hpp"
#include "emulated_hw/kit/text.hpp"

namespace amsim {

namespace {

using namespace am::kit;

// One after the other; times as the difference to the one before.
class Numbers {
 public:
  template <class... Number>
  void add(Number... numbers) {
    ((text_ += (text_.empty() ? "" : ",") + std::to_string(numbers)), ...);
  }
  [[nodiscard]] std::string array() const { return '[' + text_ + ']'; }

 private:
  std::string text_;
};

std::string texts(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ",") + json_text(text);
  return '[' + all + ']';
}

std::string messages_of(const Trace& trace) {
  Numbers numbers;
  for (const Trace::Message& one : trace.messages()) numbers.add(one.from, one.to, one.kind);
  return numbers.array();
}

std::string passages_of(const Trace& trace) {
  Numbers numbers;
  Cycle before = 0;
  for (const Trace::Passage& one : trace.passages()) {
    const unsigned port = one.port == Trace::injection ? ports_of(trace.topology()) : one.port;
    numbers.add(one.begin - before, one.message, one.router, port, one.flits);
    before = one.begin;
  }
  return numbers.array();
}

std::string arrivals_of(const Trace& trace) {
  Numbers numbers;
  for (const Trace::Arrival& one : trace.arrivals()) numbers.add(one.at, one.message, one.node);
  return numbers.array();
}

std::string activities_of(const Trace& trace) {
  Numbers numbers;
  for (const Trace::Activity& one : trace.activities())
    numbers.add(one.begin, one.end - one.begin, one.node, one.what);
  return numbers.array();
}

std::string data_of(const Trace& trace) {
  const Grid& grid = flat_grid(trace, "a page");
  const auto extent = [&](unsigned d) { return d < grid.dimensions() ? grid.dimension(d).extent : 1; };
  const auto wraps = [&](unsigned d) { return d < grid.dimensions() && grid.dimension(d).wraps; };
  const auto flag = [](bool yes) { return yes ? "true" : "false"; };
  return text_of(
      "{\"title\":", json_text(trace.names.title), ",\n\"missing\":", json_text(trace.what_is_missing()),
      ",\n\"extents\":[", extent(0), ',', extent(1), "],\"wraps\":[", flag(wraps(0)), ',', flag(wraps(1)),
      "],\"ports\":", grid.ports(), ",\"cycles\":", trace.cycles(),
      ",\n\"kinds\":", texts(trace.names.messages), ",\"activities\":", texts(trace.names.activities),
      ",\n\"messages\":", messages_of(trace), ",\n\"passages\":", passages_of(trace),
      ",\n\"arrivals\":", arrivals_of(trace), ",\n\"does\":", activities_of(trace), "}");
}

}  // namespace

std::string to_page(const am::kit::Trace& trace) {
  return text_of(trace_page::before_data, data_of(trace), trace_page::behind_data);
}

}  // namespace amsim
