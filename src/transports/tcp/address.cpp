#include "transports/tcp/address.hpp"

#include <am/error.hpp>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <system_error>

#include "host/descriptor.hpp"

namespace am::tcp {

namespace {

std::optional<unsigned> number(std::string_view text, unsigned most) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value > most)
    return std::nullopt;
  return value;
}

/// An address without port, and without brackets.
std::optional<Address> parse_host(std::string_view text) {
  const std::size_t percent = text.find('%');
  const std::string host(text.substr(0, percent));
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  if (percent == std::string_view::npos && inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1)
    return Address::of(reinterpret_cast<const sockaddr*>(&v4), sizeof v4);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  if (inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) != 1) return std::nullopt;
  if (percent != std::string_view::npos) {
    const std::optional<unsigned> scope = number(text.substr(percent + 1), ~0u);
    if (!scope) return std::nullopt;
    v6.sin6_scope_id = *scope;
  }
  return Address::of(reinterpret_cast<const sockaddr*>(&v6), sizeof v6);
}

/// The kernel has a folder for what only bridges have.
bool is_bridge(const std::string& name) {
  struct stat there {};
  return stat(("/sys/class/net/" + name + "/bridge").c_str(), &there) == 0;
}

}  // namespace

std::optional<Address> Address::of(const sockaddr* address, socklen_t bytes) noexcept {
  if (address == nullptr || bytes < sizeof(sa_family_t)) return std::nullopt;
  const bool v4 = address->sa_family == AF_INET && bytes >= sizeof(sockaddr_in);
  const bool v6 = address->sa_family == AF_INET6 && bytes >= sizeof(sockaddr_in6);
  if (!v4 && !v6) return std::nullopt;
  Address made;
  std::memcpy(&made.any_, address, v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
  return made;
}

std::optional<Address> Address::of_end(int socket, decltype(&getsockname) end) noexcept {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (end(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return of(reinterpret_cast<const sockaddr*>(&address), size);
}

std::optional<Address> Address::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::optional<unsigned> port = number(text.substr(colon + 1), 65535);
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  std::optional<Address> address = parse_host(host);
  if (!port || !address || bracketed != (address->family() == AF_INET6)) return std::nullopt;
  address->set_port(static_cast<std::uint16_t>(*port));
  return address;
}

std::string Address::host() const {
  char text[INET6_ADDRSTRLEN] = {};
  if (inet_ntop(family(), bytes().data(), text, sizeof text) == nullptr) return "?";
  std::string host = text;
  if (family() == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &any_, sizeof v6);
    if (v6.sin6_scope_id != 0) host += "%" + std::to_string(v6.sin6_scope_id);
  }
  return host;
}

std::string Address::text() const {
  const std::string port_text = ":" + std::to_string(port());
  return family() == AF_INET6 ? "[" + host() + "]" + port_text : host() + port_text;
}

// sockaddr_in and sockaddr_in6 have the port at the same place.
static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));

std::uint16_t Address::port() const noexcept {
  return ntohs(reinterpret_cast<const sockaddr_in*>(&any_)->sin_port);
}
void Address::set_port(std::uint16_t port) noexcept {
  reinterpret_cast<sockaddr_in*>(&any_)->sin_port = htons(port);
}

socklen_t Address::size() const noexcept {
  return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

std::string_view Address::bytes() const noexcept {
  const auto* const begin = reinterpret_cast<const char*>(&any_);
  return family() == AF_INET6 ? std::string_view(begin + offsetof(sockaddr_in6, sin6_addr), sizeof(in6_addr))
                              : std::string_view(begin + offsetof(sockaddr_in, sin_addr), sizeof(in_addr));
}

bool Address::is_loopback() const noexcept {
  if (family() == AF_INET) return bytes()[0] == 127;
  in6_addr address;
  std::memcpy(&address, bytes().data(), sizeof address);
  if (IN6_IS_ADDR_V4MAPPED(&address)) return address.s6_addr[12] == 127;
  return IN6_IS_ADDR_LOOPBACK(&address) != 0;
}

bool Address::is_link_local() const noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes()[i]); };
  if (family() == AF_INET) return byte(0) == 169 && byte(1) == 254;
  return byte(0) == 0xfe && (byte(1) & 0xc0) == 0x80;
}

bool has_ipv6() noexcept {
  return static_cast<bool>(host::Descriptor(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)));
}

std::vector<Address> resolve(const std::string& name, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(name.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, &freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    if (const auto address = Address::of(one->ai_addr, one->ai_addrlen)) addresses.push_back(*address);
  }
  return addresses;
}

std::vector<Interface> interfaces() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    throw Error("look for network interfaces", "getifaddrs: " + std::generic_category().message(errno),
                "AM_TRANSPORT=shm runs on one host without any");
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(list, &freeifaddrs);
  std::vector<Interface> found;
  for (const ifaddrs* one = all.get(); one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    const socklen_t bytes = one->ifa_addr->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    const std::optional<Address> address = Address::of(one->ifa_addr, bytes);
    if (!address) continue;
    found.push_back({.name = one->ifa_name,
                     .address = *address,
                     .up = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_RUNNING) != 0,
                     .loopback = (one->ifa_flags & IFF_LOOPBACK) != 0,
                     .bridge = is_bridge(one->ifa_name)});
  }
  return found;
}

std::string interface_towards(const Address& address) {
  const host::Descriptor probe(socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  // To connect a socket of UDP is to ask for the route, no more.
  if (!probe || connect(probe.get(), address.data(), address.size()) != 0) return "no route";
  const std::optional<Address> from = Address::of_end(probe.get(), &getsockname);
  for (const Interface& interface : interfaces()) {
    if (from && interface.address.bytes() == from->bytes()) return interface.name;
  }
  return from ? from->host() : "no route";
}

std::optional<Wanted> Wanted::parse(std::string_view text) {
  Wanted wanted;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view one = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t slash = one.find('/');
    if (one.empty()) return std::nullopt;
    if (slash == std::string_view::npos) {
      if (one.find_first_of(": \t") != std::string_view::npos || one.size() >= IFNAMSIZ) return std::nullopt;
      wanted.names_.emplace_back(one);
      continue;
    }
    const std::optional<Address> address = parse_host(one.substr(0, slash));
    if (!address) return std::nullopt;
    const auto most = static_cast<unsigned>(8 * address->bytes().size());
    const std::optional<unsigned> bits = number(one.substr(slash + 1), most);
    if (!bits) return std::nullopt;
    wanted.blocks_.push_back({std::string(address->bytes()), *bits});
  }
  return wanted;
}

bool Wanted::takes(const Interface& interface) const noexcept {
  const auto is_named = [&](const std::string& name) {
    if (!name.ends_with('*')) return interface.name == name;
    return interface.name.starts_with(std::string_view(name).substr(0, name.size() - 1));
  };
  const auto is_within = [bytes = interface.address.bytes()](const Block& block) {
    if (block.bytes.size() != bytes.size()) return false;
    for (unsigned bit = 0; bit < block.bits; ++bit) {
      const unsigned differ = static_cast<unsigned char>(bytes[bit / 8] ^ block.bytes[bit / 8]);
      if ((differ >> (7 - bit % 8) & 1) != 0) return false;
    }
    return true;
  };
  return std::ranges::any_of(names_, is_named) || std::ranges::any_of(blocks_, is_within);
}

namespace {

/// Why other hosts are not told of it, unless somebody asks for it; empty: they are.
std::string_view reason_against(const Interface& interface) noexcept {
  if (!interface.up) return "down";
  if (interface.loopback || interface.address.is_loopback()) return "loopback";
  if (interface.bridge) return "a bridge of this host's containers";
  if (interface.address.is_link_local()) return "link-local";
  return {};
}

Error none_for_others(const std::vector<Interface>& interfaces, std::string_view wanted) {
  std::string all;
  for (const Interface& interface : interfaces) {
    const std::string_view against = reason_against(interface);
    all += (all.empty() ? "" : ", ") + interface.name + " " + interface.address.host() +
           (against.empty() ? "" : " (" + std::string(against) + ")");
  }
  const std::string seen = all.empty() ? "there is no interface" : "there are " + all;
  if (!wanted.empty())
    return {"tell other hosts where this one is",
            "AM_TCP_INTERFACES=" + std::string(wanted) + " takes none: " + seen,
            "name interfaces (eth0) or blocks of addresses (10.0.0.0/8), with commas between"};
  return {"tell other hosts where this one is", "no interface of it can be reached by them: " + seen,
          "bring one up, or name the one that is to be used: AM_TCP_INTERFACES=eth0"};
}

}  // namespace

std::vector<Address> addresses_for_others(const std::vector<Interface>& interfaces, std::string_view wanted) {
  const std::optional<Wanted> asked = wanted.empty() ? std::nullopt : Wanted::parse(wanted);
  if (!wanted.empty() && !asked)
    throw Error("tell other hosts where this one is",
                "AM_TCP_INTERFACES=" + std::string(wanted) + " is no list of interfaces",
                "name interfaces (eth0) or blocks of addresses (10.0.0.0/8), with commas between");
  std::vector<Address> addresses;
  for (const Interface& interface : interfaces) {
    // What a link-local address means depends on who has it.
    const bool taken = asked ? interface.up && asked->takes(interface) && !interface.address.is_link_local()
                             : reason_against(interface).empty();
    if (taken) addresses.push_back(interface.address);
  }
  for (const Interface& interface :
       interfaces) {  // a bridge may be all there is: its members have no address then
    if (!asked && addresses.empty() && interface.up && interface.bridge && !interface.address.is_link_local())
      addresses.push_back(interface.address);
  }
  if (addresses.empty()) throw none_for_others(interfaces, wanted);
  std::stable_partition(addresses.begin(), addresses.end(),
                        [](const Address& one) { return one.family() == AF_INET; });
  return addresses;
}

std::string text_of(const std::vector<Address>& addresses, std::size_t room) {
  std::string text;
  for (const Address& address : addresses) {
    const std::string one = (text.empty() ? "" : ",") + address.text();
    if (text.size() + one.size() > room) break;
    text += one;
  }
  return text;
}

std::vector<Address> parse_addresses(std::string_view text) {
  std::vector<Address> addresses;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::optional<Address> one = Address::parse(text.substr(begin, end - begin));
    if (!one) return {};
    addresses.push_back(*one);
    begin = end + 1;
  }
  return addresses;
}

}  // namespace am::tcp
