// Accesses through guarded pointers (am/guarded_ptr.hpp): what the caller asks for, and what the owner's handlers do after they have
// checked it against the owner's guards. Always a request and its answer, whatever network leads there; the owner's own are checked in place.
//
// Short accesses are one message, which is checked and done. Long ones are checked as a whole by a message of their own, and then
// go in pieces, each of which is checked again, as it comes without the others.
//
// The caller's part is for the node's own thread, from the computation, with events held off (impl::Hold): it waits, and polls. The owner's
// part takes no memory.
#pragma once

#include <am/guarded_ptr.hpp>
#include <am/payload.hpp>
#include <am/types.hpp>
#include <cstddef>
#include <cstdint>

#include "core/memory/guards.hpp"

namespace am::core {

class Engine;

class GuardedAccesses {
 public:
  using Bits = impl::GuardedBits;

  explicit GuardedAccesses(Engine& engine) noexcept;

  [[nodiscard]] Bits guard(const void* first, std::size_t bytes, Rights rights);
  GuardStatus revoke(const Bits& guarded);

  // Each returns when it is done or refused. Throws am::Error where there is nobody to ask, or he is gone.
  [[nodiscard]] GuardStatus put(const Bits& to, const std::byte* from, std::size_t bytes);
  [[nodiscard]] GuardStatus get(const Bits& from, std::byte* into, std::size_t bytes);
  [[nodiscard]] GuardStatus change(const Bits& at, const impl::Atomic& atomic, std::byte* old);

  /// The owner's part: null, or where the access may go. Counts what is refused.
  [[nodiscard]] std::byte* permit(const Bits& guarded, Rights wanted, std::uint64_t bytes,
                                  GuardStatus& status) noexcept;

  // What answers say. One that nobody waits for any more, or that another node should have given, is dropped.
  void was_answered(NodeId from, std::uint64_t ticket, std::uint64_t status) noexcept;
  void was_read(NodeId from, std::uint64_t ticket, std::uint64_t offset, Payload data) noexcept;

 private:
  /// An access that waits for its answers. They lie on the stacks of those who wait.
  struct Call {
    NodeId owner;
    std::uint64_t first = 0;  ///< the offset where it begins
    std::byte* into = nullptr;
    std::size_t bytes = 0;  ///< room there
    std::uint64_t ticket = 0;
    std::size_t open = 0;  ///< answers still to come
    GuardStatus status = GuardStatus::ok;
    Call* next = nullptr;
  };
  class OpenCall;

  [[nodiscard]] NodeId owner_of(const Bits& guarded, const char* what) const;
  [[nodiscard]] Call* find(NodeId from, std::uint64_t ticket) noexcept;
  void answered(Call& call, GuardStatus status) noexcept;
  template <class Send>
  void send(OpenCall& call, const char* what, Send one);
  template <class Send>
  void send_pieces(OpenCall& call, const char* what, const Bits& where, std::size_t bytes, Send piece);
  [[nodiscard]] bool is_permitted(OpenCall& call, const char* what, const Bits& where, std::size_t bytes,
                                  Rights wanted);
  GuardStatus wait(OpenCall& call, const char* what);

  Engine& engine_;
  Guards guards_;
  std::uint64_t last_ticket_ = 0;
  Call* calls_ = nullptr;
};

}  // namespace am::core
