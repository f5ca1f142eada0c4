#include <am/settle.hpp>
#include <am/splitc/bulk.hpp>
#include <am/splitc/store.hpp>
#include <am/splitc/together.hpp>

#include <am/error.hpp>
#include <string>
#include <vector>

namespace am::splitc {

namespace impl {

namespace {

/// `place` may be null: what only messages reach lies nowhere here.
void must_not_overlap(const World& world, const char* what, const void* place, const void* local,
                      std::size_t bytes) {
  const auto a = reinterpret_cast<std::uintptr_t>(place);
  const auto b = reinterpret_cast<std::uintptr_t>(local);
  if (place == nullptr || (a < b ? b - a : a - b) >= bytes) return;
  throw Error(what, "node " + std::to_string(world.node().id()),
              "source and target overlap in " + std::to_string(bytes - (a < b ? b - a : a - b)) + " of " +
                  std::to_string(bytes) + " bytes",
              "move what overlaps with memmove, on its own node");
}

}  // namespace

void bulk_get(World& world, void* into, am::GlobalPtr<const std::byte> from, std::size_t bytes,
              Counter* counter) {
  if (bytes == 0) return;
  am::Node& node = world.node();
  must_not_overlap(world, "bulk_get", am::direct(node, from, bytes), into, bytes);
  const std::span<std::byte> range(static_cast<std::byte*>(into), bytes);
  if (counter == nullptr) {
    am::get(node, from, range);
  } else {
    am::begin_get(node, from, range, *counter);
  }
}

void bulk_put(World& world, am::GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
              Counter* counter) {
  if (bytes == 0) return;
  am::Node& node = world.node();
  must_not_overlap(world, "bulk_put", am::direct(node, to, bytes), from, bytes);
  const std::span<const std::byte> range(static_cast<const std::byte*>(from), bytes);
  if (counter == nullptr) {
    am::put(node, to, range);
  } else {
    am::begin_put(node, to, range, *counter);
  }
}

void store_range(World& world, am::GlobalPtr<std::byte> to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  constexpr std::size_t short_bytes = 1024;  // so many go with the message
  am::Node& node = world.node();
  std::byte* const place = am::direct(node, to, bytes);
  must_not_overlap(world, "bulk_store", place, from, bytes);
  const std::span<const std::byte> range(static_cast<const std::byte*>(from), bytes);
  if (to.node() == node.id()) {
    std::memcpy(place, from, bytes);
    world.count_stored(bytes);
  } else if (bytes <= short_bytes) {
    world.must_be_sent(node.request<&World::store_bytes>(to.node(), to, range), to.node(), "store");
  } else {
    world.must_be_sent(am::put_notify<&World::were_stored>(node, to, range, std::uint64_t{bytes}), to.node(),
                       "store");
  }
  world.sent_to[to.node()] += bytes;
}

}  // namespace impl

// -- what arrives -------------------------------------------------------------------------------------------------------

void World::store_word(am::Request& request, am::GlobalPtr<std::byte> at, std::uint64_t bits,
                       std::uint64_t bytes) {
  const auto write = [&]<class T>(T /*of the size*/) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    am::put(request.node(), at.as<T>(), value);
  };
  switch (bytes) {
    case 1:
      write(std::uint8_t{});
      break;
    case 2:
      write(std::uint16_t{});
      break;
    case 4:
      write(std::uint32_t{});
      break;
    default:
      write(std::uint64_t{});
  }
  of(request.node()).count_stored(bytes);
}

void World::store_bytes(am::Request& request, am::GlobalPtr<std::byte> at, am::Payload payload) {
  am::put(request.node(), at, payload.bytes());
  of(request.node()).count_stored(payload.size());
}

void World::were_stored(am::Request& request, std::uint64_t bytes) { of(request.node()).count_stored(bytes); }

// -- waiting for it -----------------------------------------------------------------------------------------------------

void store_sync(std::size_t bytes) {
  World& w = world();
  const auto have_come = [&] { return w.stored() - w.stored_and_synced >= bytes; };
  w.node().wait_until(have_come, std::nullopt);
  w.stored_and_synced += bytes;
}

void reset_store_sync() {
  World& w = world();
  w.stored_and_synced = w.stored();
}

/// What has come is taken off as soon as it has: also when a handler throws meanwhile, and not when a node is gone before.
void all_store_sync() {
  World& w = world();
  impl::agree(w, "all_store_sync");
  std::vector<std::uint64_t> phase(w.sent_to.size());
  phase.swap(w.sent_to);
  am::settle(w.node(), phase, [&w, before = w.stored_before](std::uint64_t bytes) {
    if (w.stored() - before < bytes) return false;
    w.stored_and_synced = w.stored_before = before + bytes;
    return true;
  });
}

}  // namespace am::splitc
