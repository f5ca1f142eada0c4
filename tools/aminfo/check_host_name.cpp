// A host whose name leads to the loopback address alone cannot be reached by that name from another machine.
// On one machine nothing depends on it, so this is never more than a warning.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "aminfo/doctor.hpp"

namespace aminfo {
namespace {

struct Addresses {
  int error = 0;  // of getaddrinfo
  bool reachable = false;
  std::vector<std::string> texts;
};

bool is_loopback(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return ntohl(v4.sin_addr.s_addr) >> 24 == 127;
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) != 0;
}

Addresses resolve(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  Addresses found;
  found.error = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (found.error != 0) return found;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    char text[NI_MAXHOST];
    if (getnameinfo(entry->ai_addr, entry->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
      continue;
    found.texts.emplace_back(text);
    found.reachable = found.reachable || !is_loopback(*entry->ai_addr);
  }
  freeaddrinfo(list);
  return found;
}

bool is_link_local(const sockaddr& address) {
  return address.sa_family == AF_INET6 &&
         IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr) != 0;
}

// Whether `hostname -I` prints any.
bool has_address() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return true;  // who knows
  bool found = false;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const sockaddr* const address = entry->ifa_addr;
    if (address == nullptr || (address->sa_family != AF_INET && address->sa_family != AF_INET6)) continue;
    found = found || (!is_loopback(*address) && !is_link_local(*address));
  }
  freeifaddrs(list);
  return found;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

}  // namespace

Finding check_host_name() {
  using namespace std::chrono_literals;
  const std::string subject = "host name";
  const std::string later = " (matters between machines only)";
  const std::string mend = has_address()
                               ? "as root: echo \"$(hostname -I | cut -d' ' -f1) $(hostname)\" >> /etc/hosts"
                               : "a network for this container or machine: it has no address of its own";

  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0') {
    return {Level::warn, subject, "this machine has no name" + later, "hostname NAME"};
  }
  // In a thread of its own, which is left behind if the name server does not answer: aminfo ends soon after.
  std::promise<Addresses> promise;
  std::future<Addresses> answer = promise.get_future();
  std::thread([name = std::string(host), promise = std::move(promise)]() mutable {
    promise.set_value(resolve(name));
  }).detach();
  const std::string name = host;
  if (answer.wait_for(3s) != std::future_status::ready) {
    return {Level::warn, subject, name + " is not resolved within 3 s" + later, mend};
  }
  const Addresses found = answer.get();
  if (found.error != 0) {
    return {Level::warn, subject, name + " does not resolve: " + gai_strerror(found.error) + later, mend};
  }
  if (!found.reachable) {
    return {Level::warn, subject, name + " leads to " + joined(found.texts) + " only" + later, mend};
  }
  return {Level::ok, subject, name + " leads to " + joined(found.texts), ""};
}

}  // namespace aminfo
