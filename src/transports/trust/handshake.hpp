// How two nodes prove to each other that they know the job's key, before either looks at anything else that the other sends.
// Bytes in, bytes out: it knows no socket and no clock. Whoever owns the connection closes it when this refuses, or when it
// takes too long.
//
//   who connects                         who was connected to
//     greeting             ------->
//                          <-------        greeting, proof
//     proof                ------->
//
// A greeting says: magic, version, whether TLS follows, from whom, to whom, which job, and 32 random bytes. A proof is an HMAC-SHA-256 by the job's
// key over who proves (so that none is good for the other's), both greetings, and, in the second one, the first one.
//
// What follows. Who does not know the key can make no proof. One that was overheard is over other random bytes than the next
// handshake's, so it proves nothing again. Each side knows that the other means the same two nodes, the same job and the same
// version, since both have signed the same greetings. The key itself never travels. Nobody is kept out before he has sent 72
// bytes: that is what a time limit and a bound on such connections are for. What travels afterwards is not protected by this:
// where both want that, TLS follows (tls.hpp), with a secret that only these two can know.
//
// Sizes are fixed: nothing that comes says how long it is. Source: the design, section 10.
#pragma once

#include <algorithm>
#include <am/types.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "transports/trust/crypto.hpp"

namespace am::trust {

using Key = std::array<std::byte, 32>;
using JobName = std::array<std::byte, 16>;
using Nonce = std::array<std::byte, 32>;

/// Who takes part in a handshake, on this side.
struct Party {
  NodeId self;
  NodeId nodes;      ///< of the job
  JobName job;       ///< no secret
  bool tls = false;  ///< follows, and protects the rest
};

class Handshake {
 public:
  /// Changes with all that goes over a connection, what comes behind the handshake included.
  static constexpr std::uint32_t version = 4;
  static constexpr std::size_t greeting_bytes = 72;
  static constexpr std::size_t proof_bytes = std::tuple_size_v<Digest>;

  enum class State : std::uint8_t { underway, proven, refused };
  enum class Refusal : std::uint8_t {
    none,
    language,
    version,
    protection,
    job,
    not_for_us,
    impossible,
    another,
    key,
    no_proof
  };

  /// Who connects, to node `to`. `nonce` is random, and used once. `crypto` and `key` outlive this.
  static Handshake connecting(const Crypto& crypto, const Key& key, const Party& party, NodeId to,
                              const Nonce& nonce);
  /// Who was connected to, by nobody knows whom.
  static Handshake connected(const Crypto& crypto, const Key& key, const Party& party, const Nonce& nonce);

  [[nodiscard]] State state() const noexcept { return state_; }
  /// The node at the other end: once it is proven; when connecting, from the beginning.
  [[nodiscard]] NodeId peer() const noexcept { return peer_; }
  /// Why it is refused.
  [[nodiscard]] Refusal refusal() const noexcept { return refusal_; }

  /// What both ends have in common, of this handshake alone, once it is proven. None when it cannot be computed.
  [[nodiscard]] std::optional<Digest> secret() const noexcept;

  /// How many bytes are still to come before the next step; 0: none, for now or any more. Those behind them belong to others.
  [[nodiscard]] std::size_t wanted() const noexcept;
  /// Takes the next bytes, no more than wanted().
  void take(std::span<const std::byte> bytes) noexcept;

  /// What is to be sent now; when it refuses, before the connection is closed: perhaps why. When that is empty and the state is
  /// `proven`, the connection is the caller's.
  [[nodiscard]] std::span<const std::byte> to_send() const noexcept;
  /// So many of these were sent.
  void sent(std::size_t bytes) noexcept { sent_ += std::min(bytes, out_bytes_ - sent_); }

 private:
  using Greeting = std::array<std::byte, greeting_bytes>;
  enum class Role : std::uint8_t { connecting, connected };

  Handshake(const Crypto& crypto, const Key& key, const Party& party, Role role, const Nonce& nonce);
  [[nodiscard]] Role other() const noexcept {
    return role_ == Role::connecting ? Role::connected : Role::connecting;
  }
  [[nodiscard]] Greeting greeting(NodeId to) const noexcept;
  [[nodiscard]] Greeting& greeting_of(Role role) noexcept {
    return greetings_[static_cast<std::size_t>(role)];
  }
  void came_with_greeting(std::span<const std::byte> bytes) noexcept;
  // False, and refused, when there is something wrong.
  bool begins_well() noexcept;
  bool accept(const Greeting& theirs) noexcept;
  bool proves(std::span<const std::byte> bytes) noexcept;
  bool send_proof() noexcept;
  bool refuse(Refusal why) noexcept;
  [[nodiscard]] std::optional<Digest> proof_of(Role role) const noexcept;
  void send(std::span<const std::byte> bytes) noexcept;

  const Crypto& crypto_;
  const Key& key_;
  const Party party_;
  const Role role_;
  const Nonce nonce_;
  NodeId peer_ = 0;
  State state_ = State::underway;
  Refusal refusal_ = Refusal::none;
  std::array<Greeting, 2> greetings_{};  // by who sent it
  Digest first_proof_{};                 // of the one that was connected to
  bool greeted_ = false;                 // the other's greeting has come

  std::array<std::byte, greeting_bytes + proof_bytes> in_{};
  std::size_t came_ = 0;
  std::array<std::byte, greeting_bytes + proof_bytes> out_{};
  std::size_t out_bytes_ = 0;
  std::size_t sent_ = 0;
};

/// For people, about the other end: "it does not know the job's key".
[[nodiscard]] std::string_view describe(Handshake::Refusal refusal) noexcept;

}  // namespace am::trust
