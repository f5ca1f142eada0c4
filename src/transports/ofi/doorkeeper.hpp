// Who may connect to this node's end of a network of libfabric that goes by TCP (net, tcp;ofi_rxm). libfabric takes whoever comes for
// whom he says he is: forty bytes with a node's port, from any user of a host of the job, and what is meant for that node goes to him.
//
// So a node's connections come from one port, which its system keeps for its user's processes while it lives; its card says which. Whoever
// comes from elsewhere is turned away before libfabric hears of him, and nobody else can come from there. libfabric's own calls for
// connections come by here (take_over_sockets); so no child of the node keeps these connections open either.
//
// Made and used by whoever is in the node; libfabric may take connections on a thread of its own.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "transports/tcp/address.hpp"
#include "transports/tcp/socket.hpp"

namespace am::ofi {

/// Has the calls of the library that has this function come by here, for good. False: they cannot. While nobody else is in it.
[[nodiscard]] bool take_over_sockets(const void* function_of_library) noexcept;

class Doorkeeper {
 public:
  Doorkeeper();
  ~Doorkeeper();
  Doorkeeper(const Doorkeeper&) = delete;
  Doorkeeper& operator=(const Doorkeeper&) = delete;

  /// What libfabric does with sockets on this thread meanwhile it does for this node.
  class Turn {
   public:
    /// `opens`: the node's end is being opened, and does not connect yet. None: nothing changes.
    explicit Turn(Doorkeeper* keeper, bool opens = false) noexcept;
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Doorkeeper* const before_;
  };

  /// When it is open, at that address: chooses the port that this node's connections come from. False: it takes no connections that
  /// this knows of, or there is no such port.
  [[nodiscard]] bool opened_at(tcp::Address address) noexcept;
  [[nodiscard]] std::uint16_t port() const noexcept { return own_.port(); }
  /// Whoever comes from such an address is let in; nobody before. Asked on any thread, one at a time.
  void let_in(std::function<bool(const tcp::Address& from)> whom);

  /// The last connection there was refused, or there is no way: at once, as is told within a host. libfabric tries again for ever, and
  /// says nothing.
  [[nodiscard]] bool is_refused(const tcp::Address& there) const noexcept;

  /// The calls of libfabric's.
  struct Calls;

 private:
  [[nodiscard]] bool lets_in(int socket) const noexcept;
  [[nodiscard]] int bind(int socket) const noexcept;
  void note_connection(const tcp::Address& there, bool refused);

  bool opens_ = false;
  std::vector<int> listening_;  // libfabric's descriptors
  tcp::Address own_;            // where its connections come from
  tcp::Socket held_;            // so that nobody else can
  std::vector<tcp::Address> refused_;
  std::function<bool(const tcp::Address&)> whom_;
};

}  // namespace am::ofi
