// <am/am2.h> where things go wrong: handlers that throw, nodes that leave or die while others count on them.

#include <am/counters.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "conformance/models/troubles.hpp"
#include "support/am2_job.hpp"

namespace am2_troubles_test {

using namespace test;

thread_local std::vector<long> ran;
thread_local int answers;
enum : handler_t { throws = 1, answers_and_throws, answer };

void throws_it(void* /*token*/, long number) {
  ran.push_back(number);
  throw Thrown();
}
void answers_and_throws_it(void* token, long number) {
  ran.push_back(number);
  ok(AM_Reply1(token, answer, number), "AM_Reply1");
  throw Thrown();
}
void counts(void* /*token*/, long /*number*/) { ++answers; }

/// A job of AMX with these handlers.
struct Job : test::Job {
  Job() {
    ran.clear();
    answers = 0;
    set_handler(endpoint, throws, throws_it);
    set_handler(endpoint, answers_and_throws, answers_and_throws_it);
    set_handler(endpoint, answer, counts);
    meet();
  }
  /// Behind libam's own barrier no node is in AM-II's any more, where it would run what others send it now.
  static void meet() {
    barrier();
    am::this_node()->barrier();
  }
};

using Am2Troubles = test::OnANode;

// An exception leaves the call that polls. Those behind it run in the next one, in their order, and all are answered: the sender
// has room for one unanswered request.
TEST_P(Am2Troubles, AHandlerThatThrowsHasHadItsMessage) {
  run(2, [](am::Node&) {
    const Job job;
    constexpr int times = 20;
    if (job.me == 0) {
      ok(AM_SetExpectedResources(job.endpoint, 1, 1), "AM_SetExpectedResources");
      for (int i = 0; i < times; ++i)
        ok(AM_Request1(job.endpoint, 1, i % 2 == 0 ? throws : answers_and_throws, i), "AM_Request1");
      while (answers < times / 2) ok(AM_Poll(job.bundle), "AM_Poll");
      ok(AMX_SPMDBarrier(), "AMX_SPMDBarrier");
    } else {
      int out = 0;
      while (out < times) {
        if (lets_out([&] { ok(AM_Poll(job.bundle), "AM_Poll"); })) ++out;
        check_equal(ran.size(), static_cast<std::size_t>(out), "one exception for each");
      }
      for (int i = 0; i < times; ++i) check_equal(ran[static_cast<std::size_t>(i)], i, "their order");
      ok(AMX_SPMDBarrier(), "AMX_SPMDBarrier");
    }
    check(returned.empty(), "nothing comes back");
    ok(AM_Terminate(), "AM_Terminate");
  });
}

// The others count on a node that has entered a barrier: so it goes on to its end there, and throws then. The next one is in step.
TEST_P(Am2Troubles, ABarrierGoesOnWhereAHandlerThrows) {
  run(3, [](am::Node&) {
    const Job job;
    constexpr int times = 5;
    for (int round = 0; round < times; ++round) {
      // All that node 0 sends is there before it enters: it runs in node 1's barrier, or in node 2's.
      if (job.me == 0) {
        for (const int to : {1, 2, 1})
          ok(AM_Request1(job.endpoint, to, answers_and_throws, round), "AM_Request1");
        while (answers < 3 * (round + 1)) ok(AM_Poll(job.bundle), "AM_Poll");
      }
      const bool out = lets_out([] { ok(AMX_SPMDBarrier(), "AMX_SPMDBarrier"); });
      check_equal(out, job.me != 0, "what the barrier throws");
      const int sent = job.me == 0 ? 0 : job.me == 1 ? 2 : 1;
      check_equal(static_cast<int>(ran.size()), sent * (round + 1), "handlers that ran");
      Job::meet();
    }
    ok(AM_Terminate(), "AM_Terminate");
  });
}
INSTANTIATE_TEST_SUITE_P(Models, Am2Troubles, test::cells_of<Am2Troubles>(), test::name_of);

// -- an exception leaves a send that waits for room: it was not sent

enum : handler_t { replies = 10, replies_to_data, replies_in_trouble, data_answer };

thread_local bool waits;
thread_local bool released;
std::atomic<bool> reply_was_interrupted;  // nodes are threads here

void release(am::Reply&) { released = true; }
void throw_into_a_wait() {
  if (waits) throw Thrown();
}
void throws_into_a_wait(am::Reply&) { throw_into_a_wait(); }

/// Whether what runs while send() waits has thrown.
template <class F>
bool is_interrupted(F&& send) {
  waits = true;
  const bool out = lets_out(send);
  waits = false;
  return out;
}

void replies_to_it(void* token, long number) { ok(AM_Reply1(token, answer, number), "AM_Reply1"); }
void replies_to_its_data(void* token, void* /*data*/, int /*nbytes*/) {
  ok(AM_Reply0(token, answer), "AM_Reply0");
}
/// Its reply finds a message to this node, whose handler throws, when it waits.
void replies_in_its_trouble(void* token, long number) {
  am::Node& node = *am::this_node();
  (void)node.try_reply_to<throws_into_a_wait>(node.id());
  if (is_interrupted([&] { replies_to_it(token, number); })) reply_was_interrupted = true;
}
void counts_data(void* /*token*/, void* /*data*/, int /*nbytes*/) { ++answers; }

/// Node 0 sends until a request has waited in vain; node 1 takes none in until then. How many were sent.
int fill_the_network(const Job& job, const std::function<void()>& request) {
  am::Node& node = *am::this_node();
  if (job.me == 1) {
    node.enable_low_events(false);
    node.wait_until([] { return released; });
    node.enable_low_events(true);
    return 0;
  }
  ok(AM_SetExpectedResources(job.endpoint, 1, 1024), "AM_SetExpectedResources");
  int sent = 0;
  for (;; ++sent) {
    ok(AM_Poll(job.bundle), "AM_Poll");  // so that the request does not
    node.post([](am::Node&) { throw_into_a_wait(); });
    if (is_interrupted(request)) break;
  }
  node.reply_to<release>(1);
  return sent;
}
/// What was sent is answered some time: there is credit for one more, where one at a time may be under way.
void check_credit(const Job& job) {
  Job::meet();
  if (job.me == 0) {
    ok(AM_SetExpectedResources(job.endpoint, 1, 1), "AM_SetExpectedResources");
    ok(AM_RequestXfer0(job.endpoint, 1, 0, data_answer, nullptr, 0), "with the only credit");
  }
  Job::meet();
  ok(AM_Terminate(), "AM_Terminate");
}
struct Fillable : Job {
  Fillable() {
    waits = released = false;
    set_handler(endpoint, replies, replies_to_it);
    set_handler(endpoint, replies_to_data, replies_to_its_data);
    set_handler(endpoint, replies_in_trouble, replies_in_its_trouble);
    set_handler(endpoint, data_answer, counts_data);
    meet();
  }
};

// By polling: what a thread of their own ran would not see this thread's flags.
using Am2Interrupted = test::OnSubstrates<test::Suite{
    .faults = false, .processes = false, .asynchronous = false, .about = test::About::node}>;

TEST_P(Am2Interrupted, RequestsHaveNoCredit) {
  const std::vector<char> data(60'000);
  const std::array<std::function<void(const Job&)>, 2> requests = {
      [](const Job& job) { ok(AM_Request1(job.endpoint, 1, replies, 1), "AM_Request1"); },
      [&](const Job& job) {
        ok(AM_RequestI0(job.endpoint, 1, replies_to_data, data.data(), static_cast<int>(data.size())),
           "AM_RequestI0");
      }};
  for (const auto& request : requests) {
    run(2, [&](am::Node&) {
      const Fillable job;
      const int sent = fill_the_network(job, [&] { request(job); });
      while (answers != sent) ok(AM_Poll(job.bundle), "AM_Poll");
      check_credit(job);
    });
  }
}

/// Who asked has an answer, as of a handler that does not reply.
TEST_P(Am2Interrupted, RepliesLeaveTheirRequestsToBeAnswered) {
  reply_was_interrupted = false;
  run(2, [](am::Node&) {
    const Fillable job;
    const int sent = fill_the_network(
        job, [&] { ok(AM_Request1(job.endpoint, 1, replies_in_trouble, 1), "AM_Request1"); });
    while (job.me == 0 && !reply_was_interrupted) std::this_thread::yield();  // takes no answer in
    check_credit(job);
    if (job.me == 0) check(answers < sent, "answers that were sent");
  });
}
INSTANTIATE_TEST_SUITE_P(Models, Am2Interrupted, test::cells_of<Am2Interrupted>(), test::name_of);

// -- an exception comes into an answer of libam's that waits for room: it goes all the same, and once, before that leaves

enum : handler_t { answers_nothing = 20, replies_with_data, missing };
constexpr int to_nobody = 2;  // an entry; entry 1 is node 1
constexpr int few = 4;        // requests at a time
constexpr int data_bytes = 60'000;

void answers_nothing_it(void* /*token*/) {}
void replies_with_data_it(void* token) {
  const std::vector<char> data(data_bytes);
  ok(AM_ReplyXfer0(token, 0, data_answer, data.data(), data_bytes), "AM_ReplyXfer0");
}

void takes_room(am::Reply&) {}
std::uint64_t refused() { return am::counters(*am::this_node()).peer(0, am::Priority::high).again; }
thread_local std::uint64_t refused_before;
std::atomic<bool> takes_none;  // node 0 takes no answers in. (Nodes are threads here.)
std::atomic<bool> has_thrown;

/// Goes round until a send to node 0 waits for room.
void throws_when_one_waits(am::Reply& reply) {
  if (refused() == refused_before) {
    (void)reply.try_reply_to<throws_when_one_waits>(reply.node().id());
    return;
  }
  has_thrown = true;
  throw Thrown();
}

struct Answering : Job {
  Answering() : memory(data_bytes) {
    released = false;
    ok(AM_SetSeg(endpoint, memory.data(), memory.size()), "AM_SetSeg");
    ok(AM_Map(endpoint, to_nobody, am2_known_name(1, 7), 0), "AM_Map");
    set_handler(endpoint, data_answer, counts_data);
    set_handler(endpoint, answers_nothing, answers_nothing_it);
    set_handler(endpoint, replies_with_data, replies_with_data_it);
    ok(AM_SetExpectedResources(endpoint, 1, few), "AM_SetExpectedResources");
    am::this_node()->enable_low_events(me == 0);
    meet();
  }
  void poll() const { ok(AM_Poll(bundle), "AM_Poll"); }
  /// Answers that node 0 sees: data that came, and requests that came back.
  [[nodiscard]] static int told() { return answers + static_cast<int>(returned.size()); }

  std::vector<char> memory;
};

/// A request of node 0.
struct Asked {
  const char* what;
  int entry;
  std::function<int(ep_t, int)> ask;
  int told_if_interrupted;  ///< answers that node 0 sees
  int told;                 ///< otherwise
};
const std::array asked_of_node_1 = {
    Asked{"no reply", 1, [](ep_t from, int to) { return AM_Request0(from, to, answers_nothing); }, 0, 0},
    Asked{"a long reply", 1, [](ep_t from, int to) { return AM_Request0(from, to, replies_with_data); }, 0,
          1},
    Asked{"few bytes", 1, [](ep_t from, int to) { return AM_GetXfer0(from, to, 0, data_answer, 0, 100); }, 1,
          1},
    Asked{"many bytes", 1,
          [](ep_t from, int to) { return AM_GetXfer0(from, to, 0, data_answer, 0, data_bytes); }, 1, 1},
    Asked{"no handler", 1, [](ep_t from, int to) { return AM_Request0(from, to, missing); }, 1, 1},
    Asked{"no endpoint", to_nobody, [](ep_t from, int to) { return AM_Request0(from, to, answers_nothing); },
          1, 1}};

/// Node 1's first answer waits, in vain, until node 0 has seen what is thrown meanwhile.
void answer_one(const Answering& job, bool from_inbox) {
  am::Node& node = *am::this_node();
  while (!takes_none) std::this_thread::yield();
  fill([&](std::uint64_t /*number*/) { return node.try_reply_to<takes_room>(0); });
  node.enable_low_events(true);
  if (from_inbox) poll_until_quiet(node);
  refused_before = refused();
  check(node.try_reply_to<throws_when_one_waits>(node.id()) == am::Status::ok, "room for what throws");
  check(lets_out([&] { job.poll(); }), "what was thrown leaves the poll");
  node.enable_low_events(false);
}
/// As many requests may go as were answered: one.
void check_one_answer(const Answering& job, const Asked& asked) {
  poll_until_quiet(*am::this_node());
  job.poll();
  check_equal(Answering::told(), asked.told_if_interrupted, asked.what);
  const auto another = [&] {
    return AM_RequestXferAsync0(job.endpoint, asked.entry, 0, data_answer, nullptr, 0);
  };
  check_equal(another(), AM_OK, std::string(asked.what) + ": with the credit of the one that was answered");
  check_equal(another(), AM_ERR_NOT_SENT, std::string(asked.what) + ": with that of others");
}
/// After that all are answered, each once.
void check_all_answers(const Answering& job, const Asked& asked) {
  ok(AM_SetExpectedResources(job.endpoint, 1, 1), "AM_SetExpectedResources");
  ok(AM_RequestXfer0(job.endpoint, asked.entry, 0, data_answer, nullptr, 0), "when all are answered");
  am::this_node()->reply_to<release>(1);
  Job::meet();
  job.poll();
  const int others = asked.entry == to_nobody ? 2 : 0;  // come back, too
  check_equal(Answering::told(), asked.told_if_interrupted + (few - 1) * asked.told + others, asked.what);
}

void run_interrupted_answers(const Asked& asked, bool from_inbox) {
  takes_none = has_thrown = false;
  run_job({Nodes::threads}, 2, [&](am::Node& node) {
    const Answering job;
    for (int i = 0; i < few && job.me == 0; ++i) ok(asked.ask(job.endpoint, asked.entry), asked.what);
    node.barrier();  // node 1 takes no request in yet
    if (job.me == 1) {
      answer_one(job, from_inbox);
    } else {
      takes_none = true;
      while (!has_thrown) std::this_thread::yield();
    }
    node.barrier();  // what has gone has come
    if (job.me == 0) check_one_answer(job, asked);
    node.barrier();
    node.enable_low_events(true);
    if (job.me == 0) {
      check_all_answers(job, asked);
    } else {
      while (!released) job.poll();
      Job::meet();
    }
    ok(AM_Terminate(), "AM_Terminate");
  });
}

TEST(Am2InterruptedAnswers, GoFromHandlers) {
  for (const Asked& asked : asked_of_node_1) {
    if (asked.entry != to_nobody) run_interrupted_answers(asked, false);  // nobody answers those there
  }
}
TEST(Am2InterruptedAnswers, GoFromTheInbox) {
  for (const Asked& asked : asked_of_node_1) run_interrupted_answers(asked, true);
}

// One that left before it entered: nobody waits for it for ever.
using Am2LeavingInTrouble = test::OnSubstrates<test::Suite{.faults = false, .about = test::About::node}>;
TEST_P(Am2LeavingInTrouble, EndsABarrierOfTheOthers) {
  run(3, [](am::Node&) {
    if (Job().me == 2) return;
    check_equal(AMX_SPMDBarrier(), AM_ERR_RESOURCE, "AMX_SPMDBarrier");
    check_equal(AMX_SPMDBarrier(), AM_ERR_RESOURCE, "and again");
    ok(AM_Terminate(), "AM_Terminate");
  });
}
INSTANTIATE_TEST_SUITE_P(Models, Am2LeavingInTrouble, test::cells_of<Am2LeavingInTrouble>(), test::name_of);

/// Node 1 dies when it was sent a request, which it does not run.
void survive(const std::function<void(const Job&)>& needs_node_1) {
  survive_node_1([&](am::Node&) {
    const Job job;
    if (job.me == 1) {
      ok(AM_SetEventMask(job.bundle, AM_NOTEMPTY), "AM_SetEventMask");
      ok(AM_WaitSema(job.bundle), "AM_WaitSema");
      std::raise(SIGKILL);
    }
    ok(AM_SetExpectedResources(job.endpoint, 1, 1), "AM_SetExpectedResources");
    ok(AM_Request1(job.endpoint, 1, throws, 0), "AM_Request1");
    needs_node_1(job);
  });
}

TEST(Am2Death, EndsARequestThatWaitsForCredit) {
  survive([](const Job& job) {
    ok(AM_Request1(job.endpoint, 1, throws, 7), "it has no credit, and gets none");
    ok(AM_Poll(job.bundle), "AM_Poll");
    check_equal(returned.size(), std::size_t{1}, "what came back");
    check_equal(returned.front().status, EUNREACHABLE, "why");
    check_equal(returned.front().block.words[0], 7, "the one that waited");
    ok(AM_Request1(job.endpoint, 0, answer, 1), "to itself");
    check_equal(answers, 1, "the node is well");
  });
}
TEST(Am2Death, EndsABarrier) {
  survive([](const Job&) { check_equal(AMX_SPMDBarrier(), AM_ERR_RESOURCE, "AMX_SPMDBarrier"); });
}
// The answer that is owed by the dead node never comes. (That the other one ends is seen by its exit code.)
TEST(Am2Death, EndsTheWaitForAnswersAtTheEnd) {
  survive([](const Job&) { AMX_SPMDExit(0); });
}

}  // namespace am2_troubles_test
