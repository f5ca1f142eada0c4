#include "transports/emulated/mmachine_transport.hpp"

#include <algorithm>

#include "transports/emulated/parts.hpp"

namespace am::emulated {

namespace {

constexpr mmachine::MessageKind kind_of(Lane lane) noexcept {
  return static_cast<mmachine::MessageKind>(lane);
}
static_assert(kind_of(Lane::high) == mmachine::MessageKind::p1_ordered &&
              kind_of(Lane::low_unordered) == mmachine::MessageKind::p0_unordered);

}  // namespace

Extents mmachine_extents(std::string_view options, NodeId nodes) {
  return extents_of({"mmachine", "an M-Machine", mmachine::most_extent_live}, options, nodes);
}

MMachineTransport::MMachineTransport(const Site& site)
    : MMachineTransport(site, mmachine_extents(site.options, site.memory->nodes())) {}

MMachineTransport::MMachineTransport(const Site& site, const Extents& extents)
    : WindowTransport(site, mmachine_bytes(site.memory->nodes()), most_lanes),
      host_(windows()),
      mesh_(extents.rows, extents.columns, windows().routers(), host_),
      pages_(extents.rows, extents.columns),
      translation_(pages_),
      injector_(mesh_, self(), most_waiting(), backlog()),
      peers_(windows().nodes()) {
  waiting_.reserve(windows().nodes());
}

/// What comes back is counted in the window for what comes from there.
bool MMachineTransport::commit_windows(NodeId to) noexcept {
  return windows().commit_window(to, self()) && windows().commit_window(self(), to);
}

mmachine::NodeNumber MMachineTransport::destination(NodeId to) noexcept {
  const std::uint64_t before = translation_.misses();
  const mmachine::NodePlace place = translation_.place_of(to);
  if (translation_.misses() != before) mesh_.count_gtlb_misses(self(), translation_.misses() - before);
  return place.y * mesh_.grid().dimension(0).extent + place.x;
}

void MMachineTransport::commit(const Slot& slot, impl::Header header) noexcept {
  header.bits |= slot.mark;
  const bool has_payload = header.has(impl::flag::payload);
  const std::size_t words =
      mmachine_words(header.words(), has_payload, has_payload ? slot.packet->payload_bytes : 0);
  publish_in(slot, header);
  mmachine::LiveMessage message{
      .destination = destination(slot.to), .source = self(), .kind = kind_of(static_cast<Lane>(slot.lane))};
  for_each_part(words, mmachine::most_body, [&](std::size_t these, bool last) {
    message.flits = mmachine::words_before_body + static_cast<unsigned>(these);
    message.counts = last;
    injector_.put(slot.priority, message);
  });
  if (slot.priority == Priority::low) {
    Requests& requests = peers_[slot.to].requests[slot.lane / ordered_lanes];
    ++requests.sent;
    requests.flits = message.flits;
  }
  mesh_.carry(self(), mmachine_priority(slot.priority));
}

void MMachineTransport::release(const View& view) noexcept {
  WindowTransport::release(view);
  if (view.priority == Priority::high) return;
  Taken& taken = peers_[view.source].taken[view.lane / ordered_lanes];
  if (++taken.released <= taken.without_buffer) return;
  taken.without_buffer = taken.released;
  free_buffers(1);
}

void MMachineTransport::defer(const View& view) noexcept {
  WindowTransport::defer(view);
  if (view.priority == Priority::high) return;
  Taken& taken = peers_[view.source].taken[view.lane / ordered_lanes];
  const kit::Entry entry{
      windows().window(self(), view.source).arrived[view.lane].load(std::memory_order_acquire)};
  const std::int64_t more = entry.beyond(taken.without_buffer);
  if (more <= 0) return;
  taken.without_buffer += static_cast<std::uint64_t>(more);
  free_buffers(static_cast<std::uint64_t>(more));
}

// Who waits for them asks by a heavy fence (WindowTransport::arm), before it looks at `released`.
void MMachineTransport::free_buffers(std::uint64_t requests) noexcept {
  ReceiveBuffers& own = host_.buffers(self());
  own.released.store(freed_ += requests, std::memory_order_release);
  if (!own.any_waits.load(std::memory_order_relaxed)) return;
  own.any_waits.store(false, std::memory_order_seq_cst);
  own.waits.take_all(windows().nodes(), [this](NodeId node) { host_.showing().wake(node); });
}

bool MMachineTransport::progress() noexcept {
  bool any = WindowTransport::progress();
  if (host_.buffers(self()).sent_back.any(windows().nodes())) take_back();
  if (!waiting_.empty()) any = send_again() || any;
  return any;
}

void MMachineTransport::take_back() noexcept {
  host_.buffers(self()).sent_back.take_all(windows().nodes(), [this](NodeId peer) { take_back_from(peer); });
}

void MMachineTransport::take_back_from(NodeId from) noexcept {
  Peer& peer = peers_[from];
  const bool waited = peer.waits();
  std::uint64_t all = 0;
  for (std::size_t unordered = 0; unordered < 2; ++unordered) {
    const auto what = static_cast<std::size_t>(mmachine::Counted::back) + unordered;
    const kit::Entry entry{windows().window(self(), from).arrived[what].load(std::memory_order_acquire)};
    Requests& requests = peer.requests[unordered];
    const std::int64_t beyond = entry.beyond(requests.came_back);
    if (beyond <= 0) continue;
    const auto came = static_cast<std::uint64_t>(beyond);
    requests.came_back += came;
    if (!is_closed(from)) requests.waiting += came;
    all += came;
  }
  mesh_.count_sent_back(self(), all);
  if (!waited && peer.waits()) waiting_.push_back(from);
}

bool MMachineTransport::send_again() noexcept {
  bool any = false;
  for (std::size_t i = waiting_.size(); i-- > 0;) {
    const NodeId to = waiting_[i];
    Peer& peer = peers_[to];
    if (!host_.buffers(to).has_room()) continue;
    any = true;
    send_again(to, peer);
    if (peer.waits()) continue;
    waiting_[i] = waiting_.back();
    waiting_.pop_back();
  }
  return any;
}

void MMachineTransport::send_again(NodeId to, Peer& peer) noexcept {
  mmachine::LiveMessage message{.destination = destination(to), .source = self()};
  for (std::size_t unordered = 0; unordered < 2; ++unordered) {
    Requests& requests = peer.requests[unordered];
    message.flits = requests.flits;
    message.kind = kind_of(lane_of(Priority::low, unordered != 0));
    while (requests.waiting != 0 && host_.buffers(to).has_room() && injector_.push(Priority::low)) {
      --requests.waiting;
      injector_.put(Priority::low, message);
      mesh_.carry(self(), mmachine::Priority::p0);
    }
  }
}

bool MMachineTransport::ask_receivers() noexcept {
  for (const NodeId node : waiting_) {
    ReceiveBuffers& its = host_.buffers(node);
    its.waits.set(self());
    its.any_waits.store(true, std::memory_order_seq_cst);
  }
  return !waiting_.empty();
}

bool MMachineTransport::may_send_again() const noexcept {
  return host_.buffers(self()).sent_back.any(windows().nodes()) ||
         std::ranges::any_of(waiting_, [this](NodeId node) { return host_.buffers(node).has_room(); });
}

bool MMachineTransport::describe(Lookout& lookout, Wanted wanted) const {
  const bool any = WindowTransport::describe(lookout, wanted);
  const Senders& senders = host_.buffers(self()).sent_back;
  for (std::size_t word = 0; word * 64 < windows().nodes(); ++word) lookout.watch(senders.word[word], 0);
  for (const NodeId node : waiting_) lookout.watch(host_.buffers(node).released);
  return may_send_again() || any;
}

/// What was sent back is not gone.
bool MMachineTransport::drained() const noexcept {
  if (has_backlog() || !mesh_.has_gone(self())) return false;
  for (NodeId to = 0; to < windows().nodes(); ++to) {
    for (std::size_t unordered = 0; unordered < 2; ++unordered) {
      const std::uint64_t sent = peers_[to].requests[unordered].sent;
      if (sent == 0 || is_closed(to)) continue;
      const std::size_t lane = index(lane_of(Priority::low, unordered != 0));
      const kit::Entry entry{windows().window(to, self()).arrived[lane].load(std::memory_order_acquire)};
      if (entry.beyond(sent) != 0) return false;
    }
  }
  return true;
}

void MMachineTransport::close(NodeId peer) noexcept {
  WindowTransport::close(peer);
  for (Requests& requests : peers_[peer].requests) requests.waiting = 0;
  std::erase(waiting_, peer);
}

}  // namespace am::emulated
