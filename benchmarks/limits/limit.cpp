#include "limits/limit.hpp"

#include "limits/ofi_limit.hpp"
#include "limits/ring_limit.hpp"
#include "limits/tcp_limit.hpp"

namespace ambench {

double Limit::half_rtt_ns(CorePair cores) const {
  if (is_libfabric()) return ofi_half_rtt_ns(cores, wire_.provider, CompletionQueue::polled_only);
  return wire_.kind == Wire::Kind::sockets ? tcp_half_rtt_ns(cores) : ring_half_rtt_ns(cores);
}

std::string Limit::half_rtt_label() const {
  if (is_libfabric()) return "limit: fi_inject and fi_recv";
  return wire_.kind == Wire::Kind::sockets ? "limit: busy-polled sockets" : "limit: plain ring";
}

double Limit::sleepers_half_rtt_ns(CorePair cores) const {
  return ofi_half_rtt_ns(cores, wire_.provider, CompletionQueue::to_sleep_at);
}

std::string Limit::sleepers_half_rtt_label() const { return "limit, with a queue to sleep at"; }

double Limit::million_per_s(CorePair cores) const {
  if (is_libfabric()) return ofi_injects_million_per_s(cores, wire_.provider);
  return wire_.kind == Wire::Kind::sockets ? tcp_writes_million_per_s(cores) : ring_million_per_s(cores);
}

std::string Limit::rate_label() const {
  if (is_libfabric()) return "one fi_inject per message";
  return wire_.kind == Wire::Kind::sockets ? "one write per message" : "limit: plain ring";
}

double Limit::stream_gb_per_s(CorePair cores, std::size_t bytes, bool got) const {
  if (!is_libfabric()) return tcp_stream_gb_per_s(cores, bytes);
  return ofi_stream_gb_per_s(cores, wire_.provider, bytes, got ? Access::read : Access::write);
}

std::string Limit::stream_label(bool got) const {
  if (!is_libfabric()) return "limit: streamed writes";
  return got ? "limit: fi_read, streamed" : "limit: fi_write, streamed";
}

}  // namespace ambench
