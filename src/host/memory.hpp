// The memory that the nodes of one host share: an anonymous file that disappears with its last user. The board is mapped by
// every process of the job; networks map their regions, and nodes each other's user segments, when they need them. One Memory
// object per process, shared by the nodes of a job of threads.
//
// In a node's core dumps are the board and its own segment, not what lies in the networks' regions or belongs to others.
//
// Made by amrun, by the first node of a job that mpirun started, or by a job of one or of threads. Thread-safe where marked;
// the rest is set-up, on one thread.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "host/board.hpp"
#include "host/shared_file.hpp"

namespace am::host {

class Memory {
 public:
  /// New memory for `nodes` nodes. Throws am::Error when the machine does not give it.
  static std::shared_ptr<Memory> create(NodeId nodes);
  /// The memory behind an inherited or received descriptor, which it owns once it has succeeded. Checks size, magic and
  /// version.
  static std::shared_ptr<Memory> open(int fd);
  /// The same for an onlooker that is no node: mapped for reading only, from a descriptor that may be read-only.
  static std::shared_ptr<const Memory> inspect(int fd);

  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  [[nodiscard]] int fd() const noexcept { return file_.fd(); }
  [[nodiscard]] NodeId nodes() const noexcept { return board_.nodes(); }
  [[nodiscard]] const Board& board() const noexcept { return board_; }

  // Make sure that pages exist before they are touched, so that a machine short of memory says so here, and not by a signal in
  // the middle of something. False when there is no memory; true also where the system does not tell in advance.

  /// What a node needs from the beginning: the counts of its handlers; and what one node of a host does: their names.
  [[nodiscard]] bool commit_node(NodeId node, std::size_t handlers) const noexcept;
  [[nodiscard]] bool commit_handler_names(std::size_t handlers) const noexcept;
  /// What two nodes count about the messages from one to the other.
  [[nodiscard]] bool commit_link(NodeId from, NodeId to) const noexcept;
  /// What a node counts about all its messages.
  [[nodiscard]] bool commit_traffic(NodeId node) const noexcept;
  /// A part of a network's region.
  [[nodiscard]] bool commit_region(unsigned region, std::size_t offset, std::size_t bytes) const noexcept;
  /// A part of a node's user segment. Elsewhere than in a file system of limited size it makes no pages: a machine
  /// that has no memory left chooses its own victim.
  [[nodiscard]] bool commit_user(NodeId node, std::size_t offset, std::size_t bytes) const noexcept;

  /// A network's region, mapped on first use; all ask for the same number of bytes, at most `stride`. Thread-safe. Throws
  /// am::Error.
  std::byte* map_region(unsigned region, std::size_t bytes) const;
  /// What stands at the beginning of a network's region, without making memory of it: 0 where nobody has written there.
  [[nodiscard]] std::uint64_t first_word(unsigned region) const noexcept;
  /// A node's user segment, mapped on first use: as many bytes as its card says then; none: null. Thread-safe. Throws am::Error.
  std::span<std::byte> map_user(NodeId node);

  /// In a forked child: what it writes into the board and the regions from here on its own copy gets. (User segments stay
  /// shared: a child may work on its parent's memory.) Safe between fork and exec.
  void separate() noexcept;

 private:
  Memory(SharedFile file, NodeId nodes, int protection);
  std::span<std::byte> map(std::size_t offset, std::size_t bytes, const char* what, const char* remedy) const;
  void separate(std::span<std::byte> mapped, std::size_t offset) noexcept;
  static void map_pages(std::span<std::byte> mapped, std::size_t offset, std::size_t bytes) noexcept;
  static void leave_out_of_dumps(std::span<std::byte> mapped) noexcept;

  const SharedFile file_;
  const bool bounded_;  // its file system has room for so much only
  const int protection_;
  const Layout layout_;
  const std::span<std::byte> mapped_board_;
  const Board board_;
  mutable std::mutex mutex_;                       // of what follows
  mutable std::span<std::byte> regions_[regions];  // empty: not mapped yet
  std::vector<std::span<std::byte>> users_;        // by node
};

}  // namespace am::host
