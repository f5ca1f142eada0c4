// What libfabric gives two processes of this machine, without libam: the limits of a network over it. The provider and its interface
// are chosen as libam chooses them. Both processes poll their completion queues, as libam's nodes do.

#pragma once

#include <cstddef>
#include <string>

#include "limits/ofi_end.hpp"
#include "limits/pair.hpp"

namespace ambench {

// Half of the time in which 8 bytes go to the other process and come back: fi_inject, and receives that were posted before.
double ofi_half_rtt_ns(CorePair cores, const std::string& provider, CompletionQueue queue);

// Messages of 8 bytes, in millions per second, each by an fi_inject of its own into a receive of its own.
double ofi_injects_million_per_s(CorePair cores, const std::string& provider);

// A stream of transfers of so many bytes each between registered memory of the two, several at a time; of writes, until the
// last is delivered (FI_DELIVERY_COMPLETE). 0: the provider has no FI_RMA.
enum class Access { write, read };
double ofi_stream_gb_per_s(CorePair cores, const std::string& provider, std::size_t bytes, Access access);

}  // namespace ambench
