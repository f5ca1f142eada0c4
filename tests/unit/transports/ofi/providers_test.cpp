// Which provider is used, and what speaks against the others; cards; endpoints, and what is said when memory may not be registered.
#include "transports/ofi/providers.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "support/check.hpp"
#include "transports/ofi/card.hpp"
#include "unit/transports/ofi/nodes.hpp"

namespace am::ofi::providers_test {

using namespace testing;
using Fake = test::FakeProvider;
using test::FakeFabric;

Wish wish(std::string_view provider = {}, bool to_other_hosts = false) {
  return {.provider = provider, .to_other_hosts = to_other_hosts, .interfaces = {}};
}
/// "PROVIDER: what speaks against it", for each.
std::vector<std::string> texts(const std::vector<Offer>& offers) {
  std::vector<std::string> all;
  for (const Offer& offer : offers) all.push_back(offer.provider + ": " + offer.why_not);
  return all;
}
std::string refusal(const FakeFabric& fabric, const Wish& wish) {
  return test::error_of([&] { static_cast<void>(choose(fabric.library(), wish)); });
}
/// What a node says that cannot use the network.
std::string opening_error(const FakeFabric& fabric) {
  return test::error_of([&] {
    const OfiTransport network(Site{.self = 0, .memory = host::Memory::create(1), .options = {}},
                               fabric.library());
  });
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
  EXPECT_THAT(texts(offers(fabric.library(), wish())),
              ElementsAre("shm: ", "verbs;ofi_rxm: ", "net: ", "tcp;ofi_rxm: ", StartsWith("short: its"),
                          StartsWith("udp;ofi_rxd: strangers"), StartsWith("sockets: libfabric")));
  EXPECT_THAT(texts(offers(fabric.library(), wish({}, true))),
              ElementsAre("verbs;ofi_rxm: ", "net: ", "tcp;ofi_rxm: ", StartsWith("short: its"),
                          StartsWith("udp;ofi_rxd: strangers"), StartsWith("sockets: libfabric"),
                          StartsWith("shm: it")));
  EXPECT_EQ(provider_of(*choose(fabric.library(), wish())), "shm");
  EXPECT_EQ(provider_of(*choose(fabric.library(), wish({}, true))), "verbs;ofi_rxm");
  EXPECT_EQ(provider_of(*choose(fabric.library(), wish("sockets"))), "sockets");
  EXPECT_EQ(provider_of(*choose(fabric.library(), wish("udp;ofi_rxd", true))), "udp;ofi_rxd");
  EXPECT_EQ(fabric.open_objects(), 0u) << "all lists are freed";
}

/// libfabric believes whoever connects: without a look at who that is nobody is offered what goes by TCP.
TEST(Providers, GoByTcpOnlyWhereLibamSeesWhoConnects) {
  const FakeFabric fabric({{.name = "net"}, {.name = "tcp;ofi_rxm"}});
  Library library = fabric.library();
  library.doors = Library::Doors::open;
  EXPECT_THAT(texts(offers(library, wish())),
              Each(HasSubstr("could take a node's place: libam cannot see who connects")));
  EXPECT_THROW(static_cast<void>(choose(library, wish("net"))), Error);
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

/// With keys that are longer than libam's, which do not matter where nobody reads or writes from afar; and over rxd.
TEST(Providers, SomeAreUsedForMessagesAlone) {
  const FakeFabric raw(std::vector{Fake{.mr_mode = FI_MR_RAW}});
  EXPECT_EQ(choose(raw.library(), wish())->caps, FI_MSG | FI_MULTI_RECV);
  const FakeFabric rxd({{.name = "udp;ofi_rxd"}});
  const Info info = choose(rxd.library(), wish("udp;ofi_rxd"));
  EXPECT_EQ(info->caps, FI_MSG);
  EXPECT_EQ(info->tx_attr->inject_size, 0u);
}

TEST(Providers, WhatSpeaksAgainstThemIsSaid) {
  const FakeFabric none({});
  EXPECT_THAT(refusal(none, wish()), HasSubstr("it has none that libam can use"));
  EXPECT_THAT(refusal(none, wish("efa")), HasSubstr("it has no efa that libam can use"));
  EXPECT_TRUE(offers(none.library(), wish()).empty());
  setenv("FI_PROVIDER", "verbs", 1);
  for (const char* name : {"", "tcp"})
    EXPECT_THAT(refusal(none, wish(name)),
                HasSubstr("that libam can use; FI_PROVIDER=verbs is set, which keeps"))
        << name;
  unsetenv("FI_PROVIDER");
  const FakeFabric fabric({{.name = "short", .max_msg_size = 100},
                           {.name = "keys", .mr_key_size = 16},
                           {.name = "far", .src_addr = std::vector<std::byte>(97)},
                           {.name = "notified", .mr_mode = FI_MR_MMU_NOTIFY},
                           {.name = "shm"}});
  const std::string why = refusal(fabric, wish({}, true));
  EXPECT_THAT(why, HasSubstr("short (fake0): its longest message has 100 bytes only"));
  for (const std::string name : {"keys", "notified"})
    EXPECT_THAT(
        why,
        HasSubstr(name + " (fake0): it wants memory to be registered in a way that libam does not know"));
  EXPECT_THAT(why, HasSubstr("far (fake0): its addresses are too long"));
  EXPECT_THAT(why, HasSubstr("shm (fake0): it leads to nodes of this host only"));
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
  EXPECT_THAT(texts(offers(fabric.library(), wish())),
              ElementsAre("tcp;ofi_rxm: ", "old: it loses messages where queues are full (FI_RM_ENABLED)",
                          "mute: it has no messages (FI_MSG)",
                          "odd: it wants its users to do what libam does not (fi_getinfo(3), mode)",
                          "verbs: it has no reliable datagrams (FI_EP_RDM)"));
  EXPECT_THAT(texts(offers(fabric.library(), wish("verbs"))),
              ElementsAre("verbs: it has no reliable datagrams (FI_EP_RDM)"));
  EXPECT_THAT(refusal(fabric, wish("verbs")),
              HasSubstr("verbs (mlx5_0): it has no reliable datagrams (FI_EP_RDM)"));
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
  EXPECT_THAT(near[1].why_not, HasSubstr("the loopback interface does"));
  for (const Offer& offer : offers(fabric.library(), wish({}, true)))
    EXPECT_THAT(offer.why_not, HasSubstr("AM_TCP_INTERFACES"))
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
  EXPECT_EQ(card_text({"net", address, "10.0.0.1:7", 41}), "net 00abff@41 10.0.0.1:7");
  EXPECT_EQ(read_card("net 00abff@41 10.0.0.1:7").value().source_port, 41);
  EXPECT_EQ(card_text({"net", address, "10.0.0.1:7", 41, 9}), "net 00abff@41%9 10.0.0.1:7");
  EXPECT_EQ(read_card("net 00abff@41%9 10.0.0.1:7").value().source_port, 41);
  EXPECT_EQ(read_card("shm 00abff%9").value().place, 9u);
  EXPECT_EQ(read_card("net 00abff 10.0.0.1:7").value().lifeline, "10.0.0.1:7");
  for (const char* const wrong :
       {"", " ", "tcp", "tcp ", " 00", "tcp 0", "tcp 000", "tcp 0g", "tcp g0", "tcp 00%", "tcp 00@1x",
        "tcp -1", "tcp +1", "tcp 0x", "tcp  00", "127.0.0.1:17"})
    EXPECT_FALSE(read_card(wrong)) << wrong;
}

TEST(Cards, HaveNoRoomForEveryAddress) {
  const FakeFabric fabric(std::vector{Fake{.address_bytes = 300}});
  EXPECT_THAT(opening_error(fabric), HasSubstr("its addresses are too long: 300 bytes"));
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
        const std::string why = opening_error(fabric);
        EXPECT_EQ(fabric.complaints(), std::vector<std::string>{});
        EXPECT_EQ(fabric.open_objects(), 0u);
        if (why == "no error") continue;
        ++failed;
        EXPECT_THAT(why, HasSubstr("ulimit -l "));
        EXPECT_THAT(why, HasSubstr("this process may lock "));
        EXPECT_THAT(why, HasSubstr("bytes with libfabric (fake)"));
      }
      EXPECT_GT(failed, 0u);
      EXPECT_LT(failed, 100u);
    }
  }
}

Endpoint open_shm() { return Endpoint(system_library(), choose(system_library(), wish("shm"))); }

/// "fi_shm://PID:UID:0": its last part is the name of a file, its last number the endpoint's own.
struct Name {
  std::string before;
  int number;
  [[nodiscard]] std::filesystem::path file() const { return "/dev/shm/" + before + std::to_string(number); }
};
Name name_of(const Endpoint& endpoint) {
  const auto* const text = reinterpret_cast<const char*>(endpoint.address().data());
  std::string whole(text, strnlen(text, endpoint.address().size()));
  whole.erase(0, whole.rfind('/') + 1);
  const std::size_t number = whole.rfind(':') + 1;
  return {whole.substr(0, number), std::stoi(whole.substr(number))};
}

/// What a killed process leaves behind does not keep a later one, which the system has given the same number, from its network.
TEST(Endpoints, PassOverNamesThatAKilledProcessHasLeftBehind) {
  if (!is_there("shm")) GTEST_SKIP() << "this system has no shm";
  std::vector<Name> left;
  {
    const Endpoint first = open_shm();
    const Name name = name_of(first);
    ASSERT_TRUE(std::filesystem::exists(name.file())) << name.file();
    for (int next = 1; next <= 3; ++next) {
      left.push_back({name.before, name.number + next});
      std::filesystem::copy_file(name.file(), left.back().file());
    }
  }
  {
    const Endpoint later = open_shm();
    EXPECT_EQ(name_of(later).before, left.back().before);
    EXPECT_EQ(name_of(later).number, left.back().number + 1);
  }
  for (const Name& name : left) EXPECT_FALSE(std::filesystem::exists(name.file())) << "it is cleared away";
}

/// Wherever it begins and ends in its first and its last page, and what it holds stays.
TEST(Endpoints, PutMemoryBehindEachByteThatTheyRegister) {
  const FakeFabric fabric(std::vector{Fake{.mr_mode = FI_MR_ALLOCATED}});
  {
    Endpoint endpoint(fabric.library(), choose(fabric.library(), wish()));
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (const std::size_t begin : {std::size_t{0}, std::size_t{1}, page - 1}) {
      for (const std::size_t bytes :
           {std::size_t{1}, std::size_t{2}, page, page + 1, 2 * page - 1, 2 * page}) {
        void* const fresh =
            mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(fresh, MAP_FAILED);
        const auto memory = std::span(static_cast<std::byte*>(fresh), 3 * page).subspan(begin, bytes);
        static_cast<void>(endpoint.registration(memory, Endpoint::Use::read));
        EXPECT_EQ(fabric.complaints(), std::vector<std::string>{}) << bytes << " bytes from " << begin;
        std::ranges::fill(memory, std::byte{7});
        static_cast<void>(endpoint.registration(memory, Endpoint::Use::read));
        EXPECT_TRUE(std::ranges::all_of(memory, [](std::byte byte) { return byte == std::byte{7}; }));
        munmap(fresh, 3 * page);
      }
    }
  }
  EXPECT_EQ(fabric.open_objects(), 0u);
}

}  // namespace am::ofi::providers_test
