#include "amrun/head.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "amrun/agent.hpp"
#include "amrun/ending.hpp"
#include "amrun/environment.hpp"
#include "amrun/fault.hpp"
#include "amrun/frames.hpp"
#include "amrun/hosts.hpp"
#include "amrun/outlet.hpp"
#include "amrun/part.hpp"
#include "amrun/paths.hpp"
#include "amrun/say.hpp"
#include "amrun/signals.hpp"
#include "amrun/this_host.hpp"
#include "core/settings/setting_value.hpp"
#include "core/settings/settings.hpp"
#include "host/clock.hpp"
#include "host/descriptor.hpp"
#include "host/random_bytes.hpp"

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

struct Part {
  std::string host;
  bool is_here;
  std::uint32_t number;
  std::vector<am::NodeId> nodes;
  pid_t pid;
  Descriptor in;
  Descriptor out;
  FrameReader reader{};
  std::string to_send{};
  bool greeted = false;
  std::optional<std::string> facts{};
  std::optional<Ended> ended{};
  bool over = false;                      // its line has ended
  std::uint64_t dead_at_ns = UINT64_MAX;  // its agent has failed, and its line counts as ended then
};

// "ended with code 255"
std::string describe_status(int status) {
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with code " + std::to_string(WEXITSTATUS(status));
}

bool is_readable(const Descriptor& descriptor) {
  pollfd polled{descriptor.get(), POLLIN, 0};
  return poll(&polled, 1, 0) > 0;
}

class Head {
 public:
  explicit Head(const Options& options)
      : options_(options),
        settings_(am::core::read_settings(environ)),
        signal_fd_(signals_.open_descriptor()) {}
  ~Head() {
    for (Part& part : parts_) close_part(part);
    for (Part& part : parts_) end_agent(part);
  }
  Head(const Head&) = delete;
  Head& operator=(const Head&) = delete;

  JobEnd run() {
    start();
    for (;;) {
      const bool over = std::ranges::all_of(parts_, &Part::over);
      if (over) let_follow();
      if (over && exit_code_ == 0 && !strangers().empty()) say(nobody_joined(options_.program[0]));
      if (over && is_written()) break;
      look();
      look_at_clock();
    }
    if (outlets_[0].error != 0 && exit_code_ == 0) exit_code_ = failed;
    return {exit_code_ != 0 || any_success_ ? exit_code_ : first_failure_, by_signal_};
  }

 private:
  // -- start -----------------------------------------------------------------------------------------------------------

  void start() {
    const std::vector<HostShare> hosts = find_this_host(options_.hosts, is_this_host);
    const std::vector<am::NodeId> shares = share_out(hosts, options_.nodes);
    Order order = common_order();
    am::NodeId next = 0;
    std::vector<HostShare> used;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (shares[i] == 0) continue;
      auto& nodes = order.placement.hosts.emplace_back(shares[i]);
      std::iota(nodes.begin(), nodes.end(), next);
      next += shares[i];
      used.push_back(hosts[i]);
    }
    const std::vector<std::string> self = own_paths();
    for (std::uint32_t i = 0; i < used.size(); ++i) {
      order.host = used[i].name;
      order.placement.own = i;
      const Child child =
          used[i].is_here ? start_here(self.back(), i == 0)
                          : start_command(part_command(settings_.agent, used[i].name, self), -1, signals_);
      parts_.push_back({.host = used[i].name,
                        .is_here = used[i].is_here,
                        .number = i,
                        .nodes = order.placement.hosts[i],
                        .pid = child.pid,
                        .in = Descriptor(child.in),
                        .out = Descriptor(child.out)});
      fcntl(child.in, F_SETFL, O_NONBLOCK);
      send(parts_.back(), Kind::order, order.encode());
    }
    for (Outlet& outlet : outlets_) outlet.owed.resize(parts_.size());
    if (!options_.no_input) return;
    input_ = Input::ended;
    send(parts_.front(), Kind::input_end, {});
  }

  // Node 0 of this host reads for itself what amrun was given: so no more of it is gone afterwards than node 0 has read. Not a terminal, which
  // answers to the head alone (start_command).
  Child start_here(const std::string& self, bool has_node_0) {
    if (!has_node_0 || options_.no_input || isatty(STDIN_FILENO) != 0)
      return start_command({self, part_option}, -1, signals_);
    const Descriptor input(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!input) throw Fault(failed, "cannot pass on standard input: " + system_text(errno));
    input_ = Input::ended;
    return start_command({self, part_option, std::to_string(input.get())}, input.get(), signals_);
  }

  Order common_order() const {
    Order order;
    std::array<std::byte, 16 + 32> random{};
    am::host::fill_random(random);
    const auto* const bytes = reinterpret_cast<const char*>(random.data());
    order.job_name.assign(bytes, 16);
    order.job_key.assign(bytes + 16, 32);
    order.folders = folders_to_start_in(options_.folder);
    for (char** word = options_.program; *word != nullptr; ++word) order.program.emplace_back(*word);
    order.environment = variables_for_hosts(environ, options_.variables);
    order.bind = options_.bind;
    order.report_bindings = options_.report_bindings;
    order.label = options_.label;
    order.watchdog_ns = options_.watchdog_ns;
    return order;
  }

  // -- what happens --------------------------------------------------------------------------------------------------------

  void look() {
    std::vector<pollfd> polled{{signal_fd_.get(), POLLIN, 0}, {wants_input() ? STDIN_FILENO : -1, POLLIN, 0}};
    for (const Outlet& outlet : outlets_)
      polled.push_back({outlet.pending.empty() ? -1 : outlet.descriptor(), POLLOUT, 0});
    const std::size_t first = polled.size();
    for (const Part& part : parts_) {
      polled.push_back({part.over ? -1 : part.out.get(), POLLIN, 0});
      polled.push_back({part.to_send.empty() ? -1 : part.in.get(), POLLOUT, 0});
    }
    if (poll(polled.data(), polled.size(), nap_ms()) <= 0) return;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (polled[first + 2 * i].revents != 0) hear(parts_[i]);
      if (polled[first + 2 * i + 1].revents != 0) write_to_part(parts_[i]);
    }
    for (std::size_t i = 0; i < outlets_.size(); ++i) {
      if (polled[2 + i].revents != 0) write_out(static_cast<Stream>(i));
    }
    if (polled[1].revents != 0) read_input();
    while (const auto info = signals_.wait(0)) take(*info);
  }

  int nap_ms() const {
    std::uint64_t until =
        std::min({give_up_at_ns_, follow_at_ns_, remind_at_ns_, late_at_ns_, insist_at_ns_, unread_at_ns()});
    for (const Part& part : parts_) until = std::min(until, part.over ? UINT64_MAX : part.dead_at_ns);
    if (input_ == Input::awaited && isatty(STDIN_FILENO) != 0)
      until = std::min(until, am::host::monotonic_ns() + second_ns / 2);  // it may come to the foreground
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
    for (Part& part : parts_) {
      if (now >= part.dead_at_ns && !part.over && !is_readable(part.out)) end_of_line(part);
    }
    if (now >= insist_at_ns_) {
      insist_at_ns_ = UINT64_MAX;
      if (!std::ranges::all_of(parts_, &Part::over)) fail(signal_base + SIGTERM);
    }
    if (now >= unread_at_ns()) close_outlets();
    if (now < give_up_at_ns_) return;
    give_up_at_ns_ = UINT64_MAX;
    for (Part& part : parts_) {
      if (part.over) continue;
      say("host " + part.host + " does not answer; what may still run there is given up");
      close_part(part);
    }
  }

  // Of hosts where amrun does not run yet, as far as anybody knows. Once: `at` is when.
  bool name_late_ones(const char* what, std::uint64_t& at) {
    bool any = false;
    for (const Part& part : parts_) {
      if (part.greeted || part.over) continue;
      say("host " + part.host + ": amrun was started by " + agent_of(part) + ", but " + what +
          std::to_string((at - began_ns_) / second_ns) + " s");
      any = true;
    }
    at = UINT64_MAX;
    return any;
  }

  void hear(Part& part) {
    const ssize_t got = read(part.out.get(), buffer_.data(), buffer_.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) return end_of_line(part);
    part.reader.feed({buffer_.data(), static_cast<std::size_t>(got)});
    try {
      if (!part.greeted) part.greeted = part.reader.skip_greeting();
      while (part.greeted && !part.over) {
        auto frame = part.reader.next();
        if (!frame) break;
        take(part, *std::move(frame));
      }
    } catch (const Fault& fault) {
      say("host " + part.host + ": " + fault.what());
      lose(part);
    }
  }

  void take(Part& part, Frame frame) {
    switch (frame.kind) {
      case Kind::text:
        part.facts = std::move(frame.body);
        tell_facts();
        return look_at_strangers();
      case Kind::taken:
        if (input_ == Input::under_way) input_ = Input::awaited;
        return;
      case Kind::out:
        return print(part, Stream::out, frame.body);
      case Kind::err:
        return print(part, Stream::err, frame.body);
      case Kind::say:
        return hear_said(part, decode_said(frame.body));
      case Kind::failure:
        return hear_failed(part, decode_failed(frame.body));
      case Kind::ended:
        part.ended = decode_ended(frame.body);
        count(*part.ended);
        close_part(part);
        return look_at_strangers();
      default:
        return;
    }
  }

  // -- between the hosts -----------------------------------------------------------------------------------------------------

  void tell_facts() {
    Body all;
    all.put(parts_.size());
    for (const Part& part : parts_) {
      if (!part.facts) return;
      all.put(*part.facts);
    }
    for (Part& part : parts_) send(part, Kind::texts, all.bytes());
  }

  void send(Part& part, Kind kind, std::string_view body) {
    if (part.over) return;
    part.to_send += encode(kind, body);
    write_to_part(part);
  }

  void write_to_part(Part& part) {
    while (!part.to_send.empty()) {
      const ssize_t written = write(part.in.get(), part.to_send.data(), part.to_send.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0 && errno == EAGAIN) return;
      if (written < 0) return part.to_send.clear();  // the end of its line says so, too
      part.to_send.erase(0, static_cast<std::size_t>(written));
    }
  }

  // -- how it ends ------------------------------------------------------------------------------------------------------------

  // When the job is ending, what made it end is enough, as on one host: the words of the part that was the first to fail.
  void hear_said(const Part& part, Said said) {
    if (ending_ && failed_first_ != &part) return;
    if (said.follows) {
      followed_.push_back(std::move(said.line));
    } else {
      say(said.line);
    }
  }

  void hear_failed(const Part& part, Failed heard) {
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
      for (const std::string& line : followed_) say(line);
    }
    if (followed_code_ != 0) fail(followed_code_);
    followed_.clear();
    followed_code_ = 0;
  }

  void fail(int exit_code) {
    ending_ = true;
    if (exit_code_ == 0) exit_code_ = exit_code;
    give_up_at_ns_ = std::min(give_up_at_ns_, am::host::monotonic_ns() + ending_ns);
    for (Part& part : parts_) send(part, Kind::end, {});
  }

  void count(const Ended& ended) {
    if (exit_code_ == 0 && followed_code_ == 0) exit_code_ = ended.exit_code;
    if (first_failure_ == 0) first_failure_ = ended.first_failure;
    if (by_signal_ == 0) by_signal_ = ended.by_signal;
    any_success_ = any_success_ || ended.any_success;
    // A host that vanished says nothing, for as long as its agent waits for it.
    dead_.insert(ended.dead.begin(), ended.dead.end());
    const bool others_are_dead = std::ranges::all_of(parts_, [&](const Part& part) {
      return part.over || part.ended ||
             std::ranges::all_of(part.nodes, [&](am::NodeId node) { return dead_.contains(node); });
    });
    if (others_are_dead) give_up_at_ns_ = std::min(give_up_at_ns_, am::host::monotonic_ns() + ending_ns);
  }

  // Hosts whose programs ended well without joining. They are missing where others join.
  std::vector<const Part*> strangers() const {
    std::vector<const Part*> found;
    for (const Part& part : parts_) {
      if (part.ended && part.ended->nobody_joined) found.push_back(&part);
    }
    return found;
  }

  void look_at_strangers() {
    if (ending_ || std::ranges::none_of(parts_, [](const Part& part) { return part.facts.has_value(); }))
      return;
    for (const Part* part : strangers()) {
      say("host " + part->host + ": its nodes exited with code 0 before they joined the job");
      fail(failed);
    }
  }

  void end_of_line(Part& part) {
    const auto status = wait_for(part, second_ns / 2);
    const std::string how = agent_of(part) + " " + (status ? describe_status(*status) : "closed its output");
    if (!part.greeted) {
      const std::string heard = part.reader.first_line();
      say("host " + part.host + ": " + how + " before amrun ran there" +
          (heard.empty() ? "" : "; it wrote: " + am::core::in_quotes(heard.substr(0, 200))));
    } else {
      say("host " + part.host + " is lost: " + how);
    }
    lose(part);
  }

  // Its nodes are gone. A job that they have not joined cannot go on without them; of another one, its nodes know.
  void lose(Part& part) {
    close_part(part);
    any_lost_ = true;
    if (!part.facts) return fail(failed);
    if (first_failure_ == 0) first_failure_ = failed;
    for (Part& other : parts_) send(other, Kind::lost, Body().put(part.number).bytes());
  }

  static std::string agent_of(const Part& part) { return part.is_here ? "amrun" : "its agent"; }

  void close_part(Part& part) {
    part.over = true;
    part.to_send.clear();
    part.in = Descriptor();
    part.out = Descriptor();
  }

  std::optional<int> wait_for(Part& part, std::uint64_t patience_ns) {
    constexpr timespec moment{.tv_sec = 0, .tv_nsec = 5'000'000};
    const std::uint64_t until = am::host::monotonic_ns() + patience_ns;
    for (int status = 0; part.pid > 0; nanosleep(&moment, nullptr)) {
      if (waitpid(part.pid, &status, WNOHANG) != 0) {
        part.pid = 0;
        return status;
      }
      if (am::host::monotonic_ns() >= until) break;
    }
    return std::nullopt;
  }

  // An agent is not in the terminal's foreground: one that asks for a password there is stopped, and would be for ever.
  void look_for_stopped() {
    for (Part& part : parts_) {
      siginfo_t info{};
      if (part.pid <= 0 || part.greeted || part.over) continue;
      if (waitid(P_PID, static_cast<id_t>(part.pid), &info, WSTOPPED | WNOHANG) != 0 || info.si_pid == 0)
        continue;
      if (info.si_status != SIGTTIN && info.si_status != SIGTTOU) continue;
      say("host " + part.host +
          ": its agent asks for something at the terminal, which it cannot have here: ssh needs a key "
          "without a question");
      lose(part);
    }
  }

  // An agent that was killed or has failed, though what it started still holds its line: nobody looks after that host any more.
  void look_for_failed_agents() {
    for (Part& part : parts_) {
      siginfo_t info{};
      if (part.pid <= 0 || part.over || part.dead_at_ns != UINT64_MAX) continue;
      if (waitid(P_PID, static_cast<id_t>(part.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0) continue;
      const bool has_failed = info.si_pid != 0 && info.si_status != 0;
      if (has_failed) part.dead_at_ns = am::host::monotonic_ns() + last_frames_ns;
    }
  }

  // Whoever runs there learns by the end of its line that the head is gone.
  void end_agent(Part& part) {
    part.in = Descriptor();
    part.out = Descriptor();
    if (part.pid <= 0 || wait_for(part, part.ended ? 2 * second_ns : second_ns / 10)) return;
    kill(-part.pid, SIGKILL);
    wait_for(part, second_ns);
  }

  // -- signals, input and output -------------------------------------------------------------------------------------------------

  void take(const siginfo_t& info) {
    const int number = info.si_signo;
    if (number == SIGCHLD) {  // ends are told by the ends of lines, nearly always
      look_for_failed_agents();
      return look_for_stopped();
    }
    if (number == Signals::notice()) return;
    for (Part& part : parts_)
      send(part, Kind::pass_on, Body().put(static_cast<std::uint64_t>(number)).bytes());
    if (number == SIGTSTP) kill(getpid(), SIGSTOP);
    const bool ends = number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
    if (ends) asked_to_end(number);
  }

  // The parts' nodes are told; the rest is for who does not hear: a part that does not run yet, whoever was asked before; and then
  // nobody waits for a reader of our output.
  void asked_to_end(int number) {
    const bool again = std::exchange(asked_to_end_, true);
    const bool all_hear =
        std::ranges::none_of(parts_, [](const Part& part) { return !part.greeted && !part.over; });
    if (again || std::ranges::all_of(parts_, &Part::over)) close_outlets();
    if (number == SIGTERM) insist_at_ns_ = std::min(insist_at_ns_, am::host::monotonic_ns() + insisting_ns);
    written_at_ns_ = am::host::monotonic_ns();
    if (all_hear && !again) return;
    if (by_signal_ == 0) by_signal_ = number;
    if (!std::ranges::all_of(parts_, &Part::over)) fail(signal_base + number);
  }

  bool wants_input() {
    const bool there =
        std::ranges::any_of(parts_, [](const Part& part) { return part.nodes.front() == 0 && !part.over; });
    if (!there) input_ = Input::ended;
    // A read from the terminal by a job in the background would stop us.
    return input_ == Input::awaited && (isatty(STDIN_FILENO) == 0 || tcgetpgrp(STDIN_FILENO) == getpgrp());
  }

  void read_input() {
    const ssize_t got = read(STDIN_FILENO, buffer_.data(), buffer_.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    input_ = got > 0 ? Input::under_way : Input::ended;
    Part& first = parts_.front();
    if (got > 0) return send(first, Kind::input, {buffer_.data(), static_cast<std::size_t>(got)});
    send(first, Kind::input_end, {});
  }

  void print(Part& part, Stream stream, std::string_view text) {
    Outlet& outlet = outlets_[static_cast<std::size_t>(stream)];
    if (outlet.error != 0) return;
    outlet.pending += text;
    outlet.owed[part.number] += text.size();
  }

  // amrun's own lines: each once, as several hosts may have the same to say. (Not so reports, of many lines.)
  void say(const std::string& line) {
    const bool is_report = line.find('\n') != std::string::npos;
    if (outlets_[1].error == 0 && (is_report || said_.insert(line).second))
      outlets_[1].pending += whole_line(line);
  }

  void write_out(Stream stream) {
    Outlet& outlet = outlets_[static_cast<std::size_t>(stream)];
    const ssize_t written = outlet.write_some(outlet.pending);
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (written < 0) {
      const int error = errno;
      close_outlet(stream, error);
      if (stream == Stream::out) say("cannot write standard output: " + std::string(std::strerror(error)));
      return;
    }
    outlet.pending.erase(0, static_cast<std::size_t>(written));
    written_at_ns_ = am::host::monotonic_ns();
    if (!outlet.pending.empty()) return;
    for (Part& part : parts_) {
      const std::size_t bytes = std::exchange(outlet.owed[part.number], 0);
      if (bytes > 0)
        send(part, Kind::written, Body().put(static_cast<std::uint64_t>(stream)).put(bytes).bytes());
    }
  }

  // When what waits to be read does no longer, where the job ends because it was asked to.
  std::uint64_t unread_at_ns() const {
    return ending_ && asked_to_end_ && !is_written() ? written_at_ns_ + reader_ns : UINT64_MAX;
  }

  void close_outlets() {
    for (const Stream stream : {Stream::out, Stream::err}) close_outlet(stream, EPIPE);
  }

  void close_outlet(Stream stream, int error) {
    Outlet& outlet = outlets_[static_cast<std::size_t>(stream)];
    outlet.error = error;
    outlet.pending.clear();
    for (Part& part : parts_)
      send(part, Kind::closed,
           Body().put(static_cast<std::uint64_t>(stream)).put(static_cast<std::uint64_t>(error)).bytes());
  }

  bool is_written() const {
    return std::ranges::all_of(outlets_, [](const Outlet& outlet) { return outlet.pending.empty(); });
  }

  enum class Input { awaited, under_way, ended };

  const Options& options_;
  const am::core::Settings settings_;
  const Signals signals_;
  const Descriptor signal_fd_;
  std::vector<Part> parts_;
  std::vector<char> buffer_ =
      std::vector<char>(65536);  // of what is read; not on the stack, which may be small (ulimit -s)
  std::array<Outlet, 2> outlets_{Outlet(STDOUT_FILENO), Outlet(STDERR_FILENO)};  // by Stream
  Input input_ = Input::awaited;
  std::set<std::string> said_;
  std::vector<std::string> followed_;  // lines that another one may explain
  int followed_code_ = 0;
  std::uint64_t follow_at_ns_ = UINT64_MAX;   // then they count
  std::uint64_t give_up_at_ns_ = UINT64_MAX;  // then parts that have not ended are
  std::uint64_t insist_at_ns_ = UINT64_MAX;   // then a SIGTERM that was passed on is not enough
  std::uint64_t written_at_ns_ = 0;           // to an outlet, last; or asked to end
  std::set<am::NodeId> dead_;                 // as parts that ended have told
  const std::uint64_t began_ns_ = am::host::monotonic_ns();
  // When parts that do not run yet are named, and when that ends the job.
  std::uint64_t remind_at_ns_ =
      settings_.report_after_ns == 0 ? UINT64_MAX : began_ns_ + settings_.report_after_ns;
  std::uint64_t late_at_ns_ = settings_.timeout_ns == 0 ? UINT64_MAX : began_ns_ + settings_.timeout_ns;
  bool ending_ = false;
  bool any_lost_ = false;  // a host: that has been said
  const Part* failed_first_ = nullptr;
  bool asked_to_end_ = false;
  int exit_code_ = 0;
  int first_failure_ = 0;
  int by_signal_ = 0;
  bool any_success_ = false;
};

}  // namespace

JobEnd run_head(const Options& options) { return Head(options).run(); }

}  // namespace amrun
