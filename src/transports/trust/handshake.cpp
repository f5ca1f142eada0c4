#include "transports/trust/handshake.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "transports/number.hpp"

namespace am::trust {

namespace {

// Where the parts of a greeting lie. Numbers: least significant byte first.
constexpr std::string_view magic = "libamkey";
constexpr std::size_t version_at = magic.size();
constexpr std::size_t tls_at = version_at + 4;
constexpr std::size_t from_at = tls_at + 4;
constexpr std::size_t to_at = from_at + 4;
constexpr std::size_t job_at = to_at + 4;
constexpr std::size_t nonce_at = job_at + std::tuple_size_v<JobName>;
static_assert(nonce_at + std::tuple_size_v<Nonce> == Handshake::greeting_bytes);

}  // namespace

Handshake::Handshake(const Crypto& crypto, const Key& key, const Party& party, Role role, const Nonce& nonce)
    : crypto_(crypto), key_(key), party_(party), role_(role), nonce_(nonce) {}

Handshake Handshake::connecting(const Crypto& crypto, const Key& key, const Party& party, NodeId to,
                                const Nonce& nonce) {
  Handshake made(crypto, key, party, Role::connecting, nonce);
  made.peer_ = to;
  made.greeting_of(Role::connecting) = made.greeting(to);
  made.send(made.greeting_of(Role::connecting));
  return made;
}

Handshake Handshake::connected(const Crypto& crypto, const Key& key, const Party& party, const Nonce& nonce) {
  return {crypto, key, party, Role::connected, nonce};
}

Handshake::Greeting Handshake::greeting(NodeId to) const noexcept {
  Greeting bytes;
  std::memcpy(bytes.data(), magic.data(), magic.size());
  put_number(&bytes[version_at], version);
  put_number(&bytes[tls_at], std::uint32_t{party_.tls});
  put_number(&bytes[from_at], std::uint32_t{party_.self});
  put_number(&bytes[to_at], std::uint32_t{to});
  std::memcpy(&bytes[job_at], party_.job.data(), party_.job.size());
  std::memcpy(&bytes[nonce_at], nonce_.data(), nonce_.size());
  return bytes;
}

std::size_t Handshake::wanted() const noexcept {
  if (state_ != State::underway) return 0;
  if (role_ == Role::connecting) return greeting_bytes + proof_bytes - came_;
  return (greeted_ ? proof_bytes : greeting_bytes) - came_;
}

void Handshake::take(std::span<const std::byte> bytes) noexcept {
  const std::size_t taken = std::min(bytes.size(), wanted());
  if (taken == 0) return;
  std::memcpy(&in_[came_], bytes.data(), taken);
  came_ += taken;
  if (!greeted_ && !begins_well()) return;
  if (wanted() != 0) return;
  const std::span<const std::byte> whole(in_.data(), came_);
  came_ = 0;
  if (!greeted_) {
    came_with_greeting(whole);
  } else if (proves(whole)) {
    state_ = State::proven;
  }
}

/// As far as it has come: others than libam, and other versions of it, may have another length of greeting. Who connects is told,
/// by a greeting that begins otherwise than its own.
bool Handshake::begins_well() noexcept {
  const Greeting own = greeting(peer_);
  const auto differs_before = [&](std::size_t end) {
    return std::memcmp(in_.data(), own.data(), std::min(came_, end)) != 0;
  };
  if (differs_before(version_at)) return refuse(Refusal::language);
  if (!differs_before(from_at)) return true;
  refuse(differs_before(tls_at) ? Refusal::version : Refusal::protection);
  if (role_ == Role::connected) send(own);
  return false;
}

/// What begins with the other's greeting: of the one that was connected to, its proof follows.
void Handshake::came_with_greeting(std::span<const std::byte> bytes) noexcept {
  std::copy_n(bytes.begin(), greeting_bytes, greeting_of(other()).begin());
  if (!accept(greeting_of(other()))) return;
  greeted_ = true;
  if (role_ == Role::connected) {
    greeting_of(role_) = greeting(peer_);
    send(greeting_of(role_));
    send_proof();
  } else if (proves(bytes.subspan(greeting_bytes)) && send_proof()) {
    state_ = State::proven;
  }
}

bool Handshake::accept(const Greeting& theirs) noexcept {
  const NodeId from = number_at<std::uint32_t>(&theirs[from_at]);
  if (std::memcmp(&theirs[job_at], party_.job.data(), party_.job.size()) != 0) return refuse(Refusal::job);
  if (number_at<std::uint32_t>(&theirs[to_at]) != party_.self) return refuse(Refusal::not_for_us);
  if (from >= party_.nodes || from == party_.self) return refuse(Refusal::impossible);
  if (role_ == Role::connecting && from != peer_) return refuse(Refusal::another);
  peer_ = from;
  return true;
}

bool Handshake::refuse(Refusal why) noexcept {
  state_ = State::refused;
  refusal_ = why;
  sent_ = out_bytes_ = 0;
  return false;
}

/// Over who proves, both greetings, and the proof that came before.
std::optional<Digest> Handshake::proof_of(Role role) const noexcept {
  std::array<std::byte, 1 + 2 * greeting_bytes + proof_bytes> text{};
  text[0] = static_cast<std::byte>(role);
  auto end = text.begin() + 1;
  for (const Greeting& greeting : greetings_) end = std::copy(greeting.begin(), greeting.end(), end);
  if (role == Role::connecting) std::copy(first_proof_.begin(), first_proof_.end(), end);
  return crypto_.hmac_sha256(key_, text);
}

std::optional<Digest> Handshake::secret() const noexcept {
  constexpr std::string_view purpose = "libam secret of a connection";
  std::array<std::byte, purpose.size() + 2 * greeting_bytes + proof_bytes> text{};
  std::memcpy(text.data(), purpose.data(), purpose.size());
  auto end = text.begin() + purpose.size();
  for (const Greeting& greeting : greetings_) end = std::copy(greeting.begin(), greeting.end(), end);
  std::copy(first_proof_.begin(), first_proof_.end(), end);
  return crypto_.hmac_sha256(key_, text);
}

bool Handshake::send_proof() noexcept {
  const std::optional<Digest> proof = proof_of(role_);
  if (!proof) return refuse(Refusal::no_proof);
  if (role_ == Role::connected) first_proof_ = *proof;
  send(*proof);
  return true;
}

/// Whether these bytes prove that the other knows the key.
bool Handshake::proves(std::span<const std::byte> bytes) noexcept {
  Digest theirs;
  std::copy(bytes.begin(), bytes.end(), theirs.begin());
  const std::optional<Digest> expected = proof_of(other());
  if (!expected) return refuse(Refusal::no_proof);
  if (!crypto_.equal(*expected, theirs)) return refuse(Refusal::key);
  if (other() == Role::connected) first_proof_ = theirs;
  return true;
}

std::span<const std::byte> Handshake::to_send() const noexcept {
  return std::span(out_).subspan(sent_, out_bytes_ - sent_);
}

void Handshake::send(std::span<const std::byte> bytes) noexcept {
  if (sent_ == out_bytes_) sent_ = out_bytes_ = 0;
  std::memcpy(&out_[out_bytes_], bytes.data(), bytes.size());
  out_bytes_ += bytes.size();
}

std::string_view describe(Handshake::Refusal refusal) noexcept {
  using Refusal = Handshake::Refusal;
  switch (refusal) {
    case Refusal::none:
      return "nothing";
    case Refusal::language:
      return "it does not speak libam's language";
    case Refusal::version:
      return "it is of another version of libam";
    case Refusal::protection:
      return "AM_TCP_TLS is on at one end only";
    case Refusal::job:
      return "it is of another job";
    case Refusal::not_for_us:
      return "it looks for another node than this one";
    case Refusal::impossible:
      return "it claims the number of a node that the job does not have";
    case Refusal::another:
      return "it is another node than was looked for";
    case Refusal::key:
      return "it does not know the job's key";
    case Refusal::no_proof:
      return "this node could not compute a proof";
  }
  return "";
}

}  // namespace am::trust
