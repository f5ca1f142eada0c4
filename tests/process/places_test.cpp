// A process that comes into the place of a node that is there: it is refused, and the node never notices.

#include "support/job.hpp"

namespace places_test {

using namespace test;

/// A node in a process of its own. What it throws goes to `said`.
class NodeProcess : test::Pinned {
 public:
  NodeProcess(am::NodeId id, const std::shared_ptr<am::host::Memory>& memory, const test::Body& body) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      std::string failure;
      try {
        test::run_node(id, memory->nodes(), memory, body, am::core::read_settings(environ));
      } catch (const std::exception& error) {
        failure = error.what();
      }
      if (write(ends[1], failure.data(), failure.size()) < 0) _exit(2);
      _exit(0);
    }
    close(ends[1]);
    text_ = ends[0];
  }
  ~NodeProcess() { static_cast<void>(end()); }

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Waits for it; what it threw.
  std::string end() {
    if (pid_ <= 0) return {};
    std::string said;
    char part[1024];
    for (ssize_t got = 0; (got = read(text_, part, sizeof part)) > 0;)
      said.append(part, static_cast<std::size_t>(got));
    close(text_);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
    return said;
  }

 private:
  pid_t pid_ = -1;
  int text_ = -1;
};

void wait_for(const am::host::Board& board, am::NodeId node, am::host::Standing standing) {
  while (board.standing(node) != standing) std::this_thread::yield();
}

struct State {
  int came = 0;
  void come(am::Request&) { ++came; }
};

// The first one's card says where signals for it go; interrupts need it.
TEST(Place, OfANodeThatIsThereIsNotSpoiled) {
  const test::Environment dispatch("AM_DISPATCH", test::sanitized ? "thread" : "interrupt");
  const std::shared_ptr<am::host::Memory> memory = am::host::Memory::create(2);
  const test::Body body = test::with_state<State>([](am::Node& node, State& state) {
    node.barrier();
    for (int i = 0; i < 100; ++i)
      check(node.request<&State::come>(1 - node.id()) == am::Status::ok, "request");
    while (state.came < 100) asm volatile("" ::: "memory");  // no call: only its mode brings them
    node.barrier();
  });
  NodeProcess first(0, memory, body);
  wait_for(memory->board(), 0, am::host::Standing::joined);
  const std::int32_t tid = memory->board().card(0).tid;
  for (int i = 0; i < 3; ++i) {
    NodeProcess second(0, memory, body);
    EXPECT_EQ(second.end(),
              "am: join the job: node 0 is already taken by another process (start one process per node)");
  }
  EXPECT_EQ(memory->board().card(0).pid, first.pid());
  EXPECT_EQ(memory->board().card(0).tid, tid);
  NodeProcess other(1, memory, body);
  EXPECT_EQ(first.end(), "");
  EXPECT_EQ(other.end(), "");
}

}  // namespace places_test
