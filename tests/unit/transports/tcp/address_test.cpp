// Addresses as text and back, what the user's choice of interfaces takes.
#include "transports/tcp/address.hpp"

#include <gmock/gmock.h>

#include "support/check.hpp"

namespace am::tcp::address_test {

using testing::HasSubstr;

TEST(Address, ComesOutAsItWentIn) {
  for (const std::string text : {"10.0.0.2:4711", "127.0.0.1:0", "0.0.0.0:65535", "[::1]:1", "[fe80::2%3]:80",
                                 "[2001:db8::5:0:1]:4711"}) {
    const std::optional<Address> address = Address::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->text(), text);
    const std::optional<Address> copy = Address::of(address->data(), address->size());
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->text(), text);
  }
  EXPECT_EQ(Address::parse("[::FFFF:1.2.3.4]:5")->text(), "[::ffff:1.2.3.4]:5");
}

TEST(Address, IsNotEveryText) {
  for (const char* text : {"", ":", "]:1", "[:1", "[]:1", "::1:1", "[::1]", "host:1", "[::1]1", "[::1:1"})
    EXPECT_FALSE(Address::parse(text)) << text;
  for (const char* text :
       {"10.0.0.2", "10.0.0.2:", "10.0.0:1", "10.0.0.2:-1", "10.0.0.2:1x", " 10.0.0.2:1", "[::1]:1 ",
        "10.0.0.256:1", "10.0.0.2%1:1", "[10.0.0.2]:1", "[fe80::1%]:1", "10.0.0.2:65536", "[fe80::1%eth0]:1"})
    EXPECT_FALSE(Address::parse(text)) << text;
  const sockaddr nothing{};
  EXPECT_FALSE(Address::of(&nothing, sizeof nothing));
  EXPECT_FALSE(Address::of(nullptr, 0));
  const Address whole = *Address::parse("[::1]:1");
  EXPECT_FALSE(Address::of(whole.data(), sizeof(sockaddr_in)));
}

TEST(Address, KnowsHowFarItReaches) {
  for (const char* text : {"127.0.0.1:1", "127.255.3.4:1", "[::1]:1", "[::ffff:127.0.0.1]:1"})
    EXPECT_TRUE(Address::parse(text)->is_loopback()) << text;
  for (const char* text : {"128.0.0.1:1", "[::2]:1"})
    EXPECT_FALSE(Address::parse(text)->is_loopback()) << text;
  for (const char* text : {"169.254.1.1:1", "[fe80::1%2]:1", "[febf::1%2]:1"})
    EXPECT_TRUE(Address::parse(text)->is_link_local()) << text;
  for (const char* text : {"169.253.1.1:1", "[fec0::1]:1"})
    EXPECT_FALSE(Address::parse(text)->is_link_local()) << text;
}

TEST(WantedTest, TakesNamesAndBlocksOfAddresses) {
  struct Row {
    const char* wanted;
    const char* name;
    const char* address;
    bool takes;
  };
  constexpr Row rows[] = {
      {"eth0", "eth0", "10.0.0.2:0", true},
      {"eth0", "eth01", "10.0.0.2:0", false},
      {"eth0", "eth", "10.0.0.2:0", false},
      {"ib0,eth*", "eth17", "[fe80::1%2]:0", true},
      {"ib0,eth*", "ib1", "10.0.0.2:0", false},
      {"10.0.0.0/8", "x", "10.200.1.1:0", true},
      {"10.0.0.0/8", "x", "11.0.0.1:0", false},
      {"192.168.4.0/22", "x", "192.168.7.255:0", true},
      {"192.168.4.0/22", "x", "192.168.8.0:0", false},
      {"1.2.3.4/32", "x", "1.2.3.4:0", true},
      {"1.2.3.4/32", "x", "1.2.3.5:0", false},
      {"0.0.0.0/0", "x", "1.2.3.5:0", true},
      {"0.0.0.0/0", "of the other family", "[::1]:0", false},
      {"eth0,fd00::/8", "x", "[fd12::1]:0", true},
      {"eth0,fd00::/8", "x", "[fe12::1]:0", false},
      {"2001:db8::1/128", "x", "[2001:db8::1]:0", true},
  };
  for (const auto& [text, name, address, takes] : rows) {
    const std::optional<Wanted> wanted = Wanted::parse(text);
    ASSERT_TRUE(wanted) << text;
    EXPECT_EQ(wanted->takes({.name = name, .address = *Address::parse(address)}), takes)
        << text << " " << address;
  }
}

TEST(WantedTest, IsNotEveryText) {
  for (const char* text : {"", ",", "eth0,", ",eth0", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0/8",
                           "fd00::/129", "eth0/8", "/8", "10.0.0.2:80", "an interface", "a_name_of_16_char"})
    EXPECT_FALSE(Wanted::parse(text)) << text;
}

// -- what other hosts are told ---------------------------------------------------------------------------------------------

Interface interface_of(const std::string& name, const std::string& address, bool up = true,
                       bool bridge = false) {
  const Address parsed = Address::parse(address).value();
  return {.name = name, .address = parsed, .up = up, .loopback = name == "lo", .bridge = bridge};
}

const std::vector<Interface> many = {
    interface_of("lo", "127.0.0.1:0"),         interface_of("eth0", "[fd00::2]:0"),
    interface_of("eth0", "10.0.0.2:0"),        interface_of("eth0", "[fe80::2]:0"),
    interface_of("eth1", "10.1.0.2:0", false), interface_of("docker0", "172.17.0.1:0", true, true),
    interface_of("ib0", "192.168.0.2:0"),
};

std::vector<Address> at_port_47(const std::vector<Interface>& interfaces, std::string_view wanted) {
  std::vector<Address> addresses = addresses_for_others(interfaces, wanted);
  for (Address& address : addresses) address.set_port(47);
  return addresses;
}
std::string told(const std::vector<Interface>& interfaces, std::string_view wanted) {
  return text_of(at_port_47(interfaces, wanted), 1000);
}

TEST(ForOthers, AreThoseThatTheyMayReachOrThatTheUserWants) {
  EXPECT_EQ(told(many, ""), "10.0.0.2:47,192.168.0.2:47,[fd00::2]:47");
  EXPECT_EQ(told(many, "ib0"), "192.168.0.2:47");
  EXPECT_EQ(told(many, "10.0.0.0/8,docker0"), "10.0.0.2:47,172.17.0.1:47");
  EXPECT_EQ(told(many, "eth0"), "10.0.0.2:47,[fd00::2]:47") << "no link-local ones";
  EXPECT_EQ(told(many, "lo"), "127.0.0.1:47");
}

TEST(ForOthers, NoneIsAnErrorThatNamesAll) {
  const auto why = [](const std::vector<Interface>& interfaces, std::string_view wanted) {
    return test::error_of([&] { static_cast<void>(told(interfaces, wanted)); });
  };
  EXPECT_THAT(why(many, "eth1"), HasSubstr("AM_TCP_INTERFACES=eth1 takes none"));
  EXPECT_THAT(why(many, "eth1"), HasSubstr("eth1 10.1.0.2 (down)"));
  EXPECT_THAT(why(many, "eth1"), HasSubstr("docker0 172.17.0.1 (a bridge of this host's containers)"));
  EXPECT_THAT(why(many, "eth0,,"), HasSubstr("is no list of interfaces"));
  EXPECT_THAT(why({many[0]}, ""), HasSubstr("there are lo 127.0.0.1 (loopback)"));
  EXPECT_THAT(why({}, ""), HasSubstr("there is no interface"));
}

TEST(ForOthers, AreReadAsTheyWereWritten) {
  const std::vector<Address> addresses = at_port_47(many, "");
  const std::vector<Address> read = parse_addresses(text_of(addresses, 1000));
  ASSERT_EQ(read.size(), addresses.size());
  for (std::size_t i = 0; i < read.size(); ++i) EXPECT_EQ(read[i].text(), addresses[i].text());
  EXPECT_EQ(text_of(addresses, 30), "10.0.0.2:47,192.168.0.2:47") << "as many as have room, each whole";
  EXPECT_EQ(text_of(addresses, 5), "");
  for (const char* wrong :
       {"", ",", "10.0.0.2", "10.0.0.2:47,", ",10.0.0.2:47", "10.0.0.2:47;10.0.0.3:47", "x:1"})
    EXPECT_TRUE(parse_addresses(wrong).empty()) << wrong;
}

}  // namespace am::tcp::address_test
