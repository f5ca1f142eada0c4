// The T1's registers as a view: every bit is what the rest of the interface says, and what is written there counts here.
#include <gtest/gtest.h>
#include <am/collectives.hpp>
#include <am/draft.hpp>
#include <am/global.hpp>
#include <am/multicast.hpp>
#include <am/registers.hpp>

#include <string>
#include <vector>

#include "support/job.hpp"

namespace am {
namespace registers_test {

using test::check;
using test::check_equal;

constexpr std::uint32_t ep = nistat::hpmp | nistat::lpmp | nistat::op | nistat::tp;
constexpr std::uint32_t low_half = 0xffff;

TEST(NistatLayout, IsThatOfTheDesign) {
  EXPECT_EQ(nistat::pend, 0x80000000u);
  EXPECT_EQ(nistat::nicond, 0x40000000u);
  EXPECT_EQ(nistat::onicond, 0x20000000u);
  EXPECT_EQ(ep, 0x0f000000u);
  EXPECT_EQ(nistat::em, 0x00f00000u);
  EXPECT_EQ(nistat::lpee, 0x00080000u);
  EXPECT_EQ(nistat::hpa, 0x00040000u);
  EXPECT_EQ(nistat::lpa << 14, 0x80000000u) << "Figure 18 shifts lpa to the sign bit";
  EXPECT_EQ(nistat::ame, 0x00010000u);
  EXPECT_EQ(nistat::mcst, 0x8000u);
  EXPECT_EQ(nistat::pri, 0x4000u);
}

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

void poll_until_quiet(Node& node) {
  while (node.poll() != 0) {
  }
}

/// A job of one over shared memory, so that what is sent to oneself is there at once, with Seen attached.
template <class F>
void on_one_node(F&& body) {
  test::run_alone([&](Node& node) {
    Seen seen;
    node.attach(seen);
    Registers t1(node);
    body(node, t1, seen);
  });
}

TEST(Registers, AtRestEverythingIsEnabledAndAvailable) {
  on_one_node([](Node& node, Registers& t1, Seen&) {
    check_equal(t1.nistat(),
                nistat::nicond | nistat::onicond | nistat::op | nistat::em | nistat::lpee | nistat::hpa |
                    nistat::lpa | nistat::ame,
                "nistat");
    check_equal(t1.enable(), 1u, "enable");
    check_equal(t1.niid(), node.id(), "niid");
    check_equal(t1.inh(), Registers::no_handler, "inh");
    check_equal(t1.timec(), 0u, "timec");
    const Count before = node.count();
    check(t1.count() >= before, "Count is the node's clock");
  });
}

TEST(Registers, PendingBitsFollowTheNetwork) {
  on_one_node([](Node& node, Registers& t1, Seen& seen) {
    t1.set_enable(0);
    send_low(node);
    check_equal(t1.nistat() & (nistat::pend | ep), nistat::pend | nistat::op | nistat::lpmp,
                "a low message waits");
    send_high(node);
    check_equal(t1.nistat() & (nistat::pend | ep), nistat::pend | nistat::op | nistat::lpmp | nistat::hpmp,
                "both wait");
    node.poll();
    check_equal(seen.ran, "", "what ran while EE was clear");
    t1.set_enable(1);
    poll_until_quiet(node);
    check_equal(seen.ran, "hl", "what ran then");
    check_equal(t1.nistat() & (nistat::pend | ep), nistat::op, "nothing waits");
  });
}

/// A look changes nothing: A.9's order holds although each handler reads nistat.
TEST(Registers, ReadingNistatInAHandlerLeavesTheOrderOfEvents) {
  for (const am::Dispatch mode : test::every_mode) {
    test::run_job({test::Nodes::threads, mode}, 1, [](Node& node) {
      Seen seen;
      node.attach(seen);
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
TEST(Registers, OperationsOfTheLibraryLeaveNicond) {
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

TEST(Registers, PendCountsOnlyWhatIsMaskedIn) {
  on_one_node([](Node& node, Registers& t1, Seen& seen) {
    t1.set_nistat(t1.nistat() & ~nistat::lpmm);
    send_low(node);
    check_equal(t1.nistat() & (nistat::pend | nistat::lpmp | nistat::lpmm), nistat::lpmp,
                "it waits, but is masked");
    poll_until_quiet(node);
    check_equal(seen.ran, "", "what ran");
    t1.set_nistat(t1.nistat() | nistat::lpmm);
    check((t1.nistat() & nistat::pend) != 0, "now it counts");
    poll_until_quiet(node);
    check_equal(seen.ran, "l", "what ran");
    int outlets = 0;
    t1.set_outh([&](LowEvent& event) {
      ++outlets;
      Registers(event.node()).set_outh({});
    });
    check((t1.nistat() & nistat::pend) != 0, "an outlet waits once it has a handler");
    poll_until_quiet(node);
    check_equal(outlets, 1, "outlets");
    check((t1.nistat() & nistat::pend) == 0, "and no longer");
  });
}

TEST(Registers, WritingChangesTheWritableBitsAndNothingElse) {
  on_one_node([](Node& node, Registers& t1, Seen&) {
    const std::uint32_t before = t1.nistat();
    t1.set_nistat(~nistat::writable);
    check_equal(t1.nistat(), before & ~nistat::writable, "all writable bits clear");
    t1.set_nistat(UINT32_MAX);
    check_equal(t1.nistat(), before | nistat::writable, "all writable bits set");
    t1.set_nistat(nistat::writable & ~nistat::tm & ~nistat::lpee);
    check_equal(t1.nistat(), (before | nistat::writable) & ~nistat::tm & ~nistat::lpee, "single ones");
    t1.set_enable(0xfffffffe);
    check_equal(t1.enable(), 0u, "enable has one bit");
    t1.set_enable(1);
    check_equal(node.poll(), 0u, "nothing ran");
  });
}

TEST(Registers, AreAViewOnWhatTheRestOfTheInterfaceSees) {
  on_one_node([](Node& node, Registers& t1, Seen& seen) {
    node.enable_event(Event::high_message, false);
    check_equal(t1.nistat() & nistat::em, nistat::em & ~nistat::hpmm, "a mask cleared by the node");
    node.enable_event(Event::high_message, true);
    node.enable_low_events(false);
    check((t1.nistat() & nistat::lpee) == 0, "LPEE cleared by the node");
    node.enable_low_events(true);
    node.enable_active_messages(false);
    check((t1.nistat() & nistat::ame) == 0, "ame cleared by the node");
    node.enable_active_messages(true);
    {
      const CriticalSection quiet(node);
      check_equal(t1.enable(), 0u, "EE in a critical section");
      send_low(node);
    }
    check_equal(t1.enable(), 1u, "EE after it");
    t1.set_nistat(t1.nistat() & ~nistat::lpee);
    poll_until_quiet(node);
    check_equal(seen.ran, "", "low events are disabled");
    t1.set_nistat(t1.nistat() | nistat::lpee);
    poll_until_quiet(node);
    check_equal(seen.ran, "l", "and enabled");
  });
}

/// Figure 8: events are disabled by default; a poll enables and disables them.
TEST(Registers, TheReportsWayToPoll) {
  on_one_node([](Node& node, Registers& t1, Seen& seen) {
    t1.set_enable(0);
    for (int i = 0; i < 3; ++i) {
      send_low(node);
      node.poll();
      check_equal(seen.ran.size(), static_cast<std::size_t>(i), "what ran in the computation");
      t1.set_enable(1);
      poll_until_quiet(node);
      t1.set_enable(0);
      check_equal(seen.ran.size(), static_cast<std::size_t>(i) + 1, "what ran in the poll");
    }
  });
}

/// A.6, A.2.5: a refused send clears nicond; lpa, hpa and op say whether the networks take messages.
TEST(Registers, AFullNetworkShowsAndRecovers) {
  on_one_node([](Node& node, Registers& t1, Seen&) {
    while (node.try_request<low>(node.id()) == Status::ok) {
    }
    check_equal(t1.nistat() & (nistat::nicond | nistat::lpa | nistat::hpa | nistat::op), nistat::hpa,
                "low is full");
    send_high(node);
    check((t1.nistat() & nistat::nicond) != 0, "high takes a message all the same");
    while (node.try_reply_to<high>(node.id()) == Status::ok) {
    }
    check_equal(t1.nistat() & (nistat::nicond | nistat::lpa | nistat::hpa | nistat::op), 0u, "both are full");
    poll_until_quiet(node);
    check_equal(t1.nistat() & (nistat::nicond | nistat::lpa | nistat::hpa | nistat::op),
                nistat::lpa | nistat::hpa | nistat::op, "room again, but the last send failed");
    send_low(node);
    check((t1.nistat() & nistat::nicond) != 0, "the next one did not");
    poll_until_quiet(node);
  });
}

struct Conditions {
  std::uint32_t in_handler = 0, after_failure = 0;
};

void fail_a_send(Request& request) {
  const Registers t1(request.node());
  auto& seen = request.state<Conditions>();
  seen.in_handler = t1.nistat();
  while (request.try_reply_to<high>(request.node().id()) == Status::ok) {
  }
  seen.after_failure = t1.nistat();
}

/// A.9.1, A.7: a low handler's sends do not disturb the condition of the computation that it interrupts.
TEST(Registers, NicondIsClearAfterASendThatWasNotAccepted) {
  test::run_alone([](Node& node) {
    Seen seen;
    node.attach(seen);
    const Registers t1(node);
    const char byte = 0;
    const auto clear_after = [&](auto&& refused, std::string_view what) {
      check(node.try_request<low>(0) == Status::ok, "a send that is accepted");
      check((t1.nistat() & nistat::nicond) != 0, "sets it");
      check(refused() != Status::ok, what);
      check((t1.nistat() & nistat::nicond) == 0, what);
    };
    clear_after([&] { return node.try_request<low>(7); }, "no such node");
    clear_after([&] { return node.try_multicast<low>(Group{7}); }, "no such member");
    clear_after(
        [&] { return node.try_prepare<low_payload>(7, 8, std::uint32_t{0}, std::uint64_t{0}).status(); },
        "a draft to no node");
    clear_after(
        [&] {
          return node.try_request<low_payload>(0, 0u, std::uint64_t{0}, Payload(&byte, std::size_t{1} << 62));
        },
        "too big");
  });
}

/// A handler that sends to nobody, and what nicond was before.
struct Failures {
  std::vector<bool> nicond;
  void fail(Request& request) {
    nicond.push_back((Registers(request.node()).nistat() & nistat::nicond) != 0);
    static_cast<void>(request.try_request<low>(7));
  }
};

/// A.9.1 for every low event, also where one poll runs several.
TEST(Registers, EachLowHandlerBeginsWithTheComputationsNicond) {
  test::run_alone([](Node& node) {
    Failures seen;
    node.attach(seen);
    for (int i = 0; i < 3; ++i) check(node.request<&Failures::fail>(0) == Status::ok, "request");
    node.wait_until([&] { return seen.nicond.size() == 3; });
    for (const bool nicond : seen.nicond) check(nicond, "nicond of the computation's last send");
  });
}

struct Disabler {
  bool came = false;
  void disable(Reply& reply) {
    reply.node().enable_low_events(false);
    came = true;
  }
};

/// A.9.1: what interrupts finds the enables as they were, and leaves them so.
TEST(Registers, AReplyHandlersEnableEndsWithIt) {
  test::run_alone([](Node& node) {
    Disabler seen;
    node.attach(seen);
    check(node.reply_to<&Disabler::disable>(0) == Status::ok, "reply_to");
    node.wait_until([&] { return seen.came; });
    check((Registers(node).nistat() & nistat::lpee) != 0, "low events are enabled as before");
  });
}

TEST(Registers, ALowHandlerSavesNicondIntoOnicond) {
  test::run_alone([](Node& node) {
    constexpr std::uint32_t both = nistat::nicond | nistat::onicond;
    Conditions seen;
    node.attach(seen);
    Registers t1(node);
    check(node.try_request<fail_a_send>(node.id()) == Status::ok, "send");
    t1.set_enable(0);
    node.poll();
    t1.set_enable(1);
    t1.set_nistat(t1.nistat() & ~nistat::hpmm);  // what it sends shall stay where it is
    node.poll();
    check_equal(seen.in_handler & both, both, "as the computation left it");
    check_equal(seen.after_failure & both, nistat::onicond, "the handler's own send failed");
    check_equal(t1.nistat() & nistat::nicond, nistat::nicond, "the computation's did not");
    Seen rest;
    node.attach(rest);
    t1.set_nistat(t1.nistat() | nistat::hpmm);
    poll_until_quiet(node);
  });
}

// -- the low half -------------------------------------------------------------------------------------------------------

TEST(Registers, TheLowHalfDescribesTheMessage) {
  on_one_node([](Node& node, Registers& t1, Seen& seen) {
    struct Case {
      std::size_t payload;
      std::uint32_t vlen;
    };
    for (const auto& [payload, vlen] :
         std::vector<Case>{{0, 0}, {1, 1}, {8, 1}, {9, 2}, {504, 63}, {505, 63}, {5000, 63}}) {
      seen.nistat.clear();
      check(node.try_request<low_payload>(node.id(), 1u, std::uint64_t{2}, std::vector<std::byte>(payload)) ==
                Status::ok,
            "send");
      while (seen.nistat.empty()) node.poll();
      check_equal(nistat::slen(seen.nistat[0]), 2u, "slen");
      check_equal(nistat::vlen(seen.nistat[0]), vlen, "vlen of " + std::to_string(payload) + " bytes");
      check_equal(seen.nistat[0] & (nistat::mcst | nistat::pri), 0u, "from one, on the low network");
    }
    seen.nistat.clear();
    check(node.try_reply_to<six_words>(node.id(), 1, 2, 3, 4, 5, 6) == Status::ok, "send");
    node.poll();
    check_equal(seen.nistat.at(0) & low_half, nistat::pri | 6u << 8, "six words on the high network");
    check_equal(t1.nistat() & low_half, 0u, "outside of handlers");
  });
}

TEST(Registers, InhNamesTheHandlerOfAMessageOnly) {
  on_one_node([](Node& node, Registers& t1, Seen& seen) {
    send_low(node);
    poll_until_quiet(node);
    send_high(node);
    poll_until_quiet(node);
    check(seen.inh == std::vector{Registers::address<low>(), Registers::address<high>()}, "in handlers");
    check(Registers::address<low>() != Registers::address<high>(), "addresses differ");
    node.on_timelet(node.count(), [&seen](LowEvent& event) { seen.look(event.node()); });
    while (seen.inh.size() < 3) node.poll();
    check_equal(seen.inh[2], Registers::no_handler, "in a timelet");
    check_equal(seen.nistat[2] & low_half, 0u, "the low half in a timelet");
    check_equal(t1.inh(), Registers::no_handler, "in the computation");
  });
}

/// A.2.13: the default handler deduces from inh what it was that arrived.
TEST(Registers, TheDefaultHandlerSeesWhatItReplaces) {
  on_one_node([](Node& node, Registers& t1, Seen& seen) {
    t1.set_dmh([&seen](Incoming& incoming) {
      seen.look(incoming.node());
      incoming.run();
    });
    t1.set_nistat(t1.nistat() & ~nistat::ame);
    send_low(node);
    poll_until_quiet(node);
    check_equal(seen.inh.size(), 2u, "the default handler, and from it the one it replaces");
    check(seen.inh[0] == Registers::address<low>() && seen.inh[1] == seen.inh[0], "both see the same");
    check_equal(seen.nistat[0] & nistat::ame, 0u, "ame");
    t1.set_nistat(t1.nistat() | nistat::ame);
    send_high(node);
    poll_until_quiet(node);
    check_equal(seen.inh.size(), 3u, "no default handler any more");
  });
}

TEST(Registers, TheMessageThatIsHandledIsNotPending) {
  on_one_node([](Node& node, Registers& t1, Seen& seen) {
    send_low(node);
    poll_until_quiet(node);
    check_equal(seen.nistat.at(0) & (nistat::pend | nistat::lpmp | nistat::lpee), 0u, "in the low handler");
    send_high(node);
    poll_until_quiet(node);
    check_equal(seen.nistat.at(1) & (nistat::pend | nistat::hpmp), 0u, "in the high handler");
    check_equal(t1.enable(), 1u, "EE after it");
    for (int i = 0; i < 5; ++i) send_low(node);
    poll_until_quiet(node);
    check_equal(seen.ran, "lhlllll", "looking loses no message");
  });
}

TEST(Registers, OtherNodesMessagesShowInAHandler) {
  test::run_job({test::Nodes::threads}, 3, [](Node& node) {
    Seen seen;
    node.attach(seen);
    Registers t1(node);
    if (node.id() == 0) t1.set_enable(0);
    if (node.id() != 0) check(node.try_request<low>(0) == Status::ok, "send");
    node.barrier();
    if (node.id() == 0) {
      t1.set_enable(1);
      while (seen.ran.size() < 2) node.poll();
      check((seen.nistat[0] & nistat::lpmp) != 0, "in the first handler the other message waits");
      check((seen.nistat[1] & nistat::lpmp) == 0, "in the second none");
    }
    node.barrier();
  });
}

// -- timec --------------------------------------------------------------------------------------------------------------

void wait_for(Registers& t1, Count when) {
  while (t1.count() <= when) {
  }
}

TEST(Registers, TimecSetsTpAndRunsTimehOnce) {
  on_one_node([](Node& node, Registers& t1, Seen&) {
    int timelets = 0;
    t1.set_timeh([&](LowEvent&) { ++timelets; });
    const Count when = t1.count() + 200'000;
    t1.set_enable(0);
    t1.set_timec(when);
    check_equal(t1.timec(), when, "timec");
    wait_for(t1, when);
    check_equal(t1.nistat() & (nistat::tp | nistat::pend), nistat::tp | nistat::pend, "its time has come");
    t1.set_enable(1);
    poll_until_quiet(node);
    check_equal(timelets, 1, "timelets");
    check_equal(t1.nistat() & nistat::tp, 0u, "the event clears tp");
    check_equal(t1.timec(), when, "timec stays");
    poll_until_quiet(node);
    check_equal(timelets, 1, "timelets");
  });
}

TEST(Registers, WritingTimecClearsTp) {
  on_one_node([](Node& node, Registers& t1, Seen&) {
    int timelets = 0;
    t1.set_timeh([&](LowEvent&) { ++timelets; });
    t1.set_nistat(t1.nistat() & ~nistat::tm);
    t1.set_timec(t1.count());
    wait_for(t1, t1.timec());
    check((t1.nistat() & nistat::tp) != 0, "set");
    constexpr Count an_hour = 3'600'000'000'000;
    t1.set_timec(t1.count() + an_hour);
    check((t1.nistat() & nistat::tp) == 0, "cleared");
    t1.set_nistat(t1.nistat() | nistat::tm);
    poll_until_quiet(node);
    check_equal(timelets, 0, "the old time is forgotten");
    t1.set_timec(0);
    poll_until_quiet(node);
    check_equal(timelets, 1, "a time that has passed is due at once, and the hour is forgotten");
  });
}

TEST(Registers, TimehIsLookedUpWhenTheTimeHasCome) {
  on_one_node([](Node& node, Registers& t1, Seen&) {
    std::string ran;
    t1.set_timeh([&](LowEvent&) { ran += 'a'; });
    t1.set_timec(0);
    t1.set_timeh([&](LowEvent& event) {
      ran += 'b';
      Registers(event.node()).set_timeh({});  // itself
      Registers(event.node()).set_timec(0);
    });
    poll_until_quiet(node);
    check_equal(ran, "b", "what ran");
    check((t1.nistat() & nistat::tp) == 0, "without a handler the event passes by");
  });
}

TEST(Registers, OtherTimeletsAreSpared) {
  on_one_node([](Node& node, Registers& t1, Seen&) {
    std::string ran;
    t1.set_timeh([&](LowEvent&) { ran += 'c'; });
    t1.set_enable(0);
    node.on_timelet(0, [&](LowEvent&) { ran += 't'; });
    t1.set_timec(0);
    t1.set_timec(1);
    check((t1.nistat() & nistat::tp) != 0, "any timelet shows");
    t1.set_enable(1);
    poll_until_quiet(node);
    check_equal(ran, "tc", "what ran");
  });
}

}  // namespace registers_test
}  // namespace am
