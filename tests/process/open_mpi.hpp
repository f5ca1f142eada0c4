// Open MPI's mpirun, as tests start it.
#pragma once

#include "process/command.hpp"

namespace process_test {

/// What it needs of this process, whose children find it, as long as this lives. It asks twice before it runs as root, as tests do in
/// containers. And its sessions want a folder of their own: of two that make the one of all at the same time, one fails now and then
/// (Open MPI 4.1: "File exists").
class OpenMpi : test::Pinned {
 public:
  OpenMpi() {
    // NOLINTBEGIN(concurrency-mt-unsafe): tests that start programs have one thread
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv(folder_variable, folder_.path().c_str(), 1);
  }
  ~OpenMpi() {
    unsetenv(folder_variable);
    // NOLINTEND(concurrency-mt-unsafe)
  }

  [[nodiscard]] static bool is_there() {
    return std::system("command -v mpirun >/dev/null 2>&1") ==
           0;  // NOLINT(concurrency-mt-unsafe, cert-env33-c)
  }

 private:
  static constexpr const char* folder_variable = "OMPI_MCA_orte_tmpdir_base";
  const TemporaryFolder folder_;
};

}  // namespace process_test
