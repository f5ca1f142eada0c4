// Open MPI beside libam: starts openmpi_peer with mpirun on two bound cores. Its byte transfer layer is left
// at Open MPI's default (vader, shared memory, for two ranks of one machine), or is TCP over loopback, or it matches messages over the same provider of
// libfabric.

#pragma once

#include <string>
#include <vector>

#include "reporting.hpp"
#include "results/subprocess.hpp"
#include "wire.hpp"

namespace ambench {

class OpenMpi {
 public:
  explicit OpenMpi(const Wire& wire);

  // Empty where it can be used; else "not installed" and the like, which stands in the row.
  [[nodiscard]] const std::string& unavailable() const { return unavailable_; }
  // "Open MPI 4.1.4, ..."
  [[nodiscard]] const std::string& name() const { return name_; }

  // Figures of `openmpi_peer MEASURE ARGUMENTS`. Throws std::runtime_error when it fails.
  [[nodiscard]] Finished run(const std::string& measure, int nodes,
                             const std::vector<std::string>& arguments = {}) const;

 private:
  std::string program_;
  std::vector<std::string> transport_options_;
  std::vector<std::string> environment_;
  std::string name_;
  std::string unavailable_;
};

}  // namespace ambench
