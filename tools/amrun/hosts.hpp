// Which hosts a job runs on, and how many of its nodes each gets. Pure but for reading the hostfile.
#pragma once

#include <am/types.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amrun {

// A host as the user names it.
struct HostShare {
  std::string name;
  std::optional<am::NodeId> nodes;  // how many it takes; nothing: its share of what the others leave
  bool is_here = false;             // it is this host
};

// "a,b:4,[fd00::2]:2". One that is named again takes so many more. Throws Fault (wrong_usage).
std::vector<HostShare> parse_hosts(std::string_view text);

// Open MPI's hostfile: a line for each host, "b slots=4 max_slots=8"; # begins a comment; a host without slots has max_slots, or one for
// each line that names it. MPICH's "b:4" is the same as "b slots=4". Throws Fault (wrong_usage).
std::vector<HostShare> read_hostfile(const std::string& path);
std::vector<HostShare> parse_hostfile(std::string_view text, const std::string& path);

// Marks the hosts whose names are this one's. They are one, with the name and the place in the list of the first of them.
std::vector<HostShare> find_this_host(const std::vector<HostShare>& hosts,
                                      const std::function<bool(const std::string& name)>& is_this_host);

// How many nodes each gets, in their order: node 0 and its neighbours on the first one. Without `nodes` a host without a number
// takes one; with it those share what is left, and the others are filled in their order. Throws Fault (wrong_usage) where the
// hosts do not have so many places, or a job is larger than jobs can be.
std::vector<am::NodeId> share_out(const std::vector<HostShare>& hosts, std::optional<am::NodeId> nodes);

}  // namespace amrun
