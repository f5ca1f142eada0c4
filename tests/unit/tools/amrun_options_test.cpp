// The command line of amrun: what it accepts, and the line it answers wrong use with.
#include "amrun/options.hpp"

#include <gmock/gmock.h>

#include <utility>

#include "amrun/fault.hpp"

namespace amrun::amrun_options_test {

using testing::HasSubstr;

/// A command line, which lives as long as what was read from it.
struct Parsed : Options {
  explicit Parsed(std::vector<std::string> words) : words_(std::move(words)) {
    words_.insert(words_.begin(), "amrun");
    for (std::string& word : words_) arguments_.push_back(word.data());
    arguments_.push_back(nullptr);
    static_cast<Options&>(*this) = parse_options(static_cast<int>(words_.size()), arguments_.data());
  }

 private:
  std::vector<std::string> words_;
  std::vector<char*> arguments_;
};

std::string refusal(const std::vector<std::string>& words) {
  try {
    const Parsed parsed(words);
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.exit_code(), wrong_usage);
    EXPECT_THAT(fault.what(), Not(HasSubstr("\n")));
    return fault.what();
  }
  return "accepted";
}

TEST(AmrunOptions, DefaultsAreOneNodePerCoreAndAutomaticBinding) {
  const Parsed options({"app"});
  EXPECT_FALSE(options.nodes);
  EXPECT_EQ(options.bind, Bind::automatic);
  EXPECT_FALSE(options.label || options.report_bindings);
  EXPECT_STREQ(options.program[0], "app");
  EXPECT_EQ(options.program[1], nullptr);
}

TEST(AmrunOptions, AreReadInEachWayToWriteThem) {
  const Parsed apart({"-n", "4", "--bind", "none", "--report-bindings", "-l", "app"});
  EXPECT_EQ(apart.nodes, 4u);
  EXPECT_EQ(apart.bind, Bind::none);
  EXPECT_TRUE(apart.report_bindings && apart.label);
  const Parsed together({"-ln4096", "--bind=core", "app"});
  EXPECT_EQ(together.nodes, 4096u);
  EXPECT_EQ(together.bind, Bind::core);
  EXPECT_TRUE(together.label);
  const Parsed longer({"--nodes=1", "--label", "app"});
  EXPECT_EQ(longer.nodes, 1u);
  EXPECT_TRUE(longer.label);
  // The habits of mpirun: long options with one dash.
  for (const char* np : {"-np", "--np", "--n"}) EXPECT_EQ(Parsed({np, "4", "app"}).nodes, 4u) << np;
  const Parsed mpiruns({"-host", "a:2", "-wdir", "there", "--stdin", "none", "app", "-np", "3"});
  EXPECT_EQ(mpiruns.hosts.at(0).nodes, 2u);
  EXPECT_EQ(mpiruns.folder, "there");
  EXPECT_TRUE(mpiruns.no_input);
  EXPECT_STREQ(mpiruns.program[1], "-np");
}

TEST(AmrunOptions, WhatFollowsTheProgramOrTwoDashesIsTheProgramsOwn) {
  const Parsed behind({"-n", "2", "app", "-n", "7", "--label", "--help"});
  EXPECT_EQ(behind.nodes, 2u);
  EXPECT_FALSE(behind.label || behind.help);
  EXPECT_STREQ(behind.program[2], "7");
  const Parsed dashes({"-n", "2", "--", "-odd-name", "-l"});
  EXPECT_STREQ(dashes.program[0], "-odd-name");
  EXPECT_FALSE(dashes.label);
}

TEST(AmrunOptions, RefusesNumbersThatAreNone) {
  for (const char* number :
       {"0", "-1", "4097", "100000", "99999999999999999999", "abc", "4x", "", " 4", "1.5"}) {
    EXPECT_THAT(refusal({"-n", number, "app"}), HasSubstr("-n takes a number of nodes from 1 to 4096"))
        << number;
  }
}

TEST(AmrunOptions, RefusesWhatItDoesNotKnow) {
  struct Row {
    std::vector<std::string> words;
    const char* refusal;
  };
  for (const auto& [words, expected] : {
           Row{{}, "no program"},
           Row{{"-n", "2"}, "no program"},
           Row{{"-n"}, "-n takes a value"},
           Row{{"--bind"}, "--bind takes a value"},
           Row{{"--bind", "socket", "app"}, "--bind takes core or none, not \"socket\""},
           Row{{"--lable", "app"}, "unknown option \"--lable\"; the nearest is --label"},
           Row{{"--label=yes", "app"}, "--label takes no value"},
           Row{{"-z", "app"}, "unknown option -z"},
           Row{{"-lz", "app"}, "unknown option -z"},
           Row{{"-wdri", "app"}, "unknown option \"-wdri\"; the nearest is --wdir"},
           Row{{"-label=yes", "app"}, "--label takes no value"},
           Row{{"-np"}, "-np takes a value"},
           Row{{"-l", "-np", "app"}, "-n takes a number of nodes from 1 to 4096, not \"app\""},
           Row{{"-x", "-n", "2", "app"}, "-x takes a variable, NAME=value or NAME, not \"-n\""},
           Row{{"--wdir", "-l", "app"}, "--wdir takes a folder, not \"-l\""},
           Row{{"--stdin", "all", "app"}, "--stdin takes none, not \"all\""},
       })
    EXPECT_THAT(refusal(words), HasSubstr(expected));
}

}  // namespace amrun::amrun_options_test
