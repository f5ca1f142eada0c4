// The ways into a job, one file each; join.cpp chooses among them. All throw am::Error, and all are called
// once, by the thread that starts the node.
#pragma once

#include "core/job/job.hpp"
#include "core/settings/settings.hpp"

namespace am::core {

/// join_job with the environment's claims given: the environment itself is read in one place only.
[[nodiscard]] Job join_job(const Settings& settings, const LauncherEnvironment& launcher);

/// AM_RANK, AM_SIZE and AM_HOST_MEMORY_FD, all three set by amrun.
[[nodiscard]] Job join_amrun(const Settings& settings);

/// AM_JOB: an address where the nodes meet, and a key file.
[[nodiscard]] Job join_by_appointment(const Settings& settings);

/// The PMIx server of mpirun, prterun or srun.
[[nodiscard]] Job join_pmix(const Settings& settings);

/// A job of one.
[[nodiscard]] Job join_single();

}  // namespace am::core
