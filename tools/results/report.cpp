#include "results/report.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <stdexcept>
#include <string_view>

namespace results {

namespace {

constexpr std::array<std::pair<std::string_view, const char*>, 18> units{
    {{"_ns", "ns"},
     {"_us", "us"},
     {"_ms", "ms"},
     {"_cycles", "cycles"},
     {"_million_per_s", "M/s"},
     {"_gb_per_s", "GB/s"},
     {"_kib", "KiB"},
     {"_bytes", "bytes"},
     {"_ratio", "x"},
     {"_percent", "%"},
     {"_flits_per_cycle", "flits per cycle"},
     {"_flits_per_flit_time", "flits per flit time"},
     {"_flits", "flits"},
     {"_signals", "signals"},
     {"_words", "words"},
     {"_aborts", "aborts"},
     {"_routers", "routers"},
     {"_correlation", "correlation"}}};

std::string padded_right(const std::string& text, std::size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

// With a space before it at least.
std::string padded_left(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 1, ' ') + text;
}

constexpr std::size_t number_width = 10;

std::string where_it_ran(const Report& report) {
  if (!report.pinned()) return "not pinned";
  std::string text = "pinned to processors";
  for (const int cpu : report.cpus) text.append(" ").append(std::to_string(cpu));
  return text;
}

void print_head(std::ostream& out, const Report& report) {
  const Machine& machine = report.machine;
  out << report.tool << " " << report.measure << ": " << report.meaning << "\n";
  if (report.simulated) {
    out << "  simulated cycle by cycle: the same in every run\n";
    for (const std::string& remark : report.remarks) out << "  " << remark << "\n";
    return;
  }
  out << "  ";
  if (report.nodes != 0) out << report.nodes << (report.nodes == 1 ? " node, " : " nodes, ");
  const char* const each = report.nodes != 0 ? " repetition" : " seed";
  out << report.transport << ", " << where_it_ran(report) << "; median, min and max of " << report.repetitions
      << each << (report.repetitions == 1 ? "\n" : "s\n");
  out << "  " << machine.cpu << ", " << machine.cores << " cores, " << machine.kernel << ", "
      << machine.compiler << ", " << machine.build_type << " build\n";
  for (const std::string& peer : report.peers) out << "  compared with " << peer << "\n";
  for (const std::string& remark : report.remarks) out << "  " << remark << "\n";
  for (const std::string& warning : report.warnings()) out << "  WARNING: " << warning << "\n";
}

}  // namespace

std::string unit_of(const std::string& name) {
  for (const auto& [suffix, unit] : units) {
    if (name.size() > suffix.size() && name.ends_with(suffix)) return unit;
  }
  throw std::logic_error("the figure '" + name + "' has no unit in its name");
}

Row& Row::key(const std::string& name, std::string_view value) {
  keys_.emplace_back(name, std::string(value));
  return *this;
}

Row& Row::figure(const std::string& name, const std::string& label, const std::vector<double>& samples) {
  (void)unit_of(name);
  lines_.push_back({name, label, summarize(samples)});
  return *this;
}

Row& Row::beside(const std::string& name, const std::string& label, const Reference& reference, double here,
                 const std::string& remark) {
  (void)unit_of(name);
  lines_.push_back({name, label, Compared{reference, here, remark}});
  return *this;
}

Row& Row::note(const std::string& name, const std::string& label, const std::string& text) {
  lines_.push_back({name, label, text});
  return *this;
}

bool Report::pinned() const { return !cpus.empty() && std::find(cpus.begin(), cpus.end(), -1) == cpus.end(); }

std::vector<std::string> Report::warnings() const {
  std::vector<std::string> all;
  if (simulated) return all;
  if (!machine.optimized)
    all.emplace_back("a debug or instrumented build: the figures say nothing about libam");
  if (!pinned()) all.emplace_back("not pinned: nodes wandered between cores while they were timed");
  if (oversubscribed())
    all.push_back("oversubscribed: " + std::to_string(nodes) + " nodes on " + std::to_string(machine.cores) +
                  " cores; where more of them run than there are cores, the scheduler is timed too");
  return all;
}

void Row::print(std::ostream& out, const Compared& compared) {
  const auto [value, text] = compared.reference;
  out << padded_left(!text.empty() ? text
                     : value       ? counted(*value)
                                   : "-",
                     number_width)
      << padded_left(counted(compared.here), number_width)
      << padded_left(value ? rounded(*compared.ratio()) + "x" : "-", number_width);
}

void Row::print(std::ostream& out, std::size_t label_width) const {
  if (reference_.empty()) {
    out << title_ << "\n";
  } else {
    out << padded_right(title_, label_width + 4);
    for (const std::string& column : {reference_, std::string("here"), std::string("ratio")})
      out << padded_left(column, number_width);
    out << "\n";
  }
  for (const Line& line : lines_) {
    out << "  " << padded_right(line.label, label_width + 2);
    if (const auto* text = std::get_if<std::string>(&line.value)) {
      out << "  " << *text << "\n";
      continue;
    }
    if (const auto* compared = std::get_if<Compared>(&line.value)) {
      print(out, *compared);
    } else {
      const Summary& summary = std::get<Summary>(line.value);
      for (const double value : {summary.median, summary.min, summary.max})
        out << padded_left(rounded(value), number_width);
    }
    out << "  " << unit_of(line.name);
    if (const auto* compared = std::get_if<Compared>(&line.value);
        compared != nullptr && !compared->remark.empty())
      out << "  " << compared->remark;
    out << "\n";
  }
}

void print_table(std::ostream& out, const Report& report) {
  print_head(out, report);
  std::size_t label_width = 0;
  for (const Row& row : report.rows) {
    if (!row.reference_.empty())
      label_width = std::max(label_width, row.title_.size() - std::min<std::size_t>(row.title_.size(), 4));
    for (const Row::Line& line : row.lines_) label_width = std::max(label_width, line.label.size());
  }
  out << "\n";
  if (!report.simulated) {
    out << "  " << padded_right("", label_width + 2);
    for (const char* column : {"median", "min", "max"}) out << padded_left(column, number_width);
    out << "\n";
  }
  for (const Row& row : report.rows) row.print(out, label_width);
}

void print_markdown(std::ostream& out, const Report& report) {
  const Machine& machine = report.machine;
  if (report.simulated)
    out << "`" << report.tool << " " << report.measure << " --markdown`: simulated cycle by cycle.\n";
  else
    out << "`" << report.tool << " " << report.measure << " --reps " << report.repetitions
        << " --markdown`: " << machine.cpu << ", " << machine.cores << " cores, " << machine.kernel << ", "
        << machine.compiler << ".\n";
  const std::vector<std::string> warnings = report.warnings();
  if (!report.remarks.empty() || !warnings.empty()) out << "\n";
  for (const std::string& remark : report.remarks) out << "- " << remark << "\n";
  for (const std::string& warning : warnings) out << "- **Warning**: " << warning << "\n";
  for (const Chart& chart : report.charts) print_markdown(out, chart);
}

}  // namespace results
