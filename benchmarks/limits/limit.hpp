// The limit that stands beside libam's figure: what the same wire gives two processes without libam.

#pragma once

#include <cstddef>
#include <string>

#include "limits/pair.hpp"
#include "wire.hpp"

namespace ambench {

class Limit {
 public:
  explicit Limit(Wire wire) : wire_(std::move(wire)) {}

  // 8 bytes there and back.
  [[nodiscard]] double half_rtt_ns(CorePair cores) const;
  [[nodiscard]] std::string half_rtt_label() const;
  // The same of processes that could sleep until something comes, where the wire knows a difference.
  [[nodiscard]] bool knows_sleepers() const { return is_libfabric(); }
  [[nodiscard]] double sleepers_half_rtt_ns(CorePair cores) const;
  [[nodiscard]] std::string sleepers_half_rtt_label() const;
  // 8 bytes one way, each for itself.
  [[nodiscard]] double million_per_s(CorePair cores) const;
  [[nodiscard]] std::string rate_label() const;
  // Of processes that do not see each other's memory. `got`: the receiver asks for it, where the wire knows a difference. 0: the wire has
  // no such stream.
  [[nodiscard]] double stream_gb_per_s(CorePair cores, std::size_t bytes, bool got) const;
  [[nodiscard]] std::string stream_label(bool got) const;

 private:
  [[nodiscard]] bool is_libfabric() const { return wire_.kind == Wire::Kind::libfabric; }
  Wire wire_;
};

}  // namespace ambench
