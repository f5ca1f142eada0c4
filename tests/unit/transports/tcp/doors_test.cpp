// Where nodes of several hosts take connections (AM_TCP_INTERFACES).
#include <netinet/tcp.h>
#include <poll.h>

#include <array>

#include "transports/ofi/lifelines.hpp"
#include "unit/transports/tcp/nodes.hpp"

namespace am::tcp::doors_test {

constexpr int patience_ms = 60'000;

bool takes_connections(const Address& address) {
  const Socket socket = connect_to(address);
  pollfd made{.fd = socket.descriptor(), .events = POLLOUT, .revents = 0};
  return socket && poll(&made, 1, patience_ms) == 1 && socket.failure() == 0;
}

/// What leads to this host by other addresses finds nobody: neither a node over TCP, nor one that takes lifelines.
TEST(Doors, AreAtTheAddressesThatTheUserHasNamed) {
  const auto memory = host::Memory::create(2);
  memory->board().card(1).on_host = 1;
  const Site site{.memory = memory, .options = {}, .host_timeout_ns = 10'000'000'000, .interfaces = "lo"};
  const TcpTransport network(site);
  const ofi::Lifelines lifelines(site);
  for (const std::string& told : {std::string(memory->board().card(0).address), lifelines.address(1000)}) {
    const std::vector<Address> addresses = parse_addresses(told);
    ASSERT_FALSE(addresses.empty()) << told;
    for (const Address& address : addresses) EXPECT_TRUE(takes_connections(address)) << address.text();
    const std::string port = std::to_string(addresses.front().port());
    EXPECT_FALSE(takes_connections(Address::parse("127.0.0.2:" + port).value()));
  }
}

/// Else BBR, where a system takes that by default, holds back what is sent over loopback.
TEST(Doors, LeadToConnectionsThatAreNotPacedWithinAHost) {
  Address address = Address::parse("127.0.0.1:0").value();
  const Socket listening = listen_at(address);
  const Socket calling = connect_to(address);
  pollfd comes{.fd = listening.descriptor(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&comes, 1, patience_ms), 1);
  const Socket called = accept_from(listening);
  for (const Socket* end : {&calling, &called}) {
    std::array<char, 16> how{};
    socklen_t size = how.size();
    ASSERT_EQ(getsockopt(end->descriptor(), IPPROTO_TCP, TCP_CONGESTION, how.data(), &size), 0);
    EXPECT_STREQ(how.data(), "reno");
  }
}

}  // namespace am::tcp::doors_test
