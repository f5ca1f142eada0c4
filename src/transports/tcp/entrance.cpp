#include "transports/tcp/entrance.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "host/clock.hpp"
#include "host/random_bytes.hpp"

namespace am::tcp {

namespace {
using Outcome = Socket::Moved::Outcome;

bool is_of_descriptors(int error) noexcept { return error == EMFILE || error == ENFILE; }

trust::Nonce fresh_nonce() {
  trust::Nonce nonce;
  host::fill_random(nonce);
  return nonce;
}
}  // namespace

void Entrance::call(NodeId to, const Address& address, std::uint64_t limit_ns) {
  Socket socket = connect_to(address);
  if (!socket) {
    results_.push_back({.peer = to, .ours = true, .failure = failure_of_system(errno)});
    return;
  }
  socket.ask_for_life(time_limit_ns);
  admit(std::move(socket), trust::Handshake::connecting(crypto_, key_, party_, to, fresh_nonce()), true,
        limit_ns);
}

void Entrance::hang_up(NodeId to) noexcept {
  std::erase_if(guests_, [to](const auto& guest) { return guest->ours && guest->handshake.peer() == to; });
}

bool Entrance::accept() {
  // Each has its turn to be the first: many who come at one keep nobody away from the others.
  if (!listening_.empty()) std::rotate(listening_.begin(), listening_.begin() + 1, listening_.end());
  return std::ranges::all_of(listening_, [this](const Socket& one) { return accept_at(one); });
}

bool Entrance::accept_at(const Socket& listening) {
  while (has_place()) {
    Socket socket = accept_from(listening);
    lacks_descriptor_ = !socket && is_of_descriptors(errno);
    if (!socket) return !lacks_descriptor_ && errno != ENOBUFS && errno != ENOMEM;
    admit(std::move(socket), trust::Handshake::connected(crypto_, key_, party_, fresh_nonce()), false,
          time_limit_ns);
  }
  return false;
}

bool Entrance::has_place() {
  const auto is_stranger = [](const auto& guest) { return !guest->ours && !is_proven(*guest); };
  const auto is_full = [&] {
    return static_cast<std::size_t>(std::ranges::count_if(guests_, is_stranger)) >= places_;
  };
  if (!is_full()) return true;
  const auto oldest = std::ranges::find_if(guests_, is_stranger);
  if (host::monotonic_ns() - (*oldest)->began_ns < chance_ns) return false;
  move((*oldest)->number);  // its proof may have come, and nobody has looked
  if (is_full()) turn_away(std::ranges::find_if(guests_, is_stranger), {"too many others came behind it"});
  return true;
}

bool Entrance::is_proven(const Guest& guest) noexcept {
  return guest.handshake.state() == trust::Handshake::State::proven;
}

void Entrance::admit(Socket socket, trust::Handshake handshake, bool ours, std::uint64_t limit_ns) {
  const std::uint64_t number = ++last_number_;
  Failure untold = events_.add(socket, number) ? Failure{} : failure_of_system(errno);
  guests_.push_back(std::make_unique<Guest>(Guest{number, std::move(socket), std::move(handshake), nullptr,
                                                  host::monotonic_ns(), limit_ns, ours, !ours}));
  if (!untold.why.empty()) turn_away(guests_.end() - 1, std::move(untold));
}

void Entrance::turn_away(Guests::iterator guest, Failure failure) {
  const std::unique_ptr<Guest> gone = std::move(*guest);
  guests_.erase(guest);
  gone->socket.end();  // as a forked child may hold it
  if (gone->ours) {
    results_.push_back({.peer = gone->handshake.peer(), .ours = true, .failure = std::move(failure)});
  } else {
    ++turned_away_;
  }
}

void Entrance::move(std::uint64_t number) {
  const auto guest = std::ranges::find(guests_, number, [](const auto& one) { return one->number; });
  if (guest == guests_.end()) return;
  if (Failure failure = step(**guest); !failure.why.empty()) return turn_away(guest, std::move(failure));
  if (!is_through(**guest)) return;
  const std::unique_ptr<Guest> proven = std::move(*guest);
  guests_.erase(guest);
  results_.push_back(
      {proven->handshake.peer(), proven->ours, Stream(std::move(proven->socket), std::move(proven->tls))});
}

Entrance::Failure Entrance::failure_of_system(int error) {
  std::string why = error == 0 ? "the other end closed the connection" : std::strerror(error);
  if (is_of_descriptors(error)) why += ": ulimit -n has to leave one for each peer, and a few";
  return {.why = std::move(why),
          .nobody = error == ECONNREFUSED,
          .silent = error == EHOSTUNREACH || error == ENETUNREACH || error == ENETDOWN || error == ETIMEDOUT,
          .unanswered = error == ETIMEDOUT,
          .no_descriptor = is_of_descriptors(error)};
}

bool Entrance::is_through(const Guest& guest) const noexcept {
  if (party_.tls)
    return guest.tls && guest.tls->state() == trust::Tls::State::open && guest.tls->to_send().empty();
  return is_proven(guest) && guest.handshake.to_send().empty();
}

/// Goes on with what is under way: the connection, the proof, TLS.
Entrance::Failure Entrance::step(Guest& guest) {
  if (!guest.connected) {
    if (const int failure = guest.socket.failure(); failure != 0) return failure_of_system(failure);
    if (guest.socket.is_to_itself()) {
      guest.socket.abort();
      return failure_of_system(ECONNREFUSED);
    }
  }
  if (!guest.tls) {
    if (Failure failure = prove(guest); !failure.why.empty()) return failure;
    if (!is_proven(guest) || !guest.handshake.to_send().empty() || !party_.tls) return {};
    const std::optional<trust::Digest> secret = guest.handshake.secret();
    if (!secret) return {std::string(trust::describe(trust::Handshake::Refusal::no_proof)), true};
    using Role = trust::Tls::Role;
    guest.tls = std::make_unique<trust::Tls>(guest.ours ? Role::connecting : Role::connected, *secret);
  }
  return secure(guest);
}

Entrance::Failure Entrance::prove(Guest& guest) {
  trust::Handshake& handshake = guest.handshake;
  for (;;) {
    while (!handshake.to_send().empty()) {
      const Socket::Moved out = guest.socket.write(handshake.to_send());
      if (out.outcome == Outcome::ended) return failure_of_system(out.error);
      if (out.outcome == Outcome::blocked) return {};
      guest.connected = true;
      handshake.sent(out.bytes);
    }
    if (handshake.state() == trust::Handshake::State::refused)
      return {std::string(trust::describe(handshake.refusal())), true};
    const std::size_t wanted = handshake.wanted();
    if (wanted == 0) return {};
    std::array<std::byte, trust::Handshake::greeting_bytes + trust::Handshake::proof_bytes> bytes;
    const Socket::Moved in = guest.socket.read(std::span(bytes).first(std::min(wanted, bytes.size())));
    if (in.outcome == Outcome::ended) return failure_of_system(in.error);
    if (in.outcome == Outcome::blocked) return {};
    handshake.take(std::span(bytes).first(in.bytes));
  }
}

/// Who connects is done first, and says nothing before the other has said something: no more is read here than TLS itself needs.
Entrance::Failure Entrance::secure(Guest& guest) {
  trust::Tls& tls = *guest.tls;
  for (;;) {
    while (!tls.to_send().empty()) {
      const Socket::Moved out = guest.socket.write(tls.to_send());
      if (out.outcome == Outcome::ended) return failure_of_system(out.error);
      if (out.outcome == Outcome::blocked) return {};
      tls.sent(out.bytes);
    }
    if (tls.state() == trust::Tls::State::broken) return {"TLS: " + tls.why(), true};
    if (tls.state() == trust::Tls::State::open) return {};
    std::array<std::byte, 4096> bytes;
    const Socket::Moved in = guest.socket.read(std::span<std::byte>(bytes));
    if (in.outcome == Outcome::ended) return failure_of_system(in.error);
    if (in.outcome == Outcome::blocked) return {};
    tls.take(std::span(bytes).first(in.bytes));
  }
}

void Entrance::look_at_clock(std::uint64_t now) {
  for (std::size_t i = guests_.size(); i-- > 0;) {
    const Guest& guest = *guests_[i];
    const bool waits_for_peer = (guest.ours && guest.connected) || is_proven(guest);
    const std::uint64_t waited_ns = waits_for_peer ? guest.socket.silent_ns() : now - guest.began_ns;
    if (waited_ns < guest.limit_ns) continue;
    turn_away(guests_.begin() + static_cast<std::ptrdiff_t>(i),
              {.why = "no answer within " + std::to_string(guest.limit_ns / 1'000'000'000) + " s",
               .silent = true,
               .unanswered = true});
  }
}

}  // namespace am::tcp
