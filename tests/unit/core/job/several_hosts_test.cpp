// What hosts tell each other before there is a network between them: two of them here, whose texts meet in this process.
#include "core/job/several_hosts.hpp"

#include <gmock/gmock.h>

#include <barrier>
#include <cstring>
#include <functional>
#include <thread>

#include "support/check.hpp"

namespace am::core::several_hosts_test {

using namespace testing;

/// Between two threads. What goes over it may be spoilt on the way.
struct Table {
  std::barrier<> both{2};
  std::vector<std::string> texts = std::vector<std::string>(2);
  std::function<void(std::string&)> spoil = [](std::string&) {};
};
class Meeting final : public Exchange {
 public:
  Meeting(Table& table, std::size_t host) : table_(table), host_(host) {}
  std::vector<std::string> round(const std::string& own) override {
    table_.texts[host_] = own;
    if (host_ == 1) table_.spoil(table_.texts[1]);
    table_.both.arrive_and_wait();
    std::vector<std::string> all = table_.texts;
    table_.both.arrive_and_wait();
    return all;
  }

 private:
  Table& table_;
  const std::size_t host_;
};

/// Nodes 0, 2 and 3 on one host, 1 and 4 on the other.
class TwoHosts : public testing::Test {
 protected:
  static Placement placement(std::uint32_t own) { return {.hosts = {{0, 2, 3}, {1, 4}}, .own = own}; }

  TwoHosts() {
    for (std::uint32_t host = 0; host < 2; ++host) memory_.push_back(make_memory(placement(host)));
  }
  [[nodiscard]] const host::Board& board(std::uint32_t host) const { return memory_[host]->board(); }

  /// Both hosts do it; what became of each.
  std::vector<std::string> both(const std::function<void(std::uint32_t host, Exchange& exchange)>& act) {
    std::vector<std::string> errors(2);
    const auto one = [&](std::uint32_t host) {
      Meeting meeting(table_, host);
      errors[host] = test::error_of([&] { act(host, meeting); });
    };
    std::thread other([&] { one(1); });
    one(0);
    other.join();
    return errors;
  }
  std::vector<std::string> both_agree() {
    return both([&](std::uint32_t host, Exchange& exchange) { agree(board(host), exchange); });
  }
  std::vector<std::string> both_exchange() {
    return both([&](std::uint32_t host, Exchange& exchange) {
      exchange_facts(board(host), placement(host), exchange);
    });
  }

  Table table_;
  std::vector<std::shared_ptr<host::Memory>> memory_;
};

TEST_F(TwoHosts, AgreeOnTheFirstOnesKey) {
  const host::JobHeader& first = board(0).job();
  const host::JobHeader& second = board(1).job();
  EXPECT_NE(std::memcmp(first.key, second.key, sizeof first.key), 0);
  EXPECT_THAT(both_agree(), Each("no error"));
  EXPECT_EQ(std::memcmp(first.key, second.key, sizeof first.key), 0);
  EXPECT_EQ(std::memcmp(first.name, second.name, sizeof first.name), 0);
}

TEST_F(TwoHosts, BeginCountWhereTheFirstOneDoesIfTheyHaveOneClock) {
  for (const std::uint64_t clock : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{7}}) {
    for (std::uint32_t host = 0; host < 2; ++host) {
      board(host).job().epoch_ns = 1000 + host;
      const Placement where = placement(host);
      for (const NodeId node : where.here()) {
        board(host).card(node).clock = host == 0 ? 7 : clock;
        board(host).card(node).epoch_ns = 1000 + host;
      }
    }
    EXPECT_THAT(both_exchange(), Each("no error"));
    EXPECT_EQ(board(0).job().epoch_ns, 1000u);
    EXPECT_EQ(board(1).job().epoch_ns, clock == 7 ? 1000u : 1001u);
  }
}

TEST_F(TwoHosts, KnowWhoIsWhereAndTellEachOtherTheFactsOfTheirNodes) {
  for (std::uint32_t host = 0; host < 2; ++host) {
    const Placement where = placement(host);
    for (const NodeId node : where.here()) {
      host::NodeFacts& facts = board(host).card(node);
      facts.pid = static_cast<std::int32_t>(100 + node);
      std::memset(facts.address, 'x', sizeof facts.address);  // no end: whoever takes it puts one
    }
  }
  EXPECT_THAT(both_exchange(), Each("no error"));
  for (std::uint32_t host = 0; host < 2; ++host) {
    for (NodeId node = 0; node < 5; ++node) {
      const host::NodeCard& card = board(host).card(node);
      EXPECT_EQ(card.pid, static_cast<std::int32_t>(100 + node));
      EXPECT_EQ(board(host).is_here(node), (node == 1 || node == 4) == (host == 1)) << node;
      if (board(host).is_here(node)) continue;
      EXPECT_EQ(card.on_host, 1 - host);
      EXPECT_EQ(board(host).standing(node), host::Standing::joined);
      EXPECT_EQ(strnlen(card.address, sizeof card.address), sizeof card.address - 1);
    }
  }
}

TEST_F(TwoHosts, NoticeAnotherVersion) {
  const auto next = [](std::size_t at) { return [at](std::string& text) { ++text[at]; }; };
  const std::vector<std::function<void(std::string&)>> ways = {[](std::string& text) { text.clear(); },
                                                               [](std::string& text) { text.pop_back(); },
                                                               [](std::string& text) { text += 'x'; },
                                                               next(0),
                                                               next(8),
                                                               next(12)};
  for (const auto& way : ways) {
    table_.spoil = way;
    EXPECT_THAT(both_agree(), Each(HasSubstr("another version of libam")));
    EXPECT_THAT(both_exchange()[0], HasSubstr("the host of node 1 runs another version of libam"));
  }
  table_.spoil = next(8);
  EXPECT_THAT(both_exchange()[0], HasSubstr("libam: the version of its board is "));
}

}  // namespace am::core::several_hosts_test
