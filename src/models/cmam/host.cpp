// CMMD's calls of a host and its nodes. The host is node 0: it calls the one half, all others the other one. They are collectives of
// all nodes, so that who is missing is told of.
#include <cstring>
#include <vector>

#include "models/cmam/control_network.hpp"

namespace am::models::cmam {

namespace {

constexpr NodeId the_host = 0;

enum class Part : std::uint8_t { host, node };

/// This thread's node in a call of the host, or of one that is not.
class WithHost {
 public:
  WithHost(const char* call, Part part) : all_(call) {
    if ((all_.node().id() == the_host) != (part == Part::host))
      broken(all_.node().id(), call,
             part == Part::host ? " is the host's, and the host is node 0"
                                : " is not the host's, and node 0 is the host");
  }
  [[nodiscard]] Node& node() const noexcept { return all_.node(); }

 private:
  const Together all_;
};

void broadcast_of_host(const char* call, Part part, void* buffer, int nbytes) {
  const WithHost all(call, part);
  broadcast(all.node(), bytes_at(all.node(), call, buffer, nbytes), the_host);
}

/// The blocks of all nodes; of the host's buffer, which holds as many.
std::vector<std::byte> blocks(const Node& node, std::span<const std::byte> one) {
  return std::vector<std::byte>(node.size() * one.size());
}
std::span<std::byte> all_blocks(const Node& node, std::span<std::byte> one) {
  return {one.data(), node.size() * one.size()};
}

void distribute(const char* call, Part part, void* buffer, int nbytes) {
  const WithHost all(call, part);
  Node& node = all.node();
  const std::span<std::byte> mine = bytes_at(node, call, buffer, nbytes);
  if (part == Part::host) return broadcast(node, all_blocks(node, mine), the_host);
  std::vector<std::byte> every = blocks(node, mine);
  broadcast(node, std::span(every), the_host);
  if (!mine.empty()) std::memcpy(mine.data(), every.data() + node.id() * mine.size(), mine.size());
}

void gather(const char* call, Part part, void* buffer, int nbytes) {
  const WithHost all(call, part);
  Node& node = all.node();
  const std::span<std::byte> mine = bytes_at(node, call, buffer, nbytes);
  if (part == Part::host) return impl::all_gather_bytes(node, all_blocks(node, mine), mine.size());
  std::vector<std::byte> every = blocks(node, mine);
  if (!mine.empty()) std::memcpy(every.data() + node.id() * mine.size(), mine.data(), mine.size());
  impl::all_gather_bytes(node, every, mine.size());
}

template <class T>
T reduce_at_host(const char* call, Part part, T value, CMMD_combiner_t combiner) {
  const WithHost all(call, part);
  check_combiner<T>(all.node(), call, combiner);
  return with_combiner(combiner,
                       [&](auto op) { return am::reduce(all.node(), value, op, the_host).value_or(T{0}); });
}

void meet(const char* call, Part part) { WithHost(call, part).node().barrier(); }

}  // namespace

}  // namespace am::models::cmam

using namespace am::models::cmam;

int CMMD_host_node(void) { return static_cast<int>(the_host); }
void CMMD_enable(void) { meet("CMMD_enable", Part::host); }
void CMMD_enable_host(void) { meet("CMMD_enable_host", Part::node); }
void CMMD_sync_host_with_nodes(void) { meet("CMMD_sync_host_with_nodes", Part::host); }
void CMMD_sync_with_host(void) { meet("CMMD_sync_with_host", Part::node); }

void CMMD_bc_from_host(void* buffer, int nbytes) {
  broadcast_of_host("CMMD_bc_from_host", Part::host, buffer, nbytes);
}
void CMMD_receive_bc_from_host(void* buffer, int nbytes) {
  broadcast_of_host("CMMD_receive_bc_from_host", Part::node, buffer, nbytes);
}
void CMMD_distrib_to_nodes(void* all, int nbytes) {
  distribute("CMMD_distrib_to_nodes", Part::host, all, nbytes);
}
void CMMD_receive_element_from_host(void* buffer, int nbytes) {
  distribute("CMMD_receive_element_from_host", Part::node, buffer, nbytes);
}
void CMMD_gather_from_nodes(void* all, int nbytes) {
  gather("CMMD_gather_from_nodes", Part::host, all, nbytes);
}
void CMMD_concat_elements_to_host(void* buffer, int nbytes) {
  gather("CMMD_concat_elements_to_host", Part::node, buffer, nbytes);
}

/// The two halves of one type of values.
#define AM_CMMD_TYPE(T, name)                                                            \
  T CMMD_reduce_from_nodes_##name(T value, CMMD_combiner_t combiner) {                   \
    return reduce_at_host("CMMD_reduce_from_nodes_" #name, Part::host, value, combiner); \
  }                                                                                      \
  T CMMD_reduce_to_host_##name(T value, CMMD_combiner_t combiner) {                      \
    return reduce_at_host("CMMD_reduce_to_host_" #name, Part::node, value, combiner);    \
  }
AM_CMMD_TYPE(int, int)
AM_CMMD_TYPE(unsigned, uint)
AM_CMMD_TYPE(float, float)
AM_CMMD_TYPE(double, double)
#undef AM_CMMD_TYPE
