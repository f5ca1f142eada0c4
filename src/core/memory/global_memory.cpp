#include "core/memory/global_memory.hpp"

#include <am/error.hpp>
#include <am/global.hpp>
#include <am/impl/current_node.hpp>

#include <string>

#include "core/node/engine.hpp"
#include "core/reports/fatal.hpp"
#include "host/counted.hpp"
#include "transports/memory_reach.hpp"

namespace am {

namespace core {

static_assert(host::max_nodes < impl::GlobalAddress::max_nodes, "a global address names every node");
static_assert(host::stride < impl::GlobalAddress::nowhere, "and every byte of a segment, and its end");

namespace {

std::size_t own_bytes(const Engine& engine) {
  const std::uint64_t bytes = engine.settings().segment_bytes;
  if (bytes > host::stride) {
    throw Error("join the job",
                "a segment of " + std::to_string(bytes) + " bytes was asked for, at most " +
                    std::to_string(host::stride) + " are possible",
                "choose a smaller one (AM_SEGMENT or am::Options::segment_bytes)");
  }
  return bytes;
}

Error outside(Engine& engine, impl::GlobalAddress at, std::size_t bytes, const char* what) {
  const std::string where = "node " + std::to_string(engine.job().id);
  if (at.is_null()) return {what, where, "the global pointer is null", "check where it comes from"};
  const std::string node = std::to_string(at.node());
  const std::string place =
      at.offset() == impl::GlobalAddress::nowhere ? "nowhere" : std::to_string(at.offset());
  const std::string pointer = "the global pointer (node " + node + ", offset " + place + ")";
  if (at.node() >= engine.job().size) {
    return {what, where,
            pointer + " names no node: the job has nodes 0 to " + std::to_string(engine.job().size - 1),
            "check where it comes from"};
  }
  const auto peer = static_cast<NodeId>(at.node());
  const std::string length =
      bytes == impl::too_many_bytes ? "more bytes than there are" : host::counted(bytes, "byte");
  return {what, where,
          length + " at " + pointer + (bytes == 1 ? " is" : " are") + " not in the segment of node " + node +
              ", which has " + std::to_string(engine.board().card(peer).segment_bytes) + " bytes",
          "check the index and the size"};
}

}  // namespace

GlobalMemory::GlobalMemory(Engine& engine)
    : engine_(engine),
      peers_(engine.job().size),
      heap_(own_bytes(engine), impl::block_alignment),
      remote_(engine),
      guarded_(engine) {}

void GlobalMemory::forget_segments() noexcept {
  for (NodeId peer = 0; peer < engine_.job().size; ++peer) peers_[peer] = {};
}

std::byte* GlobalMemory::map(NodeId peer) {
  engine_.must_not_be_a_child();
  impl::PeerSegment& segment = peers_[peer];
  if (segment.base == nullptr) {
    const std::span<std::byte> mapped = engine_.job().memory->map_user(peer);
    segment.base = mapped.data();
    segment.bytes = mapped.size();
  }
  return segment.base;
}

std::byte* GlobalMemory::reach(impl::GlobalAddress at, std::size_t bytes, const char* what) {
  if (at.is_null() || at.node() >= engine_.job().size) throw outside(engine_, at, bytes, what);
  const auto peer = static_cast<NodeId>(at.node());
  const bool direct =
      peer == engine_.job().id || goes_by(MemoryReach::Way::mapped, engine_.network().memory_reach(peer));
  std::byte* const base = direct ? map(peer) : nullptr;
  // What is mapped counts, whatever the peer's card says by now.
  const std::size_t there = direct ? peers_[peer].bytes : engine_.board().card(peer).segment_bytes;
  if (bytes > there || at.offset() > there - bytes) throw outside(engine_, at, bytes, what);
  return direct ? base + at.offset() : nullptr;
}

std::byte* GlobalMemory::own(std::uint64_t offset, std::size_t bytes) {
  const std::size_t size = engine_.settings().segment_bytes;
  if (bytes > size || offset > size - bytes) return nullptr;
  return map(engine_.job().id) + offset;
}

std::byte* GlobalMemory::own_if_mapped(std::uint64_t offset, std::size_t bytes) const noexcept {
  const impl::PeerSegment& own = peers_[engine_.job().id];
  return own.base == nullptr || bytes > own.bytes || offset > own.bytes - bytes ? nullptr : own.base + offset;
}

std::span<std::byte> GlobalMemory::own_segment() {
  const std::size_t size = engine_.settings().segment_bytes;
  return {map(engine_.job().id), size};
}

bool GlobalMemory::has_memory_for(std::size_t offset, std::size_t bytes) {
  if (all_has_memory_) return true;
  if (!engine_.job().memory->commit_user(engine_.job().id, offset, bytes)) return false;
  all_has_memory_ = bytes == engine_.settings().segment_bytes;
  return true;
}

}  // namespace core

// -- the slow halves of am/impl/global_access.hpp -----------------------------------------------------------------------

namespace impl {

using core::GlobalMemory;

namespace {

const char* name_of(Atomic::Operation operation) noexcept {
  switch (operation) {
    case Atomic::Operation::fetch_add:
      return "fetch_add";
    case Atomic::Operation::exchange:
      return "exchange";
    case Atomic::Operation::compare_swap:
      return "compare_swap";
  }
  return "?";
}

/// Begins an operation by messages, and waits for it unless the caller counts.
template <class F>
void remotely(GlobalMemory& memory, Counter* counter, const char* what, F begin) {
  if (counter != nullptr) return begin(*counter);
  Counter own;
  begin(own);
  memory.remote().wait(own, own.begun(), what);
}

}  // namespace

Node& this_node(const char* what) {
  Node* node = events_of_this_thread != nullptr ? events_of_this_thread : current_node();
  if (node == nullptr)
    throw Error(what, "this thread is no node of a job", "name the node: pointer.local(node)");
  return *node;
}

void put_slowly(Node& node, GlobalAddress to, const void* from, std::size_t bytes, Counter* counter) {
  const Hold hold(node);
  GlobalMemory& memory = node.engine().memory();
  if (std::byte* place = memory.reach(to, bytes, "put")) {
    core::write_bytes(place, from, bytes);
    if (counter != nullptr) counter->count_complete();
    return;
  }
  remotely(memory, counter, "put",
           [&](Counter& c) { memory.remote().put(to, static_cast<const std::byte*>(from), bytes, &c); });
}

void put_ahead(Node& node, GlobalAddress to, const void* from, std::size_t bytes) {
  const Hold hold(node);
  GlobalMemory& memory = node.engine().memory();
  if (std::byte* place = memory.reach(to, bytes, "put_notify")) {
    impl::copy_bytes(place, from, bytes);
  } else {
    memory.remote().put(to, static_cast<const std::byte*>(from), bytes, nullptr);
  }
}

void get_slowly(Node& node, GlobalAddress from, void* into, std::size_t bytes, Counter* counter) {
  const Hold hold(node);
  GlobalMemory& memory = node.engine().memory();
  if (std::byte* place = memory.reach(from, bytes, "get")) {
    core::read_bytes(into, place, bytes);
    if (counter != nullptr) counter->count_complete();
    return;
  }
  remotely(memory, counter, "get",
           [&](Counter& c) { memory.remote().get(from, static_cast<std::byte*>(into), bytes, c); });
}

void atomic_slowly(Node& node, GlobalAddress at, const Atomic& atomic, void* old, Counter* counter) {
  const Hold hold(node);
  GlobalMemory& memory = node.engine().memory();
  const char* what = name_of(atomic.operation);
  std::byte* place = memory.reach(at, atomic.bytes, what);
  if (at.offset() % atomic.bytes != 0) {
    throw Error(what, "node " + std::to_string(node.id()),
                "the global pointer (node " + std::to_string(at.node()) + ", offset " +
                    std::to_string(at.offset()) + ") is not aligned to the " + std::to_string(atomic.bytes) +
                    " bytes of its integer",
                "atomic operations need aligned integers");
  }
  if (place != nullptr) {
    core::apply_atomic(place, atomic, old);
    if (counter != nullptr) counter->count_complete();
    return;
  }
  remotely(memory, counter, what, [&](Counter& c) { memory.remote().change(at, atomic, old, c); });
}

std::byte* direct_slowly(Node& node, GlobalAddress at, std::size_t bytes) {
  const Hold hold(node);
  return node.engine().memory().reach(at, bytes, "direct");
}

std::byte* own_slowly(Node& node, GlobalAddress at, std::size_t bytes) {
  const Hold hold(node);
  std::byte* place = node.engine().memory().reach(at, bytes, "local");
  if (at.node() == node.id()) return place;
  throw Error("local", "node " + std::to_string(node.id()),
              "the global pointer (node " + std::to_string(at.node()) + ", offset " +
                  std::to_string(at.offset()) + ") points to another node's memory",
              "use am::get and am::put, or send the owner a message");
}

void reached_from_handler(Node& node, GlobalAddress at) noexcept {
  core::broken(node.id(), "handler ", node.engine().running_handler(), " reaches for the memory of node ",
               at.node(), ": a handler uses its own node's memory only (post the work instead)");
}

void wait_slowly(Node& node, Counter& counter, std::uint64_t n) {
  if (n > counter.begun()) {
    throw Error("wait for a counter", "node " + std::to_string(node.id()),
                std::to_string(n) + " completions are waited for, only " + std::to_string(counter.begun()) +
                    " operations were begun",
                "begin them first");
  }
  node.engine().memory().remote().wait(counter, n, "am::wait");
}

}  // namespace impl

void Counter::abandon() noexcept {
  if (under_way_ != nullptr) under_way_->abandon(*this);
}

}  // namespace am
