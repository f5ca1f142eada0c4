// ambench as people run it: that a measure ends, prints its tables and writes its files. No figure is judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "process/command.hpp"

namespace {

using process_test::Outcome;
using testing::HasSubstr;

const std::string ambench = AM_BIN_DIR "/ambench";

int usable_cpus() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "ambench_test_XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string in(const std::string& file) const { return path_ + "/" + file; }

 private:
  std::string path_;
};

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// One line of a .gnuplot file per bar: between "$columnN << end" and "end".
int bars_in(const std::string& script) {
  int bars = 0;
  bool data = false;
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    const bool ends = line == "end";
    if (data && !ends) ++bars;
    data = line.ends_with("<< end") || (data && !ends);
  }
  return bars;
}

double lowest_text_in(const std::string& svg) {
  const std::regex place(R"(translate\([^,]*,([0-9.]+)\))");
  double lowest = 0;
  for (std::sregex_iterator at(svg.begin(), svg.end(), place), end; at != end; ++at)
    lowest = std::max(lowest, std::stod((*at)[1]));
  return lowest;
}

// What gnuplot draws as a filled shape is a bar or a mark of the key; text outside of the picture is drawn, and not seen.
void expect_all_drawn(const std::string& chart) {
  SCOPED_TRACE(chart);
  const std::string script = text_of(chart + ".gnuplot");
  const std::string svg = text_of(chart + ".svg");
  EXPECT_THAT(svg, HasSubstr("</svg>"));
  const int columns = process_test::count(script, "with boxerrorbars");
  EXPECT_GT(columns, 0);
  EXPECT_EQ(process_test::count(svg, "<polygon"), bars_in(script) + columns);
  EXPECT_THAT(svg, HasSubstr("height=\"520\""));
  EXPECT_LT(lowest_text_in(svg), 515);
}

TEST(Ambench, DispatchMeasuresEveryMode) {
  if (usable_cpus() < 2) GTEST_SKIP() << "takes two processors";
  const Folder folder;
  const Outcome outcome =
      process_test::run({ambench, "dispatch", "--reps", "1", "--json", folder.in("dispatch.json")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* part : {"poll: receiver polls", "thread, processor of its own: receiver only computes",
                           "interrupt: receiver only computes", "limit: tgkill to handler",
                           "limit: futex wake", "critical section", "timelet"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
  const auto json = nlohmann::json::parse(text_of(folder.in("dispatch.json")));
  EXPECT_EQ(json["measure"], "dispatch");
  for (const auto& row : json["rows"]) {
    if (row["arrangement"] != "interrupt" || row["what"] != "burst") continue;
    EXPECT_GE(row["burst_signals"]["max"], 1);
  }
}

TEST(Ambench, DispatchDrawsItsFigures) {
  if (usable_cpus() < 2) GTEST_SKIP() << "takes two processors";
  if (process_test::run({"sh", "-c", "command -v gnuplot"}).exit_code != 0) GTEST_SKIP() << "takes gnuplot";
  const Folder folder;
  const Outcome outcome =
      process_test::run({ambench, "dispatch", "--reps", "1", "--markdown", "--plots", folder.in("plots")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("| only computes |"));
  int charts = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder.in("plots"))) {
    if (file.path().extension() != ".gnuplot") continue;
    expect_all_drawn(std::filesystem::path(file.path()).replace_extension());
    ++charts;
  }
  EXPECT_EQ(charts, 10);
  const std::string send = text_of(folder.in("plots/send.svg"));
  for (const char* column : {"poll", "thread, processor of its own", "interrupt"})
    EXPECT_THAT(send, HasSubstr(">" + std::string(column) + "<"));
  for (const char* line : {"only computes, a", "message every", "0.7 ms", "every 0.7 ms", "every 120 us"})
    EXPECT_THAT(send, HasSubstr(">" + std::string(line) + "<"));
}

TEST(Ambench, PlotsWithoutGnuplotNameThePackage) {
  const Folder folder;
  const Outcome outcome =
      process_test::run({ambench, "dispatch", "--plots", folder.in("plots")}, {{"PATH=/nowhere"}, {}});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("apt-get install gnuplot-nox"));
}

}  // namespace
