#include "results/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "results/subprocess.hpp"
#include "results/usage_error.hpp"

namespace results {

namespace {

constexpr std::array<const char*, 4> colors{"#888888", "#1b7837", "#7fbf7b", "#762a83"};
// Of more columns, which come in pairs: light and dark.
constexpr std::array<const char*, 8> colors_in_pairs{"#bdbdbd", "#636363", "#7fbf7b", "#1b7837",
                                                     "#c2a5cf", "#762a83", "#92c5de", "#2166ac"};

const char* color_of(std::size_t column, std::size_t columns) {
  return columns <= colors.size() ? colors[column] : colors_in_pairs[column % colors_in_pairs.size()];
}

constexpr const char* line_break = "\\n";  // gnuplot's

std::string quoted(const std::string& text) { return '"' + text + '"'; }

// Words in lines short enough to stand side by side.
std::string in_lines(const std::string& text) {
  constexpr std::size_t width = 16;
  std::string lines;
  std::size_t length = 0;
  std::istringstream words(text);
  for (std::string word; words >> word; length += word.size() + 1) {
    const bool fits = length + word.size() <= width;
    if (!lines.empty()) lines += fits ? " " : line_break;
    if (!fits) length = 0;
    lines += word;
  }
  return lines;
}

// What the labels take below the axis, in lines: gnuplot reserves room for one.
std::size_t most_label_lines(const Chart& chart) {
  std::size_t most = 1;
  for (const Chart::Row& row : chart.rows) {
    const std::string label = in_lines(row.label);
    std::size_t lines = 1;
    for (std::size_t at = label.find(line_break); at != std::string::npos;
         at = label.find(line_break, at + 1))
      ++lines;
    most = std::max(most, lines);
  }
  return most;
}

// The power of ten below every figure, so that each has a bar of some height.
double lowest_decade(const Chart& chart) {
  double least = HUGE_VAL;
  for (const Chart::Row& row : chart.rows) {
    for (const std::optional<Summary>& cell : row.cells) {
      if (cell && cell->min > 0) least = std::min(least, cell->min);
    }
  }
  return std::isfinite(least) ? std::pow(10, std::ceil(std::log10(least)) - 1) : 1;
}

// From zero up, or below it where a difference came out negative.
std::string vertical_axis(const Chart& chart) {
  if (!chart.logarithmic) return "set yrange [*<0:*]\n";
  std::ostringstream text;
  text << "set logscale y\nset yrange [" << lowest_decade(chart) << ":*]\n";
  return text.str();
}

// One block of data per column: place of the bar, median, min, max, width. Bars of one row stand together.
void write_data(std::ostream& out, const Chart& chart, double width) {
  for (std::size_t column = 0; column < chart.columns.size(); ++column) {
    out << "$column" << column << " << end\n";
    for (std::size_t row = 0; row < chart.rows.size(); ++row) {
      const std::optional<Summary>& cell = chart.rows[row].cells[column];
      if (!cell) continue;
      const double middle = (static_cast<double>(chart.columns.size()) - 1) / 2;
      out << static_cast<double>(row) + (static_cast<double>(column) - middle) * width << ' ' << cell->median
          << ' ' << cell->min << ' ' << cell->max << ' ' << width * 0.9 << "\n";
    }
    out << "end\n";
  }
}

bool has_figures(const Chart& chart, std::size_t column) {
  for (const Chart::Row& row : chart.rows) {
    if (row.cells[column]) return true;
  }
  return false;
}

void write_script(std::ostream& out, const Chart& chart, const std::string& picture) {
  const double width = 0.8 / static_cast<double>(chart.columns.size());
  write_data(out, chart, width);
  out << "set terminal svg size 1200,520 noenhanced font 'sans,13' background '#ffffff'\n"
      << "set output " << quoted(picture) << "\n"
      << "set title " << quoted(chart.title) << "\n"
      << "set ylabel " << quoted(chart.unit) << "\n"
      << vertical_axis(chart) << "set xrange [-0.5:" << static_cast<double>(chart.rows.size()) - 0.5 << "]\n"
      << "set grid ytics\nset key outside top center horizontal\nset style fill solid\nset bars 0.5\n"
      << "set bmargin " << most_label_lines(chart) + 1 << "\n"
      << "set xtics (";
  for (std::size_t row = 0; row < chart.rows.size(); ++row) {
    out << (row == 0 ? "" : ", ") << quoted(in_lines(chart.rows[row].label)) << ' ' << row;
  }
  out << ")\nplot";
  const char* separator = " ";
  for (std::size_t column = 0; column < chart.columns.size(); ++column) {
    if (!has_figures(chart, column)) continue;
    out << separator << "$column" << column << " with boxerrorbars linecolor rgb "
        << quoted(color_of(column, chart.columns.size())) << " title " << quoted(chart.columns[column]);
    separator = ", ";
  }
  out << "\n";
}

}  // namespace

void be_able_to_plot(const std::string& folder) {
  if (find_program("gnuplot").empty())
    throw UsageError("--plots needs gnuplot, which is not on PATH: apt-get install gnuplot-nox");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw UsageError("cannot make the folder " + folder + ": " + error.message());
}

void plot(const Chart& chart, const std::string& folder) {
  if (chart.name.empty()) return;
  const std::string script = folder + "/" + chart.name + ".gnuplot";
  std::ofstream out(script);
  write_script(out, chart, chart.name + ".svg");
  out.close();
  if (!out) throw std::runtime_error("cannot write " + script);
  const Finished drawn =
      run({"sh", "-c", "cd \"$1\" && exec gnuplot \"$2\"", "sh", folder, chart.name + ".gnuplot"}, {},
          Errors::collected);
  if (!drawn.ok()) throw std::runtime_error("gnuplot could not draw " + script + ": " + drawn.how_it_ended());
}

}  // namespace results
