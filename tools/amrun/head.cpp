#include "amrun/head.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "amrun/agent.hpp"
#include "amrun/ending.hpp"
#include "amrun/fault.hpp"
#include "amrun/frames.hpp"
#include "amrun/head_input.hpp"
#include "amrun/head_output.hpp"
#include "amrun/line_to_part.hpp"
#include "amrun/orders.hpp"
#include "amrun/part.hpp"
#include "amrun/paths.hpp"
#include "amrun/signals.hpp"
#include "core/settings/setting_value.hpp"
#include "core/settings/settings.hpp"
#include "host/clock.hpp"
#include "host/descriptor.hpp"

namespace amrun {
namespace {

using am::host::Descriptor;
using am::host::second_ns;

// A part asks its nodes to end, and kills them after a second; one that has not ended long after that cannot be reached.
constexpr std::uint64_t ending_ns = 5 * second_ns;
// For parts to end their nodes by a SIGTERM (Supervisor); one that has not is asked by its line.
constexpr std::uint64_t insisting_ns = 12 * second_ns;
// Whoever has asked for the end waits no longer for a reader of our output that stands still.
constexpr std::uint64_t reader_ns = 3 * second_ns;
// For the last frames behind an agent that has ended.
constexpr std::uint64_t last_frames_ns = second_ns;
// For the host whose failure was the first to say so, too.
constexpr std::uint64_t cause_ns = second_ns;

// "ended with code 255"
std::string describe_status(int status) {
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with code " + std::to_string(WEXITSTATUS(status));
}

class Head {
 public:
  explicit Head(const Options& options)
      : options_(options),
        settings_(am::core::read_settings(environ)),
        signal_fd_(signals_.open_descriptor()) {}
  ~Head() {
    for (LineToPart& part : parts_) part.close();
    for (LineToPart& part : parts_) part.end_process(part.ended ? 2 * second_ns : second_ns / 10);
  }
  Head(const Head&) = delete;
  Head& operator=(const Head&) = delete;

  JobEnd run() {
    start();
    for (;;) {
      const bool over = std::ranges::all_of(parts_, &LineToPart::is_over);
      if (over) let_follow();
      if (over && exit_code_ == 0 && !strangers().empty()) output_.say(nobody_joined(options_.program[0]));
      if (over && output_.is_written()) break;
      look();
      look_at_clock();
    }
    if (output_.is_closed(Stream::out) && exit_code_ == 0) exit_code_ = failed;
    return {exit_code_ != 0 || any_success_ ? exit_code_ : first_failure_, by_signal_};
  }

 private:
  // -- start -----------------------------------------------------------------------------------------------------------

  void start() {
    Orders orders(options_);
    const std::vector<std::string> self = own_paths();
    for (std::uint32_t number = 0; number < orders.hosts().size(); ++number) {
      const HostShare& host = orders.hosts()[number];
      const Child child = host.is_here
                              ? start_here(self.back(), number == 0)
                              : start_command(part_command(settings_.agent, host.name, self), -1, signals_);
      parts_.emplace_back(host, number, orders.nodes_of(number), child);
      parts_.back().send(Kind::order, orders.of(number).encode());
    }
    if (options_.no_input) input_.end();
  }

  // Node 0 of this host reads for itself what amrun was given: so no more of it is gone afterwards than node 0 has read. Not a terminal, which
  // answers to the head alone (start_command).
  Child start_here(const std::string& self, bool has_node_0) {
    if (!has_node_0 || options_.no_input || isatty(STDIN_FILENO) != 0)
      return start_command({self, part_option}, -1, signals_);
    const Descriptor input(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!input) throw Fault(failed, "cannot pass on standard input: " + system_text(errno));
    input_.leave_to_node_0();
    return start_command({self, part_option, std::to_string(input.get())}, input.get(), signals_);
  }

  // -- what happens --------------------------------------------------------------------------------------------------------

  void look() {
    std::vector<pollfd> polled{{signal_fd_.get(), POLLIN, 0},
                               {input_.is_wanted() ? STDIN_FILENO : -1, POLLIN, 0}};
    for (const Stream stream : {Stream::out, Stream::err})
      polled.push_back({output_.writable_fd(stream), POLLOUT, 0});
    const std::size_t first = polled.size();
    for (const LineToPart& part : parts_) {
      polled.push_back({part.readable_fd(), POLLIN, 0});
      polled.push_back({part.writable_fd(), POLLOUT, 0});
    }
    if (poll(polled.data(), polled.size(), nap_ms()) <= 0) return;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (polled[first + 2 * i].revents != 0) hear(parts_[i]);
      if (polled[first + 2 * i + 1].revents != 0) parts_[i].write_some();
    }
    for (const Stream stream : {Stream::out, Stream::err}) {
      if (polled[2 + static_cast<std::size_t>(stream)].revents != 0) output_.write_some(stream);
    }
    if (polled[1].revents != 0) input_.read_some(buffer_);
    while (const auto info = signals_.wait(0)) take(*info);
  }

  int nap_ms() const {
    std::uint64_t until =
        std::min({give_up_at_ns_, follow_at_ns_, remind_at_ns_, late_at_ns_, insist_at_ns_, unread_at_ns()});
    for (const LineToPart& part : parts_)
      until = std::min(until, part.is_over() ? UINT64_MAX : part.dead_at_ns);
    if (input_.depends_on_foreground()) until = std::min(until, am::host::monotonic_ns() + second_ns / 2);
    if (until == UINT64_MAX) return -1;
    const std::uint64_t now = am::host::monotonic_ns();
    return until <= now ? 0
                        : static_cast<int>(std::min<std::uint64_t>((until - now) / 1'000'000 + 1, 60'000));
  }

  void look_at_clock() {
    const std::uint64_t now = am::host::monotonic_ns();
    if (now >= follow_at_ns_) let_follow();
    if (now >= remind_at_ns_) name_late_ones("it has not started there since ", remind_at_ns_);
    if (now >= late_at_ns_ && name_late_ones("it did not start there within ", late_at_ns_)) fail(failed);
    for (LineToPart& part : parts_) {
      if (now >= part.dead_at_ns && !part.is_over() && !part.is_readable()) end_of_line(part);
    }
    if (now >= insist_at_ns_) {
      insist_at_ns_ = UINT64_MAX;
      if (!std::ranges::all_of(parts_, &LineToPart::is_over)) fail(signal_base + SIGTERM);
    }
    if (now >= unread_at_ns()) output_.close();
    if (now < give_up_at_ns_) return;
    give_up_at_ns_ = UINT64_MAX;
    for (LineToPart& part : parts_) {
      if (part.is_over()) continue;
      output_.say("host " + part.host() + " does not answer; what may still run there is given up");
      part.close();
    }
  }

  // Of hosts where amrun does not run yet, as far as anybody knows. Once: `at` is when.
  bool name_late_ones(const char* what, std::uint64_t& at) {
    bool any = false;
    for (const LineToPart& part : parts_) {
      if (part.has_greeted() || part.is_over()) continue;
      output_.say("host " + part.host() + ": amrun was started by " + part.agent() + ", but " + what +
                  std::to_string((at - began_ns_) / second_ns) + " s");
      any = true;
    }
    at = UINT64_MAX;
    return any;
  }

  void hear(LineToPart& part) {
    if (!part.read_some(buffer_)) return end_of_line(part);
    try {
      while (auto frame = part.next()) take(part, *std::move(frame));
    } catch (const Fault& fault) {
      output_.say("host " + part.host() + ": " + fault.what());
      lose(part);
    }
  }

  void take(LineToPart& part, Frame frame) {
    switch (frame.kind) {
      case Kind::text:
        part.facts = std::move(frame.body);
        tell_facts();
        return look_at_strangers();
      case Kind::taken:
        return input_.taken();
      case Kind::out:
        return output_.print(part, Stream::out, frame.body);
      case Kind::err:
        return output_.print(part, Stream::err, frame.body);
      case Kind::say:
        return hear_said(part, decode_said(frame.body));
      case Kind::failure:
        return hear_failed(part, decode_failed(frame.body));
      case Kind::ended:
        part.ended = decode_ended(frame.body);
        count(*part.ended);
        part.close();
        return look_at_strangers();
      default:
        return;
    }
  }

  // -- between the hosts -----------------------------------------------------------------------------------------------------

  void tell_facts() {
    Body all;
    all.put(parts_.size());
    for (const LineToPart& part : parts_) {
      if (!part.facts) return;
      all.put(*part.facts);
    }
    for (LineToPart& part : parts_) part.send(Kind::texts, all.bytes());
  }

  // -- how it ends ------------------------------------------------------------------------------------------------------------

  // When the job is ending, what made it end is enough, as on one host: the words of the part that was the first to fail.
  void hear_said(const LineToPart& part, Said said) {
    if (ending_ && failed_first_ != &part) return;
    if (said.follows) {
      followed_.push_back(std::move(said.line));
    } else {
      output_.say(said.line);
    }
  }

  void hear_failed(const LineToPart& part, Failed heard) {
    if (!heard.follows) {
      if (!ending_) failed_first_ = &part;
      return fail(heard.exit_code);
    }
    if (followed_code_ == 0) followed_code_ = heard.exit_code;
    follow_at_ns_ = std::min(follow_at_ns_, am::host::monotonic_ns() + cause_ns);
  }

  // Nobody says what it followed from: then that is all there is to say.
  void let_follow() {
    follow_at_ns_ = UINT64_MAX;
    if (!ending_ && !any_lost_) {
      for (const std::string& line : followed_) output_.say(line);
    }
    if (followed_code_ != 0) fail(followed_code_);
    followed_.clear();
    followed_code_ = 0;
  }

  void fail(int exit_code) {
    ending_ = true;
    if (exit_code_ == 0) exit_code_ = exit_code;
    give_up_at_ns_ = std::min(give_up_at_ns_, am::host::monotonic_ns() + ending_ns);
    for (LineToPart& part : parts_) part.send(Kind::end, {});
  }

  void count(const Ended& ended) {
    if (exit_code_ == 0 && followed_code_ == 0) exit_code_ = ended.exit_code;
    if (first_failure_ == 0) first_failure_ = ended.first_failure;
    if (by_signal_ == 0) by_signal_ = ended.by_signal;
    any_success_ = any_success_ || ended.any_success;
    // A host that vanished says nothing, for as long as its agent waits for it.
    dead_.insert(ended.dead.begin(), ended.dead.end());
    const bool others_are_dead = std::ranges::all_of(parts_, [&](const LineToPart& part) {
      return part.is_over() || part.ended ||
             std::ranges::all_of(part.nodes(), [&](am::NodeId node) { return dead_.contains(node); });
    });
    if (others_are_dead) give_up_at_ns_ = std::min(give_up_at_ns_, am::host::monotonic_ns() + ending_ns);
  }

  // Hosts whose programs ended well without joining. They are missing where others join.
  std::vector<const LineToPart*> strangers() const {
    std::vector<const LineToPart*> found;
    for (const LineToPart& part : parts_) {
      if (part.ended && part.ended->nobody_joined) found.push_back(&part);
    }
    return found;
  }

  void look_at_strangers() {
    if (ending_ ||
        std::ranges::none_of(parts_, [](const LineToPart& part) { return part.facts.has_value(); }))
      return;
    for (const LineToPart* part : strangers()) {
      output_.say("host " + part->host() + ": its nodes exited with code 0 before they joined the job");
      fail(failed);
    }
  }

  void end_of_line(LineToPart& part) {
    const auto status = part.wait_for_process(second_ns / 2);
    const std::string how = part.agent() + " " + (status ? describe_status(*status) : "closed its output");
    if (!part.has_greeted()) {
      const std::string heard = part.first_line();
      output_.say("host " + part.host() + ": " + how + " before amrun ran there" +
                  (heard.empty() ? "" : "; it wrote: " + am::core::in_quotes(heard.substr(0, 200))));
    } else {
      output_.say("host " + part.host() + " is lost: " + how);
    }
    lose(part);
  }

  // Its nodes are gone. A job that they have not joined cannot go on without them; of another one, its nodes know.
  void lose(LineToPart& part) {
    part.close();
    any_lost_ = true;
    if (!part.facts) return fail(failed);
    if (first_failure_ == 0) first_failure_ = failed;
    for (LineToPart& other : parts_) other.send(Kind::lost, Body().put(part.number()).bytes());
  }

  // An agent is not in the terminal's foreground: one that asks for a password there is stopped, and would be for ever.
  void look_for_stopped() {
    for (LineToPart& part : parts_) {
      if (part.has_greeted() || part.is_over() || !part.takes_stop_at_terminal()) continue;
      output_.say(
          "host " + part.host() +
          ": its agent asks for something at the terminal, which it cannot have here: ssh needs a key "
          "without a question");
      lose(part);
    }
  }

  // An agent that was killed or has failed, though what it started still holds its line: nobody looks after that host any more.
  void look_for_failed_agents() {
    for (LineToPart& part : parts_) {
      if (part.is_over() || part.dead_at_ns != UINT64_MAX || !part.process_has_failed()) continue;
      part.dead_at_ns = am::host::monotonic_ns() + last_frames_ns;
    }
  }

  // -- signals -------------------------------------------------------------------------------------------------

  void take(const siginfo_t& info) {
    const int number = info.si_signo;
    if (number == SIGCHLD) {  // ends are told by the ends of lines, nearly always
      look_for_failed_agents();
      return look_for_stopped();
    }
    if (number == Signals::notice()) return;
    for (LineToPart& part : parts_)
      part.send(Kind::pass_on, Body().put(static_cast<std::uint64_t>(number)).bytes());
    if (number == SIGTSTP) kill(getpid(), SIGSTOP);
    const bool ends = number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
    if (ends) asked_to_end(number);
  }

  // The parts' nodes are told; the rest is for who does not hear: a part that does not run yet, whoever was asked before; and then
  // nobody waits for a reader of our output.
  void asked_to_end(int number) {
    const bool again = std::exchange(asked_at_ns_, am::host::monotonic_ns()) != 0;
    const bool all_hear = std::ranges::none_of(
        parts_, [](const LineToPart& part) { return !part.has_greeted() && !part.is_over(); });
    if (again || std::ranges::all_of(parts_, &LineToPart::is_over)) output_.close();
    if (number == SIGTERM) insist_at_ns_ = std::min(insist_at_ns_, asked_at_ns_ + insisting_ns);
    if (all_hear && !again) return;
    if (by_signal_ == 0) by_signal_ = number;
    if (!std::ranges::all_of(parts_, &LineToPart::is_over)) fail(signal_base + number);
  }

  // When what waits to be read does no longer, where the job ends because it was asked to.
  std::uint64_t unread_at_ns() const {
    if (!ending_ || asked_at_ns_ == 0 || output_.is_written()) return UINT64_MAX;
    return std::max(asked_at_ns_, output_.written_at_ns()) + reader_ns;
  }

  const Options& options_;
  const am::core::Settings settings_;
  const Signals signals_;
  const Descriptor signal_fd_;
  std::vector<LineToPart> parts_;
  std::vector<char> buffer_ =
      std::vector<char>(65536);  // of what is read; not on the stack, which may be small (ulimit -s)
  HeadInput input_{parts_};
  HeadOutput output_{parts_};
  std::vector<std::string> followed_;  // lines that another one may explain
  int followed_code_ = 0;
  std::uint64_t follow_at_ns_ = UINT64_MAX;   // then they count
  std::uint64_t give_up_at_ns_ = UINT64_MAX;  // then parts that have not ended are
  std::uint64_t insist_at_ns_ = UINT64_MAX;   // then a SIGTERM that was passed on is not enough
  std::uint64_t asked_at_ns_ = 0;             // to end, last; 0: never
  std::set<am::NodeId> dead_;                 // as parts that ended have told
  const std::uint64_t began_ns_ = am::host::monotonic_ns();
  // When parts that do not run yet are named, and when that ends the job.
  std::uint64_t remind_at_ns_ =
      settings_.report_after_ns == 0 ? UINT64_MAX : began_ns_ + settings_.report_after_ns;
  std::uint64_t late_at_ns_ = settings_.timeout_ns == 0 ? UINT64_MAX : began_ns_ + settings_.timeout_ns;
  bool ending_ = false;
  bool any_lost_ = false;  // a host: that has been said
  const LineToPart* failed_first_ = nullptr;
  int exit_code_ = 0;
  int first_failure_ = 0;
  int by_signal_ = 0;
  bool any_success_ = false;
};

}  // namespace

JobEnd run_head(const Options& options) { return Head(options).run(); }

}  // namespace amrun
