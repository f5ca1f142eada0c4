// Programs that a tool starts: gnuplot, amrun, mpirun, ucx_perftest. Their output is collected; they get SIGTERM when the tool
// dies, and are killed with all they started when they take too long.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "results/statistics.hpp"

namespace results {

struct Finished {
  int exit_code = 0;  // 128 + signal for a program that a signal ended
  bool timed_out = false;
  double wall_ns = 0;  // from before the fork to after the wait
  std::string output;

  [[nodiscard]] bool ok() const { return exit_code == 0 && !timed_out; }
  // "exit code 3: first line it wrote"; for a message to the user.
  [[nodiscard]] std::string how_it_ended() const;
  // From the lines "figure NAME VALUE" of its output.
  [[nodiscard]] Figures figures() const;
  // From the lines "cpu NODE CPU": the processors of nodes 0 and 1, -1 where one was not bound or did not
  // say.
  [[nodiscard]] std::vector<int> cpus() const;
};

enum class Errors { shown, collected };

// A running program; the destructor kills one that was not waited for.
class Subprocess {
 public:
  // `environment` holds NAME=VALUE additions. With Errors::collected stderr joins the output.
  Subprocess(const std::vector<std::string>& command, const std::vector<std::string>& environment,
             Errors errors);
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;
  ~Subprocess();

  [[nodiscard]] bool running();
  Finished wait(double deadline_ns);

 private:
  [[nodiscard]] bool read_some(double wait_ns);
  void reap();

  pid_t pid_ = -1;
  int output_fd_ = -1;
  int status_ = 0;
  double start_ns_;
  std::string output_;
};

Finished run(const std::vector<std::string>& command, const std::vector<std::string>& environment = {},
             Errors errors = Errors::shown);

// The full path of a program on PATH; empty where there is none.
std::string find_program(const std::string& name);

}  // namespace results
