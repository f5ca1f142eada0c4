// The neighbours that --compare sets beside libam, and how their figures stand in a row: what each measured,
// and the ratio libam / neighbour, or why there is none.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "peers/openmpi.hpp"
#include "peers/ucx.hpp"
#include "reporting.hpp"
#include "wire.hpp"

namespace ambench {

class Peers {
 public:
  enum class Who { nobody, openmpi, openmpi_and_ucx };

  // Looks for the neighbours, which are to use that wire; calls below that concern others do nothing.
  Peers(Who who, const Wire& wire);

  // Measures with a neighbour where it can be used. If `ask` throws, Open MPI has no figures, and UCX none of that `id`; the report
  // shows the reason.
  void with_openmpi(const std::function<void(const OpenMpi&)>& ask);
  void with_ucx(const std::string& id, const std::function<void(const Ucx&)>& ask);
  // A measure of openmpi_peer that two ranks take, and that has a figure "SIZE/NAME" for each of `sizes`: it becomes
  // "SIZE/openmpi_NAME" of the series.
  void ask_openmpi(const std::string& measure, std::span<const std::size_t> sizes, Series& series);

  // Names and versions, for the head of the report.
  void describe(Report& report) const;

  // The neighbour's figure `prefix` + `id` + "_" + `figure`, beside libam's `prefix` + `figure`. An id that
  // begins with "ucx" is UCX's, any other Open MPI's.
  void compare(Row& row, const Series& series, const std::string& prefix, const std::string& figure,
               const std::string& id, const std::string& label) const;

 private:
  std::optional<OpenMpi> openmpi_;
  std::optional<Ucx> ucx_;
  std::string no_openmpi_;
  std::string no_ucx_;
  std::map<std::string, std::string> no_figures_of_ucx_;  // by id
};

// The same for any other party that was measured in every repetition, such as the limit.
void compare(Row& row, const Series& series, const std::string& prefix, const std::string& figure,
             const std::string& id, const std::string& label);

}  // namespace ambench
