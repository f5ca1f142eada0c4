#include "core/memory/guards.hpp"

#include <am/error.hpp>
#include <array>
#include <span>
#include <string>

#include "host/random_bytes.hpp"

namespace am::core {

namespace {

Error not_guarded(NodeId owner, const std::string& why, const char* remedy) {
  return {"guard", "node " + std::to_string(owner), why, remedy};
}

host::SipKey random_key() {
  host::SipKey key{};
  host::fill_random(std::as_writable_bytes(std::span(key)));
  return key;
}

}  // namespace

std::uint64_t Guards::take_slot() {
  if (free_.empty()) {
    if (generations_.size() == limits_.guards) {
      throw not_guarded(owner_, "all " + std::to_string(limits_.guards) + " guards of this node are in use",
                        "revoke some");
    }
    generations_.push_back(0);
    free_.reserve(generations_.capacity());  // revoke() takes no memory
    return generations_.size() - 1;
  }
  const std::uint16_t slot = free_.back();
  free_.pop_back();
  return slot;
}

impl::GuardedBits Guards::make(const void* first, std::size_t bytes, Rights rights) {
  if (first == nullptr)
    throw not_guarded(owner_, "the pointer is null", "give the address of the memory to guard");
  if (bytes >= impl::GuardedBits::bytes_end)
    throw not_guarded(owner_, "it is 2^40 bytes or more", "guard its parts");
  if (!key_) key_ = random_key();
  const std::uint64_t slot = take_slot();
  impl::GuardedBits guarded{.base = reinterpret_cast<std::uintptr_t>(first),
                            .bytes = bytes,
                            .name = impl::GuardedBits::name_of(owner_, slot, rights, generations_[slot])};
  guarded.mac = mac_of(guarded);
  return guarded;
}

std::uint64_t Guards::mac_of(const impl::GuardedBits& guarded) const noexcept {
  const std::array<std::uint64_t, 3> text = {guarded.base, guarded.bytes, guarded.name};
  return host::sip_hash(*key_, std::as_bytes(std::span(text)));
}

/// Two words are compared at once: how long it takes says nothing of where they differ.
GuardStatus Guards::identify(const impl::GuardedBits& guarded) const noexcept {
  if (!key_ || guarded.mac != mac_of(guarded)) return GuardStatus::forged;
  return guarded.generation() == generations_[guarded.slot()] ? GuardStatus::ok : GuardStatus::stale;
}

GuardStatus Guards::check(const impl::GuardedBits& guarded, Rights wanted,
                          std::uint64_t bytes) const noexcept {
  const GuardStatus status = identify(guarded);
  if (status != GuardStatus::ok) return status;
  if (!guarded.permits(wanted)) return GuardStatus::not_permitted;
  return guarded.holds(bytes) ? GuardStatus::ok : GuardStatus::out_of_bounds;
}

/// Behind a slot's last generation comes one that no pointer has room for.
GuardStatus Guards::revoke(const impl::GuardedBits& guarded) noexcept {
  const GuardStatus status = identify(guarded);
  if (status != GuardStatus::ok) return status;
  if (++generations_[guarded.slot()] < limits_.generations)
    free_.push_back(static_cast<std::uint16_t>(guarded.slot()));
  return GuardStatus::ok;
}

}  // namespace am::core
