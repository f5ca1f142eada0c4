// Nodes that meet at node 0, which are threads here: for tests of meetings.
#pragma once

#include "transports/tcp/meeting.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <future>
#include <latch>
#include <mutex>
#include <thread>

#include "host/random_bytes.hpp"
#include "support/check.hpp"
#include "support/held_port.hpp"
#include "support/patience.hpp"

namespace am::tcp {

using test::error_of;
using test::long_ns;
using test::ms;
using test::others;
using test::patience;
using test::Reports;

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
    return finish() && read(1) == std::vector<std::byte>{std::byte{1}};  // it is let in
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
  /// So many nodes are to meet, and node 0 is there.
  void hold_meeting(NodeId nodes, const Patience& limits = patience(),
                    const MeetingServer::Check& check = nullptr) {
    open(nodes);
    welcome(limits, check);
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
  /// Node 0 is busy from the text of that node on, until it may go on.
  void welcome_and_be_busy_with(NodeId one) {
    welcome(patience(10'000 * ms), [this, one](NodeId node, const std::string&) {
      if (node != one) return;
      busy_.count_down();
      go_on_.wait();
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

  void expect_all_welcome() { EXPECT_EQ(welcomed(), "no error"); }
  /// Ends the meeting: each node that has not been answered hears of it.
  void end() { server_.reset(); }
  void expect_answer_gets_to(NodeId node, const std::shared_future<std::string>& one) {
    server_->answer(node, "yes", patience());
    EXPECT_EQ(one.get(), "yes") << node;
  }
  [[nodiscard]] std::vector<std::string> gather(const std::vector<NodeId>& nodes,
                                                const Patience& limits = patience()) {
    return server_->gather(nodes, limits);
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

  /// A node by hand, which has proved the key.
  Raw member(NodeId self) {
    Raw made(place_.port);
    EXPECT_TRUE(made.prove(proof(), self));
    return made;
  }
  Raw member(NodeId self, const std::string& text) {
    Raw made = member(self);
    made.write_text(text);
    return made;
  }

  test::HeldPort port_;
  MeetingPlace place_;
  const std::shared_ptr<const trust::Crypto> crypto_ = std::make_shared<const trust::Crypto>();
  trust::Key key_{};
  NodeId nodes_ = 2;
  std::vector<std::string> texts_;
  std::latch busy_{1};
  std::latch go_on_{1};

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

}  // namespace am::tcp
