// ambench as people run it: that a measure ends, prints its tables and writes its files. No figure is judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
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
  for (const char* name : {"one_way", "occupancy", "critical_section", "timelet", "burst_signals"}) {
    EXPECT_THAT(text_of(folder.in("plots/" + std::string(name) + ".svg")), HasSubstr("</svg>")) << name;
  }
}

TEST(Ambench, PlotsWithoutGnuplotNameThePackage) {
  const Folder folder;
  const Outcome outcome =
      process_test::run({ambench, "dispatch", "--plots", folder.in("plots")}, {{"PATH=/nowhere"}, {}});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("apt-get install gnuplot-nox"));
}

}  // namespace
