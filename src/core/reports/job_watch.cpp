#include "core/reports/job_watch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "core/events/handler_names.hpp"
#include "core/reports/card_words.hpp"
#include "core/reports/recorder.hpp"
#include "host/job_clock.hpp"
#include "host/pid_namespace.hpp"

namespace am::core {

namespace {

/// Of a signature, so that what follows from what stands in it.
constexpr std::uint64_t mixed(std::uint64_t so_far, std::uint64_t next) noexcept {
  return std::rotl(so_far * 0x9e3779b97f4a7c15U, 29) + next;
}

// -- events -----------------------------------------------------------------------------------------------------------------

using Kind = RecordedEvent::Kind;
constexpr std::size_t levels = std::extent_v<decltype(host::NodeCard::running)>;

void describe_handler(TextOut& out, std::size_t handler, std::string_view name) {
  if (handler == RecordedEvent::default_handler) {
    out << "the default handler";
  } else if (name.empty()) {
    out << "handler number " << handler;
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
      return "a peer-death function";
    case Kind::none:
    case Kind::low_message:
    case Kind::high_message:
      break;
  }
  return "";
}

void describe_past(TextOut& out, const host::Board& board, const RecordedEvent& event) {
  if (!event.is_message()) {
    out << name_of(event.kind);
    return;
  }
  out << (event.kind == Kind::low_message ? "low " : "high ");
  describe_handler(out, event.handler, handler_name(board, event.handler));
  out << " from " << event.from << " (" << host::Counted{event.bytes, "byte"} << ")";
}

/// The message that the node handles at this priority, out of the ring in which it still lies; none where it lies elsewhere.
/// The node may be through with it meanwhile, and its sender write there: then what this says is wrong, and of the past.
#if defined(__SANITIZE_THREAD__)
[[gnu::no_sanitize("thread"), gnu::noinline]]
#endif
RecordedEvent
handled_message(const Onlooker& job, const host::NodeCard& card, Priority priority) noexcept {
  const std::uint64_t word = value(card.handled[static_cast<std::size_t>(priority)]);
  if (word == 0) return {};
  const impl::Packet* packet = job.queues().packet(card, word & ~HandledMessages::by_default_handler);
  if (packet == nullptr) return {};
  const bool by_default = (word & HandledMessages::by_default_handler) != 0;
  const impl::Header head = packet->head();
  return RecordedEvent::of_message(
      priority, by_default ? RecordedEvent::default_handler : head.handler(), packet->origin,
      head.words() * 8 + (head.has(impl::flag::payload) ? packet->payload_bytes : 0));
}

/// What runs at a level, as far as it is recorded.
RecordedEvent running_at(const Onlooker& job, NodeId node, std::size_t level) noexcept {
  const host::NodeCard& card = job.board().card(node);
  const RecordedEvent event = RecordedEvent::unpacked(value(card.running[level]));
  if (event.kind != Kind::none || level == 0) return event;
  return handled_message(job, card, level == 1 ? Priority::low : Priority::high);
}

/// The latest first; equal ones in a row once.
void describe_recent(TextOut& out, const host::Board& board, const host::NodeCard& card) {
  const std::uint64_t events = card.events.load(std::memory_order_acquire);
  const std::uint64_t kept = std::min<std::uint64_t>(events, host::recent_events);
  if (kept == 0) return;
  std::array<std::uint64_t, host::recent_events> recent{};
  for (std::uint64_t back = 1; back <= kept; ++back)
    recent[back - 1] = value(card.recent[(events - back) % host::recent_events]);
  out << "am:     last events: ";
  for (std::size_t i = 0; i < kept;) {
    std::size_t end = i + 1;
    while (end < kept && recent[end] == recent[i]) ++end;
    if (i != 0) out << "; ";
    if (end - i > 1) out << end - i << " x ";
    describe_past(out, board, RecordedEvent::unpacked(recent[i]));
    i = end;
  }
  out << "\n";
}

// -- queues -----------------------------------------------------------------------------------------------------------------

void describe_queue(TextOut& out, const host::Board& board, const Queues::Content& content) {
  out << content.capacity - content.lines << " of " << host::Counted{content.capacity, "line"} << " free";
  if (content.packets == 0) return;
  out << " (" << host::Counted{content.packets, "packet"} << ", the first for ";
  describe_handler(out, content.first, handler_name(board, content.first));
  out << ")";
}

void describe_queues_into(TextOut& out, const Onlooker& job, NodeId node) {
  for (NodeId from = 0; from < job.board().nodes(); ++from) {
    if (!job.queues().connected(from, node)) continue;
    const Queues::Content low = job.queues().content(from, node, Priority::low);
    const Queues::Content high = job.queues().content(from, node, Priority::high);
    if (low.lines + high.lines == 0) continue;
    out << "am:     from node " << from << ": low ";
    describe_queue(out, job.board(), low);
    out << "; high ";
    describe_queue(out, job.board(), high);
    out << "\n";
  }
}

bool messages_wait_for(const Onlooker& job, NodeId node) noexcept {
  for (NodeId from = 0; from < job.board().nodes(); ++from) {
    if (!job.queues().connected(from, node)) continue;
    for (const Priority priority : {Priority::low, Priority::high}) {
      if (job.queues().content(from, node, priority).packets != 0) return true;
    }
  }
  return false;
}

// -- nodes ------------------------------------------------------------------------------------------------------------------

/// As the kernel shows it, when it is to be seen from here: 'R', 'S', 'T' and so on; 0: not to be seen.
char state_of_process(const host::NodeCard& card) noexcept {
  if (!host::same_pid_namespace(card.pid_namespace, host::own_pid_namespace())) return 0;
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

void describe_process(TextOut& out, const host::NodeCard& card) {
  out << " (pid " << card.pid;
  const char state = state_of_process(card);
  if (state == 'T' || state == 't') out << ", stopped";
  out << ") ";
}

void describe_living(TextOut& out, const Onlooker& job, NodeId node, std::uint64_t now) {
  const host::NodeCard& card = job.board().card(node);
  if (runs_something(job, node)) {
    out << "runs ";
    describe_running(out, job, node);
    describe_call(out, card, now);
  } else if (value(card.waiting_since_ns) != 0) {
    out << "has ";
    describe_wait(out, card, now);
  } else {
    out << (messages_wait_for(job, node) ? "computes, or holds its events off, while messages wait"
                                         : "computes, or polls without waiting");
  }
}

}  // namespace

void describe_state(TextOut& out, const Onlooker& job, NodeId node) {
  const host::NodeCard& card = job.board().card(node);
  const bool is_here = job.board().is_here(node);
  switch (job.board().standing(node)) {
    case host::Standing::absent:
      out << " has not joined";
      return;
    case host::Standing::left:
      out << " ";
      describe_leaving(out, card);
      return;
    case host::Standing::dead:
      if (is_here) {
        describe_process(out, card);
      } else {
        out << " (host " << card.host << ") ";
      }
      out << "is dead";
      if (is_here && runs_something(job, node)) {
        out << "; it ran ";
        describe_running(out, job, node);
      }
      return;
    case host::Standing::joined:
      if (!is_here) {
        out << " is on host " << card.host << ": what it does is not seen from here";
        return;
      }
      describe_process(out, card);
      describe_living(out, job, node, host::JobClock(job.board().job()).now());
      return;
  }
}

void describe_node(TextOut& out, const Onlooker& job, NodeId node) {
  out << "am:   node " << node;
  describe_state(out, job, node);
  out << "\n";
  const host::Standing standing = job.board().standing(node);
  const bool was_seen = standing == host::Standing::joined || standing == host::Standing::dead;
  if (!was_seen || !job.board().is_here(node)) return;
  describe_queues_into(out, job, node);
  describe_recent(out, job.board(), job.board().card(node));
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

RecordedEvent running_event(const Onlooker& job, NodeId node) noexcept {
  for (std::size_t level = levels; level-- > 0;) {
    if (const RecordedEvent event = running_at(job, node, level); event.kind != Kind::none) return event;
  }
  return {};
}

bool describe_running(TextOut& out, const Onlooker& job, NodeId node) {
  bool any = false;
  for (std::size_t level = levels; level-- > 0;) {
    const RecordedEvent event = running_at(job, node, level);
    if (event.kind == Kind::none) continue;
    if (any) out << "; it interrupts ";
    describe_event(out, event, handler_name(job.board(), event.handler));
    any = true;
  }
  return any;
}

void describe_job(TextOut& out, const Onlooker& job) {
  out << "am: the job, " << host::Counted{job.board().nodes(), "node"} << ", ";
  describe_ms(out, host::JobClock(job.board().job()).now());
  out << " after it began:\n";
  for (NodeId node = 0; node < job.board().nodes(); ++node) describe_node(out, job, node);
}

bool may_report_death(const host::Board& board, NodeId node) noexcept {
  constexpr std::uint64_t death = 1;  // no signature, but for one in 2^64
  return board.card(node).reported.exchange(death, std::memory_order_relaxed) != death;
}

JobWatch::JobWatch(const Onlooker& job, std::uint64_t patience_ns)
    : job_(job),
      board_(job.board()),
      patience_ns_(std::max<std::uint64_t>(patience_ns, 1)),
      nodes_(job.board().nodes()) {}

/// What has begun, and what was taken: pieces of a long payload, too, which are no event.
std::uint64_t JobWatch::signature_of(NodeId node) const noexcept {
  const host::NodeCard& card = board_.card(node);
  std::uint64_t signature = mixed(value(card.events), value(card.waiting_since_ns));
  for (NodeId from = 0; from < board_.nodes(); ++from) {
    if (!job_.queues().connected(from, node)) continue;
    for (const Priority priority : {Priority::low, Priority::high})
      signature = mixed(signature, job_.queues().taken(from, node, priority));
  }
  return signature;
}

bool JobWatch::is_stuck(NodeId node) const noexcept {
  const host::NodeCard& card = board_.card(node);
  return value(card.waiting_since_ns) != 0 || runs_something(job_, node) || messages_wait_for(job_, node);
}

/// Several watch a job, each with its own beginning: which report of which standstill it is decides.
bool JobWatch::may_report(NodeId node, std::uint64_t signature, std::uint64_t after_ns) const noexcept {
  const std::uint64_t report = mixed(signature, after_ns) | 2;
  return board_.card(node).reported.exchange(report, std::memory_order_relaxed) != report;
}

/// Brings up to date how long the node has been as it is. True when that is to be reported now.
bool JobWatch::look_at(NodeId node, std::uint64_t now_ns) noexcept {
  Watched& watched = nodes_[node];
  watched.stuck_ns = 0;
  if (board_.standing(node) != host::Standing::joined || !board_.is_here(node)) return false;
  const std::uint64_t signature = signature_of(node);
  if (watched.since_ns == 0 || signature != watched.signature) {
    watched = {signature, now_ns, patience_ns_, 0};
    return false;
  }
  if (is_stuck(node)) watched.stuck_ns = now_ns - watched.since_ns;
  return watched.stuck_ns >= watched.next_report_ns;
}

/// Of those who are to be reported, and those who soon would be: the same hang, most likely.
void JobWatch::report(NodeId node, TextOut& out) {
  Watched& watched = nodes_[node];
  const std::uint64_t after_ns = watched.next_report_ns;
  if (watched.stuck_ns == 0 || watched.stuck_ns < after_ns / 2)
    return;  // 0: it gets on, or is no member of the job
  watched.next_report_ns = 4 * after_ns;
  if (!may_report(node, watched.signature, after_ns)) return;
  reported_ = true;
  out << "am: watchdog: node " << node << " has made no progress for ";
  describe_ms(out, watched.stuck_ns);
  out << ": it ";
  describe_living(out, job_, node, host::JobClock(board_.job()).now());
  out << "\n";
}

void JobWatch::look(std::uint64_t now_ns, TextOut& out) {
  now_ns = std::max(now_ns, looked_ns_);  // amrun looks from outside the job
  const std::uint64_t gap_ns = looked_ns_ == 0 ? 0 : now_ns - looked_ns_;
  looked_ns_ = now_ns;
  if (gap_ns > 2 * interval_ns()) {
    for (Watched& watched : nodes_) watched.since_ns += gap_ns - interval_ns();
  }
  bool due = false;
  for (NodeId node = 0; node < board_.nodes(); ++node) due = look_at(node, now_ns) || due;
  if (!due) return;
  reported_ = false;
  for (const bool waits : {false, true}) {  // first those for whom the others may be waiting
    for (NodeId node = 0; node < board_.nodes(); ++node) {
      if ((value(board_.card(node).waiting_since_ns) != 0) == waits) report(node, out);
    }
  }
  if (reported_) describe_job(out, job_);
}

}  // namespace am::core
