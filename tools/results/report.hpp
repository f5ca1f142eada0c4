// The result of a measure or of a simulation, and its forms: a table for people, tables in markdown, and JSON. What makes its figures
// valid, or not, is in each.

#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "results/chart.hpp"
#include "results/machine.hpp"
#include "results/statistics.hpp"

namespace results {

struct Report;

// One row of the JSON; one block of lines in the table.
class Row {
 public:
  // `title` stands over the block. Keys are the JSON's way to tell rows apart: {"bytes", 8}.
  explicit Row(std::string title) : title_(std::move(title)) {}

  Row& key(const std::string& name, std::integral auto value) {
    keys_.emplace_back(name, static_cast<std::int64_t>(value));
    return *this;
  }
  Row& key(const std::string& name, std::string_view value);
  // `name` ends in a unit that unit_of() knows; `label` is the line's first column.
  Row& figure(const std::string& name, const std::string& label, const std::vector<double>& samples);
  // What the figures of beside() stand beside, one word: a paper, a bound, another way.
  Row& references(const std::string& name) {
    reference_ = name;
    return *this;
  }
  // A figure that is the same in every run, and its ratio to that one, where there is one. `text` is how it is written there, "~5".
  struct Reference {
    std::optional<double> value{};
    std::string text{};
  };
  // `remark` follows in the line, and is in the JSON where it is not empty.
  Row& beside(const std::string& name, const std::string& label, const Reference& reference, double here,
              const std::string& remark = {});
  // In place of a figure: why there is none, or what it was.
  Row& note(const std::string& name, const std::string& label, const std::string& text);

 private:
  friend void print_table(std::ostream& out, const Report& report);
  friend std::string to_json(const Report& report);

  struct Compared {
    Reference reference;
    double here;
    std::string remark;
    [[nodiscard]] std::optional<double> ratio() const {
      return reference.value ? std::optional(here / *reference.value) : std::nullopt;
    }
  };
  struct Line {
    std::string name;
    std::string label;
    std::variant<Summary, Compared, std::string> value;
  };
  static void print(std::ostream& out, const Compared& compared);
  void print(std::ostream& out, std::size_t label_width) const;
  std::string title_;
  std::string reference_;
  std::vector<std::pair<std::string, std::variant<std::int64_t, std::string>>> keys_;
  std::vector<Line> lines_;
};

struct Report {
  std::string tool;  // that it is a result of: ambench
  std::string measure;
  std::string meaning;
  std::string transport;
  int nodes = 0;  // of the largest job; 0 where there is none
  int repetitions = 0;
  bool simulated = false;  // figures are cycles of what is simulated: the same in every run, on every machine
  Machine machine = this_machine();
  std::vector<int> cpus;           // of the measuring nodes; -1 is a node that was not bound
  std::vector<std::string> peers;  // who was compared with, and in which version
  std::vector<std::string> remarks;
  std::vector<Row> rows;
  std::vector<Chart> charts;  // the same figures, side by side

  [[nodiscard]] bool pinned() const;
  [[nodiscard]] bool oversubscribed() const { return nodes > machine.cores; }
  [[nodiscard]] std::vector<std::string> warnings() const;  // of figures that say little about libam
};

// The unit that a figure's name ends in, as the table prints it. Throws std::logic_error for a name without
// one.
std::string unit_of(const std::string& name);

void print_table(std::ostream& out, const Report& report);
void print_markdown(std::ostream& out, const Report& report);  // its charts
std::string to_json(const Report& report);

}  // namespace results
