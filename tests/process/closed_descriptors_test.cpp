// A node that closes every descriptor that it does not know, as daemons do: nobody takes it for dead, also where no launcher
// knows better; what it opens next is its own; and what it cannot have any more it is told.
#include <sys/stat.h>

#include "process/command.hpp"
#include "support/job.hpp"

namespace closed_descriptors_test {

using namespace test;
using ClosedDescriptors =
    test::OnSubstrates<test::Suite{.threads = false, .faults = false, .about = test::About::node}>;

struct State {
  int came = 0;
  void come(am::Request&) { ++came; }
};

/// Every node hears once from every other.
void talk(am::Node& node, State& state, int times) {
  for (am::NodeId to = 0; to < node.size(); ++to)
    check(node.request<&State::come>(to) == am::Status::ok, "request");
  node.wait_until([&] { return state.came == times * static_cast<int>(node.size()); });
  node.barrier();
}

/// For several looks at who lives.
void wait_long(am::Node& node) {
  constexpr am::Count looks_ns = 1'200'000'000;
  bool long_enough = false;
  node.on_timelet(node.count() + looks_ns, [&](am::LowEvent&) { long_enough = true; });
  node.wait_until([&] { return long_enough; });
  node.barrier();
}

TEST_P(ClosedDescriptors, AreNoDeath) {
  if (!GetParam().network->interrupts)
    GTEST_SKIP() << "what it talks by is a descriptor, too: nobody hears from it any more";
  run<State>(3, [](am::Node& node, State& state) {
    node.barrier();
    if (node.id() == 1) check(close_range(3, ~0U, 0) == 0, "close_range");
    node.barrier();
    wait_long(node);
    talk(node, state, 1);  // and for the first time
  });
}

/// The file that has the job's number among the descriptors of this process.
class InItsPlace : test::Pinned {
 public:
  explicit InItsPlace(am::Node& node) : place_(node.engine().job().memory->fd()) {
    fd_ = open(file_.path().c_str(), O_RDWR | O_CLOEXEC);
    check(fd_ >= 0 && dup2(fd_, place_) == place_, "open");
  }
  ~InItsPlace() {
    close(place_);
    close(fd_);
  }
  void check_untouched() const {
    struct stat info {};
    check(fstat(fd_, &info) == 0, "fstat");
    check_equal(info.st_size, 5, "its size");
    check(info.st_blocks <= 8, "its room on the disk");
    check(fcntl(place_, F_GETFD) == 0, "its descriptor");
  }

 private:
  const process_test::TemporaryFile file_{"mine\n"};
  const int place_;
  int fd_ = -1;
};

// Rings are made when a node first sends to another, memory segments are mapped when they are first used.
TEST_P(ClosedDescriptors, MayBeAnotherFilesNext) {
  run<State>(3, [](am::Node& node, State& state) {
    const am::GlobalPtr<int> used = am::allocate<int>(node);
    am::put(node, used, 1);
    node.barrier();
    if (node.id() == 1) {
      const InItsPlace file(node);
      talk(node, state, 1);
      am::put(node, used, 2);
      check_equal(am::get(node, used), 2, "its own segment, mapped before");
      if (goes_by(am::MemoryReach::Way::mapped, node.engine().network().memory_reach(0))) {
        test::check_throws<am::Error>([&] { am::put(node, used.on(0), 3); },
                                      "the program has closed the descriptor of the job's memory");
      }
      file.check_untouched();
    } else {
      talk(node, state, 1);
    }
    node.barrier();
    talk(node, state, 2);
  });
}

TEST(ClosedDescriptor, OfAJobThatIsOverStaysWhatItIs) {
  int place = -1;
  const process_test::TemporaryFile file("mine\n");
  test::run_alone([&](am::Node& node) {
    place = node.engine().job().memory->fd();
    const int mine = open(file.path().c_str(), O_RDWR | O_CLOEXEC);
    check(mine >= 0 && dup2(mine, place) == place && close(mine) == 0, "open");
    node.barrier();
  });
  struct stat info {};
  EXPECT_EQ(fstat(place, &info), 0);
  EXPECT_EQ(info.st_size, 5);
  close(place);
}

INSTANTIATE_TEST_SUITE_P(Modes, ClosedDescriptors, test::cells_of<ClosedDescriptors>(), test::name_of);

}  // namespace closed_descriptors_test
