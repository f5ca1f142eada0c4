// What a measure is to main.cpp: one file each, listed there.

#pragma once

#include <functional>
#include <span>
#include <string>

#include "limits/pair.hpp"
#include "options.hpp"
#include "reporting.hpp"

namespace am {
class Node;
struct Options;
}  // namespace am

namespace ambench {

struct Measure {
  const char* name;
  const char* meaning;  // one line
  int least_nodes = 0;  // for -n; 0 where there is no choice
  bool can_compare = false;
  // Runs in ambench itself. Throws std::runtime_error.
  Report (*measure)(const Options& options);
  // Runs in every node of a job that `measure` starts (job.hpp), with the arguments given there. nullptr: no
  // jobs.
  void (*run_node)(am::Node& node, std::span<const std::string> arguments) = nullptr;
  // Runs in every node before it joins its job, with the same arguments: how it joins. nullptr: as every program does.
  am::Options (*prepare_node)(std::span<const std::string> arguments) = nullptr;
  bool has_charts = false;     // for --plots and --markdown
  bool over_networks = false;  // for --transport
};

// Each measure is a file, and a namespace of the same name.
namespace pingpong {
extern const Measure measure;
}
namespace flood {
extern const Measure measure;
}
namespace payloads {
extern const Measure measure;
}
namespace bulk {
extern const Measure measure;
}
namespace overheads {
extern const Measure measure;
}
namespace dispatch {
extern const Measure measure;
}
namespace idle_peers {
extern const Measure measure;
}
namespace hops {
extern const Measure measure;
}
namespace multicasts {
extern const Measure measure;
}
namespace streams {
extern const Measure measure;
}
namespace barrier {
extern const Measure measure;
}
namespace all_reduce {
extern const Measure measure;
}
namespace startup {
extern const Measure measure;
}
namespace memory {
extern const Measure measure;
}
namespace scale {
extern const Measure measure;
}
namespace logp {
extern const Measure measure;
}
namespace splitc {
extern const Measure measure;
}
namespace cmam {
extern const Measure measure;
}
namespace am2 {
extern const Measure measure;
}
namespace limits {
extern const Measure measure;
}

// The head of a report, filled in as far as options tell.
Report report_of(const Measure& measure, const Options& options, int nodes);

// Every repetition a new job of two nodes, and right after it, on the same two cores, `beside`; the latter not where the
// nodes were not bound to two.
Series measure_pairs(const Measure& measure, const Options& options, Report& report,
                     const std::function<void(CorePair, Series&)>& beside = nullptr);

// Whether the transport is an emulated machine: then the limit is libam itself over shared memory.
[[nodiscard]] bool is_emulated(const Options& options);
// The figures of the same job over shared memory, NAME becoming shm_NAME, and PREFIX/NAME PREFIX/shm_NAME.
void ask_shared_memory(const Measure& measure, Series& series, int nodes = 2);

}  // namespace ambench
