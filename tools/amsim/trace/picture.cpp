#include "amsim/trace/views.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "amsim/trace/flat_grid.hpp"
#include "emulated_hw/kit/text.hpp"

namespace amsim {

namespace {

using namespace am::kit;

// As in a page (page_text.hpp): the first is of links that carried nothing.
constexpr std::array<const char*, 9> colours{"#e6eaee", "#c9dff2", "#a9cfee", "#88bce8", "#65a6dc",
                                             "#4691d0", "#2d79bd", "#1b5a98", "#0b3a75"};
constexpr int cell = 100;
constexpr int half_node = 24;
constexpr int margin = 34;  // for the ends of links that lead round the edge
constexpr int heading = 40;
constexpr int legend = 46;

std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (c == '<') {
      all += "&lt;";
    } else if (c == '&') {
      all += "&amp;";
    } else {
      all += c;
    }
  }
  return all;
}

std::string two_digits(double number) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.2f", number);
  return text.data();
}

class Picture {
 public:
  explicit Picture(const Trace& trace) : trace_(trace), grid_(flat_grid(trace, "a picture")) {
    std::vector<std::uint64_t> flits(std::size_t{grid_.nodes()} * grid_.ports());
    for (const Trace::Passage& one : trace.passages()) {
      if (one.port != Trace::injection)
        flits[std::size_t{one.router} * grid_.ports() + one.port] += one.flits;
    }
    for (const std::uint64_t some : flits)
      loads_.push_back(static_cast<double>(some) / static_cast<double>(std::max<Cycle>(trace.cycles(), 1)));
    for (NodeNumber node = 0; node < grid_.nodes(); ++node) {
      for (unsigned port = 1; port < grid_.ports(); ++port) add_link(node, port);
    }
  }

  [[nodiscard]] std::string text() const {
    const int width = std::max(extent(0) * cell + 2 * margin, 560), height = bottom() + legend;
    std::string all = text_of("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", width, ' ', height,
                              "\" width=\"", width, "\" height=\"", height,
                              "\" font-family=\"sans-serif\" font-size=\"16\" fill=\"#1b2430\">\n"
                              "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n<text x=\"",
                              margin, "\" y=\"26\">", escaped(trace_.names.title), "</text>\n");
    for (std::size_t i = 0; i < colours.size(); ++i) {
      if (!links_[i].empty()) all += text_of("<path fill=\"", colours[i], "\" d=\"", links_[i], "\"/>\n");
    }
    return all + nodes() + key() + "</svg>\n";
  }

 private:
  [[nodiscard]] int extent(unsigned d) const {
    return d < grid_.dimensions() ? static_cast<int>(grid_.dimension(d).extent) : 1;
  }
  [[nodiscard]] int at(NodeNumber node, unsigned d) const {
    return d < grid_.dimensions() ? static_cast<int>(grid_.at(node, d)) : 0;
  }
  [[nodiscard]] int x(NodeNumber node) const { return margin + at(node, 0) * cell + cell / 2; }
  [[nodiscard]] int y(NodeNumber node) const { return heading + at(node, 1) * cell + cell / 2; }
  [[nodiscard]] int bottom() const { return heading + extent(1) * cell; }
  [[nodiscard]] double most() const { return *std::ranges::max_element(loads_); }

  /// An arrow from a node, or to it, that leads on the right of the line between two nodes.
  static std::string arrow(int x, int y, int dx, int dy, int begin, int length) {
    constexpr int tip = 9, half = 5, beside = 8;
    const auto place = [&](int along, int across) {
      return text_of(x + along * dx - across * dy, ' ', y + along * dy + across * dx);
    };
    const int end = begin + length;
    return text_of('M', place(begin, beside - half), 'L', place(end - tip, beside - half), ' ',
                   place(end, beside), ' ', place(end - tip, beside + half), ' ', place(begin, beside + half),
                   'Z');
  }
  void add_link(NodeNumber node, unsigned port) {
    const NodeNumber next = grid_.neighbour(node, port);
    if (next == Grid::nowhere) return;
    const double load = loads_[std::size_t{node} * grid_.ports() + port];
    const auto steps = static_cast<double>(colours.size() - 1);
    std::string& path = links_[static_cast<std::size_t>(std::ceil(load == 0 ? 0 : load / most() * steps))];
    const int way = port % 2 == 1 ? 1 : -1;
    const int dx = port <= 2 ? way : 0, dy = port <= 2 ? 0 : way;
    constexpr int gap = half_node + 2;
    if (x(next) == x(node) + dx * cell && y(next) == y(node) + dy * cell) {
      path += arrow(x(node), y(node), dx, dy, gap, cell - 2 * gap);
    } else {  // round the edge: both of its ends
      path += arrow(x(node), y(node), dx, dy, gap, 28) + arrow(x(next), y(next), dx, dy, -gap - 28, 28);
    }
  }
  [[nodiscard]] std::string nodes() const {
    std::string boxes = "<path fill=\"#ffffff\" stroke=\"#9aa6b4\" stroke-width=\"1.5\" d=\"";
    std::string names = "<g text-anchor=\"middle\">";
    for (NodeNumber node = 0; node < grid_.nodes(); ++node) {
      boxes += text_of('M', x(node) - half_node, ' ', y(node) - half_node, "h48v48h-48z");
      names += text_of("<text x=\"", x(node), "\" y=\"", y(node) + 6, "\">", node, "</text>");
    }
    return boxes + "\"/>\n" + names + "</g>\n";
  }
  [[nodiscard]] std::string key() const {
    constexpr int width = 26;
    std::string all;
    for (int i = 0; i < int{colours.size()}; ++i)
      all += text_of("<rect x=\"", margin + i * width, "\" y=\"", bottom() + 16, "\" width=\"", width,
                     "\" height=\"14\" fill=\"", colours[static_cast<std::size_t>(i)], "\"/>");
    return text_of(all, "\n<text x=\"", margin + int{colours.size()} * width + 8, "\" y=\"", bottom() + 29,
                   "\">flits per cycle on a link, 0 to ", two_digits(most()), "; ", trace_.cycles(),
                   " cycles</text>\n");
  }

  const Trace& trace_;
  const Grid& grid_;
  std::vector<double> loads_;  // by output
  std::array<std::string, colours.size()> links_;
};

}  // namespace

std::string to_picture(const am::kit::Trace& trace) { return Picture(trace).text(); }

}  // namespace amsim
