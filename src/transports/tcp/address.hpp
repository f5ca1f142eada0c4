// Where a node can be reached by TCP: addresses as text and as sockets have them, the interfaces of this host, and which of them
// the user wants (AM_TCP_INTERFACES).
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace am::tcp {

/// An IPv4 or IPv6 address, and a port.
class Address {
 public:
  Address() = default;
  /// None when it is of another family, or shorter than one of its family.
  static std::optional<Address> of(const sockaddr* address, socklen_t bytes) noexcept;
  /// Of an end of a socket, as `end` says: getsockname or getpeername. None where that fails.
  static std::optional<Address> of_end(int socket, decltype(&getsockname) end) noexcept;
  /// "10.0.0.2:4711", "[fe80::2%3]:4711" (the interface by its number). None where it is neither.
  static std::optional<Address> parse(std::string_view text);

  [[nodiscard]] std::string text() const;
  /// Without the port.
  [[nodiscard]] std::string host() const;
  [[nodiscard]] std::uint16_t port() const noexcept;
  void set_port(std::uint16_t port) noexcept;
  [[nodiscard]] int family() const noexcept { return any_.ss_family; }
  [[nodiscard]] bool is_loopback() const noexcept;
  /// Reaches the same link only: what it means depends on the host's interface.
  [[nodiscard]] bool is_link_local() const noexcept;

  [[nodiscard]] const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(&any_); }
  [[nodiscard]] socklen_t size() const noexcept;
  /// The bytes of the address itself, in the network's order: 4 or 16.
  [[nodiscard]] std::string_view bytes() const noexcept;

 private:
  sockaddr_storage any_{};
};

/// One address of one interface of this host.
struct Interface {
  std::string name;
  Address address;
  bool up = false;
  bool loopback = false;
  bool bridge = false;  ///< as containers and virtual machines on this host have: other hosts cannot reach it
};
/// Whether this system has IPv6 at all.
[[nodiscard]] bool has_ipv6() noexcept;
/// The addresses of a name, with that port, in the order in which to try them; also of an address (without brackets). None where
/// there is none, for now or for good. May wait for a name server.
[[nodiscard]] std::vector<Address> resolve(const std::string& name, std::uint16_t port);
/// Of this network namespace, in the kernel's order. Throws am::Error.
[[nodiscard]] std::vector<Interface> interfaces();
/// The interface by which this system would send there, by its name; "no route" where it knows none. Sends nothing.
[[nodiscard]] std::string interface_towards(const Address& address);
/// Which of their addresses to tell other hosts, those that `wanted` (AM_TCP_INTERFACES) takes; where it is empty, those that
/// other hosts can reach, as far as one can see. IPv4 first. Throws am::Error when there is none: it names all, and what speaks
/// against each.
[[nodiscard]] std::vector<Address> addresses_for_others(const std::vector<Interface>& interfaces,
                                                        std::string_view wanted);
/// "10.0.0.2:4711,[fd00::2]:4711", as many of these as have room in so many bytes; and back, none where the text is not that.
[[nodiscard]] std::string text_of(const std::vector<Address>& addresses, std::size_t room);
[[nodiscard]] std::vector<Address> parse_addresses(std::string_view text);

/// Which interfaces are wanted: names and blocks of addresses between commas, "eth0,10.0.0.0/8,fd00::/8"; a star at the end of a
/// name stands for any rest.
class Wanted {
 public:
  /// None when something of it is neither a name nor a block.
  static std::optional<Wanted> parse(std::string_view text);
  [[nodiscard]] bool takes(const Interface& interface) const noexcept;

 private:
  struct Block {
    std::string bytes;
    unsigned bits;
  };
  std::vector<std::string> names_;
  std::vector<Block> blocks_;
};

}  // namespace am::tcp
