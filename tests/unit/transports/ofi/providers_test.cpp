// Which provider is used, and what speaks against the others; cards; what is said when memory may not be registered.
#include "transports/ofi/providers.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "transports/ofi/card.hpp"
#include "unit/transports/ofi/nodes.hpp"

namespace am::ofi {
namespace providers_test {

using Fake = test::FakeProvider;
using test::FakeFabric;

Wish wish(std::string_view provider = {}, bool to_other_hosts = false) {
  Wish made;
  made.provider = provider;
  made.to_other_hosts = to_other_hosts;
  return made;
}
std::vector<std::string> names(const std::vector<Offer>& offers) {
  std::vector<std::string> all;
  for (const Offer& offer : offers) all.push_back(offer.provider + (offer.why_not.empty() ? "" : " -"));
  return all;
}
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}
std::vector<std::byte> ip(const char* text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  EXPECT_EQ(inet_pton(AF_INET, text, &address.sin_addr), 1);
  std::vector<std::byte> bytes(sizeof address);
  std::memcpy(bytes.data(), &address, sizeof address);
  return bytes;
}

TEST(Providers, HardwareComesFirstAndWhatCannotBeUsedLast) {
  const FakeFabric fabric({{.name = "udp;ofi_rxd"},
                           {.name = "sockets"},
                           {.name = "short", .max_msg_size = 4095},
                           {.name = "tcp;ofi_rxm"},
                           {.name = "verbs;ofi_rxm"},
                           {.name = "net"},
                           {.name = "shm"}});
  EXPECT_EQ(names(offers(fabric.library(), wish())),
            (std::vector<std::string>{"shm", "verbs;ofi_rxm", "net", "tcp;ofi_rxm", "udp;ofi_rxd", "short -",
                                      "sockets -"}));
  EXPECT_EQ(names(offers(fabric.library(), wish({}, true))),
            (std::vector<std::string>{"verbs;ofi_rxm", "net", "tcp;ofi_rxm", "udp;ofi_rxd", "short -",
                                      "sockets -", "shm -"}));
  EXPECT_EQ(provider_of(*choose(fabric.library(), wish())), "shm");
  EXPECT_EQ(provider_of(*choose(fabric.library(), wish({}, true))), "verbs;ofi_rxm");
  EXPECT_EQ(provider_of(*choose(fabric.library(), wish("sockets"))), "sockets");
  EXPECT_EQ(provider_of(*choose(fabric.library(), wish("udp;ofi_rxd", true))), "udp;ofi_rxd");
  EXPECT_EQ(fabric.open_objects(), 0u) << "all lists are freed";
}

TEST(Providers, AWorseOneWithMoreBitsIsNotBetter) {
  const FakeFabric fabric({{.name = "net"}, {.name = "psm3", .caps = FI_MSG, .order = 0}});
  const Info chosen = choose(fabric.library(), wish());
  EXPECT_EQ(provider_of(*chosen), "psm3");
  EXPECT_EQ(chosen->caps, FI_MSG);
  EXPECT_EQ(chosen->next, nullptr);
}

TEST(Providers, OneIsAskedForAllThatItHas) {
  for (const std::uint64_t more : {0ull, FI_RMA, FI_MULTI_RECV, FI_RMA | FI_MULTI_RECV}) {
    const std::uint64_t caps = FI_MSG | more;
    for (const std::uint64_t order : {std::uint64_t{0}, std::uint64_t{FI_ORDER_SAS}}) {
      const FakeFabric one({{.caps = caps, .order = order}});
      const Info info = choose(one.library(), wish());
      EXPECT_EQ(info->caps, caps);
      EXPECT_EQ(info->tx_attr->msg_order, order);
    }
  }
}

/// Keys that are longer than libam's: no matter where nobody reads or writes from afar.
TEST(Providers, OneWithRawKeysIsUsedForMessages) {
  const FakeFabric fabric(std::vector{Fake{.mr_mode = FI_MR_RAW}});
  EXPECT_EQ(choose(fabric.library(), wish())->caps, FI_MSG | FI_MULTI_RECV);
}

TEST(Providers, RxdIsUsedForPlainMessages) {
  const FakeFabric fabric({{.name = "udp;ofi_rxd"}});
  const Info info = choose(fabric.library(), wish());
  EXPECT_EQ(info->caps, FI_MSG);
  EXPECT_EQ(info->tx_attr->inject_size, 0u);
}

TEST(Providers, WhatSpeaksAgainstThemIsSaid) {
  {
    const FakeFabric none({});
    EXPECT_NE(error_of([&] {
                static_cast<void>(choose(none.library(), wish()));
              }).find("it has none that libam can use"),
              std::string::npos);
    EXPECT_NE(error_of([&] {
                static_cast<void>(choose(none.library(), wish("efa")));
              }).find("it has no efa that libam can use"),
              std::string::npos);
    EXPECT_TRUE(offers(none.library(), wish()).empty());
  }
  const FakeFabric fabric({{.name = "short", .max_msg_size = 100},
                           {.name = "keys", .mr_key_size = 16},
                           {.name = "far", .src_addr = std::vector<std::byte>(97)},
                           {.name = "notified", .mr_mode = FI_MR_MMU_NOTIFY},
                           {.name = "shm"}});
  const std::string why = error_of([&] { static_cast<void>(choose(fabric.library(), wish({}, true))); });
  EXPECT_NE(why.find("short (fake0): its longest message has 100 bytes only"), std::string::npos) << why;
  EXPECT_NE(why.find("keys (fake0): it wants memory to be registered in a way that libam does not know"),
            std::string::npos);
  EXPECT_NE(why.find("far (fake0): its addresses are too long"), std::string::npos);
  EXPECT_NE(why.find("shm (fake0): it leads to nodes of this host only"), std::string::npos);
  EXPECT_NE(why.find("notified (fake0): it wants memory to be registered in a way that libam does not know"),
            std::string::npos);
  EXPECT_EQ(fabric.open_objects(), 0u);
}

/// Those, too, that libfabric does not offer to one who asks for what libam needs.
TEST(Providers, WhatTheyLackIsSaid) {
  const FakeFabric fabric({{.name = "tcp", .type = FI_EP_MSG},
                           {.name = "tcp;ofi_rxm"},
                           {.name = "verbs", .domain = "mlx5_0", .type = FI_EP_MSG},
                           {.name = "verbs", .domain = "mlx5_1", .type = FI_EP_DGRAM},
                           {.name = "old", .type = FI_EP_MSG},
                           {.name = "old", .loses_nothing = false},
                           {.name = "mute", .caps = FI_TAGGED | FI_RMA},
                           {.name = "odd", .mode = FI_MSG_PREFIX, .mr_mode = FI_MR_RAW}});
  const auto lacks = [](const std::vector<Offer>& offers) {
    std::vector<std::string> all;
    for (const Offer& offer : offers) all.push_back(offer.provider + ": " + offer.why_not);
    return all;
  };
  EXPECT_EQ(lacks(offers(fabric.library(), wish())),
            (std::vector<std::string>{
                "tcp;ofi_rxm: ", "old: it loses messages where queues are full (FI_RM_ENABLED)",
                "mute: it has no messages (FI_MSG)",
                "odd: it wants its users to do what libam does not (fi_getinfo(3), mode)",
                "verbs: it has no reliable datagrams (FI_EP_RDM)"}));
  EXPECT_EQ(lacks(offers(fabric.library(), wish("verbs"))),
            std::vector<std::string>{"verbs: it has no reliable datagrams (FI_EP_RDM)"});
  const std::string why = error_of([&] { static_cast<void>(choose(fabric.library(), wish("verbs"))); });
  EXPECT_NE(why.find("verbs (mlx5_0): it has no reliable datagrams (FI_EP_RDM)"), std::string::npos) << why;
  EXPECT_EQ(fabric.open_objects(), 0u) << "all lists are freed";
}

TEST(Providers, OnOneHostTheLoopbackInterfaceDoes) {
  const auto by_ip = [](const char* domain, const char* address) {
    return Fake{
        .name = "tcp;ofi_rxm", .domain = domain, .addr_format = FI_SOCKADDR_IN, .src_addr = ip(address)};
  };
  const FakeFabric fabric({by_ip("eth7", "203.0.113.9"), by_ip("lo", "127.0.0.1")});
  EXPECT_EQ(domain_of(*choose(fabric.library(), wish())), "lo");
  const std::vector<Offer> near = offers(fabric.library(), wish());
  ASSERT_EQ(near.size(), 2u);
  EXPECT_EQ(near[1].domain, "eth7");
  EXPECT_NE(near[1].why_not.find("the loopback interface does"), std::string::npos);
  for (const Offer& offer : offers(fabric.library(), wish({}, true)))
    EXPECT_NE(offer.why_not.find("AM_TCP_INTERFACES"), std::string::npos)
        << "neither is for other hosts: " << offer.domain;
}

/// An address that says it is one of IP, and is cut short, is none.
TEST(Providers, ACutAddressIsNotReadBeyondItsEnd) {
  for (std::size_t bytes = 1; bytes < sizeof(sockaddr_in); ++bytes) {
    std::vector<std::byte> cut = ip("127.0.0.1");
    cut.resize(bytes);
    const FakeFabric fabric({{.addr_format = FI_SOCKADDR_IN, .src_addr = cut}});
    EXPECT_EQ(offers(fabric.library(), wish()).size(), 1u);
  }
}

TEST(Cards, SayWhatTheySaid) {
  const std::vector<std::byte> address{std::byte{0}, std::byte{0xab}, std::byte{0xff}};
  EXPECT_EQ(card_text({"tcp;ofi_rxm", address}), "tcp;ofi_rxm 00abff");
  EXPECT_EQ(card_text({"net", address, "10.0.0.1:7,[::1]:7"}), "net 00abff 10.0.0.1:7,[::1]:7");
  const auto read = read_card("tcp;ofi_rxm 00abff");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->provider, "tcp;ofi_rxm");
  EXPECT_EQ(read->address, address);
  EXPECT_EQ(read->lifeline, "");
  EXPECT_EQ(read_card("net 00abff 10.0.0.1:7").value().lifeline, "10.0.0.1:7");
  for (const char* const wrong : {"", " ", "tcp", "tcp ", " 00", "tcp 0", "tcp 000", "tcp 0g", "tcp g0",
                                  "tcp -1", "tcp +1", "tcp 0x", "tcp  00", "127.0.0.1:17"})
    EXPECT_FALSE(read_card(wrong)) << wrong;
}

TEST(Cards, HaveNoRoomForEveryAddress) {
  const FakeFabric fabric(std::vector{Fake{.address_bytes = 300}});
  const auto memory = host::Memory::create(1);
  const std::string why = error_of([&] {
    const OfiTransport network(Site{.self = 0, .memory = memory, .options = {}}, fabric.library());
  });
  EXPECT_NE(why.find("its addresses are too long: 300 bytes"), std::string::npos) << why;
  EXPECT_EQ(fabric.complaints(), std::vector<std::string>{}) << "all is closed in order";
  EXPECT_EQ(fabric.open_objects(), 0u);
}

/// Whichever of the registrations fails: the error says what to do, and nothing stays behind.
TEST(Registrations, ThatFailAreAnErrorThatSaysWhatToDo) {
  for (const std::uint64_t caps :
       {std::uint64_t{FI_MSG | FI_RMA}, std::uint64_t{FI_MSG | FI_RMA | FI_MULTI_RECV}}) {
    for (const int mode : {FI_MR_LOCAL, FI_MR_LOCAL | FI_MR_ENDPOINT | FI_MR_PROV_KEY}) {
      std::size_t failed = 0;
      for (std::size_t good = 0; good < 100; ++good) {
        FakeFabric fabric({{.caps = caps, .mr_mode = mode, .keeps_bound_memory = true}});
        fabric.fail_registrations_after(good);
        const auto memory = host::Memory::create(1);
        const std::string why = error_of([&] {
          const OfiTransport network(Site{.self = 0, .memory = memory, .options = {}}, fabric.library());
        });
        EXPECT_EQ(fabric.complaints(), std::vector<std::string>{});
        EXPECT_EQ(fabric.open_objects(), 0u);
        if (why == "no error") continue;
        ++failed;
        EXPECT_NE(why.find("ulimit -l "), std::string::npos) << why;
        EXPECT_NE(why.find("this process may lock "), std::string::npos) << why;
        EXPECT_NE(why.find("bytes with libfabric (fake)"), std::string::npos) << why;
      }
      EXPECT_GT(failed, 0u);
      EXPECT_LT(failed, 100u);
    }
  }
}

}  // namespace providers_test
}  // namespace am::ofi
