// The T1's registers as a view: every bit is what the rest of the interface says, and what is written there counts here.
#include <am/collectives.hpp>
#include <am/global.hpp>
#include <am/multicast.hpp>
#include <am/registers.hpp>

#include "support/job.hpp"

namespace am::registers_test {

using namespace test;

constexpr std::uint32_t ep = nistat::hpmp | nistat::lpmp | nistat::op | nistat::tp;
constexpr std::uint32_t low_half = 0xffff;

/// What handlers saw in the registers.
struct Seen {
  std::vector<std::uint32_t> nistat;
  std::vector<std::uint16_t> inh;
  std::string ran;

  void look(Node& node) {
    const Registers t1(node);
    nistat.push_back(t1.nistat());
    inh.push_back(t1.inh());
  }
};

void low(Request& request) {
  request.state<Seen>().look(request.node());
  request.state<Seen>().ran += 'l';
}
void high(Reply& reply) {
  reply.state<Seen>().look(reply.node());
  reply.state<Seen>().ran += 'h';
}
void low_payload(Request& request, std::uint32_t, std::uint64_t, Payload) {
  request.state<Seen>().look(request.node());
}
void six_words(Reply& reply, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
               std::uint64_t) {
  reply.state<Seen>().look(reply.node());
}

void send_low(Node& node) { check(node.try_request<low>(node.id()) == Status::ok, "a request to itself"); }
void send_high(Node& node) { check(node.try_reply_to<high>(node.id()) == Status::ok, "a reply to itself"); }

/// A job of one over shared memory, so that what is sent to oneself is there at once, with Seen attached.
class RegistersTest : public testing::Test {
 protected:
  RegistersTest() { node_.attach(seen_); }

  /// Runs what waits: by then this has run in all.
  void expect_ran(std::string_view expected, std::string_view when) {
    poll_until_quiet(node_);
    check_equal(seen_.ran, expected, when);
  }
  void expect_bits(std::uint32_t of, std::uint32_t expected, std::string_view when) const {
    check_equal(t1_.nistat() & of, expected, when);
  }
  void run(void (*send)(Node&)) {
    send(node_);
    poll_until_quiet(node_);
  }
  void wait_for(Count when) const {
    while (t1_.count() <= when) {
    }
  }

  Seen seen_;
  std::shared_ptr<host::Memory> memory_ = host::Memory::create(1);
  core::Job job_{.id = 0, .size = 1, .memory = memory_, .found = "test", .processes = false, .leave = {}};
  Node node_{std::make_unique<core::Engine>(std::move(job_), core::Settings{})};
  Registers t1_{node_};
};

TEST_F(RegistersTest, AtRestEverythingIsEnabledAndAvailable) {
  check_equal(t1_.nistat(),
              nistat::nicond | nistat::onicond | nistat::op | nistat::em | nistat::lpee | nistat::hpa |
                  nistat::lpa | nistat::ame,
              "nistat");
  check_equal(t1_.enable(), 1u, "enable");
  check_equal(t1_.niid(), node_.id(), "niid");
  check_equal(t1_.inh(), Registers::no_handler, "inh");
  check_equal(t1_.timec(), 0u, "timec");
  const Count before = node_.count();
  check(t1_.count() >= before, "Count is the node's clock");
}

TEST_F(RegistersTest, PendingBitsFollowTheNetwork) {
  t1_.set_enable(0);
  send_low(node_);
  expect_bits(nistat::pend | ep, nistat::pend | nistat::op | nistat::lpmp, "a low message waits");
  send_high(node_);
  expect_bits(nistat::pend | ep, nistat::pend | nistat::op | nistat::lpmp | nistat::hpmp, "both wait");
  expect_ran("", "while EE was clear");
  t1_.set_enable(1);
  expect_ran("hl", "then");
  expect_bits(nistat::pend | ep, nistat::op, "nothing waits");
}

/// A look changes nothing: A.9's order holds although each handler reads nistat.
TEST(RegistersOfAJob, ReadingNistatInAHandlerLeavesTheOrderOfEvents) {
  for (const am::Dispatch mode : test::every_mode) {
    test::run_job<Seen>({test::Nodes::threads, mode}, 1, [](Node& node, const Seen& seen) {
      node.barrier();
      {
        const CriticalSection quiet(node);
        for (int i = 0; i < 3; ++i) {
          send_low(node);
          send_high(node);
        }
      }
      node.wait_until([&] { return seen.ran.size() == 6; });
      check_equal(seen.ran, "hhhlll", "what ran");
      std::string waiting;  // beside the message in hand
      for (const std::uint32_t nistat : seen.nistat) {
        waiting += (nistat & nistat::hpmp) != 0 ? 'h' : '-';
        waiting += (nistat & nistat::lpmp) != 0 ? 'l' : '-';
      }
      check_equal(waiting, "hlhl-l-l-l--", "what the handlers saw");
    });
  }
}

/// nicond tells of the program's own sends.
TEST(RegistersOfAJob, OperationsOfTheLibraryLeaveNicond) {
  for (const bool accepted : {false, true}) {
    test::run_job({}, 3, [=](Node& node) {
      const Registers t1(node);
      const auto set = [&] {
        Registers(node).set_nistat((t1.nistat() & ~nistat::nicond) | (accepted ? nistat::nicond : 0));
      };
      const auto check_kept = [&](const char* what) {
        check_equal((t1.nistat() & nistat::nicond) != 0, accepted, what);
      };
      set();
      check_equal(all_reduce(node, 1, std::plus<>()), 3, "the sum");
      check_kept("all_reduce");
      int value = 7;
      static_cast<void>(broadcast(node, value, 1));
      check_kept("broadcast");
      static_cast<void>(all_gather(node, value));
      check_kept("all_gather");
      const auto block = allocate_symmetric<int>(node, 100);
      check_kept("allocate_symmetric");
      deallocate(node, block);
      node.barrier();
      check_kept("barrier");
    });
  }
}

TEST_F(RegistersTest, PendCountsOnlyWhatIsMaskedIn) {
  t1_.set_nistat(t1_.nistat() & ~nistat::lpmm);
  send_low(node_);
  expect_bits(nistat::pend | nistat::lpmp | nistat::lpmm, nistat::lpmp, "it waits, but is masked");
  expect_ran("", "while it is masked");
  t1_.set_nistat(t1_.nistat() | nistat::lpmm);
  expect_bits(nistat::pend, nistat::pend, "now it counts");
  expect_ran("l", "then");
  int outlets = 0;
  t1_.set_outh([&](LowEvent& event) {
    ++outlets;
    Registers(event.node()).set_outh({});
  });
  check((t1_.nistat() & nistat::pend) != 0, "an outlet waits once it has a handler");
  poll_until_quiet(node_);
  check_equal(outlets, 1, "outlets");
  check((t1_.nistat() & nistat::pend) == 0, "and no longer");
}

TEST_F(RegistersTest, WritingChangesTheWritableBitsAndNothingElse) {
  const std::uint32_t before = t1_.nistat();
  t1_.set_nistat(~nistat::writable);
  check_equal(t1_.nistat(), before & ~nistat::writable, "all writable bits clear");
  t1_.set_nistat(UINT32_MAX);
  check_equal(t1_.nistat(), before | nistat::writable, "all writable bits set");
  t1_.set_nistat(nistat::writable & ~nistat::tm & ~nistat::lpee);
  check_equal(t1_.nistat(), (before | nistat::writable) & ~nistat::tm & ~nistat::lpee, "single ones");
  t1_.set_enable(0xfffffffe);
  check_equal(t1_.enable(), 0u, "enable has one bit");
  t1_.set_enable(1);
  check_equal(node_.poll(), 0u, "nothing ran");
}

TEST_F(RegistersTest, AreAViewOnWhatTheRestOfTheInterfaceSees) {
  node_.enable_event(Event::high_message, false);
  check_equal(t1_.nistat() & nistat::em, nistat::em & ~nistat::hpmm, "a mask cleared by the node");
  node_.enable_event(Event::high_message, true);
  node_.enable_low_events(false);
  check((t1_.nistat() & nistat::lpee) == 0, "LPEE cleared by the node");
  node_.enable_low_events(true);
  node_.enable_active_messages(false);
  check((t1_.nistat() & nistat::ame) == 0, "ame cleared by the node");
  node_.enable_active_messages(true);
  {
    const CriticalSection quiet(node_);
    check_equal(t1_.enable(), 0u, "EE in a critical section");
    send_low(node_);
  }
  check_equal(t1_.enable(), 1u, "EE after it");
  t1_.set_nistat(t1_.nistat() & ~nistat::lpee);
  expect_ran("", "low events are disabled");
  t1_.set_nistat(t1_.nistat() | nistat::lpee);
  expect_ran("l", "and enabled");
}

/// A.6, A.2.5: a refused send clears nicond; lpa, hpa and op say whether the networks take messages.
TEST_F(RegistersTest, AFullNetworkShowsAndRecovers) {
  const auto condition = [&] {
    return t1_.nistat() & (nistat::nicond | nistat::lpa | nistat::hpa | nistat::op);
  };
  while (node_.try_request<low>(node_.id()) == Status::ok) {
  }
  check_equal(condition(), nistat::hpa, "low is full");
  send_high(node_);
  check((condition() & nistat::nicond) != 0, "high takes a message all the same");
  while (node_.try_reply_to<high>(node_.id()) == Status::ok) {
  }
  check_equal(condition(), 0u, "both are full");
  poll_until_quiet(node_);
  check_equal(condition(), nistat::lpa | nistat::hpa | nistat::op, "room again, but the last send failed");
  send_low(node_);
  check((condition() & nistat::nicond) != 0, "the next one did not");
  poll_until_quiet(node_);
}

TEST_F(RegistersTest, NicondIsClearAfterASendThatWasNotAccepted) {
  const auto clear_after = [&](std::string_view what, auto&& refused) {
    send_low(node_);
    check((t1_.nistat() & nistat::nicond) != 0, "a send that is accepted sets it");
    check(refused() != Status::ok, what);
    check((t1_.nistat() & nistat::nicond) == 0, what);
  };
  constexpr std::uint64_t zero = 0;
  const char byte = 0;
  const Payload too_big(&byte, std::size_t{1} << 62);
  clear_after("no such node", [&] { return node_.try_request<low>(7); });
  clear_after("no such member", [&] { return node_.try_multicast<low>(Group{7}); });
  clear_after("a draft to no node", [&] { return node_.try_prepare<low_payload>(7, 8, 0u, zero).status(); });
  clear_after("too big", [&] { return node_.try_request<low_payload>(0, 0u, zero, too_big); });
  poll_until_quiet(node_);
}

/// What a handler saw before and after a send to nobody.
struct Failures {
  std::vector<std::uint32_t> before, after;
  void fail(Request& request) {
    const Registers t1(request.node());
    before.push_back(t1.nistat());
    static_cast<void>(request.try_request<low>(7));
    after.push_back(t1.nistat());
  }
};

/// A.9.1, A.7: a low handler's sends do not disturb the condition of the computation that it interrupts, nor that of the
/// low handlers that run behind it in the same poll.
TEST_F(RegistersTest, ALowHandlerSavesNicondIntoOnicond) {
  constexpr std::uint32_t both = nistat::nicond | nistat::onicond;
  Failures failures;
  node_.attach(failures);
  for (int i = 0; i < 3; ++i) check(node_.request<&Failures::fail>(0) == Status::ok, "request");
  node_.wait_until([&] { return failures.after.size() == 3; });
  for (int i = 0; i < 3; ++i) {
    check_equal(failures.before[i] & both, both, "as the computation left it");
    check_equal(failures.after[i] & both, nistat::onicond, "the handler's own send failed");
  }
  check_equal(t1_.nistat() & nistat::nicond, nistat::nicond, "the computation's did not");
}

TEST_F(RegistersTest, TheLowHalfDescribesTheMessage) {
  for (const auto& [payload, vlen] : std::vector<std::pair<std::size_t, std::uint32_t>>{
           {0, 0}, {1, 1}, {8, 1}, {9, 2}, {504, 63}, {505, 63}, {5000, 63}}) {
    seen_.nistat.clear();
    check(node_.try_request<low_payload>(node_.id(), 1u, std::uint64_t{2}, std::vector<std::byte>(payload)) ==
              Status::ok,
          "send");
    while (seen_.nistat.empty()) node_.poll();
    check_equal(nistat::slen(seen_.nistat[0]), 2u, "slen");
    check_equal(nistat::vlen(seen_.nistat[0]), vlen, "vlen of " + std::to_string(payload) + " bytes");
    check_equal(seen_.nistat[0] & (nistat::mcst | nistat::pri), 0u, "from one, on the low network");
  }
  seen_.nistat.clear();
  check(node_.try_reply_to<six_words>(node_.id(), 1, 2, 3, 4, 5, 6) == Status::ok, "send");
  node_.poll();
  check_equal(seen_.nistat.at(0) & low_half, nistat::pri | 6u << 8, "six words on the high network");
  check_equal(t1_.nistat() & low_half, 0u, "outside of handlers");
}

TEST_F(RegistersTest, InhNamesTheMessageInHandWhichIsNotPending) {
  run(send_low);
  run(send_high);
  check_equal(t1_.enable(), 1u, "EE after it");
  check(seen_.inh == std::vector{Registers::address<low>(), Registers::address<high>()}, "in handlers");
  check(Registers::address<low>() != Registers::address<high>(), "addresses differ");
  check_equal(seen_.nistat[0] & (nistat::pend | nistat::lpmp | nistat::lpee), 0u, "in the low handler");
  check_equal(seen_.nistat[1] & (nistat::pend | nistat::hpmp), 0u, "in the high handler");
  node_.on_timelet(node_.count(), [&](LowEvent& event) { seen_.look(event.node()); });
  while (seen_.inh.size() < 3) node_.poll();
  check_equal(seen_.inh[2], Registers::no_handler, "in a timelet");
  check_equal(seen_.nistat[2] & low_half, 0u, "the low half in a timelet");
  check_equal(t1_.inh(), Registers::no_handler, "in the computation");
  for (int i = 0; i < 5; ++i) send_low(node_);
  expect_ran("lhlllll", "looking loses no message");
}

/// A.2.13: the default handler deduces from inh what it was that arrived.
TEST_F(RegistersTest, TheDefaultHandlerSeesWhatItReplaces) {
  t1_.set_dmh([&](Incoming& incoming) {
    seen_.look(incoming.node());
    incoming.run();
  });
  t1_.set_nistat(t1_.nistat() & ~nistat::ame);
  run(send_low);
  check_equal(seen_.inh.size(), 2u, "the default handler, and from it the one it replaces");
  check(seen_.inh[0] == Registers::address<low>() && seen_.inh[1] == seen_.inh[0], "both see the same");
  check_equal(seen_.nistat[0] & nistat::ame, 0u, "ame");
  t1_.set_nistat(t1_.nistat() | nistat::ame);
  run(send_high);
  check_equal(seen_.inh.size(), 3u, "no default handler any more");
}

TEST_F(RegistersTest, TimecSetsTpAndRunsTimehOnce) {
  int timelets = 0;
  t1_.set_timeh([&](LowEvent&) { ++timelets; });
  const Count when = t1_.count() + 200'000;
  t1_.set_enable(0);
  t1_.set_timec(when);
  check_equal(t1_.timec(), when, "timec");
  wait_for(when);
  check_equal(t1_.nistat() & (nistat::tp | nistat::pend), nistat::tp | nistat::pend, "its time has come");
  t1_.set_enable(1);
  poll_until_quiet(node_);
  check_equal(timelets, 1, "timelets");
  check_equal(t1_.nistat() & nistat::tp, 0u, "the event clears tp");
  check_equal(t1_.timec(), when, "timec stays");
  poll_until_quiet(node_);
  check_equal(timelets, 1, "timelets");
}

TEST_F(RegistersTest, WritingTimecClearsTp) {
  int timelets = 0;
  t1_.set_timeh([&](LowEvent&) { ++timelets; });
  t1_.set_nistat(t1_.nistat() & ~nistat::tm);
  t1_.set_timec(t1_.count());
  wait_for(t1_.timec());
  check((t1_.nistat() & nistat::tp) != 0, "set");
  constexpr Count an_hour = 3'600'000'000'000;
  t1_.set_timec(t1_.count() + an_hour);
  check((t1_.nistat() & nistat::tp) == 0, "cleared");
  t1_.set_nistat(t1_.nistat() | nistat::tm);
  poll_until_quiet(node_);
  check_equal(timelets, 0, "the old time is forgotten");
  t1_.set_timec(0);
  poll_until_quiet(node_);
  check_equal(timelets, 1, "a time that has passed is due at once, and the hour is forgotten");
}

TEST_F(RegistersTest, TimehIsLookedUpWhenTheTimeHasCome) {
  std::string ran;
  t1_.set_timeh([&](LowEvent&) { ran += 'a'; });
  t1_.set_timec(0);
  t1_.set_timeh([&](LowEvent& event) {
    ran += 'b';
    Registers(event.node()).set_timeh({});  // itself
    Registers(event.node()).set_timec(0);
  });
  poll_until_quiet(node_);
  check_equal(ran, "b", "what ran");
  check((t1_.nistat() & nistat::tp) == 0, "without a handler the event passes by");
}

TEST_F(RegistersTest, OtherTimeletsAreSpared) {
  std::string ran;
  t1_.set_timeh([&](LowEvent&) { ran += 'c'; });
  t1_.set_enable(0);
  node_.on_timelet(0, [&](LowEvent&) { ran += 't'; });
  t1_.set_timec(0);
  t1_.set_timec(1);
  check((t1_.nistat() & nistat::tp) != 0, "any timelet shows");
  t1_.set_enable(1);
  poll_until_quiet(node_);
  check_equal(ran, "tc", "what ran");
}

}  // namespace am::registers_test
