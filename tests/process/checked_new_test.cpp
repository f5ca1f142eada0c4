// The debug build names a handler that allocates while it interrupts the computation; with am/safe_new.hpp (tests/conformance) it may.

#include "support/job.hpp"

namespace checked_new_test {

using test::Nodes;

std::atomic<bool> done{false};
std::atomic<std::vector<int>*> kept{nullptr};

[[maybe_unused]] void allocates(am::Request&) {
  kept = new std::vector<int>(100);
}  // NOLINT(cppcoreguidelines-owning-memory)
void harmless(am::Request&) { done = true; }

template <auto H>
void interrupt_a_computation() {
  done = false;
  test::run_job({Nodes::threads, am::Dispatch::interrupt}, 2, [](am::Node& node) {
    node.barrier();
    if (node.id() == 0) {
      node.request<H>(1);
      node.request<harmless>(1);
    } else {
      while (!done) {  // no library call
      }
    }
    node.barrier();
  });
  delete kept.exchange(nullptr);  // NOLINT(cppcoreguidelines-owning-memory)
}

TEST(CheckedNew, LetsHandlersRunThatDoNotAllocate) { interrupt_a_computation<harmless>(); }

#ifdef AM_CHECKED
TEST(CheckedNewDeathTest, NamesAHandlerThatAllocates) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(interrupt_a_computation<allocates>(), "handler .*allocates.* allocates while it interrupts");
}
#endif

}  // namespace checked_new_test
