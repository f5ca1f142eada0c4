#include "transports/shm/segment.hpp"
#include "transports/shm/clock.hpp"
#include "transports/shm/system_error.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <am/error.hpp>
#include <cerrno>
#include <utility>

namespace am::shm {

namespace {

/// Whether the file behind a descriptor is a segment of this version; throws am::Error. The number of its nodes.
NodeId check_header(int fd, const char* what, const char* remedy) {
  struct stat info {};
  JobHeader head{};
  if (fstat(fd, &info) != 0 || pread(fd, static_cast<void*>(&head), sizeof head, 0) != ssize_t{sizeof head}) {
    throw Error(what, "its shared memory (descriptor " + std::to_string(fd) + ") cannot be read", remedy);
  }
  if (head.magic != magic) throw Error(what, "the descriptor it was given is no libam segment", remedy);
  if (head.version != version) {
    throw Error(what,
                "its segment has version " + std::to_string(head.version) + ", this program " +
                    std::to_string(version),
                remedy);
  }
  if (head.nodes == 0 || head.nodes > max_nodes || head.bytes != Layout(head.nodes).file_bytes() ||
      static_cast<std::uint64_t>(info.st_size) != head.bytes) {
    throw Error(what, "its segment has the wrong size", remedy);
  }
  return head.nodes;
}

}  // namespace

Segment::Segment(SharedFile file, NodeId nodes, int protection)
    : file_(std::move(file)), bounded_(file_.has_bounds()), nodes_(nodes), layout_(nodes), users_(nodes) {
  void* base = mmap(nullptr, layout_.common_bytes(), protection, MAP_SHARED | MAP_NORESERVE, fd(), 0);
  if (base == MAP_FAILED)
    throw system_error("map the job's shared memory", "raise the address space limit: ulimit -v unlimited");
  base_ = static_cast<std::byte*>(base);
}

Segment::~Segment() {
  for (NodeId node = 0; node < nodes_; ++node) {
    if (users_[node] != nullptr) munmap(users_[node], card(node).segment_bytes);
  }
  munmap(base_, layout_.common_bytes());
}

std::shared_ptr<Segment> Segment::create(NodeId nodes) {
  if (nodes == 0 || nodes > max_nodes) {
    throw Error(
        "create a job",
        "a job has 1 to " + std::to_string(max_nodes) + " nodes on one machine, not " + std::to_string(nodes),
        "choose another number of nodes");
  }
  const Layout layout(nodes);
  SharedFile file = SharedFile::create(layout.file_bytes());
  const std::size_t begins_with = layout.traffic(0);  // the rest when it is used
  if (!file.commit(0, begins_with)) {
    throw Error("create the job's shared memory",
                "no memory for the " + std::to_string(begins_with / 1024) + " KiB that a job of " +
                    std::to_string(nodes) + " nodes begins with",
                SharedFile::more_room);
  }
  std::shared_ptr<Segment> segment(new Segment(std::move(file), nodes, PROT_READ | PROT_WRITE));
  for (NodeId node = 0; node <= nodes; ++node) segment->life(node).make();  // the last is the launcher's
  JobHeader& job = segment->job();
  job.nodes = nodes;
  job.bytes = layout.file_bytes();
  job.epoch_ns = monotonic_ns();
  job.version = version;
  job.magic = magic;
  return segment;
}

std::shared_ptr<Segment> Segment::open(int fd) {
  const NodeId nodes =
      check_header(fd, "join the job", "start the job with amrun or mpirun of the same libam");
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  return std::shared_ptr<Segment>(new Segment(SharedFile(fd), nodes, PROT_READ | PROT_WRITE));
}

std::shared_ptr<const Segment> Segment::inspect(int fd) {
  const NodeId nodes =
      check_header(fd, "look into the job", "use the aminfo of the libam that the job runs with");
  return std::shared_ptr<const Segment>(new Segment(SharedFile(fd), nodes, PROT_READ));
}

bool Segment::commit_node(NodeId node, std::size_t handlers) const noexcept {
  return file_.commit(layout_.handler_counts(node), handlers * sizeof(HandlerCounts)) &&
         (node != 0 || file_.commit(layout_.handler_names(), handlers * sizeof(HandlerName)));
}

bool Segment::commit_pair(NodeId receiver, NodeId sender) const noexcept {
  const auto traffic = [&](NodeId node, NodeId peer) {
    return file_.commit(layout_.traffic(node) + 2 * sizeof(impl::Traffic) * peer, 2 * sizeof(impl::Traffic));
  };
  return file_.commit(layout_.pair(receiver, sender), pair_stride) && traffic(sender, receiver) &&
         traffic(receiver, sender);
}

bool Segment::commit_user(NodeId node, std::size_t offset, std::size_t bytes) const noexcept {
  return !bounded_ || file_.commit(layout_.user(node) + offset, bytes);
}

std::byte* Segment::map_user(NodeId node) {
  const std::lock_guard lock(users_mutex_);
  const std::size_t bytes = card(node).segment_bytes;
  if (users_[node] == nullptr && bytes != 0) {
    if (!file_.is_open()) {
      throw Error(
          "map the memory segment of node " + std::to_string(node),
          "the program has closed the descriptor of the job's memory, " + std::to_string(fd()),
          "leave descriptors that the program has not opened alone, or use that node's memory once before");
    }
    void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd(),
                      static_cast<off_t>(layout_.user(node)));
    if (base == MAP_FAILED) {
      throw system_error("map a node's memory segment",
                         "choose a smaller segment (AM_SEGMENT) or raise ulimit -v");
    }
    users_[node] = static_cast<std::byte*>(base);
  }
  return users_[node];
}

void Segment::separate() noexcept {
  constexpr int flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
  const std::size_t bytes = layout_.common_bytes();
  if (!file_.is_open() || mmap(base_, bytes, PROT_READ | PROT_WRITE, flags, fd(), 0) == MAP_FAILED)
    mprotect(base_, bytes, PROT_READ);  // loud, at least
}

void Segment::mark(NodeId node, Standing standing, int wait_status) noexcept {
  NodeCard& dead = card(node);
  dead.wait_status.store(wait_status, std::memory_order_relaxed);  // ordered by the store of standing
  dead.standing.store(static_cast<std::uint32_t>(standing), std::memory_order_release);
  tell_of_death();
}

void Segment::mark_lost(NodeId node) noexcept {
  auto standing = static_cast<std::uint32_t>(Standing::joined);
  if (card(node).standing.compare_exchange_strong(standing, static_cast<std::uint32_t>(Standing::dead),
                                                  std::memory_order_acq_rel))
    tell_of_death();
}

void Segment::tell_of_death() noexcept {
  job().deaths.fetch_add(1, std::memory_order_seq_cst);  // before the loads of alarm in wake
  for (NodeId other = 0; other < nodes_; ++other) {
    if (card(other).standing.load(std::memory_order_acquire) == static_cast<std::uint32_t>(Standing::joined))
      wake(other);
  }
}

void Segment::nudge(NodeId node) noexcept {
  constexpr auto low = static_cast<std::size_t>(Priority::low);
  // Release pairs with Inbox::answer_doorbells.
  doorbells(node, Priority::low)[node / 64].fetch_or(std::uint64_t{1} << (node % 64),
                                                     std::memory_order_release);
  card(node).doorbell_summary[low].fetch_or(std::uint64_t{1} << (node / 64), std::memory_order_release);
  wake(node);
}

void Segment::wake(NodeId node) noexcept {
  constexpr auto none = static_cast<std::uint32_t>(Alarm::none);
  NodeCard& told = card(node);
  // Those who set an alarm pair with this by a fence (shm_transport.cpp, arm): relaxed is enough here.
  if (told.alarm.load(std::memory_order_relaxed) == none) return;
  switch (static_cast<Alarm>(told.alarm.exchange(none, std::memory_order_seq_cst))) {
    case Alarm::none:
      break;
    case Alarm::sleeper:
      syscall(SYS_futex, &told.alarm, FUTEX_WAKE, 1, nullptr, nullptr, 0);
      break;
    case Alarm::signal:
      // Nothing to a thread that has ended: its number may be another one's. A real-time signal is queued, and the queue of
      // the user may be full for a moment.
      while (is_alive(node) && syscall(SYS_tgkill, told.pid, told.tid, told.signal) != 0 && errno == EAGAIN)
        sched_yield();
      break;
    case Alarm::thread:
      ring_thread(node);
      break;
  }
}

void Segment::ring_thread(NodeId node) noexcept {
  std::atomic<std::uint32_t>& bell = card(node).thread_bell;
  bell.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &bell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace am::shm
