// World: what one node keeps for Split-C, beside what the program attaches to the node. The functions of this model find it by
// their thread; their handlers by the node (Node::own).
#pragma once

#include <am/global.hpp>
#include <am/node.hpp>
#include <am/splitc/here.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#pragma push_macro("Status")  // types.hpp
#undef Status

namespace am::splitc {

/// A counter of split-phase operations that are waited for apart from the others: put(p, v, counter), sync(counter).
using Counter = am::Counter;

namespace impl {

/// A call of atomic() that waits for its answer.
struct Call {
  enum class State : std::uint8_t { open, answered, threw };

  void* into;
  std::size_t bytes;
  std::uint64_t ticket = 0;
  State state = State::open;
  Call* next = nullptr;
};

/// The node's World, for handlers.
struct Seat {
  explicit Seat(am::Node& /*node*/) noexcept {}
  World* world = nullptr;
};

/// AM_CHECKED: all nodes make the same call of several nodes, or am::Error names two that differ, on all of them.
void must_agree(World& world, const char* call, std::uint64_t size, NodeId root);

inline void agree([[maybe_unused]] World& world, [[maybe_unused]] const char* call,
                  [[maybe_unused]] std::uint64_t size = 0, [[maybe_unused]] NodeId root = 0) {
#ifdef AM_CHECKED
  must_agree(world, call, size, root);
#endif
}

}  // namespace impl

/// What a node keeps for Split-C; the functions of this model need one on each node.
class World {
 public:
  /// Collective: it returns when all nodes have theirs. One at a time on a node.
  explicit World(am::Node& node);
  /// Waits for all nodes to come to the end of theirs (not while an exception passes through): until then they may need it. What
  /// is thrown meanwhile leaves the next call that makes progress.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// The node that it belongs to.
  [[nodiscard]] am::Node& node() const noexcept { return node_; }
  /// Counts the operations that sync() waits for.
  [[nodiscard]] Counter& phase() noexcept { return phase_; }

  // -- for the functions of this model ----------------------------------------------------------------------------------

  /// Bytes that were stored into this node's memory by anybody, and what store_sync() has waited for of them.
  void count_stored(std::uint64_t bytes) noexcept { stored_.fetch_add(bytes, std::memory_order_release); }
  [[nodiscard]] std::uint64_t stored() const noexcept { return stored_.load(std::memory_order_acquire); }
  std::uint64_t stored_and_synced = 0;
  /// Bytes that this node has stored into each node's memory since the last all_store_sync(); and those that were stored into this
  /// node's until then.
  std::vector<std::uint64_t> sent_to;
  std::uint64_t stored_before = 0;

  /// Throws am::Error unless a send to `to` was accepted.
  void must_be_sent(am::Status status, NodeId to, const char* what) const;

  /// For the time of a call of atomic().
  void begin(impl::Call& call);
  void end(const impl::Call& call) noexcept;
  void answered(std::uint64_t ticket, const void* result, std::size_t bytes,
                impl::Call::State state) noexcept;

  // -- for handlers -------------------------------------------------------------------------------------------------------

  /// That of the node. A message that comes when there is none any more ends the program.
  [[nodiscard]] static World& of(am::Node& node) noexcept;

  static void store_word(am::Request& request, am::GlobalPtr<std::byte> at, std::uint64_t bits,
                         std::uint64_t bytes);
  static void store_bytes(am::Request& request, am::GlobalPtr<std::byte> at, am::Payload payload);
  static void were_stored(am::Request& request, std::uint64_t bytes);
  static void atomic_threw(am::Reply& reply, std::uint64_t ticket);

 private:
  void sit(World* world);

  am::Node& node_;
  int exceptions_;
  Counter phase_;
  std::atomic<std::uint64_t> stored_ = 0;  // written by handlers and by this node's own stores
  std::uint64_t last_ticket_ = 0;
  impl::Call* calls_ = nullptr;
};

/// The World of this thread. Throws am::Error where there is none.
[[nodiscard]] inline World& world() {
  if (impl::here.world == nullptr) [[unlikely]]
    impl::no_world();
  return *impl::here.world;
}

/// splitc_poll(): runs the handlers of what has come.
inline void poll() { world().node().poll(); }
/// Seconds since the job began, on the clock that all nodes share.
[[nodiscard]] inline double get_seconds() { return static_cast<double>(world().node().count()) * 1e-9; }

}  // namespace am::splitc

#pragma pop_macro("Status")
