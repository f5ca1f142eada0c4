// `ambench limits`: what the machine allows, without libam. The same figures stand beside libam's in pingpong
// and flood; bulk has copies of its own, into libam's pages.

#include <array>
#include <cstdint>

#include "limits/copy_limit.hpp"
#include "limits/pair.hpp"
#include "limits/ring_limit.hpp"
#include "measure.hpp"
#include "results/progress.hpp"

namespace ambench::limits {

namespace {

constexpr std::array<std::uint64_t, 3> ring_sizes{256, limit_ring_slots, 4096};
constexpr std::array<std::size_t, 3> copy_sizes{4096, 65536, 1 << 20};

std::string rate_of(std::uint64_t slots) { return std::to_string(slots) + "/rate_million_per_s"; }
std::string copy_of(std::size_t bytes) { return std::to_string(bytes) + "/copy_gb_per_s"; }
std::string fresh_copy_of(std::size_t bytes) { return std::to_string(bytes) + "/copy_fresh_gb_per_s"; }

Report measure_limits(const Options& options) {
  const CorePair cores = measuring_cores(measure.name);
  Report report = report_of(measure, options, 2);
  report.transport = "none";
  report.cpus = {cores.first, cores.second};
  Series series;
  Progress progress("limits", options.repetitions);
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    progress.step();
    series.add("half_rtt_ns", ring_half_rtt_ns(cores));
    for (const auto slots : ring_sizes) series.add(rate_of(slots), ring_million_per_s(cores, slots));
    for (const auto bytes : copy_sizes) series.add(copy_of(bytes), copy_gb_per_s(cores, bytes));
    for (const auto bytes : copy_sizes) series.add(fresh_copy_of(bytes), copy_fresh_gb_per_s(cores, bytes));
  }
  Row& pingpong_row = report.rows.emplace_back("plain rings of 64-byte slots, one per direction");
  pingpong_row.key("bytes", 8).figure("half_rtt_ns", "half round trip of 8 bytes", series.at("half_rtt_ns"));
  for (const auto slots : ring_sizes) {
    Row& row = report.rows.emplace_back("plain ring of " + std::to_string(slots) + " slots of 64 bytes");
    row.key("bytes", 64).key("slots", slots);
    row.figure("rate_million_per_s", "one-way stream", series.at(rate_of(slots)));
  }
  for (const auto bytes : copy_sizes) {
    Row& row = report.rows.emplace_back("memcpy of " + std::to_string(bytes) + " bytes");
    row.key("bytes", bytes);
    row.figure("copy_gb_per_s", "source warm", series.at(copy_of(bytes)));
    row.figure("copy_fresh_gb_per_s", "source just written by the other core",
               series.at(fresh_copy_of(bytes)));
  }
  return report;
}

}  // namespace

const Measure measure{
    .name = "limits",
    .meaning = "what this machine allows two processes, without libam: rings and copies",
    .measure = measure_limits,
};

}  // namespace ambench::limits
