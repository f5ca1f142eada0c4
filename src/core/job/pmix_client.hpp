// The few things that joining a job needs from PMIx, whose library is loaded only now: libam does not link
// it, so that programs start fast and also where it is missing.
//
// A good guest's precautions are here too: the thread that PMIx starts takes no signals away from the
// program's, and a forked child never speaks with the server. One object per process, made and finalized on
// the same thread. Keys are PMIx's own names ("pmix.job.size"); <pmix.h> stays in the source file.
#pragma once

#include <sys/types.h>
#include <am/types.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/patience.hpp"

namespace am::core {

/// What cannot be done, in messages to people.
inline constexpr const char* through_pmix = "join the job through PMIx";

class PmixClient {
 public:
  /// Loads libpmix and makes this process known to the launcher's server. Throws am::Error.
  PmixClient();
  /// Finalizes.
  ~PmixClient();
  PmixClient(const PmixClient&) = delete;
  PmixClient& operator=(const PmixClient&) = delete;

  [[nodiscard]] NodeId rank() const noexcept { return rank_; }
  [[nodiscard]] const std::string& name_space() const noexcept { return name_space_; }

  // What the server knows about the job. Nothing, when it does not know or has another type for it.

  [[nodiscard]] std::optional<std::uint32_t> job_number(const char* key) const;
  /// About this process.
  [[nodiscard]] std::optional<std::string> own_text(const char* key) const;

  /// For processes of this job on this host. Throws am::Error.
  void publish(const char* key, const std::string& text);
  /// Waits until the process of that rank has published. Nothing after `timeout_s` (0: waits for ever).
  /// Throws am::Error.
  [[nodiscard]] std::optional<std::string> text_of(NodeId rank, const char* key, int timeout_s) const;

  // Jobs of several hosts.

  /// The hosts of the job, each with its nodes in ascending order. Throws am::Error.
  [[nodiscard]] std::vector<std::vector<NodeId>> hosts() const;
  /// Whether meet() works: Slurm's server takes all processes of a job, or none.
  [[nodiscard]] bool fences_take_parts() const noexcept;
  /// For processes of this job on all hosts; a later text takes the place of an earlier one. Throws am::Error.
  void put(const std::string& key, const std::string& text);
  /// A fence of these nodes, this one among them: what they have put is there for all afterwards. False when they have not all come in
  /// time. Throws am::Error.
  [[nodiscard]] bool meet(const std::vector<NodeId>& nodes, const host::Wait& waiting) const;
  /// The last text that the node has put, as far as its server knows; waits until there is one. Nothing when that takes too long.
  [[nodiscard]] std::optional<std::string> ask(NodeId node, const std::string& key,
                                               const host::Wait& waiting) const;

  /// Takes leave of the server: whoever ends without is taken for failed, and the launcher ends the job.
  void finalize() noexcept;

 private:
  struct Functions;
  struct Question;

  std::unique_ptr<const Functions> functions_;
  std::string name_space_;
  NodeId rank_ = 0;
  pid_t initialized_by_ = 0;  // 0: not, or no more
};

// Keys, as <pmix_common.h> has them.
namespace pmix_key {
inline constexpr const char* job_size = "pmix.job.size";
inline constexpr const char* local_size = "pmix.local.size";
inline constexpr const char* server_uri = "pmix.srvr.uri";
}  // namespace pmix_key

}  // namespace am::core
