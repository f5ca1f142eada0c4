#include "transports/ofi/lifelines.hpp"

#include <gmock/gmock.h>
#include <poll.h>
#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace am::ofi::lifelines_test {

using namespace testing;

constexpr NodeId peer = 1;

/// A place that takes lifelines, as those of another host do: nobody accepts them.
class Place {
 public:
  Place() : socket_(tcp::listen_at(address_)) {}
  [[nodiscard]] std::string text() const { return address_.text(); }
  [[nodiscard]] bool has_line() const {
    pollfd events{.fd = socket_.descriptor(), .events = POLLIN, .revents = 0};
    return poll(&events, 1, 0) == 1;
  }
  void await_line() const {
    while (!has_line()) std::this_thread::yield();
  }

 private:
  tcp::Address address_ = tcp::Address::parse("127.0.0.1:0").value();
  tcp::Socket socket_;
};

class LifelinesOfOtherHosts : public testing::Test {
 protected:
  LifelinesOfOtherHosts() : memory_(host::Memory::create(2)) {
    memory_->board().card(peer).on_host = 1;
    Site site;
    site.memory = memory_;
    site.host_timeout_ns = 10'000'000'000;
    site.interfaces = "lo";
    lines_.emplace(site);
  }

  /// To a place that has it then.
  void tie() {
    place_.emplace();
    lines_->tie(peer, place_->text());
    place_->await_line();
  }
  std::vector<Lifelines::Broken> look(bool leaving) {
    now_ += Lifelines::between_looks_ns;
    return lines_->broken(now_, leaving);
  }
  /// What the next look tells that tells something.
  std::vector<Lifelines::Broken> await_news(bool leaving) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    std::vector<Lifelines::Broken> news;
    while ((news = look(leaving)).empty() && std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
    return news;
  }
  void expect_ended(const std::vector<Lifelines::Broken>& news) {
    ASSERT_EQ(news.size(), 1u);
    EXPECT_EQ(news[0].node, peer);
    EXPECT_FALSE(news[0].host);
    EXPECT_THAT(news[0].why, HasSubstr("its process has ended"));
    EXPECT_FALSE(lines_->any()) << "each is told once";
  }

  std::shared_ptr<host::Memory> memory_;
  std::optional<Lifelines> lines_;
  std::optional<Place> place_;
  std::uint64_t now_ = 0;
};

/// It may have left in order, and who leaves may be heard of from others.
TEST_F(LifelinesOfOtherHosts, TellOnlyWhoLeavesAtOnceThatAProcessHasEnded) {
  for (const bool is_tied : {true, false}) {
    for (const int looks : {0, 5}) {
      for (const bool leaving : {false, true}) {
        tie();
        if (is_tied) {
          EXPECT_THAT(look(false), IsEmpty());
        }
        place_.reset();
        for (int i = 0; i < looks; ++i) EXPECT_THAT(look(false), IsEmpty()) << "for less than 3 s";
        expect_ended(await_news(leaving));
      }
    }
  }
}

TEST_F(LifelinesOfOtherHosts, TellOnlyWhoLeavesThatNobodyTakesThem) {
  const std::string nowhere = Place().text();
  lines_->tie(peer, nowhere);
  for (int i = 0; i < 10; ++i) EXPECT_THAT(look(false), IsEmpty()) << "its network may refuse them all";
  expect_ended(await_news(true));
}

TEST_F(LifelinesOfOtherHosts, TryOneAddressAfterTheOther) {
  place_.emplace();
  const std::string nowhere = Place().text();
  lines_->tie(peer, place_->text() + "," + nowhere + "," + nowhere);
  while (!place_->has_line()) EXPECT_THAT(look(false), IsEmpty());
  EXPECT_THAT(look(true), IsEmpty()) << "it is there";
  place_.reset();
  expect_ended(await_news(false));
}

TEST_F(LifelinesOfOtherHosts, AreCutForGood) {
  tie();
  lines_->cut(peer);
  EXPECT_FALSE(lines_->any());
  place_.reset();
  EXPECT_THAT(look(true), IsEmpty());
}

/// The system keeps one here, with the next, that the node has not taken in: also of those that have ended.
TEST(ManyLifelines, AreTakenIn) {
  constexpr const char* network = "ip link set lo up && echo 1 >/proc/sys/net/core/somaxconn";
  bool is_made = false;
  std::thread([&] {
    is_made = unshare(CLONE_NEWNET) == 0 && std::system(network) == 0;  // NOLINT(concurrency-mt-unsafe)
    if (!is_made) return;
    constexpr NodeId nodes = 8;
    const auto memory = host::Memory::create(nodes);
    memory->board().card(peer).on_host = 1;
    Lifelines lines({.memory = memory, .options = {}, .host_timeout_ns = 10'000'000'000, .interfaces = "lo"});
    const tcp::Address there = tcp::parse_addresses(lines.address(1000)).at(0);
    std::uint64_t now = 0;
    const auto line = [&] {
      tcp::Socket made = tcp::connect_to(there);
      pollfd writable{.fd = made.descriptor(), .events = POLLOUT, .revents = 0};
      const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
      while (poll(&writable, 1, 0) == 0 && std::chrono::steady_clock::now() < until)
        static_cast<void>(lines.broken(now += Lifelines::between_looks_ns, false));
      EXPECT_NE(writable.revents, 0) << "the system has no room for it";
      return made;
    };
    for (NodeId ended = 0; ended < nodes && !HasFailure(); ++ended) static_cast<void>(line());
    std::vector<tcp::Socket> taken;
    while (taken.size() < nodes && !HasFailure()) taken.push_back(line());
  }).join();
  if (!is_made) GTEST_SKIP() << "this process may make no network";
}

}  // namespace am::ofi::lifelines_test
