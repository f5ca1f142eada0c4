#include "amrun/part.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <am/error.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "amrun/environment.hpp"
#include "amrun/fault.hpp"
#include "amrun/frames.hpp"
#include "amrun/launch.hpp"
#include "amrun/line.hpp"
#include "amrun/paths.hpp"
#include "amrun/program.hpp"
#include "amrun/say.hpp"
#include "core/job/several_hosts.hpp"
#include "host/clock.hpp"
#include "host/descriptor.hpp"
#include "host/own_descriptor.hpp"

namespace amrun {
namespace {

using am::host::Descriptor;

// The standard streams, which are the way to the head, under other numbers: nobody who is started here shall have them.
Descriptor moved_away(int fd, int to_flags) {
  Descriptor moved(fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const Descriptor null(open("/dev/null", to_flags | O_CLOEXEC));
  if (!moved || !null || dup2(null.get(), fd) != fd)
    throw Fault(failed, "cannot move a descriptor: " + system_text(errno));
  return moved;
}

std::shared_ptr<am::host::Memory> memory_for(const Order& order) {
  std::shared_ptr<am::host::Memory> memory = am::core::make_memory(order.placement);
  am::host::JobHeader& job = memory->board().job();
  std::memcpy(job.name, order.job_name.data(), sizeof job.name);
  std::memcpy(job.key, order.job_key.data(), sizeof job.key);
  return memory;
}

// Whether a failure here may be but the consequence of one elsewhere.
bool follows(const am::host::Board& board) {
  for (am::NodeId node = 0; node < board.nodes(); ++node) {
    if (!board.is_here(node) && board.standing(node) == am::host::Standing::dead) return true;
  }
  return false;
}

Ended how_it_ended(int exit_code, const Supervisor& supervisor, const am::host::Board& board) {
  Ended ended{.exit_code = exit_code,
              .first_failure = supervisor.first_failure(),
              .any_success = supervisor.any_success(),
              .nobody_joined = supervisor.nobody_joined(),
              .by_signal = supervisor.ended_by(),
              .dead = {}};
  for (am::NodeId node = 0; node < board.nodes(); ++node) {
    if (!board.is_here(node) && board.standing(node) == am::host::Standing::dead) ended.dead.push_back(node);
  }
  return ended;
}

// Its thread knows what lives in run_order.
struct LineStops {
  Line& line;
  explicit LineStops(Line& of) : line(of) {}
  ~LineStops() { line.stop(); }
  LineStops(const LineStops&) = delete;
  LineStops& operator=(const LineStops&) = delete;
};

// `own_input`: what node 0 reads; none: what the head sends.
Ended run_order(Order& order, Line& line, Descriptor own_input) {
  const Signals signals;
  go_to(order.folders);
  for (const std::string& variable : order.environment) set_variable(variable);
  check_settings(environ);
  std::vector<char*> arguments;
  for (std::string& word : order.program) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  const auto here = order.placement.here();
  Plan plan{.role = Role::part,
            .program = {find_program(order.program[0]), arguments.data()},
            .nodes = {here.begin(), here.end()},
            .cores = choose_places(static_cast<am::NodeId>(here.size()), order.bind).cores,
            .memory = memory_for(order),
            .bind = order.bind,
            .report_bindings = order.report_bindings,
            .label = order.label,
            .watchdog_ns = order.watchdog_ns};
  int input[2] = {-1, -1};
  if (here.front() == 0 && !own_input && pipe2(input, O_CLOEXEC) != 0)
    throw Fault(failed, "cannot make a pipe: " + system_text(errno));
  Descriptor to_node_0(input[1]);
  Descriptor of_node_0 = own_input ? std::move(own_input) : Descriptor(input[0]);
  plan.input = of_node_0.get();

  const am::host::Board& board = plan.memory->board();
  // What began here does not follow from what others do about it by the time that it is told of.
  bool began_here = false;
  const auto only_follows = [&] {
    began_here = began_here || !follows(board);
    return !began_here;
  };
  const auto sink = [&](Stream stream) {
    return [&line, stream](std::string_view text) { return line.pass(stream, text); };
  };
  Launch launch(plan, signals, {.out = sink(Stream::out), .err = sink(Stream::err)},
                [&](const std::string& text) {
                  line.send(Kind::say, encode(Said{.follows = only_follows(), .line = text}));
                });
  Supervisor& supervisor = launch.supervisor();
  supervisor.on_failure([&](int exit_code) {
    line.send(Kind::failure, encode(Failed{.follows = only_follows(), .exit_code = exit_code}));
  });
  supervisor.on_notice([&] {
    const Line::Wishes wishes = line.take_wishes();
    if (wishes.abandon) supervisor.abandon();
    if (wishes.end) supervisor.end_job();
    supervisor.lost(wishes.lost);
  });
  launch.start();
  of_node_0 = {};
  const LineStops line_stops{line};
  line.run(order.placement, plan.memory, std::move(to_node_0), [&] { signals.notify(); });
  const int exit_code = launch.run();
  return how_it_ended(exit_code, supervisor, board);
}

}  // namespace

bool is_part(int argc, char** argv) {
  return (argc == 2 || argc == 3) && std::string_view(argv[1]) == part_option;
}

int run_part(int argc, char** argv) {
  Descriptor own_input(argc == 3 ? std::atoi(argv[2]) : -1);
  if (own_input) fcntl(own_input.get(), F_SETFD, FD_CLOEXEC);
  const Descriptor in = moved_away(STDIN_FILENO, O_RDONLY);
  const Descriptor out = moved_away(STDOUT_FILENO, O_WRONLY);
  Line line(in.get(), out.get());
  line.greet();
  Ended ended;
  std::optional<Order> order;
  const auto stop_with = [&](int exit_code, const std::string& why) {
    line.send(Kind::failure, encode(Failed{.follows = false, .exit_code = exit_code}));
    line.send(Kind::say,
              encode(Said{.follows = false, .line = (order ? "host " + order->host + ": " : "") + why}));
    ended.exit_code = exit_code;
  };
  try {
    const auto frame = line.receive(Kind::order);
    if (!frame) return failed;  // the head is gone
    order = Order::decode(frame->body);
    ended = run_order(*order, line, std::move(own_input));
  } catch (const Fault& fault) {
    stop_with(fault.exit_code(), fault.what());
  } catch (const am::Error& error) {
    stop_with(failed, "cannot " + error.what_failed() + ": " + error.why() + " (" + error.remedy() + ")");
  } catch (const std::exception& error) {
    stop_with(failed, error.what());
  }
  line.send(Kind::ended, encode(ended));
  return ended.exit_code;
}

}  // namespace amrun
