// Node 0 of `ambench dispatch`. It polls in loops of its own and never sleeps in them, whatever the receiver does; only
// for occupancy, where it would take the receiver's processor from it, it naps between messages.

#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "dispatch/pace.hpp"
#include "dispatch/state.hpp"
#include "gap.hpp"
#include "job.hpp"
#include "limits/futex_limit.hpp"
#include "timing.hpp"

namespace ambench::dispatching {

namespace {

class Sender {
 public:
  explicit Sender(const Roles& roles) : roles_(roles), node_(roles.node), state_(roles.state) {}

  void sample(const Scenario& scenario) {
    if (scenario.program == Program::sleeps) return sample_wakes(scenario);
    node_.barrier();
    Gap gap(scenario.least_gap_us * 1e3, scenario.most_gap_us * 1e3);
    Samples samples;
    for (const double end = now_ns() + scenario_ns; now_ns() < end || samples.there.size() < least_samples;)
      exchange(scenario, gap, samples);
    node_.request<&State::stop>(1);
    samples.say(scenario);
  }

  // At a steady rate, until the receiver says that it has seen enough. Without `sending` it does the same and sends nothing.
  void pace(bool sending) {
    state_.told = false;
    node_.barrier();
    Pace pace(steady_period_us * 1e3);
    const double end = now_ns() + patience_ns;
    while (!state_.told) {
      if (sending) node_.request<&State::take>(1, ticks());
      if (roles_.places.shared()) {
        pace.sleep_to_next();
      } else {
        pace.spin_to_next();
      }
      node_.poll();
      if (now_ns() > end) throw std::runtime_error("dispatch: the receiver's computation does not end");
    }
    node_.request<&State::stop>(1);  // behind all of them
  }

  void send_bursts() {
    for (int i = 0; i < bursts; ++i) {
      state_.told = false;
      node_.barrier();
      nap();  // the receiver has left the barrier, and computes
      const std::uint64_t start = ticks();
      for (std::uint64_t sent = 0; sent < burst;) {
        if (node_.try_request<&State::take>(1, start) == am::Status::ok) ++sent;
      }
      until([&] { return state_.told; }, "takes a burst");
    }
  }

 private:
  struct Samples {  // in ns
    std::vector<double> sending;
    std::vector<double> there;
    std::vector<double> back;
    std::vector<double> round;

    void say(const Scenario& scenario) {
      const std::string name = std::string(scenario.name) + "/";
      say_figures(figures_of(name + "one_way", spread_of(there)));
      say_figure(name + "send_ns", median_of(std::move(sending)));
      say_figure(name + "back_ns", median_of(std::move(back)));
      say_figure(name + "round_trip_ns", median_of(std::move(round)));
    }
  };

  void exchange(const Scenario& scenario, Gap& gap, Samples& samples) {
    gap.pause(spin_pause);
    const std::uint64_t expected = state_.answers + 1;
    const std::uint64_t start = ticks();
    node_.request<&State::ask>(1, start);
    const std::uint64_t sent = ticks();
    until([&] { return state_.answers == expected; }, scenario.label);
    samples.sending.push_back(in_ns(sent - start));
    samples.there.push_back(in_ns(state_.there_ticks));
    samples.back.push_back(in_ns(state_.back_ticks));
    samples.round.push_back(in_ns(state_.round_ticks));
  }

  // libam's and the bare futex's, in turn.
  void sample_wakes(const Scenario& scenario) {
    FutexPair pair;
    node_.request<&State::offer>(1, static_cast<std::uint64_t>(getpid()),
                                 static_cast<std::uint64_t>(pair.file()));
    Gap gap(scenario.least_gap_us * 1e3, scenario.most_gap_us * 1e3);
    Samples samples;
    std::vector<double> bare;
    std::vector<double> timed;
    for (int round = 0; round < wake_rounds; ++round) {
      node_.barrier();
      for (int i = 0; i < wakes; ++i) exchange(scenario, gap, samples);
      node_.request<&State::stop>(1);
      for (std::vector<double>* futex : {&bare, &timed}) {
        node_.barrier();
        for (int i = 0; i < wakes; ++i) {
          gap.pause(spin_pause);
          futex->push_back(static_cast<double>(pair.wake()));
        }
      }
    }
    samples.say(scenario);
    say_figure("limit/futex_ns", median_of(std::move(bare)) * ns_per_tick());
    say_figure("limit/timed_futex_ns", median_of(std::move(timed)) * ns_per_tick());
  }

  template <typename F>
  void until(F&& done, std::string_view what) {
    for (double end = 0; !done();) {
      for (int i = 0; i < 1000 && !done(); ++i) node_.poll();
      const double now = now_ns();
      if (end == 0) end = now + patience_ns;
      if (now > end)
        throw std::runtime_error("dispatch, " + std::string(roles_.arrangement.label) +
                                 ": no answer from a receiver that " + std::string(what));
    }
  }

  static double in_ns(std::uint64_t duration) { return static_cast<double>(duration) * ns_per_tick(); }

  static void nap() {
    constexpr timespec length{0, 20'000};
    nanosleep(&length, nullptr);
  }

  const Roles& roles_;
  am::Node& node_;
  State& state_;
};

}  // namespace

void run_sender(const Roles& roles) {
  prctl(PR_SET_TIMERSLACK, 1);
  Sender sender(roles);
  for (const Scenario& scenario : scenarios) {
    if (makes_sense(roles.arrangement, roles.places.shared(), scenario)) sender.sample(scenario);
  }
  for (int round = 0; round < steady_rounds; ++round) {
    sender.pace(false);
    sender.pace(true);
  }
  sender.send_bursts();
  roles.node.barrier();  // the receiver alone: critical sections, timelets
}

}  // namespace ambench::dispatching
