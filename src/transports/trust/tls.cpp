#include "transports/trust/tls.hpp"

#include <am/error.hpp>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "host/late_library.hpp"

namespace am::trust {

namespace {

constexpr unsigned char cipher[] = {0x13, 0x01};  // TLS_AES_128_GCM_SHA256 (RFC 8446, B.4)
constexpr const char* cipher_name = "TLS_AES_128_GCM_SHA256";
constexpr unsigned char identity[] = "libam";

}  // namespace

/// Calls what is needed once. (Only the type of a function is taken from the headers: nothing is linked.)
template <class Function, class... Arguments>
auto call(const host::LateLibrary& library, const char* name, Arguments... arguments) {
  Function function = nullptr;
  library.find(name, function);
  return function(arguments...);
}

/// What of it is used, with the types that its headers give; and what all connections have in common.
struct TlsLibrary {
  decltype(&::SSL_new) ssl_new;
  decltype(&::SSL_free) ssl_free;
  decltype(&::SSL_set_bio) set_bio;
  decltype(&::SSL_set_ex_data) set_ex_data;
  decltype(&::SSL_get_ex_data) get_ex_data;
  decltype(&::SSL_set_connect_state) set_connect_state;
  decltype(&::SSL_set_accept_state) set_accept_state;
  decltype(&::SSL_set_verify) set_verify;
  decltype(&::SSL_do_handshake) do_handshake;
  decltype(&::SSL_session_reused) session_reused;
  decltype(&::SSL_read_ex) read;
  decltype(&::SSL_write_ex) write;
  decltype(&::SSL_key_update) key_update;
  decltype(&::SSL_CIPHER_find) cipher_find;
  decltype(&::SSL_SESSION_new) session_new;
  decltype(&::SSL_SESSION_free) session_free;
  decltype(&::SSL_SESSION_set1_master_key) set_master_key;
  decltype(&::SSL_SESSION_set_cipher) set_cipher;
  decltype(&::SSL_SESSION_set_protocol_version) set_version;
  decltype(&::BIO_new) bio_new;
  decltype(&::BIO_set_init) bio_set_init;
  decltype(&::BIO_set_data) bio_set_data;
  decltype(&::BIO_get_data) bio_get_data;
  decltype(&::BIO_set_flags) bio_set_flags;
  decltype(&::ERR_clear_error) clear_errors;
  decltype(&::ERR_peek_last_error) last_error;
  decltype(&::ERR_reason_error_string) reason_of;

  SSL_CTX* context;
  BIO_METHOD* bytes;

  /// Opened once in a process, and never closed. Throws am::Error.
  static const TlsLibrary& get() {
    static const TlsLibrary library;
    return library;
  }

 private:
  TlsLibrary();

  // What the library calls.
  static int give_secret(SSL* ssl, const EVP_MD* /*of the cipher*/, const unsigned char** id,
                         std::size_t* id_bytes, SSL_SESSION** session) {
    *id = identity;
    *id_bytes = sizeof identity - 1;
    *session = get().session_of(ssl);
    return *session != nullptr ? 1 : 0;
  }
  static int find_secret(SSL* ssl, const unsigned char* id, std::size_t id_bytes, SSL_SESSION** session) {
    *session = nullptr;
    if (id_bytes == sizeof identity - 1 && std::memcmp(id, identity, id_bytes) == 0)
      *session = get().session_of(ssl);
    return 1;
  }
  static int write_bytes(BIO* bio, const char* from, std::size_t size, std::size_t* written) {
    std::vector<std::byte>& out = static_cast<Tls*>(get().bio_get_data(bio))->out_;
    const auto* const begin = reinterpret_cast<const std::byte*>(from);
    out.insert(out.end(), begin, begin + size);
    *written = size;
    return 1;
  }
  static int read_bytes(BIO* bio, char* to, std::size_t size, std::size_t* got) {
    Tls& tls = *static_cast<Tls*>(get().bio_get_data(bio));
    *got = std::min(size, tls.in_.size() - tls.read_);
    tls.starved_ = *got == 0;
    if (tls.starved_) {
      get().bio_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);  // it is no end
      return 0;
    }
    std::memcpy(to, &tls.in_[tls.read_], *got);
    tls.read_ += *got;
    return 1;
  }
  static long control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }

  [[nodiscard]] SSL_SESSION* session_of(SSL* ssl) const {
    const Tls& tls = *static_cast<const Tls*>(get_ex_data(ssl, 0));
    SSL_SESSION* const session = session_new();
    if (session == nullptr) return nullptr;
    const auto* const secret = reinterpret_cast<const unsigned char*>(tls.secret_.data());
    if (set_master_key(session, secret, tls.secret_.size()) == 1 &&
        set_cipher(session, cipher_find(ssl, cipher)) == 1 && set_version(session, TLS1_3_VERSION) == 1)
      return session;
    session_free(session);
    return nullptr;
  }
};

TlsLibrary::TlsLibrary() {
  constexpr const char* mend = "apt-get install libssl3 on every host, or run without AM_TCP_TLS";
  const host::LateLibrary::Errors errors{.what = "use TLS", .when_missing = mend, .when_too_old = mend};
  const host::LateLibrary ssl("libssl.so.3", errors);
  ssl.find("SSL_new", ssl_new);
  ssl.find("SSL_free", ssl_free);
  ssl.find("SSL_set_bio", set_bio);
  ssl.find("SSL_set_ex_data", set_ex_data);
  ssl.find("SSL_get_ex_data", get_ex_data);
  ssl.find("SSL_set_connect_state", set_connect_state);
  ssl.find("SSL_set_accept_state", set_accept_state);
  ssl.find("SSL_set_verify", set_verify);
  ssl.find("SSL_do_handshake", do_handshake);
  ssl.find("SSL_session_reused", session_reused);
  ssl.find("SSL_read_ex", read);
  ssl.find("SSL_write_ex", write);
  ssl.find("SSL_key_update", key_update);
  ssl.find("SSL_CIPHER_find", cipher_find);
  ssl.find("SSL_SESSION_new", session_new);
  ssl.find("SSL_SESSION_free", session_free);
  ssl.find("SSL_SESSION_set1_master_key", set_master_key);
  ssl.find("SSL_SESSION_set_cipher", set_cipher);
  ssl.find("SSL_SESSION_set_protocol_version", set_version);
  const host::LateLibrary crypto("libcrypto.so.3", errors);
  crypto.find("BIO_new", bio_new);
  crypto.find("BIO_set_init", bio_set_init);
  crypto.find("BIO_set_data", bio_set_data);
  crypto.find("BIO_get_data", bio_get_data);
  crypto.find("BIO_set_flags", bio_set_flags);
  crypto.find("ERR_clear_error", clear_errors);
  crypto.find("ERR_peek_last_error", last_error);
  crypto.find("ERR_reason_error_string", reason_of);

  // What is needed once.
  // Now: it asks to be taken down at exit, and whoever asks for that after this is called before.
  call<decltype(&::OPENSSL_init_ssl)>(ssl, "OPENSSL_init_ssl", std::uint64_t{0}, nullptr);
  const SSL_METHOD* const method = call<decltype(&::TLS_method)>(ssl, "TLS_method");
  context = call<decltype(&::SSL_CTX_new)>(ssl, "SSL_CTX_new", method);
  bytes = call<decltype(&::BIO_meth_new)>(crypto, "BIO_meth_new", BIO_TYPE_SOURCE_SINK, "bytes");
  if (context == nullptr || bytes == nullptr) throw Error("use TLS", "OpenSSL has no memory", "");
  const auto control_context = [&](int command, long value) {
    return call<decltype(&::SSL_CTX_ctrl)>(ssl, "SSL_CTX_ctrl", context, command, value, nullptr);
  };
  const bool all_well = control_context(SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_3_VERSION) == 1 &&
                        call<decltype(&::SSL_CTX_set_ciphersuites)>(ssl, "SSL_CTX_set_ciphersuites", context,
                                                                    cipher_name) == 1 &&
                        call<decltype(&::SSL_CTX_set_num_tickets)>(ssl, "SSL_CTX_set_num_tickets", context,
                                                                   std::size_t{0}) == 1;
  if (!all_well) throw Error("use TLS", std::string("OpenSSL has no TLS 1.3 with ") + cipher_name, "");
  control_context(SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF);
  call<decltype(&::SSL_CTX_set_psk_use_session_callback)>(ssl, "SSL_CTX_set_psk_use_session_callback",
                                                          context, give_secret);
  call<decltype(&::SSL_CTX_set_psk_find_session_callback)>(ssl, "SSL_CTX_set_psk_find_session_callback",
                                                           context, find_secret);
  call<decltype(&::BIO_meth_set_write_ex)>(crypto, "BIO_meth_set_write_ex", bytes, write_bytes);
  call<decltype(&::BIO_meth_set_read_ex)>(crypto, "BIO_meth_set_read_ex", bytes, read_bytes);
  call<decltype(&::BIO_meth_set_ctrl)>(crypto, "BIO_meth_set_ctrl", bytes, control);
}

struct Tls::Session {
  explicit Session(const TlsLibrary& its_library)
      : library(its_library), ssl(library.ssl_new(library.context)) {}
  ~Session() { library.ssl_free(ssl); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const TlsLibrary& library;
  SSL* const ssl;
};

void Tls::require_library() { static_cast<void>(TlsLibrary::get()); }

Tls::Tls(Role role, const Digest& secret)
    : secret_(secret), session_(std::make_unique<Session>(TlsLibrary::get())) {
  const TlsLibrary& library = session_->library;
  SSL* const ssl = session_->ssl;
  BIO* const bio = library.bio_new(library.bytes);
  if (ssl == nullptr || bio == nullptr) throw Error("use TLS", "OpenSSL has no memory", "");
  library.bio_set_data(bio, this);
  library.bio_set_init(bio, 1);
  library.set_bio(ssl, bio, bio);
  library.set_ex_data(ssl, 0, this);
  if (role == Role::connecting) {
    library.set_verify(ssl, SSL_VERIFY_PEER,
                       nullptr);  // a certificate is no proof: there is nobody who signs any
    library.set_connect_state(ssl);
  } else {
    library.set_accept_state(ssl);
  }
  shake_hands();
}
Tls::~Tls() = default;

void Tls::shake_hands() {
  const TlsLibrary& library = session_->library;
  starved_ = false;
  const int result = library.do_handshake(session_->ssl);
  if (result != 1) return came_to_nothing();
  state_ = library.session_reused(session_->ssl) == 1 ? State::open : State::broken;
  if (state_ == State::broken) why_ = "the other end did not use the secret";
}

/// Because more has to come first, or for good. The library's list of errors is not asked which: the program may have left some.
void Tls::came_to_nothing() {
  if (starved_) return;
  state_ = State::broken;
  const TlsLibrary& library = session_->library;
  const char* const reason = library.reason_of(library.last_error());
  why_ = reason != nullptr ? reason : "the other end has ended it";
  library.clear_errors();
}

void Tls::take(std::span<const std::byte> bytes) {
  if (read_ == in_.size()) {
    in_.clear();
    read_ = 0;
  } else if (read_ >= in_.size() / 2) {
    in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(std::exchange(read_, 0)));
  }
  in_.insert(in_.end(), bytes.begin(), bytes.end());
  if (state_ == State::underway) shake_hands();
}

std::size_t Tls::read(std::span<std::byte> to) {
  std::size_t bytes = 0;
  while (state_ == State::open && bytes < to.size() && (holds_more_ || read_ < in_.size())) {
    starved_ = false;
    std::size_t here = 0;
    const int result = session_->library.read(session_->ssl, to.data() + bytes, to.size() - bytes, &here);
    bytes += here;
    holds_more_ = result == 1 && bytes == to.size();  // of a record, perhaps
    if (result != 1) {
      came_to_nothing();
      break;
    }
  }
  return bytes;
}

void Tls::write(std::span<const std::byte> bytes) {
  if (state_ != State::open || bytes.empty()) return;
  if (++pieces_ == pieces_per_key) {
    pieces_ = 0;
    static_cast<void>(session_->library.key_update(session_->ssl, SSL_KEY_UPDATE_NOT_REQUESTED));
  }
  std::size_t written = 0;
  const int result = session_->library.write(session_->ssl, bytes.data(), bytes.size(), &written);
  starved_ = false;
  if (result != 1) came_to_nothing();
}

void Tls::sent(std::size_t bytes) noexcept {
  sent_ += bytes;
  if (sent_ != out_.size()) return;
  out_.clear();
  sent_ = 0;
}

}  // namespace am::trust
