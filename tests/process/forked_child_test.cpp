// A child that a node has forked, and that uses the node: it ends, with a message, and its parent's job never notices.
// What is no use of the node, and so allowed: dispatch_children_test.cpp, and the last tests here.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <am/am.hpp>
#include <am/collectives.hpp>
#include <am/global.hpp>
#include <am/multicast.hpp>
#include <am/registers.hpp>

#include "support/job.hpp"

namespace forked_child_test {

using namespace test;

constexpr am::NodeId nodes = 3;

/// What a node has in hand when it forks.
struct State {
  std::uint64_t came = 0;
  am::GlobalPtr<std::uint64_t> word;  // of node 0
  am::Draft* draft = nullptr;

  void come(am::Request&) { ++came; }
  void take(am::Request&, am::Payload payload) { came += payload.size() == 8 ? 100 : 0; }
};

am::GlobalPtr<std::uint64_t> word_of_node_0(am::Node& node) {
  am::GlobalPtr<std::uint64_t> word;
  if (node.id() == 0) word = am::allocate<std::uint64_t>(node);
  return am::broadcast(node, word, 0);
}

/// How a child of node 1 ended, and what it said.
struct Ended {
  int status = -1;
  std::string said;
};

template <class F>
pid_t fork_child(int (&pipe_ends)[2], F&& child) {
  check(pipe(pipe_ends) == 0, "pipe");
  std::fflush(nullptr);
  const pid_t pid = fork();
  check(pid >= 0, "fork");
  if (pid != 0) return pid;
  dup2(pipe_ends[1], STDERR_FILENO);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  child();
  return 0;
}

Ended end_of(pid_t pid, int (&pipe_ends)[2]) {
  close(pipe_ends[1]);
  Ended ended;
  std::array<char, 1024> text;
  for (ssize_t got = 0; (got = read(pipe_ends[0], text.data(), text.size())) > 0;)
    ended.said.append(text.data(), static_cast<std::size_t>(got));
  close(pipe_ends[0]);
  check_equal(waitpid(pid, &ended.status, 0), pid, "waitpid");
  return ended;
}

void check_refused(const Ended& ended, const std::string& use) {
  check(WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == SIGABRT,
        "how the child ended that made: " + use);
  check(ended.said.starts_with("am: node 1: a forked child, process "), use + ", said: " + ended.said);
  check_equal(std::count(ended.said.begin(), ended.said.end(), '\n'), 1, "lines of " + use);
}

using Use = void (*)(am::Node&, State&);

struct Named {
  const char* name;
  Use use;
};

const Named uses[] = {
    {"request to another", [](am::Node& node, State&) { (void)node.request<&State::come>(0); }},
    {"request to itself", [](am::Node& node, State&) { (void)node.request<&State::come>(1); }},
    {"first request to one", [](am::Node& node, State&) { (void)node.request<&State::come>(2); }},
    {"try_request", [](am::Node& node, State&) { (void)node.try_request<&State::come>(0); }},
    {"payload", [](am::Node& node, State&) { (void)node.request<&State::take>(0, std::array<char, 8>()); }},
    {"multicast", [](am::Node& node, State&) { (void)node.multicast<&State::come>(am::Group::all(node)); }},
    {"draft", [](am::Node& node, State&) { (void)node.prepare<&State::take>(0, 8); }},
    {"commit", [](am::Node&, State& state) { (void)state.draft->commit(); }},
    {"poll", [](am::Node& node, State&) { node.poll(); }},
    {"nistat", [](am::Node& node, State&) { (void)am::Registers(node).nistat(); }},
    {"wait_until", [](am::Node& node, State&) { node.wait_until([] { return false; }); }},
    {"barrier", [](am::Node& node, State&) { node.barrier(); }},
    {"broadcast", [](am::Node& node, State&) { (void)am::broadcast(node, 0); }},
    {"all_reduce", [](am::Node& node, State&) { (void)am::all_reduce(node, 1, std::plus<>()); }},
    {"put", [](am::Node& node, State& state) { am::put(node, state.word, std::uint64_t{4711}); }},
    {"get", [](am::Node& node, State& state) { (void)am::get(node, state.word); }},
    {"fetch_add",
     [](am::Node& node, State& state) { (void)am::fetch_add(node, state.word, std::uint64_t{1}); }},
    {"allocate", [](am::Node& node, State&) { (void)am::allocate<int>(node, 1); }},
    {"symmetric", [](am::Node& node, State&) { (void)am::allocate_symmetric<int>(node, 1); }},
    {"segment", [](am::Node& node, State&) { (void)am::segment(node); }},
    {"post", [](am::Node& node, State&) { node.post([](am::Node&) {}); }},
    {"timelet", [](am::Node& node, State&) { node.on_timelet(0, [](am::LowEvent&) {}); }},
    {"a child of the child",
     [](am::Node& node, State&) {
       if (fork() == 0) _exit(0);
       node.poll();
     }},
    {"inside a section",
     [](am::Node& node, State&) {
       const am::CriticalSection quiet(node);
       (void)node.try_request<&State::come>(0);
     }},
};

using ForkedChild = test::OnEverySubstrate;

// What node 1 sends before and after it forks arrives once, in a job whose barriers still count; what its children try does not.
TEST_P(ForkedChild, IsRefusedEveryUse) {
  run<State>(nodes, [](am::Node& node, State& state) {
    state.word = word_of_node_0(node);
    if (node.id() == 1) am::put(node, state.word, std::uint64_t{5});
    node.barrier();
    std::uint64_t sent = 0;
    for (const Named& each : uses) {
      if (node.id() == 1) {
        check(node.request<&State::come>(0) == am::Status::ok, "before");
        ++sent;
        int ends[2];
        am::Draft draft = node.prepare<&State::take>(2, 8);
        state.draft = &draft;
        const pid_t child = fork_child(ends, [&] {
          each.use(node, state);
          _exit(0);
        });
        check_refused(end_of(child, ends), each.name);
        check(node.request<&State::come>(0) == am::Status::ok, "after");
        check(draft.commit() == am::Status::ok, "the draft");
        ++sent;
      }
      node.barrier();
    }
    sent = am::broadcast(node, sent, 1);
    const std::uint64_t expected = node.id() == 0 ? sent : node.id() == 2 ? 100 * std::size(uses) : 0;
    node.wait_until([&] { return state.came >= expected; });
    check_equal(am::get(node, state.word), std::uint64_t{5}, "what was put");
    node.barrier();
    check_equal(state.came, expected, "messages");
  });
}

// -- forked by what runs inside a call -------------------------------------------------------------------------------------

struct Inside {
  Ended ended;
  int came = 0;
  bool is_child = false;

  /// Goes on in both.
  void fork_here() {
    int ends[2];
    const pid_t child = fork_child(ends, [&] { is_child = true; });
    if (child != 0) ended = end_of(child, ends);
  }
  void run() {
    if (is_child) std::fputs("ran in the child\n", stderr);
    if (++came == 1) fork_here();
  }
  void come(am::Request&) { run(); }
  void come_high(am::Reply&) { run(); }
};

/// Node 1 comes to fork as `fork_it` has it, and waits until it has; then come the messages that its child must not have run.
void fork_inside(const test::Substrate& substrate, const char* name, int messages,
                 const std::function<void(am::Node&, Inside&)>& fork_it) {
  test::run_job<Inside>(substrate, 2, [&](am::Node& node, Inside& inside) {
    node.barrier();
    fork_it(node, inside);
    if (node.id() == 1) {
      node.wait_until([&] { return inside.came == messages && inside.ended.status != -1; });
      check_refused(inside.ended, name);
    }
    node.barrier();
  });
}

TEST_P(ForkedChild, ThatReturnsFromAHandlerIsRefused) {
  fork_inside(GetParam(), "a return from a handler", 40, [](am::Node& node, Inside&) {
    for (int i = 0; node.id() == 0 && i < 40; ++i) (void)node.request<&Inside::come>(1);
  });
  fork_inside(GetParam(), "a return from a high handler", 40, [](am::Node& node, Inside&) {
    for (int i = 0; node.id() == 0 && i < 40; ++i) (void)node.reply_to<&Inside::come_high>(1);
  });
}

TEST_P(ForkedChild, ThatReturnsFromPostedWorkIsRefused) {
  fork_inside(GetParam(), "a return from posted work", 0, [](am::Node& node, Inside& inside) {
    if (node.id() != 1) return;
    node.post([&](am::Node&) { inside.fork_here(); });
    node.post([&](am::Node&) {
      if (inside.is_child) std::fputs("ran in the child\n", stderr);
    });
  });
}

TEST_P(ForkedChild, ThatReturnsFromATimeletIsRefused) {
  fork_inside(GetParam(), "a return from a timelet", 0, [](am::Node& node, Inside& inside) {
    if (node.id() == 1) node.on_timelet(0, [&](am::LowEvent&) { inside.fork_here(); });
  });
}

TEST_P(ForkedChild, ThatReturnsFromAPredicateIsRefused) {
  fork_inside(GetParam(), "a return from a predicate", 0, [](am::Node& node, Inside& inside) {
    if (node.id() != 1) return;
    node.wait_until([&] {
      if (inside.ended.status == -1) inside.fork_here();
      return !inside.is_child;
    });
  });
}

// -- what is no use of the node --------------------------------------------------------------------------------------------

TEST_P(ForkedChild, MayEndWithWhatItHasInHand) {
  run<State>(2, [](am::Node& node, State& state) {
    state.word = word_of_node_0(node);
    node.barrier();
    // Where the other node is a thread of this process it has its handler thread by the second barrier: std::exit in a
    // child waits for ever for a lock that somebody held who was loading a library when it was forked.
    node.barrier();
    if (node.id() == 1) {
      int ends[2];
      bool is_child = false;
      {
        const am::CriticalSection quiet(node);
        const am::Draft in_the_ring = node.prepare<&State::take>(0, 8);
        const am::Draft long_one = node.prepare<&State::take>(0, 5000);
        am::Counter counter;
        const pid_t child = fork_child(ends, [&] { is_child = true; });
        if (!is_child) {
          const Ended ended = end_of(child, ends);
          check_equal(ended.said, std::string(), "what it said");
          check_equal(ended.status, 0, "how it ended");
        }
      }
      if (is_child) std::exit(0);  // NOLINT(concurrency-mt-unsafe)
      check(node.request<&State::come>(0) == am::Status::ok, "request");
    } else {
      node.wait_until([&] { return state.came == 1; });
    }
    node.barrier();
  });
}

// The memory of its own node is shared, for who has a plain pointer to it.
TEST_P(ForkedChild, MayWorkOnItsParentsMemory) {
  test::run_job(GetParam(), 2, [](am::Node& node) {
    const am::GlobalPtr<std::uint64_t> own = am::allocate<std::uint64_t>(node, 1);
    std::uint64_t* const word = own.local(node);
    node.barrier();
    int ends[2];
    const pid_t child = fork_child(ends, [&] {
      *word = 7;
      _exit(0);
    });
    check_equal(end_of(child, ends).status, 0, "how it ended");
    check_equal(*word, std::uint64_t{7}, "what it wrote");
    node.barrier();
  });
}

#if defined(__SANITIZE_THREAD__)  // which does not follow a fork of a program with threads
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ForkedChild);
#else
INSTANTIATE_TEST_SUITE_P(Modes, ForkedChild, test::cells_of<ForkedChild>(), test::name_of);
#endif

}  // namespace forked_child_test
