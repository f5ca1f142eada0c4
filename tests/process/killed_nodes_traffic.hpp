// The node that killed_nodes_test.cpp kills, and its neighbours: everything at once, requests and replies, long payloads,
// drafts, multicasts, barriers, each message checked; and the ways in which one of them, the victim, dies.
//
// A check that fails throws (support/check.hpp), also out of handlers.
#pragma once

#include "core/node/engine.hpp"
#include "process/amrun_job.hpp"
#include "support/check.hpp"
#include "support/random.hpp"

namespace amrun_test {

using test::check;
using test::check_equal;

/// How the victim dies; `outside` and before_joining are for the test to do or arrange.
inline constexpr std::array<std::string_view, 8> ways = {
    "before_joining", "computing", "in_request", "in_reply", "draft", "faults", "deaf", "outside"};

struct Plan {
  explicit Plan(const Arguments& arguments)
      : how(arguments.at(0)),
        victim(static_cast<am::NodeId>(std::stoul(arguments.at(1)))),
        at(std::stoull(arguments.at(2))),
        survives(arguments.at(3) == "survives"),
        seed(std::stoull(arguments.at(4))) {}

  std::string how;
  am::NodeId victim;
  std::uint64_t at;
  bool survives;
  std::uint64_t seed;
};

[[noreturn]] inline void die() {
  raise(SIGKILL);
  std::abort();
}

/// What a node of the job does: everything at once, and it checks what it gets.
class Traffic {
 public:
  Traffic(am::Node& node, const Plan& plan)
      : node_(node), plan_(plan), random_(test::mix(plan.seed, node.id())), peers_(node.size()) {
    node.attach(*this);
    if (plan.survives) node.on_peer_death([this](am::Node&, am::NodeId dead) { note_dead(dead); });
    node.barrier();  // everybody can take messages, and has said whether it means to survive
  }

  /// Ends only when another node dies that this one survives.
  void until_a_death() {
    try {
      while (!dead_) {
        for (std::uint64_t i = random_.below(60); i > 0 && !dead_; --i) do_something(everybody());
        node_.wait_until([this] { return dead_ || all_answered(); });
        if (!dead_) node_.barrier();
      }
    } catch (const am::Error& error) {
      check(plan_.survives, error.what());
    }
    node_.wait_until([this] { return dead_.has_value(); });
    check_equal(*dead_, plan_.victim, "who died");
  }

  void sends_to_the_dead_are_refused() {
    constexpr auto unreachable = am::Status::unreachable;
    const am::NodeId dead = *dead_;
    check(node_.request<&Traffic::ask>(dead, std::uint64_t{0}) == unreachable, "request");
    const auto insist = [](const auto& attempt) {  // injected faults may refuse a few times
      am::Status status = attempt();
      while (status == am::Status::again) status = attempt();
      return status;
    };
    check(insist([&] { return node_.try_request<&Traffic::ask>(dead, std::uint64_t{0}); }) == unreachable,
          "try_request");
    check(node_.reply_to<&Traffic::answer>(dead, std::uint64_t{0}) == unreachable, "reply_to");
    check(insist([&] { return node_.try_reply_to<&Traffic::answer>(dead, std::uint64_t{0}); }) == unreachable,
          "try_reply_to");
    check(node_.prepare<&Traffic::ask_much>(dead, 100, std::uint64_t{0}).status() == unreachable, "prepare");
    check(node_.request<&Traffic::ask_much>(dead, std::uint64_t{0}, std::vector<std::byte>(100'000)) ==
              unreachable,
          "a long request");
    test::check_throws<am::Error>([this] { node_.barrier(); }, "died");
  }

  /// The rest goes on as if nothing had been.
  void among_survivors() {
    std::vector<am::NodeId> members = everybody();
    std::erase(members, *dead_);
    const am::Group group(members);
    for (int i = 0; i < 100; ++i) {
      do_something(members);
      if (random_.one_in(10)) {
        const auto status = node_.multicast<&Traffic::tell_survivors>(group, told_survivors_, pattern(50));
        check(status == am::Status::ok, "a multicast among survivors");
        ++told_survivors_;
      }
    }
    node_.wait_until([&] { return all_answered(); });
    for (const am::NodeId to : members)
      check(node_.request<&Traffic::done>(to, told_survivors_) == am::Status::ok, "the last request");
    node_.wait_until([&] {
      return std::ranges::all_of(members, [&](am::NodeId id) {
        const Peer& peer = peers_[id];
        return peer.tells_when_done && *peer.tells_when_done == peer.survivor_tells;
      });
    });
  }

 private:
  struct Peer {
    std::uint64_t asked = 0;          // by us
    std::uint64_t answered = 0;       // by it
    std::uint64_t served = 0;         // requests of it
    std::set<std::uint64_t> tells{};  // multicasts of it
    std::uint64_t survivor_tells = 0;
    std::optional<std::uint64_t> tells_when_done{};
  };

  // Handlers.

  void ask(am::Request& request, std::uint64_t number) { serve(request, number); }
  void ask_much(am::Request& request, std::uint64_t number, am::Payload payload) {
    check_pattern(payload);
    serve(request, number);
  }
  void answer(am::Reply& reply, std::uint64_t number) {
    check_equal(number, peers_[reply.from()].answered++, "number of an answer");
    die_in("in_reply");
  }
  void tell(am::Request& request, std::uint64_t number, am::Payload payload) {
    check(request.is_multicast(), "a multicast says so");
    check_pattern(payload);
    // Once a node on its way has died, one may come late, by the old way, or not at all.
    check(peers_[request.from()].tells.insert(number).second, "a multicast came twice");
  }
  void tell_survivors(am::Request& request, std::uint64_t number, am::Payload payload) {
    check_pattern(payload);
    check_equal(number, peers_[request.from()].survivor_tells++, "number of a multicast among survivors");
  }
  void done(am::Request& request, std::uint64_t tells) { peers_[request.from()].tells_when_done = tells; }

  void serve(am::Request& request, std::uint64_t number) {
    check_equal(number, peers_[request.from()].served++, "number of a request");
    die_in("in_request");
    check_status(request.reply<&Traffic::answer>(number));
  }

  // The computation.

  void note_dead(am::NodeId dead) {
    check(!dead_, "a second node died");
    dead_ = dead;
  }

  void do_something(const std::vector<am::NodeId>& among) {
    if (is_victim()) think_of_dying();
    const am::NodeId to = among[random_.below(among.size())];
    Peer& peer = peers_[to];
    switch (random_.below(12)) {
      case 0: {
        const auto payload = pattern(random_.one_in(4) ? random_.below(60'000) : random_.below(3'000));
        note_asked(peer, node_.request<&Traffic::ask_much>(to, peer.asked, payload));
        break;
      }
      case 1: {
        am::Draft draft = node_.prepare<&Traffic::ask_much>(to, 1 + random_.below(1'000), peer.asked);
        if (!draft) {
          check_status(draft.status());
          break;
        }
        fill(draft.data(), static_cast<std::uint8_t>(random_()));
        note_asked(peer, draft.commit());
        break;
      }
      case 2: {
        check_status(
            node_.multicast<&Traffic::tell>(am::Group(everybody()), told_, pattern(random_.below(500))));
        ++told_;
        break;
      }
      case 3:
        node_.poll();
        break;
      default:
        note_asked(peer, node_.request<&Traffic::ask>(to, peer.asked));
    }
  }

  void note_asked(Peer& peer, am::Status status) const {
    check_status(status);
    if (status == am::Status::ok) ++peer.asked;
  }
  void check_status(am::Status status) const {
    const bool expected = status == am::Status::ok || (plan_.survives && status == am::Status::unreachable);
    check(expected, am::to_string(status));
  }
  [[nodiscard]] bool all_answered() const {
    for (am::NodeId id = 0; id < node_.size(); ++id) {
      if (dead_ != id && peers_[id].answered != peers_[id].asked) return false;
    }
    return true;
  }
  [[nodiscard]] std::vector<am::NodeId> everybody() const {
    std::vector<am::NodeId> ids(node_.size());
    std::iota(ids.begin(), ids.end(), am::NodeId{0});
    return ids;
  }

  static void fill(std::span<std::byte> bytes, std::uint8_t first) {
    for (std::byte& b : bytes) b = std::byte{first++};
  }
  [[nodiscard]] std::vector<std::byte> pattern(std::size_t size) {
    std::vector<std::byte> bytes(size);
    fill(bytes, static_cast<std::uint8_t>(random_()));
    return bytes;
  }
  static void check_pattern(am::Payload payload) {
    const auto bytes = payload.bytes();
    for (std::size_t i = 1; i < bytes.size(); ++i) {
      const auto expected = static_cast<std::byte>(std::to_integer<unsigned>(bytes[i - 1]) + 1U);
      check(bytes[i] == expected, "a payload is not what was sent");
    }
  }

  // The victim.

  [[nodiscard]] bool is_victim() const { return node_.id() == plan_.victim; }

  void die_in(std::string_view place) {
    if (is_victim() && plan_.how == place && ++steps_ == plan_.at) die();
  }
  void think_of_dying() {
    const std::string& how = plan_.how;
    if (how == "in_request" || how == "in_reply" || how == "faults" || ++steps_ < plan_.at) return;
    if (how == "computing") die();
    if (how == "draft") die_in_the_middle_of_a_message();
    if (how == "deaf") die_deaf();
    if (how == "outside" && steps_ == plan_.at) Node::print("pid " + std::to_string(getpid()));
  }
  /// Between claim and commit. To any node, also to a payload that takes more than one packet.
  void die_in_the_middle_of_a_message() {
    const auto to = static_cast<am::NodeId>(random_.below(node_.size()));
    am::Draft draft = node_.prepare<&Traffic::ask_much>(to, 1 + random_.below(1'500), peers_[to].asked);
    const std::span<std::byte> data = draft.data();
    fill(data.first(random_.below(data.size())), 7);
    die();
  }
  /// Takes nothing any more until everybody else sleeps: in a send to it, in a wait for its answer, in a barrier.
  void die_deaf() {
    const am::host::Board& board = node_.engine().board();
    const auto waits = [&](am::NodeId id) { return board.card(id).waiting_since_ns.load() != 0; };
    for (am::NodeId id = 0; id < node_.size();) {
      if (id == node_.id() || waits(id)) {
        ++id;
      } else {
        sched_yield();
      }
    }
    die();
  }

  am::Node& node_;
  const Plan& plan_;
  test::Random random_;
  std::vector<Peer> peers_;
  std::optional<am::NodeId> dead_;
  std::uint64_t told_ = 0;
  std::uint64_t told_survivors_ = 0;
  std::uint64_t steps_ = 0;  // of the victim
};

}  // namespace amrun_test
