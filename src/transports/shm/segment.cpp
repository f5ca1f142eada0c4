#include "transports/shm/segment.hpp"
#include "transports/shm/clock.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <am/error.hpp>
#include <cerrno>
#include <cstring>

namespace am::shm {

namespace {

constexpr off_t life_lock_base = 1;  // any byte will do: locks need no data behind them
constexpr off_t launcher_lock = life_lock_base + max_nodes;

struct flock lock_of(off_t byte) noexcept {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

/// Whether another process holds the lock, or the system does not say.
bool is_locked(int fd, off_t byte) noexcept {
  struct flock lock = lock_of(byte);
  return fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

Error system_error(const char* what, const std::string& remedy) {
  return Error(what, std::strerror(errno), remedy);  // NOLINT(concurrency-mt-unsafe): set-up, one thread
}

/// A file beyond the limit would end the process by a signal, not by an error.
void check_file_size_limit(std::uint64_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= bytes) return;
  throw Error("size the job's shared memory",
              "this process may not create a file of " + std::to_string(bytes >> 40) +
                  " TiB (a sparse one: no disk is used)",
              "raise the file size limit: ulimit -f unlimited");
}

/// An anonymous file: memfd, or an unlinked one where a sandbox forbids memfd.
int anonymous_file() {
  int fd = memfd_create("libam", MFD_CLOEXEC);
  if (fd < 0) fd = ::open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) fd = ::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) throw system_error("create shared memory", "run `aminfo --doctor`");
  return fd;
}

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

Segment::Segment(int fd, NodeId nodes, int protection)
    : fd_(fd), nodes_(nodes), layout_(nodes), users_(nodes) {
  void* base = mmap(nullptr, layout_.common_bytes(), protection, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (base == MAP_FAILED) {
    const Error error =
        system_error("map the job's shared memory", "raise the address space limit: ulimit -v unlimited");
    close(fd);
    throw error;
  }
  base_ = static_cast<std::byte*>(base);
}

Segment::~Segment() {
  for (NodeId node = 0; node < nodes_; ++node) {
    if (users_[node] != nullptr) munmap(users_[node], card(node).segment_bytes);
  }
  munmap(base_, layout_.common_bytes());
  close(fd_);
}

std::shared_ptr<Segment> Segment::create(NodeId nodes) {
  if (nodes == 0 || nodes > max_nodes) {
    throw Error(
        "create a job",
        "a job has 1 to " + std::to_string(max_nodes) + " nodes on one machine, not " + std::to_string(nodes),
        "choose another number of nodes");
  }
  const Layout layout(nodes);
  check_file_size_limit(layout.file_bytes());
  const int fd = anonymous_file();
  if (ftruncate(fd, static_cast<off_t>(layout.file_bytes())) != 0) {
    const Error error = system_error(
        "size the job's shared memory",
        "allow memfd_create, which this sandbox forbids: no other file system holds a sparse file of " +
            std::to_string(layout.file_bytes() >> 40) + " TiB");
    close(fd);
    throw error;
  }
  std::shared_ptr<Segment> segment(new Segment(fd, nodes, PROT_READ | PROT_WRITE));
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
  return std::shared_ptr<Segment>(new Segment(fd, nodes, PROT_READ | PROT_WRITE));
}

std::shared_ptr<const Segment> Segment::inspect(int fd) {
  const NodeId nodes =
      check_header(fd, "look into the job", "use the aminfo of the libam that the job runs with");
  return std::shared_ptr<const Segment>(new Segment(fd, nodes, PROT_READ));
}

bool Segment::commit_pair(NodeId receiver, NodeId sender) const noexcept {
  const auto offset = static_cast<off_t>(layout_.pair(receiver, sender));
  int result = 0;
  do {
    result = fallocate(fd_, FALLOC_FL_KEEP_SIZE, offset, pair_stride);
  } while (result != 0 && errno == EINTR);
  return result == 0 || (errno != ENOSPC && errno != ENOMEM && errno != EDQUOT);
}

std::byte* Segment::map_user(NodeId node) {
  const std::lock_guard lock(users_mutex_);
  const std::size_t bytes = card(node).segment_bytes;
  if (users_[node] == nullptr && bytes != 0) {
    void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_,
                      static_cast<off_t>(layout_.user(node)));
    if (base == MAP_FAILED) {
      throw system_error("map a node's memory segment",
                         "choose a smaller segment (AM_SEGMENT) or raise ulimit -v");
    }
    users_[node] = static_cast<std::byte*>(base);
  }
  return users_[node];
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
  for (NodeId other = 0; other < nodes_; ++other) wake(other);
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
      // A real-time signal is queued, and the queue of the user may be full for a moment.
      while (syscall(SYS_tgkill, told.pid, told.tid, told.signal) != 0 && errno == EAGAIN) sched_yield();
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

void Segment::hold_life_lock(NodeId node) {
  struct flock lock = lock_of(life_lock_base + static_cast<off_t>(node));
  if (fcntl(fd_, F_SETLK, &lock) != 0) {
    throw Error("join the job", "node " + std::to_string(node) + " is already taken by another process",
                "start one process per node");
  }
}

bool Segment::is_alive(NodeId node) const noexcept {
  return is_locked(fd_, life_lock_base + static_cast<off_t>(node));
}

void Segment::hold_launcher_lock() {
  struct flock lock = lock_of(launcher_lock);
  if (fcntl(fd_, F_SETLK, &lock) != 0)
    throw system_error("create a job", "run `aminfo --doctor`: the file system refuses locks");
  job().launcher = getpid();
}

bool Segment::launcher_has_ended() const noexcept {
  return job().launcher != 0 && !is_locked(fd_, launcher_lock);
}

}  // namespace am::shm
