// UCX beside libam, two processes pinned to two cores, over shared memory or, for all networks, TCP: its own ucx_perftest, a server and a client, and
// ucx_peer for payloads, because ucx_perftest neither writes nor reads its bytes.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "limits/pair.hpp"
#include "reporting.hpp"
#include "wire.hpp"

namespace ambench {

class Ucx {
 public:
  explicit Ucx(const Wire& wire);

  // Empty where it can be used; else "not installed" and the like, which stands in the row.
  [[nodiscard]] const std::string& unavailable() const { return unavailable_; }
  // "UCX 1.13.1, ..."
  [[nodiscard]] const std::string& name() const { return name_; }

  // Half round trip in ns, UCX's own median: UCT short active messages (8 bytes and little more), UCP active messages, UCP
  // tags.
  [[nodiscard]] double uct_am_half_rtt_ns(CorePair cores, std::size_t bytes) const;
  [[nodiscard]] double ucp_am_half_rtt_ns(CorePair cores, std::size_t bytes) const;
  [[nodiscard]] double ucp_tag_half_rtt_ns(CorePair cores, std::size_t bytes) const;

  // "SIZE/ucx_am_half_rtt_ns" for each of `sizes`: UCP active messages whose data is written anew and read where it arrives.
  // Throws std::runtime_error when that fails, and where ambench was built without UCX's headers.
  [[nodiscard]] Figures payload_half_rtts(CorePair cores, std::span<const std::size_t> sizes) const;

  // One-way rate of 8-byte messages, million/s: by UCX's own mean or its median, whichever is better for it, because
  // its mean includes what the kernel took the core away for.
  [[nodiscard]] double uct_am_million_per_s(CorePair cores) const;
  [[nodiscard]] double ucp_tag_million_per_s(CorePair cores) const;

 private:
  struct Answer {
    double median_us;       // of one message
    double messages_per_s;  // mean over the run
  };
  [[nodiscard]] Answer ask(CorePair cores, const std::vector<std::string>& test, std::size_t bytes,
                           long iterations) const;
  [[nodiscard]] double million_per_s(CorePair cores, const std::vector<std::string>& test) const;
  [[nodiscard]] double half_rtt_ns(CorePair cores, const std::vector<std::string>& test,
                                   std::size_t bytes) const;

  [[nodiscard]] std::vector<std::string> uct(const std::string& test) const;

  std::vector<std::string> environment_{"UCX_TLS=posix,sysv,self"};
  std::vector<std::string> uct_device_{"-d", "memory", "-x", "posix"};
  std::string name_;
  std::string unavailable_;
};

}  // namespace ambench
