// The shared memory of one job on one machine: an anonymous file that disappears with its last user, mapped by every
// node. One Segment object per process, shared by the nodes of a job of threads.
//
// Created by amrun, by the first node of a job that mpirun started, or by a job of one or of threads. Thread-safe where
// marked; the rest is set-up, on one thread.
#pragma once

#include <am/types.hpp>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "transports/shm/layout.hpp"
#include "transports/shm/shared_file.hpp"

namespace am::shm {

class Segment {
 public:
  /// A new segment for `nodes` nodes. Throws am::Error when the machine does not give one.
  static std::shared_ptr<Segment> create(NodeId nodes);
  /// The segment behind an inherited or received descriptor, which it owns once it has succeeded. Checks size, magic and
  /// version.
  static std::shared_ptr<Segment> open(int fd);
  /// The same for an onlooker that is no node: mapped for reading only, from a descriptor that may be read-only.
  static std::shared_ptr<const Segment> inspect(int fd);

  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  [[nodiscard]] int fd() const noexcept { return file_.fd(); }
  [[nodiscard]] NodeId nodes() const noexcept { return nodes_; }
  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }

  [[nodiscard]] JobHeader& job() const noexcept { return *at<JobHeader>(0); }
  [[nodiscard]] LifeLock& life(NodeId node) const noexcept { return *at<LifeLock>(layout_.life(node)); }
  [[nodiscard]] LifeLock& launcher_life() const noexcept { return life(nodes_); }
  [[nodiscard]] NodeCard& card(NodeId node) const noexcept { return *at<NodeCard>(layout_.card(node)); }
  [[nodiscard]] std::atomic<std::uint64_t>* connections(NodeId node) const noexcept {
    return at<std::atomic<std::uint64_t>>(layout_.connections(node));
  }
  [[nodiscard]] std::atomic<std::uint64_t>* doorbells(NodeId node, Priority priority) const noexcept {
    return at<std::atomic<std::uint64_t>>(layout_.doorbells(node)) +
           static_cast<std::size_t>(priority) * layout_.doorbell_words();
  }
  [[nodiscard]] impl::Traffic* traffic(NodeId node) const noexcept {
    return at<impl::Traffic>(layout_.traffic(node));
  }
  [[nodiscard]] HandlerCounts* handler_counts(NodeId node) const noexcept {
    return at<HandlerCounts>(layout_.handler_counts(node));
  }
  [[nodiscard]] HandlerName& handler_name(std::size_t id) const noexcept {
    return at<HandlerName>(layout_.handler_names())[id];
  }
  [[nodiscard]] PairBlock& pair(NodeId receiver, NodeId sender) const noexcept {
    return *at<PairBlock>(layout_.pair(receiver, sender));
  }

  /// Whether `from` has rings to `to`: only then have they, and what is counted about them, memory.
  [[nodiscard]] bool are_connected(NodeId from, NodeId to) const noexcept {
    return (connections(from)[to / 64].load(std::memory_order_relaxed) >> (to % 64) & 1) != 0;
  }

  // Make sure that pages exist before they are touched, so that a machine short of memory says so here, and not by a signal in the
  // middle of something. False when there is no memory; true also where the system does not tell in advance.

  /// What a node needs from the beginning: the counts of its handlers, and their names, if it is node 0.
  [[nodiscard]] bool commit_node(NodeId node, std::size_t handlers) const noexcept;
  /// The rings from one to the other, and what both count about them.
  [[nodiscard]] bool commit_pair(NodeId receiver, NodeId sender) const noexcept;
  /// A part of a node's user segment. Elsewhere than in a file system of limited size it makes no pages: a machine
  /// that has no memory left chooses its own victim.
  [[nodiscard]] bool commit_user(NodeId node, std::size_t offset, std::size_t bytes) const noexcept;

  /// A node's user segment, mapped on first use: `bytes` as on its card. Thread-safe. Throws am::Error.
  std::byte* map_user(NodeId node);

  /// In a forked child: what it writes into the common part from here on its own copy gets. (User segments stay shared: a
  /// child may work on its parent's memory.) Safe between fork and exec.
  void separate() noexcept;

  /// Nodes that are found dead: marks the card and tells every node of the job by the deaths counter and a wake-up.
  /// Any process that has the segment may call it, from any thread.
  void mark(NodeId node, Standing standing, int wait_status) noexcept;
  /// Rings a node's doorbell, as if it had sent itself something: if it is about to sleep it looks again, and if it
  /// sleeps it wakes up. Thread-safe.
  void nudge(NodeId node) noexcept;
  /// The same as Standing::dead for a node that seems to have ended: unless it, or its launcher, has said otherwise by
  /// now. How it ended stays what its card says.
  void mark_lost(NodeId node) noexcept;
  /// Tells a node that something has come for it, in the way it wants to be told (Alarm). A node that has ended is sent no
  /// signal. Thread-safe, and safe in a signal handler.
  void wake(NodeId node) noexcept;
  /// Wakes the node's handler thread, if it sleeps. Thread-safe.
  void ring_thread(NodeId node) noexcept;

  /// Whether the node's thread, which took its life lock before it joined, has neither ended nor left.
  [[nodiscard]] bool is_alive(NodeId node) const noexcept { return life(node).is_held(); }
  /// The same of the launcher that made the segment: amrun. False where there is none.
  [[nodiscard]] bool launcher_has_ended() const noexcept {
    return job().launcher != 0 && !launcher_life().is_held();
  }

 private:
  Segment(SharedFile file, NodeId nodes, int protection);
  void tell_of_death() noexcept;
  template <class T>
  [[nodiscard]] T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<T*>(base_ + offset);
  }

  SharedFile file_;
  const bool bounded_;  // its file system has room for so much only
  NodeId nodes_;
  Layout layout_;
  std::byte* base_ = nullptr;
  std::mutex users_mutex_;
  std::vector<std::byte*> users_;  // mapped user segments, by node
};

}  // namespace am::shm
