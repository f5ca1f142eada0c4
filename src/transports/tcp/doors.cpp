#include "transports/tcp/doors.hpp"

#include <am/error.hpp>

#include <exception>
#include <utility>

namespace am::tcp {

Doors open_doors(std::string_view interfaces) {
  Doors doors;
  std::vector<Address> addresses = addresses_for_others(tcp::interfaces(), interfaces);
  if (interfaces.empty()) {
    Address any = Address::parse(has_ipv6() ? "[::]:0" : "0.0.0.0:0").value();
    doors.listening.push_back(listen_at(any));
    for (Address& address : addresses) address.set_port(any.port());
    doors.told = std::move(addresses);
    return doors;
  }
  std::exception_ptr failure;
  for (Address& address : addresses) {
    try {
      doors.listening.push_back(listen_at(address));
      doors.told.push_back(address);
    } catch (const Error&) {  // it has just gone, or is not checked yet (IPv6): the others may do
      failure = std::current_exception();
    }
  }
  if (doors.told.empty()) std::rethrow_exception(failure);
  return doors;
}

}  // namespace am::tcp
