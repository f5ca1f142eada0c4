// How a measure gets several nodes: ambench starts itself again under amrun, and node 0 says what it measured
// on its standard output.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "limits/pair.hpp"
#include "reporting.hpp"
#include "results/subprocess.hpp"

namespace am {
class Node;
}

namespace ambench {

// How amrun starts a job.
struct Launch {
  bool bound = true;                     // each node to a core of its own
  std::vector<std::string> environment;  // NAME=VALUE, beside what there is
};

// One job of `nodes` nodes that runs `measure`'s run_node with `arguments`. Throws std::runtime_error when it
// fails.
Finished run_job(const std::string& measure, int nodes, const std::vector<std::string>& arguments = {},
                 const Launch& launch = {});

// Where a program of that name lies that belongs to ambench alone.
std::string own_program(const std::string& name);

// amrun with `nodes` nodes of `program`.
Finished run_under_amrun(const std::string& program, int nodes, const std::vector<std::string>& arguments,
                         const Launch& launch = {});

// The two cores that nodes 0 and 1 of `job` were bound to; nothing where they were not bound to two.
std::optional<CorePair> cores_of(const Finished& job);
inline constexpr const char* nothing_beside_unbound =
    "neither limit nor neighbours: libam's nodes were not bound to two cores, so nothing is measured on the "
    "same ones";

// Inside the job: a figure of this repetition.
void say_figure(const std::string& name, double value);

// Inside the job: figures of this repetition.
void say_figures(const Figures& figures);

// Inside the job: where this node runs. For the two nodes that measure.
void say_place(const am::Node& node);

}  // namespace ambench
