// The command line of amrun: what it accepts, and the line it answers wrong use with.
#include "amrun/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "amrun/fault.hpp"

namespace amrun {
namespace amrun_options_test {

using testing::HasSubstr;

class CommandLine {
 public:
  CommandLine(std::initializer_list<const char*> words) : words_(words.begin(), words.end()) {
    words_.insert(words_.begin(), "amrun");
    for (std::string& word : words_) arguments_.push_back(word.data());
    arguments_.push_back(nullptr);
  }
  Options parse() { return parse_options(static_cast<int>(words_.size()), arguments_.data()); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> arguments_;
};

std::string refusal(std::initializer_list<const char*> words) {
  CommandLine line(words);
  try {
    line.parse();
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.exit_code(), wrong_usage);
    EXPECT_THAT(fault.what(), Not(HasSubstr("\n")));
    return fault.what();
  }
  return "accepted";
}

TEST(AmrunOptions, DefaultsAreOneNodePerCoreAndAutomaticBinding) {
  CommandLine line({"app"});
  const Options options = line.parse();
  EXPECT_FALSE(options.nodes);
  EXPECT_EQ(options.bind, Bind::automatic);
  EXPECT_FALSE(options.label);
  EXPECT_FALSE(options.report_bindings);
  EXPECT_STREQ(options.program[0], "app");
  EXPECT_EQ(options.program[1], nullptr);
}

TEST(AmrunOptions, ReadsEveryOption) {
  CommandLine line({"-n", "4", "--bind", "none", "--report-bindings", "-l", "app"});
  const Options options = line.parse();
  EXPECT_EQ(options.nodes, 4u);
  EXPECT_EQ(options.bind, Bind::none);
  EXPECT_TRUE(options.report_bindings);
  EXPECT_TRUE(options.label);
}

TEST(AmrunOptions, ReadsTheOtherWaysToWriteThem) {
  CommandLine line({"-ln4096", "--bind=core", "app"});
  const Options options = line.parse();
  EXPECT_EQ(options.nodes, 4096u);
  EXPECT_EQ(options.bind, Bind::core);
  EXPECT_TRUE(options.label);
  CommandLine longer({"--nodes=1", "--label", "app"});
  EXPECT_EQ(longer.parse().nodes, 1u);
}

TEST(AmrunOptions, WhatFollowsTheProgramIsTheProgramsOwn) {
  CommandLine line({"-n", "2", "app", "-n", "7", "--label", "--help"});
  const Options options = line.parse();
  EXPECT_EQ(options.nodes, 2u);
  EXPECT_FALSE(options.label);
  EXPECT_FALSE(options.help);
  EXPECT_STREQ(options.program[2], "7");
}

TEST(AmrunOptions, TwoDashesEndTheOptions) {
  CommandLine line({"-n", "2", "--", "-odd-name", "-l"});
  const Options options = line.parse();
  EXPECT_STREQ(options.program[0], "-odd-name");
  EXPECT_FALSE(options.label);
}

TEST(AmrunOptions, HelpAndVersionNeedNoProgram) {
  EXPECT_TRUE(CommandLine({"--help"}).parse().help);
  EXPECT_TRUE(CommandLine({"-h"}).parse().help);
  EXPECT_TRUE(CommandLine({"--version"}).parse().version);
}

TEST(AmrunOptions, RefusesNumbersThatAreNone) {
  for (const char* number :
       {"0", "-1", "4097", "100000", "99999999999999999999", "abc", "4x", "", " 4", "1.5"}) {
    EXPECT_THAT(refusal({"-n", number, "app"}), HasSubstr("-n takes a number of nodes from 1 to 4096"))
        << number;
  }
}

TEST(AmrunOptions, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(refusal({}), HasSubstr("no program"));
  EXPECT_THAT(refusal({"-n", "2"}), HasSubstr("no program"));
  EXPECT_THAT(refusal({"-n"}), HasSubstr("-n takes a value"));
  EXPECT_THAT(refusal({"--bind"}), HasSubstr("--bind takes a value"));
  EXPECT_THAT(refusal({"--bind", "socket", "app"}), HasSubstr("--bind takes core or none, not \"socket\""));
  EXPECT_THAT(refusal({"--lable", "app"}), HasSubstr("unknown option \"--lable\"; the nearest is --label"));
  EXPECT_THAT(refusal({"--label=yes", "app"}), HasSubstr("--label takes no value"));
  EXPECT_THAT(refusal({"-z", "app"}), HasSubstr("unknown option -z"));
  EXPECT_THAT(refusal({"-lz", "app"}), HasSubstr("unknown option -z"));
}

TEST(AmrunOptions, KnowsTheHabitsOfMpirun) {
  EXPECT_THAT(refusal({"-np", "4", "app"}), HasSubstr("-np is not an option of amrun; did you mean -n 4?"));
  EXPECT_THAT(refusal({"--np", "16", "app"}),
              HasSubstr("--np is not an option of amrun; did you mean -n 16?"));
  EXPECT_THAT(refusal({"-l", "-np", "app"}), HasSubstr("did you mean -n N?"));
  EXPECT_THAT(refusal({"-np"}), HasSubstr("did you mean -n N?"));
}

}  // namespace amrun_options_test
}  // namespace amrun
