// Handing the job's memory over, with threads for processes and without a launcher.
#include "core/job/rendezvous.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>
#include <initializer_list>
#include <latch>
#include <thread>

#include "support/check.hpp"
#include "support/patience.hpp"
#include "support/random.hpp"

namespace am::core::rendezvous_test {

using namespace test;
using namespace testing;

/// A file that can be recognised by what it contains.
Descriptor marked_file(const std::string& mark) {
  Descriptor file(memfd_create("test", MFD_CLOEXEC));
  EXPECT_EQ(pwrite(file.get(), mark.data(), mark.size(), 0), static_cast<ssize_t>(mark.size()));
  return file;
}

std::string content(const Descriptor& file) {
  std::string text(100, '\0');
  const ssize_t length = pread(file.get(), text.data(), text.size(), 0);
  text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return text;
}

/// A server that serves on its own thread.
class Rendezvous : public ::testing::Test {
 protected:
  void serve(NodeId size, const Patience& limits = patience()) {
    serving_ = std::thread([this, size, limits] {
      error_ = error_of([&] { server_.serve(file_.get(), others(size), limits); });
    });
  }
  /// What ended the serving.
  std::string served() {
    serving_.join();
    return error_;
  }
  std::string fetched(NodeId id) const {
    const Descriptor file = fetch(invitation_, 0, id, long_ns);
    EXPECT_EQ(fcntl(file.get(), F_GETFD), FD_CLOEXEC);
    return content(file);
  }
  std::string refusal(const Invitation& invitation, NodeId id, std::uint64_t timeout_ns = long_ns) const {
    return error_of([&] { (void)fetch(invitation, 0, id, timeout_ns); });
  }
  Descriptor stranger() const {
    Descriptor connected = connect_local(invitation_.socket_name(), 10'000);
    EXPECT_TRUE(connected);
    return connected;
  }
  /// Nothing has disturbed those who were still to come.
  void expect_all_join(std::initializer_list<NodeId> still_to_come) {
    for (const NodeId id : still_to_come) EXPECT_EQ(fetched(id), "the job");
    EXPECT_EQ(served(), "no error");
  }

  Invitation invitation_ = Invitation::make();
  Descriptor file_ = marked_file("the job");
  RendezvousServer server_{invitation_};

 private:
  std::thread serving_;
  std::string error_;
};

TEST_F(Rendezvous, GivesTheDescriptorToAllAtOnce) {
  constexpr NodeId size = 20;
  std::vector<std::thread> nodes;
  std::vector<std::string> found(size);
  for (NodeId id = 1; id < size; ++id) nodes.emplace_back([&, id] { found[id] = fetched(id); });
  serve(size);
  for (std::thread& node : nodes) node.join();
  EXPECT_EQ(served(), "no error");
  for (NodeId id = 1; id < size; ++id) EXPECT_EQ(found[id], "the job") << id;
}

TEST_F(Rendezvous, AWrongKeyIsTurnedAwayAndDisturbsNobody) {
  serve(2);
  for (std::size_t i = 0; i < invitation_.key.size(); ++i) {
    Invitation wrong = invitation_;
    wrong.key[i] ^= std::byte{1};
    EXPECT_THAT(refusal(wrong, 1), HasSubstr("turned this process away"));
  }
  expect_all_join({1});
}

TEST_F(Rendezvous, GarbageAndWhoLeavesAtOnceDisturbNobody) {
  Random random(seed());
  serve(3);
  EXPECT_EQ(fetched(2), "the job");
  std::vector<Descriptor> strangers;
  for (const std::size_t length : {0, 1, 31, 32, 33, 35, 36, 37, 40, 1000, 100'000}) {
    std::vector<std::byte> garbage(length);
    for (std::byte& b : garbage) b = static_cast<std::byte>(random());
    for (const int fd : {-1, file_.get()}) {  // with a descriptor, too, which nobody asked for
      strangers.push_back(stranger());
      EXPECT_TRUE(send_packet(strangers.back().get(), garbage, fd));
    }
  }
  for (const Descriptor& connected : strangers) {
    std::byte nothing{};
    EXPECT_LE(receive_packet(connected.get(), {&nothing, 1}).bytes, 0);  // closed, without a word
  }
  for (int i = 0; i < 100; ++i) static_cast<void>(stranger());
  expect_all_join({1});
}

TEST_F(Rendezvous, WhoStaysSilentHoldsNobodyUp) {
  serve(3);
  std::vector<Descriptor> silent;
  for (int i = 0; i < 400; ++i) {  // more than are kept waiting
    silent.push_back(stranger());
    if (i == 10) {
      EXPECT_EQ(fetched(2), "the job");
    }
  }
  expect_all_join({1});
}

TEST_F(Rendezvous, NamesWhoDidNotComeThoughAStrangerIsSilent) {
  const Descriptor silent = stranger();
  serve(4, patience(1'500 * ms));
  const bool in_time = fetched(2) == "the job";  // on a machine that does not stand still
  EXPECT_THAT(served(), AllOf(ContainsRegex(in_time ? "nodes 1 and 3 of 4 did not come within [0-9]+ s"
                                                    : "nodes 1, 2 and 3 of 4 did not come within [0-9]+ s"),
                              HasSubstr("AM_TIMEOUT")));
}

TEST_F(Rendezvous, ReportsOnceWhoIsMissing) {
  std::latch reported(1);
  std::vector<std::string> reports;
  serve(4, {.timeout_ns = 0, .report_after_ns = 1 * ms, .report = [&](const std::string& text) {
              reports.push_back(text);
              reported.count_down();
            }});
  reported.wait();
  expect_all_join({1, 2, 3});
  EXPECT_THAT(reports, ElementsAre(HasSubstr("waits for nodes 1, 2 and 3 to join")));
}

TEST_F(Rendezvous, ASecondProcessForANodeIsRefused) {
  serve(3);
  EXPECT_EQ(fetched(1), "the job");
  EXPECT_THAT(refusal(invitation_, 1), HasSubstr("another process has joined as node 1 already"));
  expect_all_join({2});
}

TEST_F(Rendezvous, ANodeThatIsNoneIsRefused) {
  serve(2);
  for (const NodeId id : {0u, 2u, 1000u, UINT32_MAX})
    EXPECT_THAT(refusal(invitation_, id), HasSubstr("knows no node " + std::to_string(id)));
  expect_all_join({1});
}

TEST_F(Rendezvous, AServerThatDoesNotServeIsAnError) {
  EXPECT_THAT(refusal(invitation_, 1, 50 * ms), HasSubstr("does not answer"));
}

TEST(RendezvousFetch, AnInvitationThatNobodyStandsByGivesNothing) {
  EXPECT_FALSE(fetch(Invitation::make(), 0, 1, long_ns));
}

/// What an earlier program in the same place has left; then the invitation of this one's. The wait is reported once.
TEST_F(Rendezvous, FetchingWaitsUntilTheServerIsThere) {
  serve(2);
  const Invitation old = Invitation::make();
  int asked = 0;
  Reports reports;
  const Descriptor fd = fetch_when_there(
      [&]() -> std::optional<Invitation> {
        ++asked;
        if (asked < 3) return std::nullopt;
        return asked < 6 ? old : invitation_;
      },
      0, 1, reports.patience(long_ns));
  EXPECT_EQ(content(fd), "the job");
  EXPECT_EQ(asked, 6);
  EXPECT_EQ(served(), "no error");
  EXPECT_THAT(reports.texts(), ElementsAre(HasSubstr("waits for node 0 to join since")));
}

TEST(RendezvousFetch, NobodyIsWaitedForLongerThanPatienceLasts) {
  const Patience little = patience(20 * ms);
  const auto fetch_by = [&](const std::optional<Invitation>& invitation) {
    return error_of([&] { (void)fetch_when_there([&] { return invitation; }, 4, 5, little); });
  };
  EXPECT_THAT(fetch_by(std::nullopt),
              AllOf(HasSubstr("node 4 did not come within"), HasSubstr("AM_TIMEOUT")));
  EXPECT_THAT(fetch_by(Invitation::make()),
              AllOf(HasSubstr("node 4 does not wait for this node"), HasSubstr("network namespace")));
}

TEST(RendezvousFetch, AServerThatEndsGivesNothingOrAnError) {
  const Invitation invitation = Invitation::make();
  std::thread node;
  bool fetched = true;
  std::string error;
  {
    const RendezvousServer server(invitation);
    node = std::thread([&] { error = error_of([&] { fetched = bool(fetch(invitation, 0, 1, long_ns)); }); });
  }
  node.join();
  EXPECT_TRUE(!fetched || error != "no error");
}

TEST(Invitation, IsReadBackAsWrittenAndNewEveryTime) {
  const Invitation a = Invitation::make();
  const Invitation b = Invitation::make();
  const auto read = Invitation::parse(a.text());
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->name == a.name && read->key == a.key);
  EXPECT_TRUE(a.name != b.name && a.key != b.key);
  EXPECT_EQ(a.socket_name().find(a.text().substr(40)), std::string::npos);  // the key is not in the name
}

TEST(Invitation, OtherTextIsNone) {
  const std::string text = Invitation::make().text();
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(Invitation::parse(text.substr(0, length)));
  EXPECT_FALSE(Invitation::parse(text + "0"));
  EXPECT_FALSE(Invitation::parse("am2" + text.substr(3)));
  for (const std::size_t at : {4u, 35u, 36u, 37u, 100u}) {
    std::string other = text;
    other[at] = 'x';
    EXPECT_FALSE(Invitation::parse(other)) << at;
  }
}

}  // namespace am::core::rendezvous_test
