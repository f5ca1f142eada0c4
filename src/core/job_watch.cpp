#include "core/job_watch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "core/card_words.hpp"
#include "core/handler_names.hpp"
#include "core/recorder.hpp"
#include "transports/shm/clock.hpp"
#include "transports/shm/pid_namespace.hpp"

namespace am::core {

namespace {

std::uint64_t value(const std::atomic<std::uint64_t>& word) noexcept {
  return word.load(std::memory_order_relaxed);
}

/// Of a signature, so that what follows from what stands in it.
constexpr std::uint64_t mixed(std::uint64_t so_far, std::uint64_t next) noexcept {
  return std::rotl(so_far * 0x9e3779b97f4a7c15U, 29) + next;
}

// -- events -----------------------------------------------------------------------------------------------------------------

using Kind = RecordedEvent::Kind;
constexpr std::size_t levels = std::extent_v<decltype(shm::NodeCard::running)>;

void describe_handler(TextOut& out, std::size_t handler, std::string_view name) {
  if (handler == RecordedEvent::default_handler) {
    out << "the default handler";
  } else if (name.empty()) {
    out << "the handler of number " << handler;
  } else {
    out << name;
  }
}

std::string_view name_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::timelet:
      return "a timelet";
    case Kind::outlet:
      return "the outlet";
    case Kind::posted:
      return "posted work";
    case Kind::peer_death:
      return "what is to be done about the death of a peer";
    case Kind::none:
    case Kind::low_message:
    case Kind::high_message:
      break;
  }
  return "";
}

void describe_past(TextOut& out, const shm::Segment& segment, const RecordedEvent& event) {
  if (!event.is_message()) {
    out << name_of(event.kind);
    return;
  }
  out << (event.kind == Kind::low_message ? "low " : "high ");
  describe_handler(out, event.handler, handler_name(segment, event.handler));
  out << " from " << event.from << " (" << event.bytes << " bytes)";
}

/// The message that the node handles at this priority, out of the ring in which it still lies; none where it lies elsewhere.
/// The node may be through with it meanwhile, and its sender write there: then what this says is wrong, and of the past.
#if defined(__SANITIZE_THREAD__)
[[gnu::no_sanitize("thread"), gnu::noinline]]
#endif
RecordedEvent
handled_message(const shm::Segment& segment, const shm::NodeCard& card, Priority priority) noexcept {
  const std::uint64_t word = value(card.handled[static_cast<std::size_t>(priority)]);
  if (word == 0) return {};
  const std::uint64_t at = (word & ~HandledMessages::by_default_handler) - card.mapped_at;
  const shm::Layout& layout = segment.layout();
  if (at < layout.pair(0, 0) || at >= layout.common_bytes() || at % impl::line_bytes != 0) return {};
  const auto& packet =
      *reinterpret_cast<const impl::Packet*>(reinterpret_cast<const std::byte*>(&segment.job()) + at);
  const bool by_default = (word & HandledMessages::by_default_handler) != 0;
  return RecordedEvent::of_message(priority,
                                   by_default ? RecordedEvent::default_handler : packet.head().handler(),
                                   packet, packet.payload_bytes);
}

/// What runs at a level, as far as it is recorded.
RecordedEvent running_at(const shm::Segment& segment, NodeId node, std::size_t level) noexcept {
  const shm::NodeCard& card = segment.card(node);
  const RecordedEvent event = RecordedEvent::unpacked(value(card.running[level]));
  if (event.kind != Kind::none || level == 0) return event;
  return handled_message(segment, card, level == 1 ? Priority::low : Priority::high);
}

/// The latest first; equal ones in a row once.
void describe_recent(TextOut& out, const shm::Segment& segment, const shm::NodeCard& card) {
  const std::uint64_t events = card.events.load(std::memory_order_acquire);
  const std::uint64_t kept = std::min<std::uint64_t>(events, shm::recent_events);
  if (kept == 0) return;
  std::array<std::uint64_t, shm::recent_events> recent{};
  for (std::uint64_t back = 1; back <= kept; ++back)
    recent[back - 1] = value(card.recent[(events - back) % shm::recent_events]);
  out << "am:     last events: ";
  for (std::size_t i = 0; i < kept;) {
    std::size_t end = i + 1;
    while (end < kept && recent[end] == recent[i]) ++end;
    if (i != 0) out << "; ";
    if (end - i > 1) out << end - i << " x ";
    describe_past(out, segment, RecordedEvent::unpacked(recent[i]));
    i = end;
  }
  out << "\n";
}

// -- rings ------------------------------------------------------------------------------------------------------------------

/// What lies in one ring, as far as an onlooker can tell.
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

RingContent content_of(const shm::Segment& segment, NodeId from, NodeId to, Priority priority) noexcept {
  const shm::PairBlock& pair = segment.pair(to, from);
  if (priority == Priority::low) return look_into(pair.low, shm::low_lines, pair.control[0]);
  return look_into(pair.high, shm::high_lines, pair.control[1]);
}

void describe_ring(TextOut& out, const shm::Segment& segment, const RingContent& content,
                   std::size_t capacity) {
  out << capacity - content.lines << " of " << capacity << " lines free";
  if (content.packets == 0) return;
  out << " (" << content.packets << " packets, the first for ";
  describe_handler(out, content.first, handler_name(segment, content.first));
  out << ")";
}

void describe_rings_into(TextOut& out, const shm::Segment& segment, NodeId node) {
  for (NodeId from = 0; from < segment.nodes(); ++from) {
    if (!segment.are_connected(from, node)) continue;
    const RingContent low = content_of(segment, from, node, Priority::low);
    const RingContent high = content_of(segment, from, node, Priority::high);
    if (low.lines + high.lines == 0) continue;
    out << "am:     from node " << from << ": low ";
    describe_ring(out, segment, low, shm::low_lines);
    out << "; high ";
    describe_ring(out, segment, high, shm::high_lines);
    out << "\n";
  }
}

bool messages_wait_for(const shm::Segment& segment, NodeId node) noexcept {
  for (NodeId from = 0; from < segment.nodes(); ++from) {
    if (!segment.are_connected(from, node)) continue;
    for (const Priority priority : {Priority::low, Priority::high}) {
      if (content_of(segment, from, node, priority).packets != 0) return true;
    }
  }
  return false;
}

// -- nodes ------------------------------------------------------------------------------------------------------------------

/// As the kernel shows it, when it is to be seen from here: 'R', 'S', 'T' and so on; 0: not to be seen.
char state_of_process(const shm::NodeCard& card) noexcept {
  if (!shm::same_pid_namespace(card.pid_namespace, shm::own_pid_namespace())) return 0;
  std::array<char, 32> path{"/proc/"};
  char* end = std::to_chars(path.data() + 6, path.data() + 20, card.pid).ptr;
  std::strcpy(end, "/stat");
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 128> text{};
  const ssize_t size = read(file, text.data(), text.size());
  close(file);
  // "pid (name) state": the name may have brackets of its own, and is at most 15 characters long.
  const std::string_view stat(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t name_ends = stat.substr(0, 40).rfind(") ");
  return name_ends == std::string_view::npos || name_ends + 2 >= stat.size() ? '\0' : stat[name_ends + 2];
}

void describe_process(TextOut& out, const shm::NodeCard& card) {
  out << " (pid " << card.pid;
  const char state = state_of_process(card);
  if (state == 'T' || state == 't') out << ", stopped";
  out << ") ";
}

void describe_living(TextOut& out, const shm::Segment& segment, NodeId node, std::uint64_t now) {
  const shm::NodeCard& card = segment.card(node);
  const bool waits = value(card.waiting_since_ns) != 0;
  const bool runs = runs_something(segment, node);
  if (runs) {
    out << "runs ";
    describe_running(out, segment, node);
  }
  if (waits) {
    out << (runs ? ", and has " : "has ");
    describe_wait(out, card, now);
  } else if (!runs) {
    out << (messages_wait_for(segment, node) ? "computes, or holds its events off, while messages wait"
                                             : "computes, or polls without waiting");
  }
}

}  // namespace

void describe_node(TextOut& out, const shm::Segment& segment, NodeId node) {
  const shm::NodeCard& card = segment.card(node);
  out << "am:   node " << node;
  switch (standing_of(card)) {
    case shm::Standing::absent:
      out << " has not joined\n";
      return;
    case shm::Standing::left:
      out << " has left the job\n";
      return;
    case shm::Standing::dead:
      describe_process(out, card);
      out << "is dead";
      if (runs_something(segment, node)) {
        out << "; it ran ";
        describe_running(out, segment, node);
      }
      break;
    case shm::Standing::joined:
      describe_process(out, card);
      describe_living(out, segment, node, shm::monotonic_ns() - segment.job().epoch_ns);
      break;
  }
  out << "\n";
  describe_rings_into(out, segment, node);
  describe_recent(out, segment, card);
}

void describe_event(TextOut& out, const RecordedEvent& event, std::string_view name) {
  if (!event.is_message()) {
    out << name_of(event.kind);
    return;
  }
  if (event.handler != RecordedEvent::default_handler && !name.empty()) out << "handler ";
  describe_handler(out, event.handler, name);
  out << ", for a message from node " << event.from;
}

RecordedEvent running_event(const shm::Segment& segment, NodeId node) noexcept {
  for (std::size_t level = levels; level-- > 0;) {
    if (const RecordedEvent event = running_at(segment, node, level); event.kind != Kind::none) return event;
  }
  return {};
}

bool describe_running(TextOut& out, const shm::Segment& segment, NodeId node) {
  bool any = false;
  for (std::size_t level = levels; level-- > 0;) {
    const RecordedEvent event = running_at(segment, node, level);
    if (event.kind == Kind::none) continue;
    if (any) out << "; it interrupts ";
    describe_event(out, event, handler_name(segment, event.handler));
    any = true;
  }
  return any;
}

void describe_job(TextOut& out, const shm::Segment& segment) {
  out << "am: the job, " << segment.nodes() << " nodes, ";
  describe_ms(out, shm::monotonic_ns() - segment.job().epoch_ns);
  out << " after it began:\n";
  for (NodeId node = 0; node < segment.nodes(); ++node) describe_node(out, segment, node);
}

bool may_report_death(const shm::Segment& segment, NodeId node) noexcept {
  constexpr std::uint64_t death = 1;  // no signature, but for one in 2^64
  return segment.card(node).reported.exchange(death, std::memory_order_relaxed) != death;
}

JobWatch::JobWatch(const shm::Segment& segment, std::uint64_t patience_ns)
    : segment_(segment), patience_ns_(std::max<std::uint64_t>(patience_ns, 1)), nodes_(segment.nodes()) {}

/// What has begun, and what was taken: pieces of a long payload, too, which are no event.
std::uint64_t JobWatch::signature_of(NodeId node) const noexcept {
  const shm::NodeCard& card = segment_.card(node);
  std::uint64_t signature = mixed(value(card.events), value(card.waiting_since_ns));
  for (NodeId from = 0; from < segment_.nodes(); ++from) {
    if (!segment_.are_connected(from, node)) continue;
    for (const impl::RingControl& control : segment_.pair(node, from).control)
      signature = mixed(signature, value(control.released));
  }
  return signature;
}

bool JobWatch::is_stuck(NodeId node) const noexcept {
  const shm::NodeCard& card = segment_.card(node);
  return value(card.waiting_since_ns) != 0 || runs_something(segment_, node) ||
         messages_wait_for(segment_, node);
}

/// Several watch a job, each with its own beginning: which report of which standstill it is decides.
bool JobWatch::may_report(NodeId node, std::uint64_t signature, std::uint64_t after_ns) const noexcept {
  const std::uint64_t report = mixed(signature, after_ns) | 2;
  return segment_.card(node).reported.exchange(report, std::memory_order_relaxed) != report;
}

/// Brings up to date how long the node has been as it is. True when that is to be reported now.
bool JobWatch::look_at(NodeId node, std::uint64_t now_ns) noexcept {
  Watched& watched = nodes_[node];
  watched.stuck_ns = 0;
  if (standing_of(segment_.card(node)) != shm::Standing::joined) return false;
  const std::uint64_t signature = signature_of(node);
  if (watched.since_ns == 0 || signature != watched.signature) {
    watched = {signature, now_ns, patience_ns_, 0};
    return false;
  }
  if (is_stuck(node)) watched.stuck_ns = now_ns - watched.since_ns;
  return watched.stuck_ns >= watched.next_report_ns;
}

/// Of those who are to be reported, and those who soon would be: the same hang, most likely.
void JobWatch::report(NodeId node, std::uint64_t now_ns, TextOut& out) {
  Watched& watched = nodes_[node];
  const std::uint64_t after_ns = watched.next_report_ns;
  if (watched.stuck_ns == 0 || watched.stuck_ns < after_ns / 2)
    return;  // 0: it gets on, or is no member of the job
  watched.next_report_ns = 4 * after_ns;
  if (!may_report(node, watched.signature, after_ns)) return;
  reported_ = true;
  out << "am: watchdog: node " << node << " has not got on for ";
  describe_ms(out, watched.stuck_ns);
  out << ": it ";
  describe_living(out, segment_, node, now_ns - segment_.job().epoch_ns);
  out << "\n";
}

void JobWatch::look(std::uint64_t now_ns, TextOut& out) {
  const std::uint64_t gap_ns = looked_ns_ == 0 ? 0 : now_ns - looked_ns_;
  looked_ns_ = now_ns;
  if (gap_ns > 2 * interval_ns()) {
    for (Watched& watched : nodes_) watched.since_ns += gap_ns - interval_ns();
  }
  bool due = false;
  for (NodeId node = 0; node < segment_.nodes(); ++node) due = look_at(node, now_ns) || due;
  if (!due) return;
  reported_ = false;
  for (const bool waits : {false, true}) {  // first those for whom the others may be waiting
    for (NodeId node = 0; node < segment_.nodes(); ++node) {
      if ((value(segment_.card(node).waiting_since_ns) != 0) == waits) report(node, now_ns, out);
    }
  }
  if (reported_) describe_job(out, segment_);
}

}  // namespace am::core
