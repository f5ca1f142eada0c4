// Where nodes of several hosts take connections (AM_TCP_INTERFACES).
#include <poll.h>

#include "transports/ofi/lifelines.hpp"
#include "unit/transports/tcp/nodes.hpp"

namespace am::tcp::doors_test {

bool takes_connections(const Address& address) {
  const Socket socket = connect_to(address);
  pollfd made{.fd = socket.descriptor(), .events = POLLOUT, .revents = 0};
  constexpr int patience_ms = 60'000;
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

}  // namespace am::tcp::doors_test
