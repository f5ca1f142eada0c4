#include "transports/emulated/t1_transport.hpp"

#include <unistd.h>
#include <algorithm>
#include <am/error.hpp>
#include <charconv>
#include <cstdio>
#include <string>
#include <utility>

#include "host/bell.hpp"
#include "host/heavy_fence.hpp"

namespace am::emulated {

namespace {

constexpr std::uint32_t rounds_until_routers = 256;  // are looked after
constexpr std::uint32_t rounds_until_quiet = 64;

constexpr t1::Priority of(Priority priority) noexcept {
  return priority == Priority::high ? t1::Priority::high : t1::Priority::low;
}

std::optional<unsigned> number_in(std::string_view text) noexcept {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string grid_text(const t1::Shape& shape) {
  return std::to_string(shape.rows) + "x" + std::to_string(shape.columns);
}

constexpr unsigned flits_of(std::size_t words) noexcept {
  return static_cast<unsigned>((t1::words_of_header + words + t1::words_per_flit - 1) / t1::words_per_flit);
}
constexpr std::size_t in_words(std::size_t bytes) noexcept {
  return (bytes + sizeof(t1::Word) - 1) / sizeof(t1::Word);
}
// As those under the clock (hardware_handlers.hpp), with addresses of 64 bits.
constexpr std::size_t scalars_of_store = 3;  // where to, how many bytes
constexpr std::size_t scalars_of_fetch = 5;  // where from, where to, how many bytes

/// Calls f(words of this part, whether it is the last) for each: one at least.
template <class F>
void for_each_part(std::size_t words, std::size_t most, F f) {
  for (bool last = false; !last;) {
    const std::size_t these = std::min(words, most);
    words -= these;
    last = words == 0;
    f(these, last);
  }
}

t1::Shape squarest(NodeId nodes) {
  t1::Shape shape{.rows = 1, .columns = nodes};
  for (unsigned rows = 2; rows * rows <= nodes; ++rows) {
    if (nodes % rows == 0) shape = {.rows = rows, .columns = nodes / rows};
  }
  return shape;
}

}  // namespace

t1::Shape shape_of(std::string_view options, NodeId nodes) {
  constexpr const char* what = "make the T1's network";
  if (nodes > t1::most_nodes)
    throw Error(what,
                "the job has " + std::to_string(nodes) + " nodes, and a CNS-1 has up to " +
                    std::to_string(t1::most_nodes),
                "run fewer, or on another network (AM_TRANSPORT)");
  const t1::Shape proposed = squarest(nodes);
  if (options.empty()) return proposed;
  const std::size_t x = options.find('x');
  const auto rows = number_in(options.substr(0, x));
  const auto columns = x == std::string_view::npos ? std::nullopt : number_in(options.substr(x + 1));
  if (!rows || !columns || *rows == 0 || *columns == 0)
    throw Error(what, "AM_TRANSPORT=t1:" + std::string(options) + " is no grid",
                "say rows x columns, t1:" + grid_text(proposed) + ", or t1 alone");
  if (std::uint64_t{*rows} * *columns != nodes)
    throw Error(what,
                "AM_TRANSPORT=t1:" + std::string(options) + " is a grid of " +
                    std::to_string(std::uint64_t{*rows} * *columns) + " nodes, and the job has " +
                    std::to_string(nodes),
                "say t1:" + grid_text(proposed) + ", or t1 alone");
  return {.rows = *rows, .columns = *columns};
}

// After the count. Who takes the bit back looks at the count afterwards. What the interfaces do by themselves is no news to a
// processor: who has begun it looks (accesses.hpp).
void Host::arrived(t1::NodeNumber at, t1::NodeNumber from, t1::Counted what) noexcept {
  if (what >= t1::Counted::stored) return;
  std::atomic<std::uint64_t>& word = windows_.news(at).from[static_cast<std::size_t>(what)][from / 64];
  const std::uint64_t bit = std::uint64_t{1} << from % 64;
  if ((word.load(std::memory_order_seq_cst) & bit) == 0) word.fetch_or(bit, std::memory_order_seq_cst);
}

// Of two who do this at once the older count may stay: the receiver looks at the other one now and then (Arrivals::look_after_quiet).
void Host::show(t1::NodeNumber at, t1::NodeNumber from, t1::Counted what) noexcept {
  if (what >= t1::Counted::stored) return wake(what == t1::Counted::stored ? from : at);
  Window& window = windows_.window(at, from);
  const auto p = static_cast<std::size_t>(what);
  window.shown[p].store(window.arrived[p].load(std::memory_order_acquire), std::memory_order_release);
  wake(at);
}

void Host::wake(t1::NodeNumber node) const noexcept {
  if (windows_.news(node).fences.load(std::memory_order_relaxed)) host::own_fence();
  host::wake(windows_.board(), node);
}

void Host::has_room(t1::NodeNumber at) noexcept {
  host::own_fence();
  host::wake(windows_.board(), at);
}

T1Transport::T1Transport(const Site& site)
    : self_(site.self),
      windows_(site.memory),
      host_(windows_),
      mesh_(shape_of(site.options, windows_.nodes()),
            (windows_.commit_routers() ? windows_.routers()
                                       : throw Error("make the T1's network", "no memory for its routers",
                                                     host::SharedFile::more_room)),
            host_),
      producers_(impl::link_count(windows_.nodes())),
      closed_(windows_.nodes()),
      senders_fence_(site.armed_often),
      arrivals_{Arrivals(windows_, self_, Priority::low), Arrivals(windows_, self_, Priority::high)},
      accesses_(windows_, self_),
      outgoing_{Outgoing(most_outgoing()), Outgoing(most_outgoing())},
      refusals_(impl::link_count(windows_.nodes())),
      refusal_of_(impl::link_count(windows_.nodes())) {
  windows_.news(self_).fences.store(senders_fence_, std::memory_order_relaxed);
  host::heavy_fence_works();  // registers this process
}

Status T1Transport::no_memory(NodeId peer) noexcept {
  if (!std::exchange(told_of_no_memory_, true)) {
    char text[200];  // not by stdio, which an interrupt must not enter
    const int size =
        std::snprintf(text, sizeof text,
                      "am: node %u: no memory for the window to node %u (%zu KiB); its sends wait (the "
                      "container's memory limit, or the size of /dev/shm)\n",
                      self_, peer, sizeof(Window) / 1024);
    [[maybe_unused]] const ssize_t written =
        write(STDERR_FILENO, text, static_cast<std::size_t>(std::max(size, 0)));
  }
  return Status::again;
}

Status T1Transport::connect(NodeId to) noexcept {
  if (closed_[to]) return Status::unreachable;
  if (!windows_.commit_window(to, self_)) return no_memory(to);
  Window& window = windows_.window(to, self_);
  producers_[impl::link_index(to, Priority::low)].connect(window.low, low_lines, &window.control[0]);
  producers_[impl::link_index(to, Priority::high)].connect(window.high, high_lines, &window.control[1]);
  return Status::ok;
}

Transport::Slot T1Transport::claim(NodeId to, Priority priority, std::size_t words,
                                   std::size_t payload_bytes) noexcept {
  Slot slot{nullptr, Status::again, to, priority};
  impl::Producer& ring = producers_[impl::link_index(to, priority)];
  if (!ring.connected()) [[unlikely]] {
    slot.status = connect(to);
    if (slot.status != Status::ok) return slot;
    slot.status = Status::again;
  }
  if (!send_outgoing(priority)) return slot;
  slot.room = std::min(payload_bytes, impl::packet_payload_bytes);
  const std::size_t lines = impl::payload_lines(words, slot.room);
  slot.packet = ring.claim(1 + lines);
  if (slot.packet == nullptr) {
    remember(to, priority, 1 + lines);
    return slot;
  }
  slot.status = Status::ok;
  slot.payload = slot.packet->payload(words, lines);
  slot.mark = impl::Header::make(0, 0, lines, 0).bits;
  return slot;
}

bool T1Transport::has_room(NodeId to, Priority priority, std::size_t payload_bytes) noexcept {
  impl::Producer& ring = producers_[impl::link_index(to, priority)];
  if (!ring.connected()) return connect(to) != Status::again;
  if (!send_outgoing(priority)) return false;
  const std::size_t lines =
      1 + impl::payload_lines(impl::max_words, std::min(payload_bytes, impl::packet_payload_bytes));
  if (ring.has_room(lines)) return true;
  remember(to, priority, lines);
  return false;
}

void T1Transport::commit(const Slot& slot, impl::Header header) noexcept {
  header.bits |= slot.mark;
  const bool has_payload = header.has(impl::flag::payload);
  const std::size_t words =
      words_of(header.words(), has_payload, has_payload ? slot.packet->payload_bytes : 0);
  producers_[impl::link_index(slot.to, slot.priority)].commit(slot.packet, header);
  if (!multicast_) return send(slot.to, slot.priority, words, false);
  multicast_->priority = slot.priority;
  multicast_->words = words;
  multicast_->add(mesh_.grid(), self_, slot.to);
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
    put_in(priority, {.destination = to,
                      .source = self_,
                      .flits = flits_of(these),
                      .counts = last,
                      .multicast = multicast});
  });
  mesh_.carry(self_, of(priority));
}

void T1Transport::put_in(Priority priority, const t1::Carried& message) noexcept {
  Outgoing& out = outgoing(priority);
  if (out.is_empty() && mesh_.inject(self_, of(priority), message)) return;
  out.messages[out.end++] = message;
  send_outgoing(priority);
}

Status T1Transport::begin_access(Access access, NodeId peer, std::size_t bytes) noexcept {
  if (!producers_[impl::link_index(peer, Priority::low)].connected()) {
    if (const Status status = connect(peer); status != Status::ok) return status;
  }
  if (!send_outgoing(Priority::low) || !accesses_.may_begin(access, peer)) return Status::again;
  if (access == Access::fetch && !accesses_.can_be_answered(peer)) return no_memory(peer);
  accesses_.begun(access, peer);
  access == Access::store ? store(peer, bytes) : fetch(peer, bytes);
  mesh_.carry(self_, t1::Priority::low);
  return Status::ok;
}

void T1Transport::store(NodeId to, std::size_t bytes) noexcept {
  for_each_part(in_words(bytes), words_per_access, [&](std::size_t these, bool last) {
    put_in(Priority::low, {.destination = to,
                           .source = self_,
                           .flits = flits_of(scalars_of_store + these),
                           .counts = last,
                           .who = t1::For::store});
  });
}

void T1Transport::fetch(NodeId from, std::size_t bytes) noexcept {
  for_each_part(in_words(bytes), words_per_access, [&](std::size_t these, bool last) {
    put_in(Priority::low, {.destination = from,
                           .source = self_,
                           .flits = flits_of(scalars_of_fetch),
                           .counts = last,
                           .who = t1::For::fetch,
                           .answer_flits = flits_of(scalars_of_store + these)});
  });
}

bool T1Transport::send_outgoing(Priority priority) noexcept {
  Outgoing& out = outgoing(priority);
  while (!out.is_empty()) {
    mesh_.carry(self_, of(priority));
    if (!mesh_.inject(self_, of(priority), out.messages[out.begin])) {
      no_room_[static_cast<std::size_t>(priority)] = true;
      return false;
    }
    ++out.begin;
  }
  out.begin = out.end = 0;
  return true;
}

Transport::View T1Transport::receive(Priority priority) noexcept {
  View view{nullptr, {}, 0, priority};
  view.packet = arrivals(priority).receive(view.source, view.head);
  return view;
}

void T1Transport::release(const View& view) noexcept {
  arrivals(view.priority).release(view.source, view.head.lines());
}

bool T1Transport::progress() noexcept {
  ++rounds_;
  bool any = false;
  if (rounds_ % rounds_until_routers == 0) any = mesh_.look_after();
  for (const Priority priority : {Priority::high, Priority::low}) {
    if (rounds_ % rounds_until_quiet == 0) arrivals(priority).look_after_quiet();
    if (!outgoing(priority).is_empty()) any = send_outgoing(priority) || any;
    any = arrivals(priority).look() || any;
  }
  return any;
}

bool T1Transport::drained() const noexcept {
  return outgoing_[0].is_empty() && outgoing_[1].is_empty() && mesh_.has_gone(self_);
}

// Who brings something counts it, and then looks at the alarm; who hands back lines of a window publishes that, and then looks at
// `starved`. Neither has a fence between the two, so ours is a heavy one; but a node that is armed whenever it computes has asked the
// first ones for theirs.
bool T1Transport::arm(Wanted wanted) noexcept {
  mesh_.look_after();
  set_starved(true);
  if (refused_ != 0 || !senders_fence_) {
    host::heavy_fence();
  } else {
    host::own_fence();
  }
  const bool high = arrivals(Priority::high).look_everywhere();
  const bool low = arrivals(Priority::low).look_everywhere();
  if (!(wanted.high && high) && !(wanted.low && low) && !accesses_.any_news() && !room_came()) return true;
  disarm();
  return false;
}

void T1Transport::disarm() noexcept {
  set_starved(false);
  for (; refused_ != 0; --refused_)
    refusal_of_[impl::link_index(refusals_[refused_ - 1].to, refusals_[refused_ - 1].priority)] = 0;
  no_room_ = {};
}

void T1Transport::remember(NodeId to, Priority priority, std::size_t lines) noexcept {
  std::uint32_t& place = refusal_of_[impl::link_index(to, priority)];
  if (place == 0) {
    refusals_[refused_] = {to, priority, lines};
    place = static_cast<std::uint32_t>(++refused_);
  } else {
    refusals_[place - 1].lines = std::min(refusals_[place - 1].lines, lines);
  }
}

void T1Transport::set_starved(bool starved) noexcept {
  for (std::size_t i = 0; i < refused_; ++i) {
    impl::Producer& ring = producers_[impl::link_index(refusals_[i].to, refusals_[i].priority)];
    if (ring.connected()) ring.control().starved.store(starved ? 1 : 0, std::memory_order_relaxed);
  }
}

bool T1Transport::room_came() noexcept {
  for (const Priority priority : {Priority::low, Priority::high}) {
    if ((no_room_[static_cast<std::size_t>(priority)] || !outgoing(priority).is_empty()) &&
        mesh_.ask_for_room(self_, of(priority)))
      return true;
  }
  return std::ranges::any_of(refusals_.get(), refusals_.get() + refused_, [this](const Refusal& refusal) {
    return producers_[impl::link_index(refusal.to, refusal.priority)].has_room(refusal.lines);
  });
}

bool T1Transport::describe(Lookout& lookout, Wanted wanted) const {
  const bool low = arrivals_[0].describe(lookout);
  const bool high = arrivals_[1].describe(lookout);
  return (low && wanted.low) || (high && wanted.high);
}

void T1Transport::close(NodeId peer) noexcept {
  closed_[peer] = true;
  for (const Priority priority : {Priority::low, Priority::high})
    producers_[impl::link_index(peer, priority)] = {};
}

}  // namespace am::emulated
