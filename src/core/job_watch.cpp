#include "core/job_watch.hpp"

#include <cstring>

#include "core/recorder.hpp"
#include "transports/shm/clock.hpp"

namespace am::core {

namespace {

std::uint64_t value(const std::atomic<std::uint64_t>& word) noexcept {
  return word.load(std::memory_order_relaxed);
}

shm::Standing standing_of(const shm::NodeCard& card) noexcept {
  return static_cast<shm::Standing>(card.standing.load(std::memory_order_acquire));
}

std::string milliseconds(std::uint64_t ns) { return std::to_string(ns / 1'000'000) + " ms"; }

std::string name_of(const shm::Segment& segment, std::size_t handler) {
  if (handler >= shm::max_handlers) return "of an unknown number";
  const shm::HandlerName& name = segment.handler_name(handler);
  const std::string text(name.text, strnlen(name.text, sizeof name.text));
  return text.empty() ? "of number " + std::to_string(handler) : text;
}

std::string describe(const shm::Segment& segment, const RecordedEvent& event) {
  switch (event.kind) {
    case RecordedEvent::Kind::none:
      return "";
    case RecordedEvent::Kind::timelet:
      return "a timelet";
    case RecordedEvent::Kind::outlet:
      return "the outlet";
    case RecordedEvent::Kind::low_message:
    case RecordedEvent::Kind::high_message:
      break;
  }
  return "handler " + name_of(segment, event.handler) + ", for a message from node " +
         std::to_string(event.from);
}

/// What lies in one ring, as far as an onlooker can tell: whoever receives may be some packets further.
struct RingContent {
  std::size_t lines = 0;  // not handed back yet
  std::size_t packets = 0;
  impl::HandlerId first = 0;
};

RingContent look_into(const impl::Packet* lines, std::size_t capacity,
                      const impl::RingControl& control) noexcept {
  const std::uint64_t released = control.released.load(std::memory_order_acquire);
  std::size_t at = released % capacity;
  auto lap = static_cast<std::uint16_t>(1 + (released / capacity) % 0xffff);
  RingContent content;
  while (content.lines < capacity) {
    const impl::Header header{lines[at].header.load(std::memory_order_acquire)};
    if (header.lap() != lap || header.lines() > capacity - at) break;
    if ((header.flags() & impl::flag::pad) == 0 && content.packets++ == 0) content.first = header.handler();
    content.lines += header.lines();
    at += header.lines();
    if (at == capacity) {
      at = 0;
      if (++lap == 0) lap = 1;
    }
  }
  return content;
}

bool has_sent(const shm::Segment& segment, NodeId from, NodeId to, Priority priority) noexcept {
  const auto p = static_cast<std::size_t>(priority);
  return value(segment.traffic(from)[2 * std::size_t{to} + p].sent_messages) != 0;
}

/// Only of pairs that have talked: looking at others would give them memory.
RingContent content_of(const shm::Segment& segment, NodeId from, NodeId to, Priority priority) noexcept {
  if (!has_sent(segment, from, to, priority)) return {};
  const shm::PairBlock& pair = segment.pair(to, from);
  if (priority == Priority::low) return look_into(pair.low, shm::low_lines, pair.control[0]);
  return look_into(pair.high, shm::high_lines, pair.control[1]);
}

std::string describe_ring(const shm::Segment& segment, const RingContent& content, std::size_t capacity) {
  std::string text =
      std::to_string(capacity - content.lines) + " of " + std::to_string(capacity) + " lines free";
  if (content.packets != 0) {
    text += " (" + std::to_string(content.packets) + " packets, the first for " +
            name_of(segment, content.first) + ")";
  }
  return text;
}

std::string describe_rings_into(const shm::Segment& segment, NodeId node) {
  std::string text;
  for (NodeId from = 0; from < segment.nodes(); ++from) {
    const RingContent low = content_of(segment, from, node, Priority::low);
    const RingContent high = content_of(segment, from, node, Priority::high);
    if (low.lines + high.lines == 0) continue;
    text += "am:     from node " + std::to_string(from) + ": low " +
            describe_ring(segment, low, shm::low_lines) + "; high " +
            describe_ring(segment, high, shm::high_lines) + "\n";
  }
  return text;
}

std::string short_name(const shm::Segment& segment, std::size_t handler) {
  const std::string name = name_of(segment, handler);
  return name.substr(0, 60);
}

/// The latest first; equal ones in a row once.
std::string describe_recent(const shm::Segment& segment, const shm::NodeCard& card) {
  const std::uint64_t events = card.events.load(std::memory_order_acquire);
  const std::uint64_t kept = std::min<std::uint64_t>(events, shm::recent_events);
  std::string text;
  for (std::uint64_t back = 1; back <= kept;) {
    const std::uint64_t bits = value(card.recent[(events - back) % shm::recent_events]);
    std::uint64_t times = 0;
    while (back <= kept && value(card.recent[(events - back) % shm::recent_events]) == bits) ++times, ++back;
    const RecordedEvent event = RecordedEvent::unpacked(bits);
    text += text.empty() ? "am:     last events: " : "; ";
    if (times > 1) text += std::to_string(times) + " x ";
    if (event.kind == RecordedEvent::Kind::low_message || event.kind == RecordedEvent::Kind::high_message) {
      text += std::string(event.kind == RecordedEvent::Kind::low_message ? "low " : "high ") +
              short_name(segment, event.handler) + " from " + std::to_string(event.from) + " (" +
              std::to_string(event.bytes) + " bytes)";
    } else {
      text += describe(segment, event);
    }
  }
  return text.empty() ? text : text + "\n";
}

std::string describe_node(const shm::Segment& segment, NodeId node, std::uint64_t count) {
  const shm::NodeCard& card = segment.card(node);
  std::string text = "am:   node " + std::to_string(node);
  switch (standing_of(card)) {
    case shm::Standing::absent:
      return text + " has not joined\n";
    case shm::Standing::left:
      return text + " has left the job\n";
    case shm::Standing::dead:
    case shm::Standing::joined:
      break;
  }
  text += " (pid " + std::to_string(card.pid) + ") ";
  if (standing_of(card) == shm::Standing::dead) text += "is dead; it ";
  const std::string running = describe_running(segment, node);
  const std::uint64_t since = value(card.waiting_since_ns);
  if (!running.empty()) text += "runs " + running;
  if (since != 0) {
    const std::string what(card.waiting_for, strnlen(card.waiting_for, sizeof card.waiting_for));
    text += (running.empty() ? "has waited " : ", and has waited ") +
            milliseconds(count > since ? count - since : 0) + " in " + what;
  } else if (running.empty()) {
    text += "computes, or polls without waiting";
  }
  text += "\n";
  return text + describe_rings_into(segment, node) + describe_recent(segment, card);
}

}  // namespace

std::string describe_running(const shm::Segment& segment, NodeId node) {
  const shm::NodeCard& card = segment.card(node);
  const std::string high = describe(segment, RecordedEvent::unpacked(value(card.running[1])));
  const std::string low = describe(segment, RecordedEvent::unpacked(value(card.running[0])));
  if (high.empty() || low.empty()) return high + low;
  return high + "; it interrupts " + low;
}

std::string describe_job(const shm::Segment& segment) {
  const std::uint64_t now = shm::monotonic_ns();
  const std::uint64_t count = now - segment.job().epoch_ns;
  std::string text = "am: the job, " + std::to_string(segment.nodes()) + " nodes, " + milliseconds(count) +
                     " after it began:\n";
  for (NodeId node = 0; node < segment.nodes(); ++node) text += describe_node(segment, node, count);
  return text;
}

JobWatch::JobWatch(const shm::Segment& segment, std::uint64_t patience_ns)
    : segment_(segment), patience_ns_(patience_ns), nodes_(segment.nodes()) {}

bool JobWatch::is_stuck(NodeId node) const {
  const shm::NodeCard& card = segment_.card(node);
  if (value(card.waiting_since_ns) != 0 || value(card.running[0]) != 0 || value(card.running[1]) != 0)
    return true;
  for (NodeId from = 0; from < segment_.nodes(); ++from) {
    for (const Priority priority : {Priority::low, Priority::high}) {
      if (content_of(segment_, from, node, priority).packets != 0) return true;
    }
  }
  return false;
}

std::optional<std::string> JobWatch::look(std::uint64_t now_ns) {
  std::string stuck;
  for (NodeId node = 0; node < segment_.nodes(); ++node) {
    const shm::NodeCard& card = segment_.card(node);
    if (standing_of(card) != shm::Standing::joined) continue;
    Watched& watched = nodes_[node];
    const std::uint64_t signature = value(card.events) * 0x9e3779b97f4a7c15u + value(card.waiting_since_ns);
    if (watched.since_ns == 0 || signature != watched.signature) {
      watched = {signature, now_ns, patience_ns_};
      continue;
    }
    const std::uint64_t unchanged_ns = now_ns - watched.since_ns;
    if (unchanged_ns < watched.next_report_ns || !is_stuck(node)) continue;
    watched.next_report_ns = 4 * unchanged_ns;
    stuck +=
        "am: watchdog: node " + std::to_string(node) + " has not got on for " + milliseconds(unchanged_ns);
    const std::string running = describe_running(segment_, node);
    stuck += (running.empty() ? "" : ": it runs " + running) + "\n";
  }
  if (stuck.empty()) return std::nullopt;
  return stuck + describe_job(segment_);
}

}  // namespace am::core
