// Node 1 of `ambench dispatch`: the program that is told of messages, or not.

#include <time.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "compute.hpp"
#include "dispatch/state.hpp"
#include "job.hpp"
#include "limits/futex_limit.hpp"
#include "timing.hpp"

namespace ambench::dispatching {

namespace {

constexpr double timelet_ahead_ns = 1e6;
constexpr int timelets = 100;

double cpu_time_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

class Receiver {
 public:
  explicit Receiver(const Roles& roles)
      : roles_(roles),
        node_(roles.node),
        state_(roles.state),
        per_us_(computed_per_us()),
        patience_(static_cast<std::uint64_t>(patience_ns / ns_per_tick())) {}

  void take_part(const Scenario& scenario) {
    if (scenario.program == Program::sleeps) return sleep_in_turn();
    begin();
    if (scenario.program == Program::waits) {
      wait_for_the_end();
    } else {
      compute_until([&] { return stopped(); },
                    scenario.program == Program::polls_every ? scenario.period_us : 0);
    }
  }

  // How much computation a message displaces: by how much longer the same computation takes while messages come. In the
  // polling mode it polls every microsecond, in both.
  void say_occupancy() {
    if (polling()) say_empty_polls();
    std::vector<double> displaced;
    std::vector<double> others;
    std::vector<double> signals;
    for (int round = 0; round < steady_rounds; ++round) {
      const Steady quiet = compute_steadily(nullptr);
      const Steady busy = compute_steadily(&quiet);
      displaced.push_back(busy.displaced_ns);
      others.push_back(busy.others_ns);
      signals.push_back(busy.interrupts);
    }
    say_figure("steady/displaced_ns", median_of(std::move(displaced)));
    if (node_.dispatch() == am::Dispatch::thread)
      say_figure("steady/handler_thread_ns", median_of(std::move(others)));
    if (node_.dispatch() == am::Dispatch::interrupt)
      say_figure("steady/interrupts_per_message_ratio", median_of(std::move(signals)));
  }

  void take_bursts() {
    std::vector<double> each;
    std::vector<double> signals;
    for (int i = 0; i < bursts; ++i) {
      state_.taken.store(0, std::memory_order_relaxed);
      const double before = interrupts();
      node_.barrier();
      const auto all = [&] { return state_.taken.load(std::memory_order_relaxed) == burst; };
      if (polling()) {
        node_.wait_until(all);
      } else {
        compute_until(all, 0);
      }
      signals.push_back(interrupts() - before);
      each.push_back(static_cast<double>(state_.last_ticks.load(std::memory_order_relaxed) -
                                         state_.first_ticks.load(std::memory_order_relaxed)) /
                     static_cast<double>(burst));
      node_.request<&State::tell>(0);
    }
    say_figure("burst/each_ns", median_of(std::move(each)) * ns_per_tick());
    if (node_.dispatch() == am::Dispatch::interrupt)
      say_figure("burst/signals", median_of(std::move(signals)));
  }

  // Nothing comes meanwhile, and the sender waits in a barrier.
  void say_critical_section() {
    constexpr int sections = 1000;
    const auto batch = [&] {
      for (int i = 0; i < sections; ++i) {
        const am::CriticalSection quiet(node_);
        keep(quiet);
      }
    };
    (void)median_batch_ns(batch, warm_up_ns);
    say_figure("critical_section/each_ns", median_batch_ns(batch) / sections);
  }

  void say_timelets(const std::string& name, bool waiting) {
    std::vector<double> late;
    for (int i = 0; i < timelets; ++i) {
      std::atomic<std::uint64_t> ran{0};
      const am::Count when = node_.count() + static_cast<am::Count>(timelet_ahead_ns);
      node_.on_timelet(
          when, [&ran](am::LowEvent& event) { ran.store(event.node().count(), std::memory_order_relaxed); });
      const auto done = [&] { return ran.load(std::memory_order_relaxed) != 0; };
      if (waiting) {
        node_.wait_until(done);
      } else {
        compute_until(done, polling() ? 1 : 0);
      }
      late.push_back(static_cast<double>(ran.load(std::memory_order_relaxed) - when));
    }
    say_figures(figures_of(name + "/late", spread_of(late)));
  }

 private:
  struct Steady {
    double batch_ns = 0;      // of one batch of computation
    double displaced_ns = 0;  // per message
    double others_ns = 0;     // of this process's other threads, per message
    double interrupts = 0;    // per message
  };

  void begin() {
    state_.stopped.store(false, std::memory_order_relaxed);
    node_.barrier();
  }
  void wait_for_the_end() {
    node_.wait_until([&] { return stopped(); });
  }

  // In a wait of libam's, and on the bare futex.
  void sleep_in_turn() {
    node_.wait_until([&] { return state_.offered_process != 0; });
    FutexPair pair(state_.offered_process, state_.offered_file);
    for (int round = 0; round < wake_rounds; ++round) {
      begin();
      wait_for_the_end();
      for (const bool timed : {false, true}) {
        node_.barrier();
        pair.be_woken(wakes, timed);
      }
    }
  }

  [[nodiscard]] bool stopped() const { return state_.stopped.load(std::memory_order_relaxed); }
  [[nodiscard]] bool polling() const { return node_.dispatch() == am::Dispatch::poll; }
  [[nodiscard]] double interrupts() const { return static_cast<double>(am::counters(node_).interrupts); }
  [[nodiscard]] std::uint64_t iterations(double us) const { return static_cast<std::uint64_t>(us * per_us_); }

  template <typename F>
  void compute_until(F&& done, double poll_every_us) {
    const std::uint64_t some = iterations(poll_every_us != 0 ? poll_every_us : 0.1);
    for (const std::uint64_t start = ticks(); !done();) {
      compute(some);
      if (poll_every_us != 0) node_.poll();
      if (ticks() - start > patience_)
        throw std::runtime_error("dispatch, " + std::string(roles_.arrangement.label) +
                                 ": nothing came while the node computed");
    }
  }

  // Where the sender has the same processor, this thread's time counts, elsewhere all time: then a handler thread that
  // took the processor away is in it.
  [[nodiscard]] double time_ns() const {
    return roles_.places.shared() ? cpu_time_ns(CLOCK_THREAD_CPUTIME_ID) : now_ns();
  }

  double batch_ns(bool with_polls) {
    constexpr int parts = 500;  // of a microsecond each
    const std::uint64_t part = iterations(1);
    const double before = time_ns();
    for (int i = 0; i < parts; ++i) {
      compute(part);
      if (with_polls) node_.poll();
    }
    return time_ns() - before;
  }

  Steady compute_steadily(const Steady* quiet) {
    begin();
    std::vector<double> batches;
    std::vector<double> displaced;
    const double others_before = other_threads_ns();
    const double interrupts_before = interrupts();
    const std::uint64_t taken_before = state_.taken.load(std::memory_order_relaxed);
    const double begin = now_ns();
    // Longer where the sender did not get a processor meanwhile.
    while (now_ns() < begin + steady_ns || (quiet != nullptr && displaced.size() < 4)) {
      if (now_ns() > begin + patience_ns)
        throw std::runtime_error("dispatch: no message came while the node computed");
      const std::uint64_t before = state_.taken.load(std::memory_order_relaxed);
      batches.push_back(batch_ns(polling()));
      const auto messages = static_cast<double>(state_.taken.load(std::memory_order_relaxed) - before);
      if (quiet != nullptr && messages != 0)
        displaced.push_back((batches.back() - quiet->batch_ns) / messages);
    }
    Steady result;
    result.batch_ns = median_of(std::move(batches));
    if (quiet != nullptr) {
      const auto messages = static_cast<double>(
          std::max<std::uint64_t>(state_.taken.load(std::memory_order_relaxed) - taken_before, 1));
      result.displaced_ns = median_of(std::move(displaced));
      result.others_ns = (other_threads_ns() - others_before) / messages;
      result.interrupts = (interrupts() - interrupts_before) / messages;
    }
    node_.request<&State::tell>(0);
    wait_for_the_end();
    return result;
  }

  static double other_threads_ns() {
    return cpu_time_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_time_ns(CLOCK_THREAD_CPUTIME_ID);
  }

  void say_empty_polls() {
    std::vector<double> each;
    for (const double end = now_ns() + min_time_ns; now_ns() < end;)
      each.push_back(batch_ns(true) / batch_ns(false));
    say_figure("steady/polling_share_percent", (median_of(std::move(each)) - 1) * 100);
  }

  const Roles& roles_;
  am::Node& node_;
  State& state_;
  // Measured, which takes milliseconds: before anything comes.
  const double per_us_;
  const std::uint64_t patience_;  // ticks
};

}  // namespace

void run_receiver(const Roles& roles) {
  Receiver receiver(roles);
  for (const Scenario& scenario : scenarios) {
    if (makes_sense(roles.arrangement, roles.places.shared(), scenario)) receiver.take_part(scenario);
  }
  receiver.say_occupancy();
  receiver.take_bursts();
  receiver.say_critical_section();
  receiver.say_timelets("timelet_computes", false);
  receiver.say_timelets("timelet_sleeps", true);
  roles.node.barrier();
}

}  // namespace ambench::dispatching
