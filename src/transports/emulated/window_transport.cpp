#include "transports/emulated/window_transport.hpp"

#include <unistd.h>
#include <algorithm>
#include <am/error.hpp>
#include <bit>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>

#include "host/bell.hpp"
#include "host/counted.hpp"
#include "host/heavy_fence.hpp"

namespace am::emulated {

namespace {

constexpr std::uint32_t rounds_until_routers = 256;  // are looked after
constexpr std::uint32_t rounds_until_quiet = 64;

std::optional<unsigned> number_in(std::string_view text) noexcept {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// With the fewest columns, of at least as many as rows.
Extents squarest(NodeId nodes) {
  Extents extents{1, nodes};
  for (unsigned rows = 2; rows * rows <= nodes; ++rows) {
    if (nodes % rows == 0) extents = {rows, nodes / rows};
  }
  return extents;
}

std::string text_of(const Extents& extents) {
  return std::to_string(extents.rows) + "x" + std::to_string(extents.columns);
}

}  // namespace

Extents extents_of(const Machine& machine, std::string_view options, NodeId nodes) {
  const std::string name(machine.name);
  const std::string what = "make the network of " + std::string(machine.people);
  constexpr const char* other = "run another number of nodes, or another network (AM_TRANSPORT)";
  if (nodes > kit::most_live_nodes)
    throw Error(what,
                "the job has " + std::to_string(nodes) + " nodes, and " + std::string(machine.people) +
                    " has up to " + std::to_string(kit::most_live_nodes),
                other);
  const auto fits = [&](const Extents& its) {
    return its.rows <= machine.most_extent && its.columns <= machine.most_extent;
  };
  const Extents proposed = squarest(nodes);
  const std::string fitting = name + ":" + text_of(proposed) + ", or " + name + " alone";
  const std::string say = fits(proposed) ? "say " + fitting : other;
  Extents its = proposed;
  if (!options.empty()) {
    const std::string said = "AM_TRANSPORT=" + name + ":" + std::string(options);
    const std::size_t x = options.find('x');
    const auto rows = number_in(options.substr(0, x));
    const auto columns = x == std::string_view::npos ? std::nullopt : number_in(options.substr(x + 1));
    if (!rows || !columns || *rows == 0 || *columns == 0)
      throw Error(what, said + " is no grid", "say rows x columns, " + fitting);
    its = {*rows, *columns};
    const std::uint64_t places = std::uint64_t{its.rows} * its.columns;
    if (places != nodes)
      throw Error(what,
                  said + " is a grid of " + host::counted(places, "node") + ", and the job has " +
                      std::to_string(nodes),
                  say);
  }
  if (!fits(its))
    throw Error(what,
                "the grid " + text_of(its) +
                    " of the job's nodes has too long a side: " + std::string(machine.people) +
                    " has up to " + text_of({machine.most_extent, machine.most_extent}),
                say);
  return its;
}

unsigned dimensions_of(std::string_view people, NodeId nodes) {
  constexpr NodeId most = kit::most_live_nodes;
  if (std::has_single_bit(nodes) && nodes <= most) return static_cast<unsigned>(std::countr_zero(nodes));
  const NodeId below = nodes > most ? most : std::bit_floor(nodes);
  const std::string fitting =
      std::to_string(below) + (nodes < most ? " or " + std::to_string(2 * below) : "") + " nodes";
  const std::string its(people);
  throw Error("make the network of " + its,
              "the job has " + std::to_string(nodes) + " nodes, and " + its +
                  " is a cube of 1, 2, 4, ... up to " + std::to_string(most),
              "run " + fitting + ", or another network (AM_TRANSPORT)");
}

WindowTransport::WindowTransport(const Site& site, std::size_t routers, std::size_t lanes, bool any_size,
                                 std::size_t beside)
    : self_(site.self),
      windows_(site.memory, routers, lanes, beside),
      producers_(lanes * windows_.nodes()),
      closed_(windows_.nodes()),
      senders_fence_(site.armed_often),
      refusals_(lanes * windows_.nodes()),
      refusal_of_(lanes * windows_.nodes()) {
  if (!windows_.commit_routers())
    throw Error("make an emulated network", "no memory for its routers", host::SharedFile::more_room);
  if (any_size) chunks_.emplace(windows_, self_);
  arrivals_.reserve(lanes);
  for (std::size_t lane = 0; lane < lanes; ++lane)
    arrivals_.emplace_back(windows_, self_, static_cast<Lane>(lane));
  windows_.news(self_).fences.store(senders_fence_, std::memory_order_relaxed);
  host::heavy_fence_works();  // registers this process
}

Status WindowTransport::no_memory(NodeId peer) noexcept {
  if (!std::exchange(told_of_no_memory_, true)) {
    char text[200];  // not by stdio, which an interrupt must not enter
    const int size =
        std::snprintf(text, sizeof text,
                      "am: node %u: no memory for the window to node %u (%zu KiB); its sends wait (the "
                      "container's memory limit, or the size of /dev/shm)\n",
                      self_, peer, windows_.bytes_of_window() / 1024);
    [[maybe_unused]] const ssize_t written =
        write(STDERR_FILENO, text, static_cast<std::size_t>(std::max(size, 0)));
  }
  return Status::again;
}

Status WindowTransport::connect(NodeId to) noexcept {
  if (closed_[to]) return Status::unreachable;
  if (!commit_windows(to)) return no_memory(to);
  Window& window = windows_.window(to, self_);
  for (std::size_t i = 0; i < windows_.lanes(); ++i) {
    const auto lane = static_cast<Lane>(i);
    ring(to, lane).connect(window.ring(lane), lines_of(lane), &window.control[i]);
  }
  return Status::ok;
}

Transport::Slot WindowTransport::claim_in(Lane lane, NodeId to, std::size_t words,
                                          std::size_t payload_bytes) noexcept {
  Slot slot{nullptr, Status::again, to, priority_of(lane)};
  slot.lane = static_cast<std::uint32_t>(lane);
  impl::Producer& its = ring(to, lane);
  if (!its.connected()) [[unlikely]] {
    slot.status = connect(to);
    if (slot.status != Status::ok) return slot;
    slot.status = Status::again;
  }
  if (chunks_) chunks_->forget(to, slot.priority);
  if (!is_clear(slot.priority)) return slot;
  if (goes_into_chunk(payload_bytes) && chunks_->take(slot, payload_bytes)) {
    claim_line(slot, its, payload_bytes);
    return slot;
  }
  slot.room = std::min(payload_bytes, impl::packet_payload_bytes);
  const std::size_t lines = impl::payload_lines(words, slot.room);
  slot.packet = its.claim(1 + lines);
  if (slot.packet == nullptr) {
    remember({to, lane, 1 + lines, 0});
    return slot;
  }
  slot.status = Status::ok;
  slot.payload = slot.packet->payload(words, lines);
  slot.mark = impl::Header::make(0, 0, lines, 0).bits;
  return slot;
}

/// A line for the packet whose payload has a chunk; or has none, which will come back.
void WindowTransport::claim_line(Slot& slot, impl::Producer& ring, std::size_t payload_bytes) noexcept {
  slot.packet = slot.payload == nullptr ? nullptr : ring.claim(1);
  if (slot.packet != nullptr) {
    slot.status = Status::ok;
    return chunks_->is_claimed(slot);
  }
  remember({slot.to, static_cast<Lane>(slot.lane), 1, slot.payload == nullptr ? payload_bytes : 0});
  if (slot.payload != nullptr) chunks_->give_back(slot);
}

bool WindowTransport::has_room_in(Lane lane, NodeId to, std::size_t payload_bytes) noexcept {
  impl::Producer& its = ring(to, lane);
  if (!its.connected()) return connect(to) != Status::again;
  if (!is_clear(priority_of(lane))) return false;
  const bool in_chunk = goes_into_chunk(payload_bytes);
  const std::size_t lines =
      in_chunk
          ? 1
          : 1 + impl::payload_lines(impl::max_words, std::min(payload_bytes, impl::packet_payload_bytes));
  const Refusal refusal{to, lane, lines, in_chunk ? payload_bytes : 0};
  if (has_come(refusal)) return true;
  remember(refusal);
  return false;
}

// Of the lanes of a priority each begins in turn, so that none keeps the other waiting.
Transport::View WindowTransport::receive(Priority priority) noexcept {
  View view{nullptr, {}, 0, priority};
  std::uint32_t& gave = gave_[static_cast<std::size_t>(priority)];
  for (std::size_t tried = 0; tried < windows_.lanes(); tried += ordered_lanes) {
    gave += ordered_lanes;
    if (gave >= windows_.lanes()) gave = static_cast<std::uint32_t>(priority);
    view.packet = arrivals_[gave].receive(view.source, view.head);
    if (view.packet != nullptr) break;
  }
  view.lane = gave;
  return view;
}

bool WindowTransport::waits(Priority priority, const impl::Packet* lent) noexcept {
  bool any = false;
  for_lanes(priority, [&](Arrivals& arrivals) {
    const bool lends = &arrivals == &arrivals_[gave_[static_cast<std::size_t>(priority)]];
    any = any || arrivals.waits(lends ? lent : nullptr);
  });
  return any;
}

bool WindowTransport::progress() noexcept {
  ++rounds_;
  bool any = false;
  if (rounds_ % rounds_until_routers == 0) any = look_after();
  for (const Priority priority : {Priority::high, Priority::low}) {
    any = (backlog_[static_cast<std::size_t>(priority)] && push(priority)) || any;
    for_lanes(priority, [&](Arrivals& arrivals) {
      if (rounds_ % rounds_until_quiet == 0) arrivals.look_after_quiet();
      any = arrivals.look() || any;
    });
  }
  return any;
}

// Who brings something counts it, and then looks at the alarm; who hands back lines of a window publishes that, and then looks at
// `starved`. Neither has a fence between the two, so ours is a heavy one; but a node that is armed whenever it computes has asked the
// first ones for theirs.
bool WindowTransport::arm(Wanted wanted) noexcept {
  look_after();
  set_starved(true);
  if (ask_receivers() || refused_ != 0 || !senders_fence_) {
    host::heavy_fence();
  } else {
    host::own_fence();
  }
  bool high = false;
  bool low = false;
  for_lanes(Priority::high, [&](Arrivals& arrivals) { high = arrivals.look_everywhere() || high; });
  for_lanes(Priority::low, [&](Arrivals& arrivals) { low = arrivals.look_everywhere() || low; });
  if (!(wanted.high && high) && !(wanted.low && low) && !has_news() && !room_came()) return true;
  disarm();
  return false;
}

void WindowTransport::disarm() noexcept {
  set_starved(false);
  for (; refused_ != 0; --refused_)
    refusal_of_[place(refusals_[refused_ - 1].to, refusals_[refused_ - 1].lane)] = 0;
  forget_refusals();
}

void WindowTransport::remember(const Refusal& refusal) noexcept {
  std::uint32_t& its = refusal_of_[place(refusal.to, refusal.lane)];
  if (its == 0) {
    refusals_[refused_] = refusal;
    its = static_cast<std::uint32_t>(++refused_);
  } else {
    Refusal& least = refusals_[its - 1];
    least.lines = std::min(least.lines, refusal.lines);
    least.payload_bytes = std::min(least.payload_bytes, refusal.payload_bytes);
  }
}

bool WindowTransport::has_come(const Refusal& refusal) noexcept {
  return ring(refusal.to, refusal.lane).has_room(refusal.lines) &&
         (refusal.payload_bytes == 0 ||
          chunks_->has_room(refusal.to, priority_of(refusal.lane), refusal.payload_bytes));
}

void WindowTransport::set_starved(bool starved) noexcept {
  for (std::size_t i = 0; i < refused_; ++i) {
    impl::Producer& its = ring(refusals_[i].to, refusals_[i].lane);
    if (its.connected()) its.control().starved.store(starved ? 1 : 0, std::memory_order_relaxed);
  }
}

bool WindowTransport::room_came() noexcept {
  return std::ranges::any_of(refusals_.get(), refusals_.get() + refused_,
                             [this](const Refusal& refusal) { return has_come(refusal); });
}

bool WindowTransport::describe(Lookout& lookout, Wanted wanted) const {
  bool any = false;
  for (std::size_t lane = 0; lane < arrivals_.size(); ++lane) {
    const bool has = arrivals_[lane].describe(lookout);
    any = any || (has && (priority_of(static_cast<Lane>(lane)) == Priority::high ? wanted.high : wanted.low));
  }
  return any;
}

void WindowTransport::close(NodeId peer) noexcept {
  closed_[peer] = true;
  if (chunks_) chunks_->close(peer);
  for (std::size_t lane = 0; lane < windows_.lanes(); ++lane) ring(peer, static_cast<Lane>(lane)) = {};
}

std::size_t WindowTransport::queued(NodeId to, Priority priority) const noexcept {
  std::size_t lines = 0;
  for (auto lane = static_cast<std::size_t>(priority); lane < windows_.lanes(); lane += ordered_lanes)
    lines += producers_[place(to, static_cast<Lane>(lane))].queued();
  return lines;
}

}  // namespace am::emulated
