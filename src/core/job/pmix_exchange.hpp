// The rounds of a job's hosts (several_hosts.hpp) by PMIx: the first node of each host puts its text where the servers keep such, and
// gets those of the others.
//
// In a fence of the first nodes, which is a barrier: then each gets what all have put. Slurm's server (22.05, and later ones by their
// sources) does not do such fences: it sends the members of one that is not of all as so many times the first of them (mpi/pmix,
// pmixp_coll_*.c). There each asks for the others' texts until it has them, and has to tell those of an earlier program in the same
// place (`srun -n 4 sh -c './a; ./b'`) from its own program's: a text carries a random number of who puts it and those that it has
// seen of the others, and counts when it names our own.
#pragma once

#include <am/types.hpp>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/job/pmix_client.hpp"
#include "core/job/several_hosts.hpp"
#include "host/patience.hpp"

namespace am::core {

class PmixExchange final : public Exchange {
 public:
  PmixExchange(std::shared_ptr<PmixClient> client, const Placement& placement, host::Patience patience);

  std::vector<std::string> round(const std::string& own) override;
  /// After the last round: who ends now leaves nobody behind who asks for its texts.
  void end();

 private:
  using Number = std::array<char, 16>;
  /// What goes with a text where texts are asked for.
  struct Asked {
    Number from;
    std::string echoes;  // numbers of the others, by host, as `from` has seen them
    std::string text;
  };

  [[nodiscard]] std::vector<std::string> round_by_fence(const std::string& own, const host::Wait& waiting);
  [[nodiscard]] std::vector<std::string> round_by_asking(const std::string& own, const host::Wait& waiting);
  [[nodiscard]] Asked asked(std::size_t host, const host::Wait& waiting) const;
  [[nodiscard]] std::string echoes() const;

  const std::shared_ptr<PmixClient> client_;
  const host::Patience patience_;
  const std::size_t own_;
  std::vector<NodeId> firsts_;   // of the hosts
  std::vector<Number> numbers_;  // of their programs, as far as they are known
  std::string key_;              // of this round
  unsigned rounds_ = 0;
};

}  // namespace am::core
