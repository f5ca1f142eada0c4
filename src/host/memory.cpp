#include "host/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <am/error.hpp>
#include <string>
#include <utility>

#include "host/clock.hpp"
#include "host/counted.hpp"
#include "host/random_bytes.hpp"
#include "host/system_error.hpp"

namespace am::host {

namespace {

/// Whether the file behind a descriptor is a job's memory of this version; throws am::Error. The number of its nodes.
NodeId check_header(int fd, const char* what, const char* remedy) {
  struct stat info {};
  JobHeader head{};
  if (fstat(fd, &info) != 0 || pread(fd, static_cast<void*>(&head), sizeof head, 0) != ssize_t{sizeof head}) {
    throw Error(what, "its shared memory (descriptor " + std::to_string(fd) + ") cannot be read", remedy);
  }
  if (head.magic != magic)
    throw Error(what, "the descriptor it was given is no memory of a libam job", remedy);
  if (head.version != version) {
    throw Error(what,
                "its memory has version " + std::to_string(head.version) + ", this program " +
                    std::to_string(version),
                remedy);
  }
  if (head.nodes == 0 || head.nodes > max_nodes || head.bytes != Layout(head.nodes).file_bytes() ||
      static_cast<std::uint64_t>(info.st_size) != head.bytes) {
    throw Error(what, "its memory has the wrong size", remedy);
  }
  return head.nodes;
}

}  // namespace

Memory::Memory(SharedFile file, NodeId nodes, int protection)
    : file_(std::move(file)),
      bounded_(file_.has_bounds()),
      protection_(protection),
      layout_(nodes),
      mapped_board_(map(0, layout_.board_bytes(), "map the job's shared memory",
                        "raise the address space limit: ulimit -v unlimited")),
      board_(mapped_board_.data(), nodes),
      users_(nodes) {}

Memory::~Memory() {
  for (const std::span<std::byte> user : users_) {
    if (!user.empty()) munmap(user.data(), user.size());
  }
  for (const std::span<std::byte> region : regions_) {
    if (!region.empty()) munmap(region.data(), region.size());
  }
  munmap(mapped_board_.data(), mapped_board_.size());
}

std::shared_ptr<Memory> Memory::create(NodeId nodes) {
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
                    counted(nodes, "node") + " begins with",
                SharedFile::more_room);
  }
  std::shared_ptr<Memory> memory(new Memory(std::move(file), nodes, PROT_READ | PROT_WRITE));
  const Board& board = memory->board();
  for (NodeId node = 0; node < nodes; ++node) board.life(node).make();
  board.launcher_life().make();
  JobHeader& job = board.job();
  job.nodes = nodes;
  job.bytes = layout.file_bytes();
  job.epoch_ns = monotonic_ns();
  fill_random(job.name);
  fill_random(job.key);
  job.version = version;
  job.magic = magic;
  return memory;
}

std::shared_ptr<Memory> Memory::open(int fd) {
  const NodeId nodes =
      check_header(fd, "join the job", "start the job with amrun or mpirun of the same libam");
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  return std::shared_ptr<Memory>(new Memory(SharedFile(fd), nodes, PROT_READ | PROT_WRITE));
}

std::shared_ptr<const Memory> Memory::inspect(int fd) {
  const NodeId nodes =
      check_header(fd, "look into the job", "use the aminfo of the libam that the job runs with");
  return std::shared_ptr<const Memory>(new Memory(SharedFile(fd), nodes, PROT_READ));
}

bool Memory::commit_node(NodeId node, std::size_t handlers) const noexcept {
  return file_.commit(layout_.handler_counts(node), handlers * sizeof(HandlerCounts));
}

bool Memory::commit_handler_names(std::size_t handlers) const noexcept {
  return file_.commit(layout_.handler_names(), handlers * sizeof(HandlerName));
}

bool Memory::commit_link(NodeId from, NodeId to) const noexcept {
  const auto commit = [this](NodeId node, NodeId peer) {
    return file_.commit(layout_.traffic(node) + 2 * sizeof(impl::Traffic) * peer, 2 * sizeof(impl::Traffic));
  };
  return commit(from, to) && commit(to, from);
}

bool Memory::commit_traffic(NodeId node) const noexcept {
  return file_.commit(layout_.traffic(node), 2 * sizeof(impl::Traffic) * nodes());
}

bool Memory::commit_region(unsigned region, std::size_t offset, std::size_t bytes) const noexcept {
  if (!file_.commit(layout_.region(region) + offset, bytes)) return false;
  map_pages(regions_[region], offset, bytes);
  return true;
}

/// All at once: the first write to each page by itself takes five times as long. Where the system cannot (before Linux 5.14), they do.
void Memory::map_pages(std::span<std::byte> mapped, std::size_t offset, std::size_t bytes) noexcept {
  constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, which older headers lack
  const std::size_t begin = offset / page_bytes * page_bytes;
  const std::size_t end = std::min(round_up(offset + bytes, page_bytes), mapped.size());
  if (begin < end) static_cast<void>(madvise(mapped.data() + begin, end - begin, populate_write));
}

bool Memory::commit_user(NodeId node, std::size_t offset, std::size_t bytes) const noexcept {
  return !bounded_ || file_.commit(layout_.user(node) + offset, bytes);
}

std::span<std::byte> Memory::map(std::size_t offset, std::size_t bytes, const char* what,
                                 const char* remedy) const {
  void* base =
      mmap(nullptr, bytes, protection_, MAP_SHARED | MAP_NORESERVE, fd(), static_cast<off_t>(offset));
  if (base == MAP_FAILED) throw system_error(what, remedy);
  return {static_cast<std::byte*>(base), bytes};
}

/// Each of n processes that crash together would else write the memory of all n.
void Memory::leave_out_of_dumps(std::span<std::byte> mapped) noexcept {
  static_cast<void>(
      madvise(mapped.data(), mapped.size(), MADV_DONTDUMP));  // where it cannot be, dumps are large
}

std::byte* Memory::map_region(unsigned region, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  if (regions_[region].empty()) {
    regions_[region] = map(layout_.region(region), bytes, "map the job's shared memory",
                           "raise the address space limit: ulimit -v unlimited");
    leave_out_of_dumps(regions_[region]);
  }
  return regions_[region].data();
}

std::uint64_t Memory::first_word(unsigned region) const noexcept {
  std::uint64_t word = 0;
  const ssize_t bytes = pread(file_.fd(), &word, sizeof word, static_cast<off_t>(layout_.region(region)));
  return bytes == ssize_t{sizeof word} ? word : 0;
}

std::span<std::byte> Memory::map_user(NodeId node) {
  const std::lock_guard lock(mutex_);
  const std::size_t bytes = std::min<std::size_t>(board_.card(node).segment_bytes, stride);
  if (users_[node].empty() && bytes != 0) {
    if (!file_.is_open()) {
      throw Error(
          "map the memory segment of node " + std::to_string(node),
          "the program has closed the descriptor of the job's memory, " + std::to_string(fd()),
          "leave descriptors that the program has not opened alone, or use that node's memory once before");
    }
    users_[node] = map(layout_.user(node), bytes, "map a node's memory segment",
                       "choose a smaller segment (AM_SEGMENT) or raise ulimit -v");
    if (board_.card(node).pid != getpid()) leave_out_of_dumps(users_[node]);
  }
  return users_[node];
}

void Memory::separate() noexcept {
  separate(mapped_board_, 0);
  for (unsigned region = 0; region < regions; ++region) {
    if (!regions_[region].empty()) separate(regions_[region], layout_.region(region));
  }
}

void Memory::separate(std::span<std::byte> mapped, std::size_t offset) noexcept {
  constexpr int flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
  if (!file_.is_open() || mmap(mapped.data(), mapped.size(), PROT_READ | PROT_WRITE, flags, fd(),
                               static_cast<off_t>(offset)) == MAP_FAILED)
    mprotect(mapped.data(), mapped.size(), PROT_READ);  // loud, at least
}

}  // namespace am::host
