// What two programs are told of that meet in one job: which handlers one of them has and the other has not.
#include "core/events/handler_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <am/am.hpp>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "host/memory.hpp"

namespace am::core {
namespace handler_names_test {

using testing::HasSubstr;
using testing::Not;

[[maybe_unused]] void first(Request&) {}
[[maybe_unused]] void second(Request&, int) {}
[[maybe_unused]] void third(Reply&) {}
[[maybe_unused]] void fourth(Reply&) {}

/// A job whose node 0 runs this program, until a test changes what it has published.
class HandlerNames : public testing::Test {
 protected:
  HandlerNames() {
    static_cast<void>(impl::Handler<first>::id() + impl::Handler<second>::id() + impl::Handler<third>::id() +
                      impl::Handler<fourth>::id());
    publish_handler_names(table_, memory_->board());
    memory_->board().card(0).handlers = static_cast<std::uint32_t>(table_.size());
  }
  [[nodiscard]] std::string difference() const { return difference_of_handlers(table_, 2, memory_->board()); }
  void rename(std::size_t id, const char* name) {
    host::HandlerName& published = memory_->board().handler_name(id);
    std::memset(published.text, 0, sizeof published.text);
    std::snprintf(published.text, sizeof published.text, "%s", name);
    ++published.signature;
  }

  const HandlerTable& table_ = HandlerTable::of_this_program();
  std::shared_ptr<host::Memory> memory_ = host::Memory::create(3);
};

TEST_F(HandlerNames, AreThoseOfTheTable) {
  for (std::size_t id = 0; id < table_.size(); ++id)
    EXPECT_EQ(handler_name(memory_->board(), id), table_.name(id).substr(0, 120));
  EXPECT_EQ(handler_name(memory_->board(), table_.size()), "");
  EXPECT_EQ(handler_name(memory_->board(), host::max_handlers), "");
}

TEST_F(HandlerNames, DoNotDifferWithinOneProgram) { EXPECT_EQ(difference(), ""); }

TEST_F(HandlerNames, TellWhatEachSideHasAlone) {
  rename(impl::Handler<second>::id(), "renamed");
  const std::string second_name(table_.name(impl::Handler<second>::id()));
  EXPECT_EQ(difference(), "only node 2 has " + second_name + "; only node 0 has renamed");
}

TEST_F(HandlerNames, TellOfOtherArguments) {
  ++memory_->board().handler_name(impl::Handler<second>::id()).signature;
  EXPECT_EQ(difference(), std::string(table_.name(impl::Handler<second>::id())) + " takes other arguments");
}

TEST_F(HandlerNames, AreCutShortWhereManyDiffer) {
  memory_->board().card(0).handlers = 0;
  EXPECT_THAT(difference(), HasSubstr(" and " + std::to_string(table_.size() - 3) + " more"));
  EXPECT_THAT(difference(), Not(HasSubstr("node 0")));
}

}  // namespace handler_names_test
}  // namespace am::core
