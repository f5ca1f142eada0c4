#include "amrun/this_host.hpp"

#include <unistd.h>

#include <algorithm>
#include <am/error.hpp>
#include <optional>
#include <string_view>

#include "transports/tcp/address.hpp"

namespace amrun {
namespace {

using am::tcp::Address;

std::string in_small_letters(std::string_view name) {
  std::string small(name);
  std::ranges::transform(small, small.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return small;
}

std::string first_label(const std::string& name) { return name.substr(0, name.find('.')); }

std::optional<Address> address_of(const std::string& name) {
  const bool is_v6 = name.find(':') != std::string::npos;
  return Address::parse((is_v6 ? "[" + name + "]" : name) + ":0");
}

bool is_own(const Address& address) {
  if (address.is_loopback()) return true;
  try {
    return std::ranges::any_of(am::tcp::interfaces(), [&](const am::tcp::Interface& interface) {
      return interface.address.bytes() == address.bytes();
    });
  } catch (const am::Error&) {
    return false;  // nobody says which addresses there are
  }
}

}  // namespace

bool is_this_host(const std::string& name) {
  if (const auto address = address_of(name)) return is_own(*address);
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const std::string own = in_small_letters(host);
  const std::string asked = in_small_letters(name);
  if (asked == "localhost" || asked == own || asked == first_label(own)) return true;
  // Another host's name is not looked up: its agent knows what it means, and a name server may take long to say nothing.
  const std::string first = first_label(asked);
  if (first == asked || (first != "localhost" && first != first_label(own))) return false;
  return std::ranges::any_of(am::tcp::resolve(asked, 0), is_own);
}

}  // namespace amrun
