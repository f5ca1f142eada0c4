// ambench and amsim as people run them: what they write, and what they say to wrong use.
#pragma once

#include <fnmatch.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "process/command.hpp"

namespace process_test {

inline std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// One line of a .gnuplot file per bar, of five numbers.
inline int bars_in(const std::string& script) {
  const std::regex bar(R"(\n[-0-9.e+]+( [-0-9.e+]+){4}(?=\n))");
  return static_cast<int>(std::distance(std::sregex_iterator(script.begin(), script.end(), bar), {}));
}

inline double lowest_text_in(const std::string& svg) {
  const std::regex place(R"(translate\([^,]*,([0-9.]+)\))");
  double lowest = 0;
  for (std::sregex_iterator at(svg.begin(), svg.end(), place), end; at != end; ++at)
    lowest = std::max(lowest, std::stod((*at)[1]));
  return lowest;
}

inline std::string as_text(const std::string& line) { return std::string(">").append(line).append("<"); }

// The labels below the bars and in the key, line by line.
inline std::vector<std::string> labels_in(const std::string& script) {
  const std::regex label(R"~((?:title |[(,] ?)"([^"]*)")~");
  const std::regex line_break(R"(\\n)");
  const std::string from = script.substr(script.find("set xtics"));
  std::vector<std::string> labels;
  for (std::sregex_iterator at(from.begin(), from.end(), label), end; at != end; ++at) {
    const std::string text = (*at)[1];
    std::copy(std::sregex_token_iterator(text.begin(), text.end(), line_break, -1),
              std::sregex_token_iterator(), std::back_inserter(labels));
  }
  return labels;
}

// What gnuplot draws as a filled shape is a bar or a mark of the key; text outside of the picture is drawn, and not seen.
inline void expect_all_drawn(const std::string& chart) {
  SCOPED_TRACE(chart);
  const std::string script = text_of(chart + ".gnuplot");
  const std::string svg = text_of(chart + ".svg");
  EXPECT_THAT(svg, testing::HasSubstr("</svg>"));
  const int columns = count(script, "with boxerrorbars");
  EXPECT_GT(columns, 0);
  EXPECT_EQ(count(svg, "<polygon"), bars_in(script) + columns);
  const std::vector<std::string> labels = labels_in(script);
  EXPECT_GT(labels.size(), static_cast<std::size_t>(columns));
  for (const std::string& label : labels) EXPECT_THAT(svg, testing::HasSubstr(as_text(label)));
  EXPECT_THAT(svg, testing::HasSubstr("height=\"520\""));
  EXPECT_LT(lowest_text_in(svg), 515);
}

enum Plots { no_plots, draws };

/// One run of a tool that ends well, and its figures; with their plots where there is gnuplot.
class Measured {
 public:
  explicit Measured(std::vector<std::string> command, Plots plots = no_plots,
                    const std::function<void()>& in_child = {})
      : drawn_(plots == draws && run({"sh", "-c", "command -v gnuplot"}).exit_code == 0) {
    command.insert(command.end(), {"--json", folder_.in("figures.json")});
    if (drawn_) command.insert(command.end(), {"--plots", folder_.in("plots")});
    Outcome outcome = run(command, {.in_child = in_child});
    if (outcome.exit_code != 0) throw std::runtime_error(outcome.err);
    out = std::move(outcome.out);
    json = nlohmann::json::parse(text_of(folder_.in("figures.json")));
  }
  [[nodiscard]] bool drawn() const { return drawn_; }
  [[nodiscard]] std::string plots() const { return folder_.in("plots"); }
  void expect_drawn(const std::string& beginning, const std::vector<std::string>& charts) const {
    if (!drawn_) return;
    for (const std::string& chart : charts) expect_all_drawn(plots() + "/" + beginning + chart);
  }

  std::string out;
  nlohmann::json json;

 private:
  const TemporaryFolder folder_;
  const bool drawn_;
};

inline auto files_in(const TemporaryFolder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.in("")), {});
}

/// Of tests/process/TOOL_wrong_use.txt: `words => what it says`, line by line; '' is an empty word, and * stands for any text.
inline void expect_wrong_uses(const std::string& tool) {
  for (const std::string& line : lines_of(text_of(AM_TESTS_DIR "/process/" + tool + "_wrong_use.txt"))) {
    const std::size_t arrow = line.find(" => ");
    std::istringstream words(line.substr(0, arrow));
    std::vector<std::string> command{AM_BIN_DIR "/" + tool};
    for (std::string word; words >> word;) command.push_back(word == "''" ? "" : word);
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 2) << line;
    EXPECT_EQ(fnmatch((tool + ": " + line.substr(arrow + 4) + "\n").c_str(), outcome.err.c_str(), 0), 0)
        << line << "\n"
        << outcome.err;
  }
}

}  // namespace process_test
