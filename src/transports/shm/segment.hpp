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

  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] NodeId nodes() const noexcept { return nodes_; }
  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }

  [[nodiscard]] JobHeader& job() const noexcept { return *at<JobHeader>(0); }
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

  /// Makes sure that the pages of a pair exist, so that a machine short of memory says so here and not by a signal in
  /// the middle of a send. False when there is no memory; true also where the system does not make them in advance.
  [[nodiscard]] bool commit_pair(NodeId receiver, NodeId sender) const noexcept;

  /// A node's user segment, mapped on first use: `bytes` as on its card. Thread-safe. Throws am::Error.
  std::byte* map_user(NodeId node);

  /// Nodes that are found dead: marks the card and tells every node by the deaths counter and a wake-up.
  /// Any process that has the segment may call it, from any thread.
  void mark(NodeId node, Standing standing, int wait_status) noexcept;
  /// Rings a node's doorbell, as if it had sent itself something: if it is about to sleep it looks again, and if it
  /// sleeps it wakes up. Thread-safe.
  void nudge(NodeId node) noexcept;
  /// The same as Standing::dead for a node that seems to have ended: unless it, or its launcher, has said otherwise by
  /// now. How it ended stays what its card says.
  void mark_lost(NodeId node) noexcept;
  /// Tells a node that something has come for it, in the way it wants to be told (Alarm). Thread-safe, and safe in a
  /// signal handler.
  void wake(NodeId node) noexcept;
  /// Wakes the node's handler thread, if it sleeps. Thread-safe.
  void ring_thread(NodeId node) noexcept;

  /// This process holds a lock on its node's byte as long as it lives; the kernel lets go of it when the process ends,
  /// however it ends. `is_alive` asks for another process's lock. Not for jobs of threads.
  void hold_life_lock(NodeId node);
  [[nodiscard]] bool is_alive(NodeId node) const noexcept;
  /// The same for the launcher that made the segment: amrun. False where there is none.
  void hold_launcher_lock();
  [[nodiscard]] bool launcher_has_ended() const noexcept;

 private:
  Segment(int fd, NodeId nodes, int protection);
  void tell_of_death() noexcept;
  template <class T>
  [[nodiscard]] T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<T*>(base_ + offset);
  }

  int fd_;
  NodeId nodes_;
  Layout layout_;
  std::byte* base_ = nullptr;
  std::mutex users_mutex_;
  std::vector<std::byte*> users_;  // mapped user segments, by node
};

}  // namespace am::shm
