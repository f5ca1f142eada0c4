// The interrupt mode beside the program's own signals, and what becomes of the signal itself.
#include "process/disturbed.hpp"

#if !defined(__SANITIZE_THREAD__)

#include <sys/time.h>

#include "host/relax.hpp"

namespace interrupt_signals_test {

using namespace test;

const test::Substrate as_processes{test::Nodes::processes, am::Dispatch::interrupt};
const test::Substrate as_threads{test::Nodes::threads, am::Dispatch::interrupt};

struct Node1 {
  std::atomic<std::uint64_t> came{0};
  std::atomic<std::uint64_t> pid{0};
  void come(am::Request&) { came.fetch_add(1, std::memory_order_relaxed); }
  void tell(am::Reply&, std::uint64_t its) { pid = its; }
};

void compute_until(const std::atomic<std::uint64_t>& count, std::uint64_t enough) {
  while (count.load() < enough) am::host::relax();
}

std::atomic<std::uint64_t> own_signals{0};
void on_own_signal(int /*signal*/) { own_signals.fetch_add(1); }

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  check(sigaction(signal, &action, nullptr) == 0, "sigaction");
}

TEST(InterruptSignals, TheProgramsOwnSignalsCome) {
  disturbed<Node1>(5000, [](am::Node&, Node1& receiver) {
    handle(SIGUSR1, &on_own_signal);
    const std::uint64_t mine = rounds(20'000);
    for (std::uint64_t i = 0; i < mine; ++i) {
      raise(SIGUSR1);
      check_equal(own_signals.load(), i + 1, "own signals");
    }
    compute_until(receiver.came, rounds(5000));
    check_equal(own_signals.load(), mine, "own signals");
  });
}

TEST(InterruptSignals, TheProgramsTimerTicks) {
  disturbed<Node1>(5000, [](am::Node&, Node1& receiver) {
    handle(SIGALRM, &on_own_signal);
    const itimerval often{{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &often, nullptr);
    const std::uint64_t before = receiver.came;
    compute_until(own_signals, rounds(2000));
    compute_until(receiver.came, before + rounds(5000));
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    handle(SIGALRM, SIG_IGN);
  });
}

TEST(InterruptSignals, OthersMaySendItToo) {
  test::run_job<Node1>(as_processes, 2, [](am::Node& node, Node1& state) {
    node.barrier();
    const std::uint64_t messages = rounds(5000);
    if (node.id() == 0) {
      compute_until(state.pid, 1);
      for (std::uint64_t i = 0; i < messages; ++i) {
        kill(static_cast<pid_t>(state.pid), SIGURG);
        check(node.request<&Node1::come>(1) == am::Status::ok, "request");
        kill(static_cast<pid_t>(state.pid), SIGURG);
      }
    } else {
      check(node.reply_to<&Node1::tell>(0, static_cast<std::uint64_t>(getpid())) == am::Status::ok,
            "reply_to");
      compute_until(state.came, messages);
      for (std::uint64_t i = 0; i < messages; ++i) raise(SIGURG);
      check_equal(state.came.load(), messages, "messages");
    }
    node.barrier();
  });
}

/// A node gets messages while it computes.
void gets_messages(const test::Substrate& substrate = as_processes, std::uint64_t messages = rounds(500)) {
  test::run_job<Node1>(substrate, 2, [=](am::Node& node, Node1& state) {
    node.barrier();
    for (std::uint64_t i = 0; node.id() == 0 && i < messages; ++i)
      check(node.request<&Node1::come>(1) == am::Status::ok, "request");
    if (node.id() == 1) compute_until(state.came, messages);
    node.barrier();
  });
}

TEST(InterruptSignals, AnotherSignalWorks) {
  for (const char* name : {"USR2", "SIGUSR1", "RTMIN+2", "WINCH", "IO"}) {
    const test::Environment signal("AM_SIGNAL", name);
    gets_messages();
  }
}

TEST(InterruptSignals, BlockedAtStart) {
  sigset_t urgent;
  sigset_t before;
  sigemptyset(&urgent);
  sigaddset(&urgent, SIGURG);
  pthread_sigmask(SIG_BLOCK, &urgent, &before);
  gets_messages();
  gets_messages(as_threads, 1);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(InterruptSignals, IgnoredAtStart) {
  std::signal(SIGURG, SIG_IGN);
  gets_messages();
  std::signal(SIGURG, SIG_DFL);
}

struct sigaction disposition(int signal) {
  struct sigaction now {};
  sigaction(signal, nullptr, &now);
  return now;
}

TEST(InterruptSignals, TheDispositionIsRestored) {
  for (void (*before)(int) : {SIG_DFL, SIG_IGN}) {
    std::signal(SIGURG, before);
    test::run_job(as_threads, 3, [&](am::Node& node) {
      node.barrier();
      check((disposition(SIGURG).sa_flags & SA_SIGINFO) != 0, "taken");
      node.barrier();
    });
    EXPECT_EQ(disposition(SIGURG).sa_handler, before);
  }
  std::signal(SIGURG, SIG_DFL);
}

// What the program has set meanwhile is its own.
TEST(InterruptSignals, AHandlerThatCameLaterStays) {
  test::run_job(as_threads, 1, [](am::Node& node) {
    node.poll();
    handle(SIGURG, &on_own_signal);
  });
  EXPECT_EQ(disposition(SIGURG).sa_handler, &on_own_signal);
  std::signal(SIGURG, SIG_DFL);
}

TEST(InterruptSignals, AHandlerOfTheProgramIsAnError) {
  handle(SIGURG, &on_own_signal);
  const std::string text = test::error_of([] { test::run_job(as_threads, 1, [](am::Node&) {}); });
  EXPECT_NE(text.find("SIGURG"), std::string::npos) << text;
  EXPECT_NE(text.find("AM_SIGNAL"), std::string::npos) << text;
  EXPECT_EQ(disposition(SIGURG).sa_handler, &on_own_signal);
  const test::Environment signal("AM_SIGNAL", "USR2");
  gets_messages();
  std::signal(SIGURG, SIG_DFL);
}

// A node leaves while others send to it: the signal that somebody is about to send then comes after it has left.
TEST(InterruptSignals, TheLastOneMayComeLate) {
  const test::Environment signal("AM_SIGNAL", "USR2");
  for (std::uint64_t i = 0; i < rounds(100); ++i) {
    Node1 state;  // lives longer than the nodes, which are processes
    test::run_job(as_processes, 3, [&](am::Node& node) {
      node.attach(state);
      node.barrier();
      if (node.id() != 0) {
        compute_until(state.came, 3);
        return;
      }
      for (bool there = true; there;) {
        there = false;
        for (const am::NodeId to : {am::NodeId{1}, am::NodeId{2}})
          there = node.try_request<&Node1::come>(to) != am::Status::unreachable || there;
        node.poll();
      }
    });
  }
}

// A child of a node has its signal handler, but is not the node.
TEST(InterruptSignals, AForkedChildIsNotTheNode) {
  disturbed<Node1>(5000, [](am::Node& node, Node1& receiver) {
    int ends[2];
    check(pipe(ends) == 0, "pipe");
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    pthread_sigmask(SIG_BLOCK, &urgent, nullptr);
    std::uint64_t before = receiver.came;
    const pid_t child = fork();
    pthread_sigmask(SIG_UNBLOCK, &urgent, nullptr);
    if (child == 0) {
      close(ends[1]);
      char c = 0;
      while (read(ends[0], &c, 1) > 0 || errno == EINTR) errno = 0;
      _exit(receiver.came == before ? 0 : 1);
    }
    close(ends[0]);
    for (std::uint64_t i = 0; i < rounds(100); ++i) {
      {
        const am::CriticalSection quiet(node);  // messages wait, for whoever takes them
        const am::Count later = node.count() + 100'000;
        while (node.count() < later) kill(child, SIGURG);
      }
      before = receiver.came;
      compute_until(receiver.came, before + 10);
    }
    close(ends[1]);
    int status = 0;
    check(waitpid(child, &status, 0) == child, "waitpid");
    check_equal(status, 0, "the child ran handlers of its parent");
  });
}

/// Threads that are started while one lives have no more stack.
class SmallStacks : test::Pinned {
 public:
  SmallStacks() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t small;
    pthread_getattr_default_np(&small);
    pthread_attr_setstacksize(&small, std::size_t{160} << 10);
    pthread_setattr_default_np(&small);
    pthread_attr_destroy(&small);
  }
  ~SmallStacks() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

// The pieces of long payloads come just when the interrupt of the last ones returns: into a low handler, and into the computation.
TEST(InterruptSignals, DoNotPileUpOnTheStack) {
  const SmallStacks small;
  test::run_job(as_threads, 2, [](am::Node& node) {
    static constexpr std::size_t length = 1'000'000;
    struct Taken {
      std::atomic<std::uint64_t> bytes{0};
      std::atomic<bool> no_more_highs{false};
      std::atomic<std::uint64_t> sent{0};  // told behind all others
      void wait(am::Request&) {
        while (!no_more_highs) am::host::relax();
      }
      void take(am::Request&, am::Payload payload) { bytes += payload.size(); }
      void take_high(am::Reply&, am::Payload payload) { bytes += payload.size(); }
      void end_high(am::Reply&) { no_more_highs = true; }
      void end(am::Request&, std::uint64_t all) { sent = all; }
    } taken;
    node.attach(taken);
    const std::vector<std::byte> payload(length);
    node.barrier();
    if (node.id() == 0) {
      std::uint64_t sent = 0;
      // Fewer where the nodes share a processor, and each few pieces cost a turn of it.
      const auto many = [&](auto send) {
        const am::Count end = node.count() + 10'000'000'000;
        for (std::uint64_t i = 0; i < test::rounds(50) && node.count() < end; ++i, sent += length)
          check(send() == am::Status::ok, "send");
      };
      check(node.request<&Taken::wait>(1) == am::Status::ok, "request");
      many([&] { return node.reply_to<&Taken::take_high>(1, am::Payload(payload)); });
      check(node.reply_to<&Taken::end_high>(1) == am::Status::ok, "reply_to");
      many([&] { return node.request<&Taken::take>(1, am::Payload(payload)); });
      check(node.request<&Taken::end>(1, sent) == am::Status::ok, "request");
    } else {
      while (taken.sent == 0) am::host::relax();  // no library call
      check_equal(taken.bytes.load(), taken.sent.load(), "bytes");
    }
    node.barrier();
  });
}

}  // namespace interrupt_signals_test

#endif
