// Which way into the job: what amrun left, else what AM_JOB says, else what PMIx offers, else alone; and never alone where the
// environment says that several were started together.
#include <unistd.h>
#include <am/error.hpp>
#include <string>

#include "core/job/job.hpp"
#include "core/job/ways.hpp"

namespace am::core {

namespace {

Error half_of_amrun(const Settings& settings) {
  return Error(
      "join the job",
      "AM_RANK=" + std::to_string(settings.rank) + " and AM_SIZE=" + std::to_string(settings.size) +
          " are set but AM_HOST_MEMORY_FD is not: something between amrun and this program dropped it",
      "start the program with amrun -n N, or unset AM_RANK and AM_SIZE to run it alone");
}

/// "mpirun (OMPI_COMM_WORLD_SIZE=4) started 4 processes together and this as number 2"
std::string claim(const LauncherEnvironment& launcher) {
  return launcher.claimed_by + " started " + std::to_string(*launcher.claimed_size) +
         " processes together and this as number " + std::to_string(launcher.claimed_rank.value_or(0));
}

/// N jobs of one where one of N was meant help nobody.
Error singleton_of_many(const LauncherEnvironment& launcher) {
  return Error(
      "join the job",
      claim(launcher) +
          ", but offers no PMIx server to join them through (PMIX_NAMESPACE and PMIX_RANK are not set)",
      "use amrun -n " + std::to_string(*launcher.claimed_size) +
          ", the mpirun of Open MPI, or srun --mpi=pmix; to run alone under this launcher unset the "
          "variable named here");
}

}  // namespace

Job join_job(const Settings& settings, const LauncherEnvironment& launcher) {
  if (settings.memory_fd >= 0) return join_amrun(settings);
  if (settings.size > 0) throw half_of_amrun(settings);
  if (!settings.job.empty()) return join_by_appointment(settings);
  // One process alone needs nobody's server, nor the 10 ms that it takes to speak with it.
  if (launcher.claimed_size == 1) return join_single();
  if (launcher.pmix) {
    try {
      return join_pmix(settings);
    } catch (const Error& error) {
      if (!launcher.claimed_size) throw;
      throw Error(error.what_failed(), error.where(), claim(launcher) + ", but " + error.why(),
                  error.remedy());
    }
  }
  if (launcher.claimed_size) throw singleton_of_many(launcher);
  return join_single();
}

Job join_job(const Settings& settings) { return join_job(settings, read_launcher_environment(environ)); }

}  // namespace am::core
