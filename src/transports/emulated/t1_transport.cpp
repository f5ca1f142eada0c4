#include "transports/emulated/t1_transport.hpp"

#include <utility>

#include "transports/emulated/parts.hpp"

namespace am::emulated {

namespace {

constexpr unsigned flits_of(std::size_t words) noexcept {
  return static_cast<unsigned>((t1::words_of_header + words + t1::words_per_flit - 1) / t1::words_per_flit);
}
constexpr std::size_t in_words(std::size_t bytes) noexcept {
  return (bytes + sizeof(t1::Word) - 1) / sizeof(t1::Word);
}
// As those under the clock (hardware_handlers.hpp), with addresses of 64 bits.
constexpr std::size_t scalars_of_store = 3;  // where to, how many bytes
constexpr std::size_t scalars_of_fetch = 5;  // where from, where to, how many bytes

}  // namespace

t1::Shape shape_of(std::string_view options, NodeId nodes) {
  const Extents its = extents_of({"t1", "a CNS-1", kit::most_live_nodes}, options, nodes);
  return {.rows = its.rows, .columns = its.columns};
}

T1Transport::T1Transport(const Site& site)
    : T1Transport(site, shape_of(site.options, site.memory->nodes())) {}

T1Transport::T1Transport(const Site& site, const t1::Shape& shape)
    : WindowTransport(site, t1::LiveMesh::bytes(site.memory->nodes()), ordered_lanes),
      host_(windows()),
      mesh_(shape, windows().routers(), host_),
      accesses_(windows(), self()),
      injector_(mesh_, self(), most_waiting(), backlog()) {}

void T1Transport::commit(const Slot& slot, impl::Header header) noexcept {
  header.bits |= slot.mark;
  const bool has_payload = header.has(impl::flag::payload);
  const std::size_t words =
      words_of(header.words(), has_payload, has_payload ? slot.packet->payload_bytes : 0);
  publish_in(slot, header);
  if (!multicast_) return send(slot.to, slot.priority, words, false);
  multicast_->priority = slot.priority;
  multicast_->words = words;
  multicast_->add(mesh_.grid(), self(), slot.to);
}

void T1Transport::Multicast::add(const kit::Grid& grid, NodeId self, NodeId to) noexcept {
  const unsigned port = kit::dimension_order(grid, self, to).port;
  const unsigned its_links = 1 + kit::distance(grid, self, to);
  if (its_links <= links[port]) return;
  links[port] = its_links;
  farthest[port] = to;
}

void T1Transport::end_multicast() noexcept {
  const Multicast all = *std::exchange(multicast_, std::nullopt);
  for (unsigned port = 0; port < t1::ports; ++port) {
    if (all.links[port] != 0) send(all.farthest[port], all.priority, all.words, port != 0);
  }
}

void T1Transport::send(NodeId to, Priority priority, std::size_t words, bool multicast) noexcept {
  for_each_part(words, words_per_message, [&](std::size_t these, bool last) {
    injector_.put(priority, {.destination = to,
                             .source = self(),
                             .flits = flits_of(these),
                             .counts = last,
                             .multicast = multicast});
  });
  mesh_.carry(self(), t1_priority(priority));
}

Status T1Transport::begin_access(Access access, NodeId peer, std::size_t bytes) noexcept {
  if (!is_connected(peer)) {
    if (const Status status = connect(peer); status != Status::ok) return status;
  }
  if (!injector_.push(Priority::low) || !accesses_.may_begin(access, peer)) return Status::again;
  if (access == Access::fetch && !accesses_.can_be_answered(peer)) return no_memory(peer);
  accesses_.begun(access, peer);
  access == Access::store ? store(peer, bytes) : fetch(peer, bytes);
  mesh_.carry(self(), t1::Priority::low);
  return Status::ok;
}

void T1Transport::store(NodeId to, std::size_t bytes) noexcept {
  for_each_part(in_words(bytes), words_per_access, [&](std::size_t these, bool last) {
    injector_.put(Priority::low, {.destination = to,
                                  .source = self(),
                                  .flits = flits_of(scalars_of_store + these),
                                  .counts = last,
                                  .who = t1::For::store});
  });
}

void T1Transport::fetch(NodeId from, std::size_t bytes) noexcept {
  for_each_part(in_words(bytes), words_per_access, [&](std::size_t these, bool last) {
    injector_.put(Priority::low, {.destination = from,
                                  .source = self(),
                                  .flits = flits_of(scalars_of_fetch),
                                  .counts = last,
                                  .who = t1::For::fetch,
                                  .answer_flits = flits_of(scalars_of_store + these)});
  });
}

}  // namespace am::emulated
