// Giving out a node's own segment: what am/global.hpp calls allocation.
#include <algorithm>
#include <am/collectives.hpp>
#include <am/error.hpp>
#include <am/global.hpp>
#include <bit>
#include <cstring>
#include <optional>
#include <string>

#include "core/node/engine.hpp"
#include "core/node/unknown_node.hpp"
#include "core/settings/setting_value.hpp"
#include "core/together/operation.hpp"
#include "host/counted.hpp"

namespace am {

namespace {

using core::GlobalMemory;
using core::Operation;
using core::SegmentHeap;

std::string name_of(NodeId node) { return "node " + std::to_string(node); }

/// What to set, so that as many bytes more fit in any case: the next power of two.
std::string larger_segment(std::uint64_t segment, std::uint64_t bytes) {
  constexpr std::uint64_t most = core::max_size_bytes;
  if (bytes > most - segment) return "ask for less: a segment has at most " + core::format_size(most);
  return "set AM_SEGMENT=" + core::format_size(std::bit_ceil(segment + bytes)) +
         ", or am::Options::segment_bytes";
}

/// What the nodes tell each other about one symmetric allocation, put together.
struct Agreement {
  static constexpr NodeId nobody = ~NodeId{0};
  std::uint64_t least_bytes, most_bytes;
  std::uint64_t lowest_offset, highest_offset;
  NodeId without_room;

  static Agreement of_both(const Agreement& a, const Agreement& b) noexcept {
    return {std::min(a.least_bytes, b.least_bytes), std::max(a.most_bytes, b.most_bytes),
            std::min(a.lowest_offset, b.lowest_offset), std::max(a.highest_offset, b.highest_offset),
            std::min(a.without_room, b.without_room)};
  }
};

constexpr const char* symmetric_what = "allocate symmetric memory";
constexpr const char* collective_remedy =
    "all nodes allocate and give back symmetric memory in the same order, alike";

void check(Operation& operation, const Agreement& all) {
  const std::string where = name_of(operation.node().id());
  if (all.least_bytes != all.most_bytes) {
    operation.fail({symmetric_what, where,
                    "the nodes ask for different sizes, from " + std::to_string(all.least_bytes) + " to " +
                        std::to_string(all.most_bytes) + " bytes",
                    collective_remedy});
  }
  if (all.without_room != Agreement::nobody) {
    const std::uint64_t segment = segment_bytes(operation.node(), all.without_room);
    operation.fail({symmetric_what, where,
                    name_of(all.without_room) + " has no room for " + host::counted(all.most_bytes, "byte") +
                        ": its segment has " + std::to_string(segment),
                    larger_segment(segment, all.most_bytes) + "; where memory itself is short, " +
                        std::string(host::SharedFile::more_room)});
  }
  if (all.lowest_offset != all.highest_offset) {
    operation.fail({symmetric_what, where, "the offsets differ: earlier blocks were not treated alike",
                    collective_remedy});
  }
}

/// A block with memory behind it; nothing when there is no room in the segment, or no memory.
std::optional<SegmentHeap::Block> take_block(GlobalMemory& memory, std::size_t bytes, SegmentHeap::End end) {
  const auto block = memory.heap().allocate(bytes, end);
  if (!block || memory.has_memory_for(block->offset, bytes)) return block;
  static_cast<void>(memory.heap().release(block->offset));
  return {};
}

void clear_if_used(GlobalMemory& memory, const SegmentHeap::Block& block, std::size_t bytes) {
  if (block.used_before) std::memset(memory.own(block.offset, bytes), 0, bytes);
}

}  // namespace

namespace impl {

GlobalAddress allocate(Node& node, std::size_t bytes) {
  const Hold hold(node);
  node.engine().must_not_be_a_child();
  GlobalMemory& memory = node.engine().memory();
  const auto block = take_block(memory, bytes, SegmentHeap::End::high);
  if (!block && bytes <= memory.heap().largest_free(SegmentHeap::End::high)) {
    throw Error("allocate global memory", name_of(node.id()), "no memory for " + host::counted(bytes, "byte"),
                host::SharedFile::more_room);
  }
  if (!block) {
    const std::string wanted =
        bytes == too_many_bytes ? "more bytes than there are" : host::counted(bytes, "byte");
    const std::uint64_t segment = segment_bytes(node, node.id());
    throw Error("allocate global memory", name_of(node.id()),
                "no room for " + wanted + ": the segment has " + std::to_string(segment) +
                    ", the largest free piece " +
                    std::to_string(memory.heap().largest_free(SegmentHeap::End::high)),
                larger_segment(segment, bytes));
  }
  clear_if_used(memory, *block, bytes);
  return GlobalAddress::make(node.id(), block->offset);
}

/// An exception of a handler is not this function's own failure: the peers have their parts and count on this node's, so
/// the caller has to get the pointer first.
GlobalAddress allocate_symmetric(Node& node, std::size_t bytes) {
  Operation operation(node, symmetric_what);
  GlobalMemory& memory = node.engine().memory();
  const auto block = take_block(memory, bytes, SegmentHeap::End::low);
  if (block) clear_if_used(memory, *block, bytes);
  const std::uint64_t offset = block ? block->offset : 0;
  Agreement all{bytes, bytes, offset, offset, block ? Agreement::nobody : node.id()};
  try {
    auto* of_both = &Agreement::of_both;
    core::all_reduce_bytes(operation, std::as_writable_bytes(std::span(&all, 1)),
                           CombineValues<Agreement, decltype(of_both)>(of_both));
    check(operation, all);
  } catch (...) {
    if (block) static_cast<void>(memory.heap().release(block->offset));
    throw;
  }
  operation.complete_and_throw_later();
  return GlobalAddress::make(node.id(), offset);
}

void deallocate(Node& node, GlobalAddress block) {
  const Hold hold(node);
  if (block.is_null()) return;
  if (block.node() == node.id() && node.engine().memory().heap().release(block.offset())) return;
  throw Error("give back global memory", name_of(node.id()),
              "no block of this node begins at the global pointer (node " + std::to_string(block.node()) +
                  ", offset " + std::to_string(block.offset()) + ")",
              "give back what allocate returned on this node, once");
}

GlobalAddress address_of(Node& node, const void* local, std::size_t bytes) {
  const std::span<const std::byte> own = node.engine().memory().own_segment();
  const auto at = reinterpret_cast<std::uintptr_t>(local);
  const auto begin = reinterpret_cast<std::uintptr_t>(own.data());
  if (at >= begin && own.size() >= bytes && at - begin <= own.size() - bytes)
    return GlobalAddress::make(node.id(), at - begin);
  throw Error("make a global pointer", name_of(node.id()),
              "the object is not in this node's segment of " + std::to_string(own.size()) + " bytes",
              "allocate it with am::allocate");
}

}  // namespace impl

std::span<std::byte> segment(Node& node) {
  GlobalMemory& memory = node.engine().memory();
  const std::span<std::byte> own = memory.own_segment();
  if (memory.has_memory_for(0, own.size())) return own;
  throw Error("use the memory segment", name_of(node.id()),
              "no memory for its " + std::to_string(own.size()) + " bytes",
              "choose a smaller one (AM_SEGMENT or am::Options::segment_bytes), or " +
                  std::string(host::SharedFile::more_room));
}

std::size_t segment_bytes(Node& node, NodeId peer) {
  if (peer >= node.size()) throw core::unknown_node("segment_bytes", peer, node.size());
  return node.engine().board().card(peer).segment_bytes;
}

}  // namespace am
