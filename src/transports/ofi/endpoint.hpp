// A node's end of a network of libfabric: the objects that it takes to open one, in one place, with what they say in this
// project's terms. It knows no peer and no message.
//
// Used by whoever is in the node (FI_THREAD_DOMAIN: one thread at a time).
#pragma once

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transports/ofi/doorkeeper.hpp"
#include "transports/ofi/providers.hpp"

namespace am::ofi {

/// What is under way: libfabric gives it back when it is done. It stays where it is until then.
struct Operation {
  enum class Kind : std::uint8_t { receive, send, transfer };

  fi_context2 room{};  ///< the provider's; first, because libfabric is given its address
  Kind kind = Kind::receive;
  std::uint32_t peer = 0;  ///< of a send or a transfer
};

struct CloseFid {
  template <class Fid>
  void operator()(Fid* object) const noexcept {
    static_cast<void>(fi_close(&object->fid));
  }
};
template <class Fid>
using Owned = std::unique_ptr<Fid, CloseFid>;

/// Memory that the provider knows: its buffers and what others read.
struct Registration {
  Owned<fid_mr> memory{};
  void* descriptor =
      nullptr;  ///< for operations of this node in that memory; null where the provider wants none
  std::uint64_t address = 0;  ///< for others, of the first byte
  std::uint64_t key = 0;
};

class Endpoint {
 public:
  /// Throws am::Error. Owns the info.
  Endpoint(const Library& library, Info info);

  [[nodiscard]] const fi_info& info() const noexcept { return *info_; }
  [[nodiscard]] bool has(std::uint64_t capability) const noexcept {
    return (info_->caps & capability) == capability;
  }
  [[nodiscard]] bool registers_all() const noexcept {
    return (info_->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
  }
  /// A registration cannot be closed before the endpoint that it is bound to (fi_mr(3)).
  [[nodiscard]] bool keeps_registrations() const noexcept {
    return (info_->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0;
  }
  /// By which others reach it, for add().
  [[nodiscard]] const std::vector<std::byte>& address() const noexcept { return address_; }
  /// Where it goes by TCP: the port that its connections to others come from, and from where it takes some (Doorkeeper); 0 elsewhere.
  [[nodiscard]] std::uint16_t source_port() const noexcept { return keeper_ ? keeper_->port() : 0; }
  void let_in(std::function<bool(const tcp::Address& from)> whom) {
    if (keeper_) keeper_->let_in(std::move(whom));
  }
  /// Nobody takes connections there, as far as that is known (Doorkeeper).
  [[nodiscard]] bool is_refused(std::span<const std::byte> address) const noexcept;
  /// For the other functions. None: the provider takes no such address.
  static constexpr fi_addr_t nowhere = FI_ADDR_UNSPEC;
  [[nodiscard]] fi_addr_t add(std::span<const std::byte> address) noexcept;

  /// Puts memory behind what it registers (FI_MR_ALLOCATED).
  [[nodiscard]] bool touches_memory() const noexcept {
    return (info_->domain_attr->mr_mode & FI_MR_ALLOCATED) != 0;
  }
  /// Whether a write can be told to be done when it is there (write()).
  [[nodiscard]] bool writes() const noexcept { return writes_; }

  /// By whom memory is used: by this node's operations alone, also by others who read there, or who read and write there.
  enum class Use : std::uint8_t { own, read, read_and_written };
  /// Throws am::Error, which says what limits the system sets.
  [[nodiscard]] Registration registration(std::span<std::byte> memory, Use use);

  // Each 0, -FI_EAGAIN (there is no room now), or another error of libfabric's. An operation that is begun is given back by look().
  [[nodiscard]] int inject(std::span<const std::byte> bytes, fi_addr_t to) noexcept;
  [[nodiscard]] int send(std::span<const std::byte> bytes, void* descriptor, fi_addr_t to,
                         Operation& operation) noexcept;
  /// Of a buffer for many messages (`many`: FI_MULTI_RECV), or for one.
  [[nodiscard]] int receive(std::span<std::byte> buffer, void* descriptor, bool many,
                            Operation& operation) noexcept;
  /// libfabric is done with a buffer for many when less than this is free in it. Before the first receive.
  void end_buffers_below(std::size_t bytes) noexcept;
  struct Remote {
    fi_addr_t peer;
    std::uint64_t address;
    std::uint64_t key;
  };
  [[nodiscard]] int read(std::span<std::byte> into, void* descriptor, const Remote& from,
                         Operation& operation) noexcept;
  /// Done when it is there for all who look (FI_DELIVERY_COMPLETE).
  [[nodiscard]] int write(std::span<const std::byte> bytes, void* descriptor, const Remote& to,
                          Operation& operation) noexcept;

  /// What an operation came to.
  struct Done {
    Operation* operation;
    std::uint64_t flags;  ///< FI_RECV, FI_MULTI_RECV
    std::byte* at;        ///< of what was received, or was to be; null: it does not say
    std::size_t bytes;
    int error;  ///< 0: all is well
    int provider_error;
  };
  /// Makes progress and takes what is done, at most `room`; how many.
  [[nodiscard]] std::size_t look(std::span<Done> room) noexcept;
  /// What look() could not go on after, for good (an overrun of the completion queue, for example); 0: nothing.
  [[nodiscard]] int failure() const noexcept { return failure_; }
  /// What an error of an operation means, in the provider's words.
  [[nodiscard]] std::string why(const Done& failed) const;
  [[nodiscard]] std::string why(int error) const { return library_.error_text(error < 0 ? -error : error); }

  /// Readable when look() will find something, once may_sleep() has said yes; -1: the provider has none.
  [[nodiscard]] int wait_fd() const noexcept { return wait_fd_; }
  [[nodiscard]] bool may_sleep() noexcept;

  /// Nothing comes or goes any more: what was given to it is free when this returns.
  void close() noexcept { endpoint_.reset(); }
  /// In its place, where it would not survive that: it stays until the program ends, with what was given to it, and nobody looks at it any
  /// more, so that it touches nothing.
  void leave_open() noexcept;

 private:
  template <class Fid>
  static Owned<Fid> opened(Fid* object) noexcept {
    return Owned<Fid>(object);
  }
  void must(int result, const char* what) const;
  void failed_for_good(ssize_t result) noexcept;
  [[nodiscard]] Operation* ended(void* context) noexcept;
  [[nodiscard]] std::uint64_t random_key() const noexcept;
  void open_queue();
  void open_endpoint();
  void find_address();

  const Library& library_;
  Info info_;
  const std::unique_ptr<Doorkeeper> keeper_;
  Owned<fid_fabric> fabric_;
  Owned<fid_domain> domain_;
  Owned<fid_av> addresses_;
  Owned<fid_cq> queue_;
  Owned<fid_ep> endpoint_;
  int wait_fd_ = -1;
  bool writes_ = false;
  int failure_ = 0;
  const std::size_t most_sends_;      // under way, those by inject left out
  std::size_t sends_ = 0;             // of these
  std::size_t registered_bytes_ = 0;  // so far
  std::vector<std::byte> address_;
};

}  // namespace am::ofi
