// The handler table: which handlers are libam's own, and their names. Handlers that other files of the program define, or libraries
// it opens later (handlers_of_another_file.cpp, late_handlers.cpp): each is one of its own, and one that nobody numbered is never
// taken for another. This file's own ones stand outside of namespace am, as a program's.
#include "core/events/handler_table.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <am/am.hpp>
#include <am/collectives.hpp>

#include "core/events/handler_names.hpp"
#include "support/job.hpp"

namespace test {
/// handlers_of_another_file.cpp: sends to its own Counter::hit and returns how often that ran.
int hit_the_other_counter(am::Node& node);
}  // namespace test

namespace handler_table_test {

using am::core::handler_name;
using am::core::HandlerTable;
using namespace testing;

void of_the_program(am::Request&) {}
void of_a_layer_above(am::Request&) {}
void answer_of_a_layer_above(am::Reply&) {}
const am::impl::InternalHandlers<of_a_layer_above, answer_of_a_layer_above> marked;

TEST(HandlerTable, KnowsWhichHandlersAreLibamsOwn) {
  EXPECT_FALSE(HandlerTable::of_this_program().is_internal(am::impl::Handler<of_the_program>::id()));
  EXPECT_TRUE(HandlerTable::of_this_program().is_internal(am::impl::Handler<of_a_layer_above>::id()));
  EXPECT_TRUE(HandlerTable::of_this_program().is_internal(am::impl::Handler<answer_of_a_layer_above>::id()));
  EXPECT_FALSE(HandlerTable::of_this_program().is_internal(HandlerTable::of_this_program().size()));
}

/// A handler of the core that somebody forgot to mark would go to a program's default handler.
TEST(HandlerTable, KnowsAllOfTheCoresAsItsOwn) {
  test::run_alone([](am::Node& node) {  // so that this program contains all that sends
    EXPECT_EQ(am::all_reduce(node, 5, std::plus<>()), 5);
  });
  const HandlerTable& table = HandlerTable::of_this_program();
  std::size_t own = 0;
  for (std::size_t id = 0; id < table.size(); ++id) {
    const std::string_view name = table.name(id);
    EXPECT_FALSE(name.starts_with('&')) << name;  // members, as the program names them
    if (name.find("am::core::") == std::string_view::npos || name.find("_test::") != std::string_view::npos)
      continue;
    ++own;
    EXPECT_TRUE(table.is_internal(id)) << name;
  }
  EXPECT_GE(own, 7u) << "those of global memory and of the collectives";
}

// -- what two programs are told of that meet in one job: which handlers one of them has and the other has not ----------------

/// A job whose node 0 runs this program, until a test changes what it has published.
class HandlerNames : public testing::Test {
 protected:
  HandlerNames() {
    publish_handler_names(table_, memory_->board());
    memory_->board().card(0).handlers = static_cast<std::uint32_t>(table_.size());
  }
  [[nodiscard]] std::string difference() const { return difference_of_handlers(table_, 2, memory_->board()); }

  const HandlerTable& table_ = HandlerTable::of_this_program();
  const std::size_t id_ = am::impl::Handler<of_the_program>::id();
  std::shared_ptr<am::host::Memory> memory_ = am::host::Memory::create(3);
};

TEST_F(HandlerNames, AreThoseOfTheTable) {
  for (std::size_t id = 0; id < table_.size(); ++id)
    EXPECT_EQ(handler_name(memory_->board(), id), table_.name(id).substr(0, 120));
  EXPECT_EQ(handler_name(memory_->board(), table_.size()), "");
  EXPECT_EQ(handler_name(memory_->board(), am::host::max_handlers), "");
  EXPECT_EQ(difference(), "");
}

TEST_F(HandlerNames, TellOfOtherArguments) {
  ++memory_->board().handler_name(id_).signature;
  EXPECT_EQ(difference(), std::string(table_.name(id_)) + " takes other arguments");
}

TEST_F(HandlerNames, AreCutShortWhereManyDiffer) {
  memory_->board().card(0).handlers = 0;
  EXPECT_THAT(difference(), HasSubstr(" and " + std::to_string(table_.size() - 3) + " more"));
  EXPECT_THAT(difference(), Not(HasSubstr("node 0")));
}

// -- handlers that other files of the program, or libraries it opens later, define ---------------------------------------------------

// The same name, in an unnamed namespace, as in the other file.
struct Counter {
  int hits = 0;
  mutable int looks = 0;
  void hit(am::Request&) { ++hits; }
  void look(am::Request&) const { ++looks; }
};
void hit(am::Request& request) { ++request.state<Counter>().hits; }

// By its address: inlined, the two files' sends could not be taken for one another anyway.
using Send = am::Status (am::Node::*)(am::NodeId);
const volatile Send request_hit = &am::Node::request<&Counter::hit>;

TEST(HandlersOfFiles, OfTheSameNameAreDifferentHandlers) {
  test::run_alone<Counter>([](am::Node& node, const Counter& counter) {
    test::check((node.*request_hit)(0) == am::Status::ok, "to the member of this file");
    test::check(node.request<hit>(0) == am::Status::ok, "to the function of this file");
    test::check(node.request<&Counter::look>(0) == am::Status::ok, "to a const member");
    node.wait_until([&] { return counter.hits == 2 && counter.looks == 1; });
    test::check_equal(test::hit_the_other_counter(node), 2, "hits of the other file's");
    test::check_equal(counter.hits, 2, "hits of this file's");
  });
}

TEST(HandlersOfFiles, ALibraryThatComesTooLateEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        test::run_alone([](am::Node&) {});
        dlopen(LATE_HANDLERS, RTLD_NOW);
      },
      "am: handler .*late_one.* comes too late: a job has started");
}

}  // namespace handler_table_test
