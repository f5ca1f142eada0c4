// Nodes that meet at node 0, which are threads here: in every order, with strangers at the door, and with members that go, come
// again, or say what nobody should.
#include "transports/tcp/meeting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <am/error.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <future>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "host/random_bytes.hpp"
#include "support/check.hpp"
#include "support/held_port.hpp"
#include "support/random.hpp"

namespace am::tcp {
namespace {

using test::error_of;
using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t long_ns = 60'000 * ms;  // a test that hangs ends

Patience patience(std::uint64_t timeout_ns = long_ns) {
  return {.timeout_ns = timeout_ns, .report_after_ns = 0, .report = nullptr};
}

/// What somebody waits for, told by reports.
class Reports {
 public:
  [[nodiscard]] Patience patience(std::uint64_t timeout_ns = long_ns, std::uint64_t after_ns = 1) {
    return {timeout_ns, after_ns, [this](const std::string& text) {
              {
                const std::lock_guard guard(mutex_);
                texts_.push_back(text);
              }
              if (!told_.test_and_set()) first_.count_down();
            }};
  }
  void wait_for_one() { first_.wait(); }
  [[nodiscard]] std::vector<std::string> texts() {
    const std::lock_guard guard(mutex_);
    return texts_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_;
  std::atomic_flag told_;
  std::latch first_{1};
};

std::vector<NodeId> others(NodeId nodes) {
  std::vector<NodeId> all(nodes - 1);
  std::iota(all.begin(), all.end(), NodeId{1});
  return all;
}
std::string large(std::size_t bytes, NodeId node) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(test::mix(node, i));
  return text;
}

/// Node 0 meets the others at 127.0.0.1, or where the test says.
class Meeting : public testing::Test {
 protected:
  explicit Meeting(std::string host = "127.0.0.1") : place_{std::move(host), port_.number()} {
    host::fill_random(key_);
  }
  ~Meeting() override {
    if (serving_.joinable()) serving_.join();
    server_ = nullptr;  // ends those who still wait for an answer
  }

  [[nodiscard]] MeetingProof proof() const { return {crypto_, key_, nodes_}; }

  /// Others can come from here on.
  void open(NodeId nodes) {
    nodes_ = nodes;
    server_ = std::make_unique<MeetingServer>(proof(), place_);
  }
  /// On a thread of its own.
  void welcome(const Patience& limits = patience(), const MeetingServer::Check& check = nullptr) {
    serving_ = std::thread([this, limits, check] {
      error_ = error_of([&] {
        texts_ = server_->welcome(
            [&](NodeId node, const std::string& text) {
              if (check) check(node, text);
              const std::lock_guard guard(mutex_);
              ++taken_[node];
              changed_.notify_all();
            },
            limits);
      });
      const std::lock_guard guard(mutex_);
      over_ = true;
      changed_.notify_all();
    });
  }
  /// Node 0 has a text of that node, for the `times`th time. False: the welcome is over before.
  bool has_text_of(NodeId node, int times = 1) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return over_ || taken_[node] >= times; });
    return taken_[node] >= times;
  }
  /// What ended the welcome.
  std::string welcomed() {
    serving_.join();
    return error_;
  }

  /// A node's whole meeting: the answer, or the error.
  std::string come(NodeId self, const std::string& text, const Patience& limits = patience()) const {
    return come_with(proof(), self, text, limits);
  }
  std::string come_with(const MeetingProof& proof, NodeId self, const std::string& text,
                        const Patience& limits = patience()) const {
    std::string answer;
    const std::string error =
        error_of([&] { answer = MeetingClient(proof, place_, self, limits).ask(text, limits); });
    return error == "no error" ? answer : error;
  }
  /// The same on a thread of its own, which ends with the test at the latest.
  std::shared_future<std::string> coming(NodeId self, const std::string& text,
                                         const Patience& limits = patience()) {
    coming_.push_back(std::async(std::launch::async, [=, this] { return come(self, text, limits); }).share());
    return coming_.back();
  }

  test::HeldPort port_;
  MeetingPlace place_;
  const std::shared_ptr<const trust::Crypto> crypto_ = std::make_shared<const trust::Crypto>();
  trust::Key key_{};
  NodeId nodes_ = 2;
  std::vector<std::string> texts_;

 private:
  std::thread serving_;
  std::string error_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<NodeId, int> taken_;
  bool over_ = false;

 protected:
  std::vector<std::shared_future<std::string>> coming_;
  std::unique_ptr<MeetingServer> server_;
};

/// Bytes by hand, to node 0. Waits.
class Raw {
 public:
  explicit Raw(std::uint16_t port) {
    const Address at = Address::parse("127.0.0.1:" + std::to_string(port)).value();
    fd_ = host::Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(fd_.get(), at.data(), at.size()), 0) << std::strerror(errno);
    const timeval hanging{.tv_sec = 60, .tv_usec = 0};
    EXPECT_EQ(setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &hanging, sizeof hanging), 0);
  }

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
  }
  void write(const std::string& text) { write(std::as_bytes(std::span(text))); }
  void write_length(std::uint32_t length) {
    std::string bytes;
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(length >> 8 * i & 0xff);
    write(bytes);
  }
  void write_text(const std::string& text) {
    write_length(static_cast<std::uint32_t>(text.size()));
    write(text);
  }
  /// Less where the connection ends before.
  std::vector<std::byte> read(std::size_t bytes) {
    std::vector<std::byte> all(bytes);
    std::size_t have = 0;
    while (have < bytes) {
      const ssize_t got = recv(fd_.get(), all.data() + have, bytes - have, 0);
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
    all.resize(have);
    return all;
  }
  std::string read_text() {
    const std::vector<std::byte> length = read(4);
    if (length.size() < 4) return "the end";
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, length.data(), sizeof bytes);
    const std::vector<std::byte> text = read(bytes);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }
  /// Once, after finish().
  bool is_let_in() { return read(1) == std::vector<std::byte>{std::byte{1}}; }
  /// Node 0 has ended it, in whatever way.
  bool is_closed() {
    std::byte one;
    const ssize_t got = recv(fd_.get(), &one, 1, 0);
    return got == 0 || (got < 0 && errno != EAGAIN);
  }
  void end_writing() { shutdown(fd_.get(), SHUT_WR); }

  /// Both halves of the handshake; false when node 0 refuses.
  bool prove(const MeetingProof& proof, NodeId self) {
    begin(proof, self);
    return finish() && is_let_in();
  }
  void begin(const MeetingProof& proof, NodeId self) {
    proof_ = proof;
    trust::Nonce nonce;
    host::fill_random(nonce);
    handshake_.emplace(
        trust::Handshake::connecting(*proof_->crypto, proof_->key, proof_->party(self), 0, nonce));
    write(handshake_->to_send());
    handshake_->sent(handshake_->to_send().size());
    handshake_->take(read(handshake_->wanted()));
  }
  /// Says the last word, after which node 0 takes it in.
  bool finish() {
    if (handshake_->state() != trust::Handshake::State::proven) return false;
    write(handshake_->to_send());
    return true;
  }

 private:
  host::Descriptor fd_;
  std::optional<MeetingProof> proof_;
  std::optional<trust::Handshake> handshake_;
};

// -- all come -----------------------------------------------------------------------------------------------------------------

class Everywhere : public Meeting, public testing::WithParamInterface<const char*> {
 protected:
  Everywhere() : Meeting(GetParam()) {}
  void SetUp() override {
    if (std::string_view(GetParam()).find(':') == std::string_view::npos) return;
    const bool there = std::ranges::any_of(
        interfaces(), [](const Interface& one) { return one.address.host() == "::1" && one.up; });
    if (!there) GTEST_SKIP() << "no IPv6 here";
  }
};
INSTANTIATE_TEST_SUITE_P(At, Everywhere, testing::Values("127.0.0.1", "::1", "localhost"),
                         [](const auto& place) { return "Place" + std::to_string(place.index); });

TEST_P(Everywhere, TheOthersComeAndAreAnswered) {
  open(6);
  welcome();
  std::vector<std::shared_future<std::string>> nodes;
  for (NodeId node = 5; node > 0; --node) nodes.push_back(coming(node, "from " + std::to_string(node)));
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_THAT(texts_, ElementsAre("", "from 1", "from 2", "from 3", "from 4", "from 5"));
  for (NodeId node = 1; node < 6; ++node) server_->answer(node, "to " + std::to_string(node), patience());
  for (NodeId node = 5; node > 0; --node) EXPECT_EQ(nodes[5 - node].get(), "to " + std::to_string(node));
}

/// Each is on its way, and has said so, before there is anybody.
TEST_P(Everywhere, NodeZeroMayComeLast) {
  nodes_ = 6;
  std::vector<Reports> reports(6);
  std::vector<std::shared_future<std::string>> nodes;
  for (NodeId node = 1; node < 6; ++node)
    nodes.push_back(coming(node, "from " + std::to_string(node), reports[node].patience()));
  for (NodeId node = 1; node < 6; ++node) {
    reports[node].wait_for_one();
    EXPECT_THAT(reports[node].texts().front(), HasSubstr("waits for node 0 at " + place_.text()));
  }
  open(6);
  welcome();
  EXPECT_EQ(welcomed(), "no error");
  for (NodeId node = 1; node < 6; ++node) server_->answer(node, "to " + std::to_string(node), patience());
  for (NodeId node = 1; node < 6; ++node) EXPECT_EQ(nodes[node - 1].get(), "to " + std::to_string(node));
}

TEST_F(Meeting, InAnyOrder) {
  test::Random random(test::seed());
  open(5);
  welcome();
  std::vector<NodeId> order = others(5);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::map<NodeId, std::shared_future<std::string>> nodes;
  for (const NodeId node : order) {
    nodes[node] = coming(node, "from " + std::to_string(node));
    EXPECT_TRUE(has_text_of(node));
  }
  EXPECT_EQ(welcomed(), "no error");
  for (auto& [node, answer] : nodes) {
    server_->answer(node, "yes", patience());
    EXPECT_EQ(answer.get(), "yes") << node;
  }
}

TEST_F(Meeting, MoreMayComeAtOnceThanThereArePlaces) {
  constexpr NodeId nodes = 2 * Entrance::most_strangers;
  open(nodes);
  for (NodeId node = 1; node < nodes; ++node) coming(node, std::to_string(node));
  welcome();
  EXPECT_EQ(welcomed(), "no error");
  for (NodeId node = 1; node < texts_.size(); ++node) {
    EXPECT_EQ(texts_[node], std::to_string(node));
    server_->answer(node, "yes", patience());
  }
  server_.reset();
  for (auto& answer : coming_) EXPECT_EQ(answer.get(), "yes");
}

/// It takes itself for one that was let in, and what happens to it then for the end of node 0.
TEST_F(Meeting, WhoHasProvedTheKeyDoesNotGiveWayToStrangers) {
  open(4);
  std::latch busy(1);
  std::latch go_on(1);
  welcome(patience(10'000 * ms), [&](NodeId node, const std::string&) {
    if (node != 3) return;
    busy.count_down();
    go_on.wait();
  });
  Raw three(place_.port);
  ASSERT_TRUE(three.prove(proof(), 3));
  Raw one(place_.port);
  one.begin(proof(), 1);  // node 0 has answered it: it has a place
  const auto has_place_since = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<Raw>> strangers;
  three.write_text("three");
  busy.wait();
  for (std::size_t i = 0; i < Entrance::most_strangers + 10; ++i)
    strangers.push_back(std::make_unique<Raw>(place_.port));
  ASSERT_TRUE(one.finish());
  one.write_text("one");
  // It has had its chance, as far as the clock goes.
  while (std::chrono::steady_clock::now() <
         has_place_since + 2 * std::chrono::nanoseconds(Entrance::chance_ns))
    std::this_thread::yield();
  go_on.count_down();
  EXPECT_TRUE(has_text_of(1));
  coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
}

TEST_F(Meeting, OfOneWaitsForNobody) {
  open(1);
  EXPECT_THAT(server_->welcome({}, patience()), ElementsAre(""));
  EXPECT_TRUE(server_->gather({}, patience()).empty());
}

TEST_F(Meeting, GoesOnInRoundsWithThoseWhoStay) {
  open(5);
  welcome();
  constexpr int rounds = 20;
  const auto stay = [&](NodeId node) {
    return std::async(std::launch::async, [this, node] {
      MeetingClient client(proof(), place_, node, patience());
      bool right = client.ask("hello", patience()) == "welcome";
      for (int round = 0; round < rounds; ++round) {
        const std::string text = std::to_string(node) + " in " + std::to_string(round);
        right = client.ask(text, patience()) == text + "?" && right;
      }
      return right;
    });
  };
  std::shared_future<std::string> leaving[] = {coming(1, "hello"), coming(3, "hello")};
  auto four = stay(4);
  auto two = stay(2);
  EXPECT_EQ(welcomed(), "no error");
  for (const NodeId node : others(5)) server_->answer(node, "welcome", patience());
  for (auto& answer : leaving) EXPECT_EQ(answer.get(), "welcome");
  const std::vector<NodeId> staying = {4, 2};  // texts come in this order
  for (int round = 0; round < rounds; ++round) {
    const std::string in = " in " + std::to_string(round);
    EXPECT_THAT(server_->gather(staying, patience()), ElementsAre("4" + in, "2" + in));
    server_->answer(2, "2" + in + "?", patience());
    server_->answer(4, "4" + in + "?", patience());
  }
  EXPECT_TRUE(four.get());
  EXPECT_TRUE(two.get());
}

TEST_F(Meeting, CarriesTextsOfAnyLength) {
  open(2);
  welcome();
  const std::vector<std::size_t> lengths = {1, 3, 4, 16383, 16384, 16385, 5'000'000, 0, 0, 1, 20'000'000};
  auto node = std::async(std::launch::async, [&] {
    MeetingClient client(proof(), place_, 1, patience());
    int right = 0;
    for (const std::size_t bytes : lengths)
      right += client.ask(large(bytes, 1), patience()) == large(bytes, 2) ? 1 : 0;
    return right;
  });
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_EQ(texts_[1], large(lengths[0], 1));
  const std::vector<NodeId> one = {1};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (i > 0) {
      EXPECT_TRUE(server_->gather(one, patience()).front() == large(lengths[i], 1)) << lengths[i];
    }
    server_->answer(1, large(lengths[i], 2), patience());
  }
  EXPECT_EQ(node.get(), static_cast<int>(lengths.size()));
}

TEST_F(Meeting, TakesALargeTextAtTheDoor) {
  open(3);
  welcome();
  auto one = coming(1, large(10'000'000, 1));
  auto two = coming(2, "small");
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_TRUE(texts_[1] == large(10'000'000, 1));
  EXPECT_EQ(texts_[2], "small");
}

TEST_F(Meeting, TakesAnEmptyTextAtTheDoor) {
  open(2);
  welcome(patience(10'000 * ms));
  auto one = coming(1, "");
  EXPECT_EQ(welcomed(), "no error");
}

// -- who is not of the job ----------------------------------------------------------------------------------------------------

TEST_F(Meeting, AWrongKeyIsTurnedAwayAtOnce) {
  open(2);
  welcome();
  MeetingProof wrong = proof();
  wrong.key[31] ^= std::byte{1};
  EXPECT_THAT(come_with(wrong, 1, "hello"),
              AllOf(HasSubstr("node 0 at " + place_.text()), HasSubstr("does not know the job's key"),
                    HasSubstr("the same key file")));
  auto right = coming(1, "hello");
  EXPECT_EQ(welcomed(), "no error");
  server_->answer(1, "yes", patience());
  EXPECT_EQ(right.get(), "yes");
}

TEST_F(Meeting, NodeZeroSaysHowManyCameInVain) {
  open(2);
  welcome(patience(2'500 * ms));
  MeetingProof wrong = proof();
  wrong.key[0] ^= std::byte{1};
  const std::string first = come_with(wrong, 1, "hello");
  const std::string second = come_with(wrong, 1, "hello");
  const bool in_time = first == second;  // on a machine that does not stand still
  EXPECT_THAT(welcomed(),
              in_time ? HasSubstr("; 2 came that do not know the key") : HasSubstr("did not come within"));
}

TEST_F(Meeting, StrangersDisturbNobody) {
  test::Random random(test::seed());
  open(3);
  welcome();
  auto two = coming(2, "two");
  EXPECT_TRUE(has_text_of(2));
  for (int i = 0; i < 60; ++i) {
    Raw scanner(place_.port);
    std::vector<std::byte> garbage(random.below(300));
    for (std::byte& byte : garbage) byte = static_cast<std::byte>(random());
    scanner.write(garbage);
    scanner.end_writing();
    EXPECT_TRUE(scanner.is_closed());
  }
  {
    Raw scanner(place_.port);
    scanner.write("GET / HTTP/1.1\r\nHost: somewhere\r\nAccept: everything there is, and more\r\n\r\n");
    EXPECT_TRUE(scanner.is_closed());
  }
  auto one = coming(1, "one");
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_THAT(texts_, ElementsAre("", "one", "two"));
  server_->answer(1, "yes", patience());
  server_->answer(2, "yes", patience());
  EXPECT_EQ(one.get(), "yes");
  EXPECT_EQ(two.get(), "yes");
}

/// Who begins well and stops in the middle of the handshake, at each place.
TEST_F(Meeting, HalfAHandshakeDisturbsNobody) {
  open(2);
  welcome();
  trust::Nonce nonce;
  host::fill_random(nonce);
  const trust::Party party = proof().party(1);
  const trust::Handshake handshake = trust::Handshake::connecting(*crypto_, key_, party, 0, nonce);
  const std::span<const std::byte> greeting = handshake.to_send();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{8}, std::size_t{67}, greeting.size()}) {
    Raw stranger(place_.port);
    stranger.write(greeting.first(bytes));
    stranger.end_writing();
    static_cast<void>(stranger.read(1000));
    EXPECT_TRUE(stranger.is_closed()) << bytes;
  }
  auto one = coming(1, "hello");
  EXPECT_EQ(welcomed(), "no error");
}

TEST_F(Meeting, ManySilentOnesKeepNobodyOut) {
  open(2);
  std::vector<std::unique_ptr<Raw>> silent;
  welcome();
  for (std::size_t i = 0; i < 3 * Entrance::most_strangers; ++i)
    silent.push_back(std::make_unique<Raw>(place_.port));
  auto one = coming(1, "hello");
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_TRUE(silent.front()->is_closed());
}

/// A silent stranger does not hold up the end either.
TEST_F(Meeting, ASilentOneDoesNotExtendTheWait) {
  open(2);
  const Raw silent(place_.port);
  welcome(patience(200 * ms));
  EXPECT_THAT(welcomed(), HasSubstr("node 1 of 2 did not come within"));
}

/// Node 0 is here already.
TEST_F(Meeting, NobodyComesAsNodeZero) {
  open(2);
  welcome();
  Raw second(place_.port);
  EXPECT_FALSE(second.prove(proof(), 0));
  EXPECT_TRUE(second.is_closed());
  auto one = coming(1, "hello");
  EXPECT_EQ(welcomed(), "no error");
}

TEST_F(Meeting, TheDoorIsShutWhenAllHaveCome) {
  open(2);
  welcome();
  auto one = coming(1, "hello");
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_THAT(come(1, "me, too", patience(100 * ms)), HasSubstr("takes no connection since"));
  server_->answer(1, "yes", patience());
  EXPECT_EQ(one.get(), "yes");
}

// -- who is of the job, and broken --------------------------------------------------------------------------------------------

class Broken : public Meeting, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(InEveryWay, Broken, testing::Range(0, 7));

TEST_P(Broken, MembersAreCutOffAndMayComeAgain) {
  open(3);
  welcome();
  {
    Raw member(place_.port);
    ASSERT_TRUE(member.prove(proof(), 1));
    switch (GetParam()) {
      case 0:
        member.write_length(~0u);
        break;
      case 1:
        member.write_length(static_cast<std::uint32_t>(TextSocket::longest) + 1);
        break;
      case 2:
        member.write_length(0x8000'0000);
        member.write(std::string(1000, 'x'));
        break;
      case 3:  // ends at once
        member.end_writing();
        break;
      case 4:  // in the middle of a length
        member.write("ab");
        member.end_writing();
        break;
      case 5:  // behind the length
        member.write_length(100);
        member.end_writing();
        break;
      default:  // in the middle of the text
        member.write_length(100'000);
        member.write(std::string(99'999, 'x'));
        member.end_writing();
    }
    EXPECT_TRUE(member.is_closed());
  }
  auto one = coming(1, "one");
  EXPECT_TRUE(has_text_of(1));
  auto two = coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_THAT(texts_, ElementsAre("", "one", "two"));
}

/// It has announced a long text and sends no more of it: the others are let in, and it is named.
TEST_F(Meeting, HalfATextIsWaitedFor) {
  open(3);
  Raw member(place_.port);
  welcome(patience(1'500 * ms));
  ASSERT_TRUE(member.prove(proof(), 1));
  member.write_length(100);
  member.write("half");
  auto two = coming(2, "two");
  const bool in_time = has_text_of(2);
  EXPECT_THAT(welcomed(),
              HasSubstr(in_time ? "node 1 of 3 did not come within" : "nodes 1 and 2 of 3 did not come"));
  server_.reset();
  EXPECT_NE(two.get(), "two");
}

TEST_F(Meeting, TextsMayComeByteByByte) {
  open(2);
  welcome();
  Raw member(place_.port);
  ASSERT_TRUE(member.prove(proof(), 1));
  std::string bytes = {5, 0, 0, 0};
  for (const char byte : bytes + "hello") member.write(std::string(1, byte));
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_EQ(texts_[1], "hello");
}

TEST_F(Meeting, WhatComesBehindATextIsTheNextOne) {
  open(2);
  welcome();
  Raw member(place_.port);
  ASSERT_TRUE(member.prove(proof(), 1));
  member.write_text("hello");
  EXPECT_EQ(welcomed(), "no error");
  member.write_text("one");
  member.write_text("");
  member.write_text("three");
  const std::vector<NodeId> one = {1};
  for (const char* text : {"one", "", "three"})
    EXPECT_THAT(server_->gather(one, patience()), ElementsAre(text));
  server_->answer(1, "yes", patience());
  EXPECT_EQ(member.read_text(), "yes");
}

// -- who comes again ----------------------------------------------------------------------------------------------------------

TEST_F(Meeting, WhoEndsBeforeItIsAnsweredMayComeAgain) {
  open(3);
  welcome();
  for (int time = 1; time <= 5; ++time) {
    Raw ended(place_.port);
    ASSERT_TRUE(ended.prove(proof(), 1));
    ended.write_text("the " + std::to_string(time) + "th");
    ASSERT_TRUE(has_text_of(1, time));
  }
  auto one = coming(1, "the last");
  EXPECT_TRUE(has_text_of(1, 6));
  auto two = coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_THAT(texts_, ElementsAre("", "the last", "two"));
  server_->answer(1, "yes", patience());
  EXPECT_EQ(one.get(), "yes");
}

/// One that ended is late again, although its text has been here.
TEST_F(Meeting, WhoEndsAndStaysAwayIsMissing) {
  open(3);
  welcome(patience(1'500 * ms));
  bool in_time = false;
  {
    Raw ended(place_.port);
    ASSERT_TRUE(ended.prove(proof(), 1));
    ended.write_text("hello");
    in_time = has_text_of(1);
  }
  auto two = coming(2, "two");
  in_time = has_text_of(2) && in_time;
  EXPECT_THAT(welcomed(),
              in_time ? HasSubstr("node 1 of 3 did not come within") : HasSubstr("did not come within"));
  server_.reset();
  EXPECT_NE(two.get(), "two");
}

/// What the one that ended said is not taken for what the new one, which is there and has yet to speak, will say.
TEST_F(Meeting, WhoComesAgainIsWaitedForAnew) {
  open(3);
  welcome();
  {
    Raw ended(place_.port);
    ASSERT_TRUE(ended.prove(proof(), 1));
    ended.write_text("old");
    ASSERT_TRUE(has_text_of(1));
  }
  Raw again(place_.port);
  ASSERT_TRUE(again.prove(proof(), 1));
  auto two = coming(2, "two");
  EXPECT_TRUE(has_text_of(2));
  again.write_text("new");
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_THAT(texts_, ElementsAre("", "new", "two"));
}

/// Node 0 is busy while a text comes, its sender ends, and the one in its place proves the key: all is heard at once.
TEST_F(Meeting, WhoComesAgainIsTakenWhenTheEndIsHeardOfAtTheSameTime) {
  open(4);
  std::latch busy(1);
  std::latch go_on(1);
  welcome(patience(10'000 * ms), [&](NodeId node, const std::string&) {
    if (node != 3) return;
    busy.count_down();
    go_on.wait();
  });
  auto first = std::make_unique<Raw>(place_.port);
  ASSERT_TRUE(first->prove(proof(), 1));
  Raw again(place_.port);
  again.begin(proof(), 1);
  Raw three(place_.port);
  ASSERT_TRUE(three.prove(proof(), 3));
  three.write_text("three");
  busy.wait();
  first->write_text("old");
  first = nullptr;
  ASSERT_TRUE(again.finish());
  again.write_text("new");
  go_on.count_down();
  ASSERT_TRUE(has_text_of(1));
  auto two = coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
  ASSERT_EQ(texts_.size(), 4u);
  EXPECT_EQ(texts_[1], "new");
}

TEST_F(Meeting, TheSecondOfTwoWithOneRankIsRefused) {
  open(3);
  welcome();
  auto one = coming(1, "one");
  EXPECT_TRUE(has_text_of(1));
  EXPECT_THAT(come(1, "one, too"), HasSubstr("another process has come as this node already"));
  auto two = coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
  EXPECT_THAT(texts_, ElementsAre("", "one", "two"));
  server_->answer(1, "yes", patience());
  EXPECT_EQ(one.get(), "yes");
}

TEST_F(Meeting, OfManyWithOneRankOneIsTaken) {
  open(3);
  welcome();
  std::vector<std::shared_future<std::string>> ones;
  for (int i = 0; i < 8; ++i) ones.push_back(coming(1, "one"));
  // The door is open until the others have been refused.
  const auto refused = [&] {
    return std::ranges::count_if(
        ones, [](auto& one) { return one.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  };
  while (refused() < 7) std::this_thread::yield();
  auto two = coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
  server_->answer(1, "yes", patience());
  int taken = 0;
  for (auto& one : ones) {
    const std::string answer = one.get();
    taken += answer == "yes" ? 1 : 0;
    EXPECT_THAT(answer, AnyOf("yes", HasSubstr("another process has come as this node")));
  }
  EXPECT_EQ(taken, 1);
}

/// Somebody has counted otherwise: the job cannot be what was meant, and all are told.
class CountedOtherwise : public Meeting, public testing::WithParamInterface<NodeId> {};
INSTANTIATE_TEST_SUITE_P(ByOneAndMore, CountedOtherwise, testing::Values(3, 4, 4095));

TEST_P(CountedOtherwise, ARankThatTheJobDoesNotHaveEndsIt) {
  open(3);
  welcome();
  auto one = coming(1, "one");
  EXPECT_TRUE(has_text_of(1));
  MeetingProof other = proof();
  other.nodes = 4096;
  auto lost = std::async(std::launch::async, [&] { return come_with(other, GetParam(), "hello"); });
  EXPECT_THAT(welcomed(),
              AllOf(HasSubstr("came as node " + std::to_string(GetParam()) + " of a job that has 3 nodes"),
                    HasSubstr("the same size")));
  server_.reset();
  EXPECT_THAT(one.get(), HasSubstr("ended"));
  EXPECT_THAT(lost.get(), HasSubstr("its job has no such node"));
}

TEST_F(Meeting, ATextThatIsRefusedEndsIt) {
  open(3);
  welcome(patience(), [](NodeId node, const std::string& text) {
    if (text == "bad") throw Error("test", "node " + std::to_string(node) + " is bad", "none");
  });
  auto two = coming(2, "good");
  EXPECT_TRUE(has_text_of(2));
  auto one = coming(1, "bad");
  EXPECT_THAT(welcomed(), HasSubstr("node 1 is bad"));
  server_.reset();
  EXPECT_THAT(one.get(), HasSubstr("ended"));
  EXPECT_THAT(two.get(), HasSubstr("ended"));
}

// -- who does not come, or goes -----------------------------------------------------------------------------------------------

TEST_F(Meeting, NamesWhoDidNotCome) {
  open(4);
  welcome(patience(1'500 * ms));
  auto two = coming(2, "two");
  const bool in_time = has_text_of(2);  // on a machine that does not stand still
  EXPECT_THAT(welcomed(), AllOf(HasSubstr(in_time ? "nodes 1 and 3 of 4 did not come within"
                                                  : "nodes 1, 2 and 3 of 4 did not come within"),
                                HasSubstr("AM_TIMEOUT")));
  server_.reset();
  EXPECT_THAT(two.get(), HasSubstr("ended"));
}

TEST_F(Meeting, NodeZeroReportsOnceWhoIsMissing) {
  open(4);
  Reports reports;
  welcome(reports.patience());
  reports.wait_for_one();
  std::vector<std::shared_future<std::string>> nodes;
  for (const NodeId node : others(4)) nodes.push_back(coming(node, "hello"));
  EXPECT_EQ(welcomed(), "no error");
  ASSERT_EQ(reports.texts().size(), 1u);
  EXPECT_THAT(reports.texts()[0], MatchesRegex("waits for nodes 1, 2 and 3 to join since [0-9.]+ s"));
}

TEST_F(Meeting, NodeZeroThatNeverComesIsNamed) {
  EXPECT_THAT(come(1, "hello", patience(100 * ms)),
              AllOf(HasSubstr("node 0 at " + place_.text() + " takes no connection since"),
                    HasSubstr("Connection refused"), HasSubstr("is node 0 running there")));
}

TEST_F(Meeting, ANameThatNobodyKnowsIsTriedUntilTheEnd) {
  place_.host = std::string(70, 'a');  // longer than a name can be: no name server is asked
  Reports reports;
  EXPECT_THAT(come(1, "hello", reports.patience(200 * ms)),
              HasSubstr("there is no address for " + place_.host));
  ASSERT_EQ(reports.texts().size(), 1u);
  EXPECT_THAT(reports.texts()[0], HasSubstr("there is no address for " + place_.host));
}

/// Somebody takes connections there, as node 0's system does, but node 0 says nothing: it is stopped, or it is another program.
class Deaf : public Meeting {
 protected:
  Socket listening_ = [this] {
    Address at = Address::parse(place_.text()).value();
    return listen_at(at);
  }();
};

TEST_F(Deaf, WhoSaysNothingIsNotWaitedForLongerThanPatienceLasts) {
  EXPECT_THAT(come(1, "hello", patience(200 * ms)),
              AllOf(HasSubstr("takes no connection since"),
                    HasSubstr("whoever takes connections there says nothing")));
}

TEST_F(Deaf, IsReported) {
  Reports reports;
  static_cast<void>(come(1, "hello", reports.patience(1'000 * ms)));
  ASSERT_EQ(reports.texts().size(), 1u);
  EXPECT_THAT(reports.texts()[0], HasSubstr("waits for node 0 at " + place_.text()));
}

/// Who was there a moment ago is taken for one that will come again.
TEST_F(Deaf, WhoHangsUpIsTriedAgain) {
  auto one = coming(1, "hello");
  for (int i = 0; i < 3; ++i) {
    pollfd polled{listening_.descriptor(), POLLIN, 0};
    ASSERT_EQ(poll(&polled, 1, 60'000), 1);
    EXPECT_TRUE(accept_from(listening_));
  }
  listening_ = {};
  open(2);
  welcome();
  EXPECT_EQ(welcomed(), "no error");
  server_->answer(1, "yes", patience());
  EXPECT_EQ(one.get(), "yes");
}

TEST_F(Deaf, WhoSpeaksAnotherLanguageIsNotTriedAgain) {
  auto one = coming(1, "hello");
  pollfd polled{listening_.descriptor(), POLLIN, 0};
  ASSERT_EQ(poll(&polled, 1, 60'000), 1);
  Socket guest = accept_from(listening_);
  EXPECT_EQ(guest.write(std::as_bytes(std::span("220 mail.example ESMTP\r\n"))).outcome,
            Socket::Moved::Outcome::some);
  EXPECT_THAT(one.get(), HasSubstr("does not speak libam's language"));
}

TEST_F(Meeting, ANodeThatWaitsForTheAnswerSaysSo) {
  open(3);
  Reports reports;
  welcome();
  auto one = coming(1, "one", reports.patience());
  EXPECT_TRUE(has_text_of(1));
  reports.wait_for_one();
  EXPECT_THAT(reports.texts().back(), HasSubstr("node 0 at " + place_.text()));
  auto two = coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
  server_->answer(1, "yes", patience());
  EXPECT_EQ(one.get(), "yes");
}

TEST_F(Meeting, ANodeDoesNotWaitForItsAnswerLongerThanPatienceLasts) {
  open(3);
  welcome();
  EXPECT_THAT(come(1, "one", patience(300 * ms)),
              AnyOf(HasSubstr("does not answer since"), HasSubstr("takes no connection since")));
  auto one = coming(1, "one");
  auto two = coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
}

TEST_F(Meeting, NodeZeroThatEndsWhileOthersWaitIsNoticed) {
  open(4);
  welcome();
  std::vector<std::shared_future<std::string>> nodes;
  for (const NodeId node : others(4)) nodes.push_back(coming(node, "hello"));
  EXPECT_EQ(welcomed(), "no error");
  server_.reset();
  for (auto& node : nodes) EXPECT_THAT(node.get(), HasSubstr("node 0 at " + place_.text() + " has ended"));
}

TEST_F(Meeting, ARoundNamesWhoHasEnded) {
  open(3);
  welcome();
  Raw one(place_.port);
  ASSERT_TRUE(one.prove(proof(), 1));
  one.write_text("hello");
  auto two = std::make_unique<Raw>(place_.port);
  ASSERT_TRUE(two->prove(proof(), 2));
  two->write_text("hello");
  EXPECT_EQ(welcomed(), "no error");
  one.write_text("round");
  two = nullptr;
  EXPECT_THAT(error_of([&] { static_cast<void>(server_->gather(others(3), patience())); }),
              HasSubstr("node 2 has ended"));
}

/// It may say its last text first.
TEST_F(Meeting, ARoundTakesWhatTheDeadHaveSaid) {
  open(2);
  welcome();
  {
    Raw one(place_.port);
    ASSERT_TRUE(one.prove(proof(), 1));
    one.write_text("hello");
    EXPECT_EQ(welcomed(), "no error");
    one.write_text("the last");
  }
  EXPECT_THAT(server_->gather(others(2), patience()), ElementsAre("the last"));
  EXPECT_THAT(error_of([&] { static_cast<void>(server_->gather(others(2), patience())); }),
              HasSubstr("node 1 has ended"));
}

TEST_F(Meeting, ARoundNamesWhoSaysNothing) {
  open(3);
  welcome();
  Raw one(place_.port);
  ASSERT_TRUE(one.prove(proof(), 1));
  one.write_text("hello");
  Raw two(place_.port);
  ASSERT_TRUE(two.prove(proof(), 2));
  two.write_text("hello");
  EXPECT_EQ(welcomed(), "no error");
  Reports reports;
  EXPECT_THAT(
      error_of([&] { static_cast<void>(server_->gather(others(3), reports.patience(100 * ms))); }),
      AllOf(HasSubstr("the hosts of nodes 1 and 2 did not all come within"), HasSubstr("AM_TIMEOUT")));
  ASSERT_EQ(reports.texts().size(), 1u);
  EXPECT_THAT(reports.texts()[0], HasSubstr("waits for the hosts of nodes 1 and 2 to join since"));
}

TEST_F(Meeting, AnAnswerToNobodyIsAnError) {
  open(3);
  welcome();
  auto one = coming(1, "one");
  auto two = coming(2, "two");
  EXPECT_EQ(welcomed(), "no error");
  for (const NodeId node : {0u, 3u, 4096u}) {
    EXPECT_THAT(error_of([&] { server_->answer(node, "yes", patience()); }),
                HasSubstr("node " + std::to_string(node) + " has ended"));
  }
  server_.reset();
  EXPECT_THAT(one.get(), HasSubstr("has ended"));
}

TEST_F(Meeting, AnAnswerThatIsNotTakenIsAnError) {
  open(2);
  welcome();
  Raw one(place_.port);
  ASSERT_TRUE(one.prove(proof(), 1));
  one.write_text("hello");
  EXPECT_EQ(welcomed(), "no error");
  std::string more_than_the_system_keeps;
  more_than_the_system_keeps.resize(60'000'000);
  EXPECT_THAT(error_of([&] { server_->answer(1, more_than_the_system_keeps, patience(100 * ms)); }),
              HasSubstr("node 1 has ended, or does not answer"));
}

// -- the place ----------------------------------------------------------------------------------------------------------------

TEST(MeetingPlace, HasBracketsWhereItNeedsThem) {
  EXPECT_EQ((MeetingPlace{"a.cluster", 7000}.text()), "a.cluster:7000");
  EXPECT_EQ((MeetingPlace{"10.0.0.1", 1}.text()), "10.0.0.1:1");
  EXPECT_EQ((MeetingPlace{"fd00::2", 65535}.text()), "[fd00::2]:65535");
}

TEST_F(Meeting, OnePlaceIsForOneJob) {
  open(2);
  EXPECT_THAT(error_of([&] { const MeetingServer second(proof(), place_); }),
              AllOf(HasSubstr(std::to_string(place_.port)), HasSubstr("Address already in use"),
                    HasSubstr("another job, may have that port")));
}

TEST_F(Meeting, ThePlaceIsFreeAgainAtOnce) {
  for (int i = 0; i < 5; ++i) {
    open(2);
    auto one = coming(1, "hello");
    EXPECT_EQ(server_->welcome([](NodeId, const std::string&) {}, patience()),
              (std::vector<std::string>{"", "hello"}));
    server_->answer(1, "yes", patience());
    EXPECT_EQ(one.get(), "yes");
    server_.reset();
  }
}

/// As behind a service or a translated address: node 0 has none that others were told.
TEST_F(Meeting, AnAddressOfNobodyHereIsAnyHere) {
  for (const std::string host : {"192.0.2.1", "2001:db8::1"}) {
    nodes_ = 2;
    server_ = std::make_unique<MeetingServer>(proof(), MeetingPlace{host, place_.port});
    auto one = coming(1, "hello");
    EXPECT_EQ(server_->welcome([](NodeId, const std::string&) {}, patience()).back(), "hello");
    server_.reset();
  }
}

TEST_F(Meeting, NeedsADescriptorForEach) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 200;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_THAT(error_of([&] { open(1000); }), AllOf(HasSubstr("999 nodes"), HasSubstr("ulimit -n 1128")));
  EXPECT_EQ(error_of([&] { open(10); }), "no error");
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace am::tcp
