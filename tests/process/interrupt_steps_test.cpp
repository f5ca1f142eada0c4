// Interrupts at every single instruction: the processor traps after each one (x86-64, the trap flag), and at the k-th
// another node is let send; its signal then comes at exactly that place. For each k anew, until the instructions end.
//   - a low handler is preempted by high ones wherever it is
//   - a library call that is interrupted anywhere does what it should, and when it has returned the message's handler
//     has run: nobody polls afterwards
#include "support/job.hpp"

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

#include <sched.h>
#include <ucontext.h>

#include <atomic>

#include "host/relax.hpp"

namespace interrupt_steps_test {

using namespace test;

constexpr greg_t trap_flag = 0x100;

/// What node 1, whose instructions are counted, asks of node 0: one message per number.
struct Orders {
  std::atomic<std::uint64_t> asked{0};
  std::atomic<std::uint64_t> sent{0};
  std::atomic<bool> low{false};
  std::atomic<bool> ended{false};
};
Orders orders;  // the nodes are threads

/// The trap's handler, and what it counts. The signal of the interrupts is blocked in it, so that they come behind the instruction.
struct Steps {
  std::uint64_t until = 0;  // the instruction at which a message is sent
  std::uint64_t done = 0;   // instructions so far
  volatile bool on = false;
};
Steps steps;

void send_here() noexcept {
  const std::uint64_t order = orders.asked.load() + 1;
  orders.asked.store(order);
  while (orders.sent.load() != order) sched_yield();
}

void on_trap(int /*signal*/, siginfo_t* /*info*/, void* context) noexcept {
  greg_t& flags = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL];
  if (!steps.on) {
    flags &= ~trap_flag;
  } else if ((flags & trap_flag) == 0) {  // the breakpoint that begins
    flags |= trap_flag;
  } else if (steps.done++ == steps.until) {
    send_here();
    flags &= ~trap_flag;  // the rest is the same for all
  }
}

class Traps : test::Pinned {
 public:
  Traps() {
    struct sigaction traps {};
    traps.sa_sigaction = &on_trap;
    traps.sa_flags = SA_SIGINFO;
    sigemptyset(&traps.sa_mask);
    sigaddset(&traps.sa_mask, SIGURG);
    sigaction(SIGTRAP, &traps, &before_);
  }
  ~Traps() { sigaction(SIGTRAP, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

/// From here on instructions count, as long as one lives.
class Counted : test::Pinned {
 public:
  Counted() noexcept {
    steps.on = true;
    asm volatile("int3" ::: "memory");
  }
  ~Counted() {
    asm volatile("" ::: "memory");
    steps.on = false;
  }
};

struct State {
  std::uint64_t highs = 0;
  std::uint64_t lows = 0;
  std::uint64_t nested = 0;     // highs that preempted a low handler
  std::uint64_t forbidden = 0;  // handlers that ran in a critical section
  std::uint64_t low_runs = 0;   // of work
  std::uint64_t wrong_sums = 0;
  std::uint64_t posts = 0;
  volatile bool working = false;
  volatile bool in_section = false;

  void high(am::Reply&) {
    ++highs;
    nested += working ? 1 : 0;
    forbidden += in_section ? 1 : 0;
  }
  void low(am::Request&) {
    ++lows;
    forbidden += in_section || working ? 1 : 0;
  }
  /// A low handler that computes something, instruction by instruction.
  void work(am::Request&) {
    working = true;
    std::uint64_t sum = 0;
    {
      const Counted counted;
      for (std::uint64_t i = 1; i <= 20; ++i) {
        sum = test::mix(sum, i);
        asm volatile("" : "+r"(sum));
      }
    }
    working = false;
    std::uint64_t expected = 0;
    for (std::uint64_t i = 1; i <= 20; ++i) expected = test::mix(expected, i);
    wrong_sums += sum != expected ? 1 : 0;
    ++low_runs;
  }
  void take(am::Request&) { ++lows; }
  void own(am::Request&) { ++posts; }
  void take_bytes(am::Request&, am::Payload) { ++lows; }
};

/// Node 0: sends what node 1 orders.
void serve_orders(am::Node& node) {
  std::uint64_t sent = 0;
  while (!orders.ended) {
    if (orders.asked.load() == sent) {
      sched_yield();
      continue;
    }
    ++sent;
    if (orders.low.load()) {
      while (node.try_request<&State::low>(1) != am::Status::ok) am::host::relax();
    } else {
      while (node.try_reply_to<&State::high>(1) != am::Status::ok) am::host::relax();
    }
    orders.sent.store(sent);
  }
}

void run_steps(const std::function<void(am::Node&, State&)>& body) {
  const Traps traps;
  orders.asked = orders.sent = 0;
  orders.ended = false;
  std::array<State, 2> states;  // live longer than the nodes: some bodies send what nobody waits for
  test::run_job({test::Nodes::threads, am::Dispatch::interrupt}, 2, [&](am::Node& node) {
    State& state = states[node.id()];
    node.attach(state);
    node.barrier();
    if (node.id() == 0) {
      serve_orders(node);
    } else {
      body(node, state);
      orders.ended = true;
    }
    node.barrier();
  });
}

/// The next place. A trap costs microseconds, and each place those of all before it: of long calls each run tries others.
std::uint64_t after(std::uint64_t place, test::Random& random) {
  return place + 1 + (place < 200 ? 0 : random.below(place / 16));
}

/// Interrupts `call` at each of its instructions, by high messages and by low ones.
void interrupt_everywhere(State& state, const std::function<void()>& call) {
  test::Random random(test::seed());
  for (const bool low : {false, true}) {
    orders.low = low;
    for (steps.until = 0;; steps.until = after(steps.until, random)) {
      const std::uint64_t before = low ? state.lows : state.highs;
      const std::uint64_t ordered = orders.asked;
      steps.done = 0;
      {
        const Counted counted;
        call();
      }
      check(steps.until < 100'000, "a call without end");
      if (orders.asked == ordered) break;
      // Nobody polls, and nothing is waited for: the call has returned.
      check_equal((low ? state.lows : state.highs) - before, 1u,
                  "handlers that ran, interrupted at instruction " + std::to_string(steps.until));
      check_equal(state.forbidden, 0u, "handlers in a critical section");
    }
    check(steps.until > 0, "no instruction at all");
    std::printf("[          ] %llu instructions\n", static_cast<unsigned long long>(steps.until));
  }
}

TEST(InterruptSteps, PreemptALowHandlerAnywhere) {
  run_steps([](am::Node& node, State& state) {
    orders.low = false;
    for (steps.until = 0;; ++steps.until) {
      const std::uint64_t ordered = orders.asked;
      const State before = state;
      steps.done = 0;
      while (node.try_request<&State::work>(1) != am::Status::ok) {
      }
      check_equal(state.low_runs, before.low_runs + 1, "the low handler ran when the send had returned");
      check_equal(state.wrong_sums, 0u, "sums that are wrong");
      if (orders.asked == ordered) break;
      check_equal(state.highs, before.highs + 1, "high handlers");
      check_equal(state.nested, before.nested + 1, "high handlers inside the low one");
    }
    check(state.nested > 100, "preempted at too few places");
  });
}

TEST(InterruptSteps, EmptyCall) {
  run_steps([](am::Node&, State& state) { interrupt_everywhere(state, [] {}); });
}

TEST(InterruptSteps, CriticalSection) {
  run_steps([](am::Node& node, State& state) {
    interrupt_everywhere(state, [&] {
      const am::CriticalSection quiet(node);
      state.in_section = true;
      {
        const am::CriticalSection nested(node);
        asm volatile("nop; nop; nop");
      }
      state.in_section = false;
    });
  });
}

TEST(InterruptSteps, Poll) {
  run_steps([](am::Node& node, State& state) { interrupt_everywhere(state, [&] { node.poll(); }); });
}

TEST(InterruptSteps, TryRequestAndTryRequestWithAPayload) {
  run_steps([](am::Node& node, State& state) {
    const std::vector<std::byte> bytes(200);
    std::uint64_t sent = 0;
    std::uint64_t long_ones = 0;
    interrupt_everywhere(state, [&] {
      if (node.try_request<&State::take>(0) == am::Status::ok) ++sent;
    });
    interrupt_everywhere(state, [&] {
      if (node.try_request<&State::take_bytes>(0, am::Payload(bytes)) == am::Status::ok) ++long_ones;
    });
    check(sent > 0 && long_ones > 0, "nothing was accepted");
  });
}

TEST(InterruptSteps, PostAlsoWithAPoll) {
  run_steps([](am::Node& node, State& state) {
    std::uint64_t posted = 0;
    const auto post = [&] {
      node.post([](am::Node& its) { ++its.state<State>().posts; });
      ++posted;
    };
    interrupt_everywhere(state, post);
    while (node.poll() != 0) {
    }
    check_equal(state.posts, posted, "posts that ran");
    interrupt_everywhere(state, [&] {
      post();
      node.poll();
    });
    check_equal(state.posts, posted, "posts that ran");
  });
}

TEST(InterruptSteps, TimeletsAndMasks) {
  run_steps([](am::Node& node, State& state) {
    interrupt_everywhere(state, [&] {
      const am::TimeletId id = node.on_timelet(node.count() + 1'000'000'000'000, [](am::LowEvent&) {});
      node.enable_event(am::Event::high_message, false);
      node.enable_low_events(false);
      node.enable_low_events(true);
      node.enable_event(am::Event::high_message, true);
      if (!node.cancel_timelet(id)) ++state.wrong_sums;
    });
    check_equal(state.wrong_sums, 0u, "timelets that could not be cancelled");
  });
}

TEST(InterruptSteps, WaitForOneself) {
  run_steps([](am::Node& node, State& state) {
    std::uint64_t waits = 0;
    interrupt_everywhere(state, [&] {
      const std::uint64_t before = state.posts;
      while (node.try_request<&State::own>(1) != am::Status::ok) {
      }
      node.wait_until([&] { return state.posts != before; });
      ++waits;
    });
    check_equal(state.posts, waits, "requests to this node");
  });
}

// Low, and still to be interrupted when the message's own handler has run in it.
TEST(InterruptSteps, ADefaultHandlerThatHasRunTheMessage) {
  struct Told {
    std::atomic<bool> asked{false};
    std::atomic<bool> told{false};
    void ask(am::Request& request) { check(request.reply<&Told::in_it>() == am::Status::ok, "reply"); }
    void in_it(am::Reply&) { asked = true; }
    void tell(am::Reply&) { told = true; }
  };
  test::run_job<Told>({test::Nodes::threads, am::Dispatch::interrupt}, 2, [](am::Node& node, Told& state) {
    std::atomic<bool> over{false};
    if (node.id() == 1) {
      node.on_default([&](am::Incoming& incoming) {
        incoming.run();
        if (incoming.priority() == am::Priority::high) return;
        while (!state.told) {
        }
        over = true;
      });
      node.enable_active_messages(false);
    }
    node.barrier();
    if (node.id() == 0) {
      check(node.request<&Told::ask>(1) == am::Status::ok, "request");
      node.wait_until([&] { return state.asked.load(); });
      check(node.reply_to<&Told::tell>(1) == am::Status::ok, "reply_to");
    } else {
      while (!over) {
      }
      node.enable_active_messages(true);
    }
    node.barrier();
  });
}

}  // namespace interrupt_steps_test

#endif
