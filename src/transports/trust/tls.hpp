// TLS 1.3 (RFC 8446) between two nodes that have a secret in common: nobody else can read, or change unnoticed, what travels.
// By OpenSSL's libssl, which is opened when the first connection wants it. Bytes in, bytes out: it knows no socket and no clock.
//
// The secret is an external pre-shared key, of the handshake that came before (handshake.hpp): it is good for this connection
// only. Keys come of it and of a Diffie-Hellman exchange, so that who learns the job's key later cannot read what he recorded.
// There are no certificates, no tickets and no resumption. What nodes say to each other has an end of its own, so TLS's is not
// used: a connection that is cut off is noticed by that.
//
// Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transports/trust/crypto.hpp"

namespace am::trust {

class Tls {
 public:
  enum class Role : std::uint8_t { connecting, connected };
  enum class State : std::uint8_t { underway, open, broken };

  /// Finds the library, so that it is known early whether there is one. Throws am::Error.
  static void require_library();

  /// One end of a new connection; who connects has something to send at once. Throws am::Error where there is no library.
  Tls(Role role, const Digest& secret);
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  [[nodiscard]] State state() const noexcept { return state_; }
  /// Why it is broken, for people.
  [[nodiscard]] const std::string& why() const noexcept { return why_; }

  /// Takes the next bytes that came.
  void take(std::span<const std::byte> bytes);
  /// Decrypts what was taken: how many bytes; 0: no more, for now or ever.
  [[nodiscard]] std::size_t read(std::span<std::byte> to);
  /// Encrypts all of it. Only when open.
  void write(std::span<const std::byte> bytes);
  /// After so many pieces written there is a new key: AES-GCM's are good for some 2^24 records (RFC 8446, section 5.5).
  static constexpr std::uint64_t pieces_per_key = std::uint64_t{1} << 20;
  /// The longest piece that becomes one record: shorter ones cost as much each.
  static constexpr std::size_t record_bytes = 16 * 1024;

  /// What is to be sent now, until the next call of anything but sent().
  [[nodiscard]] std::span<const std::byte> to_send() const noexcept { return std::span(out_).subspan(sent_); }
  /// So many of these were sent.
  void sent(std::size_t bytes) noexcept;

 private:
  friend struct TlsLibrary;
  struct Session;  // of the library
  void shake_hands();
  void came_to_nothing();

  const Digest secret_;
  State state_ = State::underway;
  std::string why_;
  std::unique_ptr<Session> session_;
  std::vector<std::byte> in_;  // came, and was not read
  std::size_t read_ = 0;       // before this it was
  bool starved_ = false;       // the library wanted more than there was
  bool holds_more_ = false;    // the library may have read more of it than it gave
  std::vector<std::byte> out_;
  std::size_t sent_ = 0;
  std::uint64_t pieces_ = 0;  // written with this key
};

}  // namespace am::trust
