// What the routers of an emulated network have counted, for people: for AM_STATS, and for aminfo, which is no node of the job.
//
// Any thread of any process that has the host's memory.
#pragma once

#include <am/types.hpp>
#include <memory>
#include <string>

#include "host/memory.hpp"

namespace am::emulated {

/// Lines about this node's router: flits that have come by each channel, and how often one of its messages found no room behind it;
/// and how far flits go in the whole network. Empty where the job's nodes have none of that machine.
[[nodiscard]] std::string t1_counts(const std::shared_ptr<const host::Memory>& memory, NodeId node);
/// The same; and how many of the node's messages came back, and how many of its addresses its GTLB did not know.
[[nodiscard]] std::string mmachine_counts(const std::shared_ptr<const host::Memory>& memory, NodeId node);

/// Lines about the links of this node into both networks, in messages; and how many have been saved while networks were swapped.
[[nodiscard]] std::string cm5_counts(const std::shared_ptr<const host::Memory>& memory, NodeId node);

/// The same, in messages, which are of any size there.
[[nodiscard]] std::string iwarp_counts(const std::shared_ptr<const host::Memory>& memory, NodeId node);
[[nodiscard]] std::string ncube2_counts(const std::shared_ptr<const host::Memory>& memory, NodeId node);
/// And how often the site's router has split messages, and kept, stored and sent again copies of them.
[[nodiscard]] std::string care_counts(const std::shared_ptr<const host::Memory>& memory, NodeId node);

}  // namespace am::emulated
