// Handlers that other files of the program, or libraries it opens later, define: each is one handler of its own, and one
// that nobody numbered is never taken for another. With handlers_of_another_file.cpp and late_handlers.cpp.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <am/am.hpp>

#include <string>
#include <string_view>

#include "support/job.hpp"

namespace test {
/// handlers_of_another_file.cpp: sends to its own Counter::hit and returns how often that ran.
int hit_the_other_counter(am::Node& node);
}  // namespace test

namespace handlers_of_files_test {

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
  test::run_alone([](am::Node& node) {
    Counter counter;
    node.attach(counter);
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

}  // namespace handlers_of_files_test
