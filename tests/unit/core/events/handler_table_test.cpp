// The handler table: which handlers are libam's own. This file's own ones stand outside of namespace am, as a program's.
#include "core/events/handler_table.hpp"

#include <gtest/gtest.h>
#include <am/collectives.hpp>

#include <functional>
#include <string_view>

#include "support/job.hpp"

namespace handler_table_test {

using am::core::HandlerTable;

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
    if (name.find("am::core::") == std::string_view::npos || name.find("_test::") != std::string_view::npos)
      continue;
    ++own;
    EXPECT_TRUE(table.is_internal(id)) << name;
  }
  EXPECT_GE(own, 7u) << "those of global memory and of the collectives";
}

}  // namespace handler_table_test
