#include "core/memory/guarded_accesses.hpp"

#include <algorithm>
#include <am/error.hpp>
#include <cstring>
#include <span>
#include <string>

#include "core/membership/peers_gone.hpp"
#include "core/memory/remote_memory.hpp"
#include "core/messages/own_send.hpp"
#include "core/node/engine.hpp"

namespace am::core {

namespace {

using Bits = impl::GuardedBits;

// A ticket, and a length in the bits behind it: one word beside the five of a pointer.
constexpr unsigned ticket_bits = 24;
constexpr std::uint64_t ticket_of(std::uint64_t word) noexcept {
  return word & ((std::uint64_t{1} << ticket_bits) - 1);
}
constexpr std::uint64_t with_length(std::uint64_t ticket, std::uint64_t bytes) noexcept {
  return std::min(bytes, Bits::bytes_end - 1) << ticket_bits | ticket;
}
constexpr std::uint64_t length_of(std::uint64_t word) noexcept { return word >> ticket_bits; }
static_assert(Bits::bytes_end == std::uint64_t{1} << (64 - ticket_bits));

Bits at_piece(Bits where, std::size_t at) noexcept {
  if (where.offset != Bits::nowhere) where.offset += at;
  return where;
}

// -- what the owner does ------------------------------------------------------------------------------------------------

GuardedAccesses& accesses_of(Node& node) { return node.engine().memory().guarded(); }

void guarded_answered(Reply& reply, std::uint64_t ticket, std::uint64_t status) {
  accesses_of(reply.node()).was_answered(reply.from(), ticket, status);
}
void guarded_read(Reply& reply, std::uint64_t ticket, std::uint64_t offset, Payload data) {
  accesses_of(reply.node()).was_read(reply.from(), ticket, offset, data);
}

void answer(Request& request, std::uint64_t word, GuardStatus status) {
  request.reply<guarded_answered>(ticket_of(word), static_cast<std::uint64_t>(status));
}

template <Rights wanted>
void check_guarded_here(Request& request, Bits where, std::uint64_t word) {
  GuardStatus status{};
  static_cast<void>(accesses_of(request.node()).permit(where, wanted, length_of(word), status));
  answer(request, word, status);
}

void write_guarded_here(Request& request, Bits to, std::uint64_t word, Payload data) {
  GuardStatus status{};
  if (std::byte* place = accesses_of(request.node()).permit(to, Rights::write, data.size(), status))
    write_bytes(place, data.data(), data.size());
  answer(request, word, status);
}

void read_guarded_here(Request& request, Bits from, std::uint64_t word) {
  GuardStatus status{};
  std::byte* place = accesses_of(request.node()).permit(from, Rights::read, length_of(word), status);
  if (place == nullptr) return answer(request, word, status);
  const std::size_t bytes = length_of(word);
  std::uint64_t copy = 0;  // of a word: nobody changes it under way
  if (bytes <= sizeof copy) {
    read_bytes(&copy, place, bytes);
    place = reinterpret_cast<std::byte*>(&copy);
  }
  request.reply<guarded_read>(ticket_of(word), from.offset, Payload(place, bytes));
}

void change_guarded_here(Request& request, Bits at, std::uint64_t word, Payload data) {
  impl::Atomic atomic{};
  if (data.size() == sizeof atomic) std::memcpy(&atomic, data.data(), sizeof atomic);
  const bool possible = (atomic.bytes == 4 || atomic.bytes == 8) && (at.base + at.offset) % atomic.bytes == 0;
  GuardStatus status{};
  std::byte* place = accesses_of(request.node()).permit(at, Rights::read_write, atomic.bytes, status);
  if (place == nullptr) return answer(request, word, status);
  if (!possible) {
    return request.node().engine().distrust(request.from(), "node ", request.from(),
                                            " asks for an impossible atomic operation on guarded memory");
  }
  std::uint64_t old = 0;
  apply_atomic(place, atomic, &old);
  request.reply<guarded_read>(ticket_of(word), at.offset, Payload(&old, atomic.bytes));
}

const impl::InternalHandlers<guarded_answered, guarded_read, check_guarded_here<Rights::read>,
                             check_guarded_here<Rights::write>, write_guarded_here, read_guarded_here,
                             change_guarded_here>
    guarded_handlers;

}  // namespace

GuardedAccesses::GuardedAccesses(Engine& engine) noexcept : engine_(engine), guards_(engine.job().id) {}

std::byte* GuardedAccesses::permit(const Bits& guarded, Rights wanted, std::uint64_t bytes,
                                   GuardStatus& status) noexcept {
  status = guards_.check(guarded, wanted, bytes);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it has gone round the job as a number
  if (status == GuardStatus::ok) return reinterpret_cast<std::byte*>(guarded.base + guarded.offset);
  // Relaxed: a count, which others read now and then.
  engine_.board().card(engine_.job().id).refused_accesses.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

Bits GuardedAccesses::guard(const void* first, std::size_t bytes, Rights rights) {
  engine_.must_compute("guard");
  return guards_.make(first, bytes, rights);
}

GuardStatus GuardedAccesses::revoke(const Bits& guarded) {
  engine_.must_compute("revoke");
  if (owner_of(guarded, "revoke") != engine_.job().id) {
    throw Error("revoke", "node " + std::to_string(engine_.job().id),
                "the guarded pointer is node " + std::to_string(guarded.owner()) + "'s", "ask that node to");
  }
  return guards_.revoke(guarded);
}

// -- what the caller does -----------------------------------------------------------------------------------------------

/// As long as one lives its answers have a place to go to.
class GuardedAccesses::OpenCall : public Call {
 public:
  OpenCall(GuardedAccesses& accesses, const Call& call)
      : Call(call), own_(accesses.engine_), accesses_(accesses) {
    ticket = ticket_of(++accesses.last_ticket_);
    next = accesses.calls_;
    accesses.calls_ = this;
  }
  ~OpenCall() {
    Call** at = &accesses_.calls_;
    while (*at != this) at = &(*at)->next;
    *at = next;
  }
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;

 private:
  const Engine::OwnSend own_;
  GuardedAccesses& accesses_;
};

NodeId GuardedAccesses::owner_of(const Bits& guarded, const char* what) const {
  if (!guarded.is_null() && guarded.owner() < engine_.job().size) return static_cast<NodeId>(guarded.owner());
  throw Error(what, "node " + std::to_string(engine_.job().id),
              guarded.is_null() ? "the guarded pointer is null"
                                : "the guarded pointer's owner, " + std::to_string(guarded.owner()) +
                                      ", is no node of this job",
              "check where it comes from");
}

template <class Send>
void GuardedAccesses::send(OpenCall& call, const char* what, Send one) {
  ++call.open;
  if (one() != Status::ok) throw peer_gone_error(engine_, what, call.owner);
}

/// Until one is refused.
template <class Send>
void GuardedAccesses::send_pieces(OpenCall& call, const char* what, const Bits& where, std::size_t bytes,
                                  Send piece) {
  for (std::size_t at = 0; at < bytes && call.status == GuardStatus::ok; at += RemotePuts::piece_bytes) {
    const std::size_t length = std::min(RemotePuts::piece_bytes, bytes - at);
    send(call, what, [&] { return piece(at_piece(where, at), at, length); });
  }
}

GuardStatus GuardedAccesses::wait(OpenCall& call, const char* what) {
  LastMessages last_messages(engine_);
  const auto gone = [&]() -> std::optional<NodeId> {
    if (engine_.membership().is_gone(call.owner)) return call.owner;
    return {};
  };
  engine_.wait([&] { return call.open == 0 || last_messages.are_in(gone); }, what);
  if (call.open != 0) throw peer_gone_error(engine_, what, call.owner);
  return call.status;
}

/// Asks for the whole of a long access; a short one is its own question.
bool GuardedAccesses::is_permitted(OpenCall& call, const char* what, const Bits& where, std::size_t bytes,
                                   Rights wanted) {
  if (bytes <= RemotePuts::piece_bytes) return true;
  const std::uint64_t word = with_length(call.ticket, bytes);
  send(call, what, [&] {
    Node& node = engine_.node();
    return wanted == Rights::read ? node.request<check_guarded_here<Rights::read>>(call.owner, where, word)
                                  : node.request<check_guarded_here<Rights::write>>(call.owner, where, word);
  });
  return wait(call, what) == GuardStatus::ok;
}

GuardStatus GuardedAccesses::put(const Bits& to, const std::byte* from, std::size_t bytes) {
  constexpr const char* what = "guarded put";
  engine_.must_compute(what);
  const NodeId owner = owner_of(to, what);
  if (bytes == 0) return GuardStatus::ok;
  OpenCall call(*this, {.owner = owner});
  if (owner == engine_.job().id) {
    if (std::byte* place = permit(to, Rights::write, bytes, call.status)) write_bytes(place, from, bytes);
    return call.status;
  }
  if (!is_permitted(call, what, to, bytes, Rights::write)) return call.status;
  send_pieces(call, what, to, bytes, [&](const Bits& piece, std::size_t at, std::size_t length) {
    return engine_.node().request<write_guarded_here>(owner, piece, call.ticket, Payload(from + at, length));
  });
  return wait(call, what);
}

GuardStatus GuardedAccesses::get(const Bits& from, std::byte* into, std::size_t bytes) {
  constexpr const char* what = "guarded get";
  engine_.must_compute(what);
  const NodeId owner = owner_of(from, what);
  if (bytes == 0) return GuardStatus::ok;
  OpenCall call(*this, {.owner = owner, .first = from.offset, .into = into, .bytes = bytes});
  if (owner == engine_.job().id) {
    if (std::byte* place = permit(from, Rights::read, bytes, call.status)) read_bytes(into, place, bytes);
    return call.status;
  }
  if (!is_permitted(call, what, from, bytes, Rights::read)) return call.status;
  send_pieces(call, what, from, bytes, [&](const Bits& piece, std::size_t, std::size_t length) {
    return engine_.node().request<read_guarded_here>(owner, piece, with_length(call.ticket, length));
  });
  return wait(call, what);
}

GuardStatus GuardedAccesses::change(const Bits& at, const impl::Atomic& atomic, std::byte* old) {
  constexpr const char* what = "guarded atomic";
  engine_.must_compute(what);
  const NodeId owner = owner_of(at, what);
  if (at.holds(atomic.bytes) && (at.base + at.offset) % atomic.bytes != 0) {
    throw Error(what, "node " + std::to_string(engine_.job().id),
                "the guarded pointer is not aligned to " + std::to_string(atomic.bytes) + " bytes",
                "change whole values only");
  }
  OpenCall call(*this, {.owner = owner, .first = at.offset, .into = old, .bytes = atomic.bytes});
  if (owner == engine_.job().id) {
    if (std::byte* place = permit(at, Rights::read_write, atomic.bytes, call.status))
      apply_atomic(place, atomic, old);
    return call.status;
  }
  send(call, what, [&] {
    return engine_.node().request<change_guarded_here>(owner, at, call.ticket,
                                                       Payload(&atomic, sizeof atomic));
  });
  return wait(call, what);
}

// -- answers --------------------------------------------------------------------------------------------------------------

GuardedAccesses::Call* GuardedAccesses::find(NodeId from, std::uint64_t ticket) noexcept {
  Call* call = calls_;
  while (call != nullptr && (call->ticket != ticket || call->owner != from)) call = call->next;
  return call != nullptr && call->open != 0 ? call : nullptr;
}

void GuardedAccesses::answered(Call& call, GuardStatus status) noexcept {
  if (call.status == GuardStatus::ok) call.status = status;
  --call.open;
}

void GuardedAccesses::was_answered(NodeId from, std::uint64_t ticket, std::uint64_t status) noexcept {
  Call* const call = find(from, ticket);
  if (call == nullptr) return;
  if (status > static_cast<std::uint64_t>(GuardStatus::out_of_bounds))
    return engine_.distrust(from, "node ", from,
                            " answers a guarded access with something else than an answer");
  answered(*call, static_cast<GuardStatus>(status));
}

void GuardedAccesses::was_read(NodeId from, std::uint64_t ticket, std::uint64_t offset,
                               Payload data) noexcept {
  Call* const call = find(from, ticket);
  if (call == nullptr) return;
  const std::uint64_t at = offset - call->first;
  if (data.size() > call->bytes || at > call->bytes - data.size())
    return engine_.distrust(from, "node ", from, " answers a guarded get with more than was asked for");
  std::memcpy(call->into + at, data.data(), data.size());
  answered(*call, GuardStatus::ok);
}

}  // namespace am::core

// -- the slow halves of am/guarded_ptr.hpp ----------------------------------------------------------------------------------

namespace am::impl {

namespace {

/// Events are held off before the first question, whether a handler calls: one that runs on another thread meanwhile does not.
template <class F>
auto held(Node& node, F access) {
  const Hold hold(node);
  return access(node.engine().memory().guarded());
}

}  // namespace

GuardedBits guard(Node& node, const void* first, std::size_t bytes, Rights rights) {
  return held(node, [&](core::GuardedAccesses& all) { return all.guard(first, bytes, rights); });
}
GuardStatus revoke(Node& node, const GuardedBits& guarded) {
  return held(node, [&](core::GuardedAccesses& all) { return all.revoke(guarded); });
}
GuardStatus put_guarded(Node& node, const GuardedBits& to, const void* from, std::size_t bytes) {
  const auto* const values = static_cast<const std::byte*>(from);
  return held(node, [&](core::GuardedAccesses& all) { return all.put(to, values, bytes); });
}
GuardStatus get_guarded(Node& node, const GuardedBits& from, void* into, std::size_t bytes) {
  auto* const values = static_cast<std::byte*>(into);
  return held(node, [&](core::GuardedAccesses& all) { return all.get(from, values, bytes); });
}
GuardStatus change_guarded(Node& node, const GuardedBits& at, const Atomic& atomic, void* old) {
  auto* const value = static_cast<std::byte*>(old);
  return held(node, [&](core::GuardedAccesses& all) { return all.change(at, atomic, value); });
}

}  // namespace am::impl
