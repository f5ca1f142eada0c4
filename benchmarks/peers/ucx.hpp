// UCX beside libam: its own ucx_perftest, a server and a client pinned to two cores, over shared memory.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "limits/pair.hpp"

namespace ambench {

class Ucx {
 public:
  Ucx();

  // Empty where it can be used; else "not installed" and the like, which stands in the row.
  [[nodiscard]] const std::string& unavailable() const { return unavailable_; }
  // "UCX 1.13.1, ..."
  [[nodiscard]] const std::string& name() const { return name_; }

  // Half round trip in ns, UCX's own median: UCT short active messages (8 bytes and little more), UCP active messages, UCP
  // tags.
  [[nodiscard]] double uct_am_half_rtt_ns(CorePair cores, std::size_t bytes) const;
  [[nodiscard]] double ucp_am_half_rtt_ns(CorePair cores, std::size_t bytes) const;
  [[nodiscard]] double ucp_tag_half_rtt_ns(CorePair cores, std::size_t bytes) const;

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

  std::string name_;
  std::string unavailable_;
};

}  // namespace ambench
