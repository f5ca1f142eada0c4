// Each row of the state machines of CARE's components (Byrd, Nakano and Delagi 1987, 4.4 to 4.7): a test that has its name.
// Criteria CA-2, CA-4, CA-7, CA-8, CA-10, CA-12, CA-15 and CA-26, a component at a time, by its four ports.
#include "emulated_hw/care/state_machines.hpp"

#include <gtest/gtest.h>

#include "emulated_hw/care/fifo_buffer.hpp"
#include "emulated_hw/care/net_input.hpp"
#include "emulated_hw/care/net_output.hpp"
#include "emulated_hw/care/operator.hpp"

namespace am::care::state_machines_test {

/// What comes by a packet port: t a list of one target, site 2; m and n a list of two, sites 2 and 0, or l and n, sites 1 and 0; d data, p a pad;
/// E and A terminators.
Wire wire(char what) {
  using Kind = Word::Kind;
  const auto target = [](NodeNumber site, bool last) -> Wire {
    return {.word = {.kind = Kind::target, .last = last, .packet = 1, .value = site}};
  };
  if (what == 't' || what == 'm') return target(2, what == 't');
  if (what == 'l' || what == 'n') return target(what == 'l' ? 1 : 0, what == 'n');
  if (what == 'd' || what == 'p')
    return {.word = {.kind = what == 'd' ? Kind::data : Kind::pad, .packet = 1}};
  return {.terminator = what == 'E'   ? Terminator::end_of_packet
                        : what == 'A' ? Terminator::abort_packet
                                      : Terminator::none};
}

Status status(char what) {
  return what == 'f'                  ? Status::free
         : what == 'o' || what == 'b' ? Status::open
         : what == 'a'                ? Status::abort_request
                                      : Status::wait;
}

/// A row: what a script does, phase by phase, takes it in the last of them, and ends in a state, with a signal.
struct Row {
  const char* name;
  std::function<void()> take;
};
class CareRow : public testing::TestWithParam<Row> {};
TEST_P(CareRow, IsTaken) { GetParam().take(); }
constexpr auto name_of = [](const testing::TestParamInfo<Row>& info) { return std::string(info.param.name); };

template <class State, class When>
struct Case {
  State from;
  When when;
  std::string_view script;
  State after;
  Status says;
};

template <class Component, class Rows, class One, class Step>
void take_row(const Component& component, const Rows& rows, const One& one, std::size_t token, Step step) {
  const auto found = std::ranges::find_if(
      rows, [&](const auto& row) { return row.from == one.from && row.when == one.when; });
  ASSERT_NE(found, rows.end()) << "there is no such row";
  const auto& taken = component.machine().taken()[static_cast<std::size_t>(found - rows.begin())];
  for (std::size_t at = 0; at < one.script.size(); at += token) {
    EXPECT_EQ(taken, 0u) << "before " << one.script.substr(at);
    step(one.script.substr(at, token));
  }
  EXPECT_EQ(taken, 1u);
  EXPECT_EQ(component.machine().state(), one.after);
  EXPECT_EQ(component.status_out(), one.says);
}

// -- a fifo-buffer of 2 places, with a timeout of 4 cycles. '>': its output side sends an item.

namespace of_buffer {
using buffer::State;
using buffer::When;

Row row(const char* name, const Case<State, When>& one) {
  return {name, [=] {
            const Options options{.buffer_size = 2, .timeouts = {Timeouts::Kind::equal, 4}};
            Counts counts;
            FifoBuffer component(options, counts, 0);
            Cycle now = 0;
            take_row(component, buffer::rows, one, 1, [&](std::string_view what) {
              if (what == ">") {
                component.step_output(component.packet_out().word ? Status::open : Status::free, now);
              } else {
                component.step_input(wire(what[0]), now++);
              }
            });
          }};
}

INSTANTIATE_TEST_SUITE_P(
    OfFifoBuffer, CareRow,
    testing::Values(
        row("free_DNF_open", {State::free, When::dnf, "t", State::open, Status::open}),
        row("free_DF_wait", {State::free, When::df, "tE.t", State::wait, Status::wait}),
        row("open_F_wait", {State::open, When::f, "tdd", State::wait, Status::wait}),
        row("wait_NF_open", {State::wait, When::nf, "tdd>d", State::open, Status::open}),
        row("open_TNF_done", {State::open, When::tnf, "tE", State::done, Status::free}),
        row("open_TF_done_wait", {State::open, When::tf, "tdE", State::done_wait, Status::wait}),
        row("done_wait_NF_done", {State::done_wait, When::nf, "tdE>.", State::done, Status::free}),
        row("done_TQ_free", {State::done, When::tq, "tE.", State::free, Status::free}),
        row("open_timeout", {State::open, When::timeout, "t....", State::open, Status::abort_request}),
        row("wait_timeout", {State::wait, When::timeout, "tdd..", State::wait, Status::abort_request})),
    name_of);
}  // namespace of_buffer

// -- a net-input of the middle site of three in a line. A token: what comes, and what the net-outputs say that it is connected to: 1 is a first
// wait; all but w and a, that they have taken the word. In the two-event fidelity a third: what they say at the second event.

namespace of_input {
using net_input::State;
using net_input::When;

struct Bench {
  explicit Bench(const Options& given) : options(given), input(1, options, counts) {}

  void latch(char says) {
    for (PortNumber output = 0; output < 3; ++output) {
      const bool is_free = !router.connection_of(output) && says != 'w';
      router.latch(output, is_free
                               ? Router::OutputStatus{}
                               : Router::OutputStatus{status(says), says == '1', says == 'o' || says == '1'});
    }
  }
  /// Of each net-output, the local one first, its own: f free, o open and the word taken, w wait, b open and not taken.
  void step_each(std::string_view says, char what) {
    for (PortNumber output = 0; output < 3; ++output)
      router.latch(output, {status(says[output]), false, says[output] == 'o'});
    input.step(wire(what), router);
  }
  [[nodiscard]] Wire shown(PortNumber output) const { return input.packet_out(output, router); }
  void step(std::string_view token) {
    latch(token[1]);
    input.step(wire(token[0]), router);
    if (token.size() > 2) {
      latch(token[2]);
      input.step_final(router);
    }
  }

  const Options options;
  Counts counts;
  const Preferences preferences{kit::Grid{{3}}, Preferences::one_only};
  Router router{1, preferences};
  NetInput input;
};

Row row(const char* name, const Case<State, When>& one) {
  return {name, [=] {
            const bool by_events = one.when == When::event || one.from == State::final;
            Bench bench({.fidelity = by_events ? Fidelity::two_events : Fidelity::words});
            take_row(bench.input, net_input::rows, one, by_events ? 3 : 2,
                     [&](std::string_view token) { bench.step(token); });
          }};
}

INSTANTIATE_TEST_SUITE_P(
    OfNetInput, CareRow,
    testing::Values(
        row("free_DA_first", {State::free, When::da, "tw", State::first, Status::wait}),
        row("first_S_first", {State::first, When::s, "tw", State::first, Status::wait}),
        row("first_C_open", {State::first, When::c, "tw-f", State::open, Status::open}),
        row("open_W_wait", {State::open, When::w, "tf-w", State::wait, Status::wait}),
        row("wait_O_open", {State::wait, When::o, "tf-w-o", State::open, Status::open}),
        row("open_TR_done", {State::open, When::tr, "tfE1", State::done, Status::open}),
        row("open_WTR_last", {State::open, When::wtr, "tfEw", State::last, Status::wait}),
        row("wait_TR_last", {State::wait, When::tr, "tf-wEw", State::last, Status::wait}),
        row("done_W_last", {State::done, When::w, "tfE1-w", State::last, Status::wait}),
        row("last_O_done", {State::last, When::o, "tfEw-1", State::done, Status::open}),
        row("done_O_free", {State::done, When::o, "tfE1-o", State::free, Status::free}),
        // `open` upstream, or `wait` for as long as the local net-output has not taken the word that is stored.
        row("open_ARM_abort", {State::open, When::arm, "mf-a", State::abort, Status::wait}),
        row("wait_ARM_abort", {State::wait, When::arm, "mf-w-a", State::abort, Status::wait}),
        row("done_ARM_fin_abort", {State::done, When::arm, "mfnoE1-a", State::fin_abort, Status::open}),
        row("last_ARM_fin_abort", {State::last, When::arm, "mfEw-a", State::fin_abort, Status::open}),
        row("abort_TR_fin_abort", {State::abort, When::tr, "mf-aEw", State::fin_abort, Status::wait}),
        row("fin_abort_NW_free", {State::fin_abort, When::nw, "mf-aEw-o", State::free, Status::free}),
        // CA-26: terminators go only if nobody is blocked two event-times later.
        row("done_event_final", {State::done, When::event, "tfwEoo", State::free, Status::free}),
        row("final_W_last", {State::final, When::w, "tfwEow", State::last, Status::wait}),
        row("final_NW_free", {State::final, When::nw, "tfwEow-oo", State::free, Status::free})),
    name_of);

/// CA-10, CA-16, Table A: which terminators go to the local and the remote net-outputs.
TEST(CareNetInput, SendsTheTerminatorsOfItsConnection) {
  using enum Terminator;
  struct Terminators {
    std::string_view script;
    Terminator remote, at_local;
  };
  for (const auto& [script, remote, at_local] :
       {Terminators{"tf-oEo", end_of_packet, none},                 // unicast
        Terminators{"mfnoEo", end_of_packet, abort_packet},         // all-remote
        Terminators{"lfnoEo", end_of_packet, local_end_of_packet},  // some-local
        Terminators{"mfno-aEo", none, end_of_packet},               // aborted here
        Terminators{"mfno-aAo", none, abort_packet},                // aborted here, and upstream
        Terminators{"mfnoAo", abort_packet, abort_packet}}) {       // aborted upstream
    Bench bench({});
    for (std::size_t at = 0; at < script.size(); at += 2) bench.step(script.substr(at, 2));
    EXPECT_TRUE(bench.input.machine().is(State::free)) << script;
    EXPECT_EQ(bench.shown(script[0] == 'l' ? 2 : 1).terminator, remote) << script;
    EXPECT_EQ(bench.shown(local).terminator, at_local) << script;
  }
}

/// 4.5.2: an abort-request is ignored where there is no multicast. CA-14, 1b: of several targets to a single one, if the local output is taken.
TEST(CareNetInput, IgnoresAbortRequestsWhereItDoesNotSplit) {
  Bench bench({});
  bench.step_each("wff", 'm');
  EXPECT_EQ(bench.input.connection(), NetInput::Connection::passthru);
  EXPECT_EQ(bench.router.connections(1), 0b10u);
  bench.step("na");
  bench.step("no");
  EXPECT_TRUE(bench.input.machine().is(State::open));
  EXPECT_EQ(bench.counts.aborts, 0u);
  EXPECT_EQ(bench.router.connections(1), 0b10u) << "the second target goes the same way";
  bench.step("Eo");
  EXPECT_EQ(bench.shown(1).terminator, Terminator::end_of_packet);
  EXPECT_EQ(bench.shown(local).terminator, Terminator::none);
}

/// CA-12, CA-8: while one branch waits, the other gets the word once, and then pads.
TEST(CareNetInput, SendsPadsToBranchesThatDoNotWait) {
  Bench bench({});
  bench.step("mf");
  bench.step("no");
  bench.step("do");
  EXPECT_EQ(bench.shown(1).word.kind, Word::Kind::data);
  bench.step_each("owo", 'd');
  EXPECT_TRUE(bench.input.machine().is(State::wait));
  EXPECT_EQ(bench.input.status_out(), Status::wait);
  EXPECT_EQ(bench.shown(1).word.kind, Word::Kind::data);
  EXPECT_EQ(bench.shown(local).word.kind, Word::Kind::pad);
  EXPECT_EQ(bench.shown(2).word.kind, Word::Kind::pad);
}

/// CA-9: "if none is found, then the connection fails"; 4.5: over the threshold the packet goes to the local net-output.
TEST(CareNetInput, SeeksUntilTheThreshold) {
  Bench bench({.seek_threshold = 3});
  bench.router.connect(2, 1);
  for (int attempt = 0; attempt <= 3; ++attempt) {
    bench.step_each("fbf", 't');
    EXPECT_TRUE(bench.input.machine().is(State::first)) << attempt;
  }
  bench.step_each("fbf", 't');
  EXPECT_TRUE(bench.input.machine().is(State::open));
  EXPECT_EQ(bench.router.connections(1), 0b1u);
  EXPECT_EQ(bench.counts.forced_stores, 1u);
}

/// CA-11, footnote 10: the first target has a net-output, the second gets none: it fails with an :abort-packet, and the local copy stays.
TEST(CareNetInput, FailsPartialFinds) {
  Bench bench({.seek_threshold = 2});
  bench.router.connect(2, 2);
  bench.step_each("ffw", 'm');
  for (const char what : {'n', '-', '-'}) bench.step_each("oow", what);
  EXPECT_TRUE(bench.input.machine().is(State::abort));
  EXPECT_EQ(bench.counts.partial_finds, 1u);
  EXPECT_EQ(bench.shown(1).terminator, Terminator::abort_packet);
  EXPECT_EQ(bench.shown(local).word.value, 0u) << "it has the complete list";
  EXPECT_EQ(bench.router.connections(1), 0b1u);
}
}  // namespace of_input

// -- a net-output. A token: what comes, and what downstream says.

namespace of_output {
using net_output::State;
using net_output::When;

void step(NetOutput& output, std::string_view token) { output.step(wire(token[0]), status(token[1])); }

Row row(const char* name, const Case<State, When>& one) {
  return {name, [=] {
            NetOutput output;
            take_row(output, net_output::rows, one, 2, [&](std::string_view token) { step(output, token); });
          }};
}

INSTANTIATE_TEST_SUITE_P(
    OfNetOutput, CareRow,
    testing::Values(
        row("free_DA_first", {State::free, When::da, "tw", State::first, Status::wait}),
        row("first_free_wait", {State::first, When::f, "tw-f", State::wait, Status::wait}),
        row("wait_O_open", {State::wait, When::o, "tf-o", State::open, Status::open}),
        row("open_W_wait", {State::open, When::w, "tf-o-w", State::wait, Status::wait}),
        row("open_TR_done", {State::open, When::tr, "tf-oEa", State::done, Status::abort_request}),
        row("open_WTR_last", {State::open, When::wtr, "tf-oEw", State::last, Status::wait}),
        row("wait_TR_last", {State::wait, When::tr, "tfEw", State::last, Status::wait}),
        row("done_W_last", {State::done, When::w, "tf-oEa-w", State::last, Status::wait}),
        row("last_O_done", {State::last, When::o, "tfEw-o", State::free, Status::wait}),
        row("done_NW_free", {State::done, When::nw, "tf-oEo", State::free, Status::wait}),
        row("open_AR_open", {State::open, When::ar, "tf-o-a", State::open, Status::abort_request}),
        row("wait_AR_wait", {State::wait, When::ar, "tf-a", State::wait, Status::abort_request}),
        row("done_AR_done", {State::done, When::ar, "tf-oEa-a", State::done, Status::wait}),
        row("last_AR_last", {State::last, When::ar, "tfEw-a", State::last, Status::wait}),
        row("first_AP_free", {State::first, When::ap, "twAw", State::free, Status::free})),
    name_of);

/// CA-26 (5.5): the first wait is marked, for a cycle. 4.7: "when the downstream net-input accepts the packet terminator and responds by asserting
/// 'free, the net-output asserts 'free".
TEST(CareNetOutput, MarksItsFirstWaitAndIsFreeWhenDownstreamHasAnsweredFree) {
  NetOutput output;
  step(output, "tf");
  EXPECT_TRUE(output.is_first_wait());
  step(output, "-w");
  EXPECT_FALSE(output.is_first_wait());
  EXPECT_EQ(output.status_out(), Status::wait);
  for (const char* token : {"-o", "Eo"}) step(output, token);
  EXPECT_EQ(output.packet_out().terminator, Terminator::end_of_packet);
  step(output, "-w");
  EXPECT_EQ(output.status_out(), Status::wait);
  step(output, "-f");
  EXPECT_EQ(output.status_out(), Status::free);
}

/// CA-3, CA-5: an entry of a list that is split is shown when the next one for this output comes, as it is; or when the list is over, as the
/// last one.
TEST(CareNetOutput, HoldsAnEntryUntilItKnowsWhetherItIsTheLast) {
  NetOutput output;
  Wire entry = wire('m');
  entry.list = List::split;
  output.step(entry, Status::free);
  output.step({.list = List::split}, Status::free);
  EXPECT_FALSE(output.packet_out().word);
  output.step(entry, Status::free);
  EXPECT_TRUE(output.packet_out().word.is_target());
  EXPECT_FALSE(output.packet_out().word.last);
  EXPECT_FALSE(output.took());
  output.step(entry, Status::open);
  EXPECT_TRUE(output.took());
  EXPECT_FALSE(output.packet_out().word);
  output.step({.list = List::over}, Status::open);
  EXPECT_TRUE(output.packet_out().word.last);
}
}  // namespace of_output

// -- an operator (4.3, Table A)

/// CA-6: what it serves, what it sends again, and what it says.
TEST(CareOperator, TreatsPacketsByTheirTerminators) {
  struct Expected {
    Terminator terminator;
    std::size_t served;
    std::uint64_t again, discarded;
  };
  for (const auto& [terminator, served, again, discarded] :
       {Expected{Terminator::end_of_packet, 2, 1, 0}, Expected{Terminator::local_end_of_packet, 2, 0, 0},
        Expected{Terminator::abort_packet, 0, 0, 1}}) {
    const Options options{};
    Counts counts;
    Operator one(5, options, counts);
    const auto target = [](NodeNumber site, std::uint32_t at, bool last = false) -> Wire {
      return {.word = {.kind = Word::Kind::target, .last = last, .packet = 9, .value = site, .at = at}};
    };
    one.step_receive(target(5, 1), 10);
    EXPECT_EQ(one.status_out(), Status::open);
    one.step_receive(target(7, 0), 11);
    one.step_receive(target(5, 2, true), 12);
    one.step_receive({.word = {.kind = Word::Kind::data, .packet = 9, .value = 77}}, 13);
    one.step_receive({.terminator = terminator}, 14);
    EXPECT_EQ(one.is_new(), discarded == 0);
    EXPECT_EQ(one.status_out(), discarded == 0 ? Status::wait : Status::free);
    one.step_receive({}, 14 + options.service);
    EXPECT_FALSE(one.is_new());
    EXPECT_EQ(one.status_out(), Status::free);
    ASSERT_EQ(one.delivered().size(), served);
    for (std::size_t i = 0; i < served; ++i) {
      EXPECT_EQ(one.delivered()[i].target, (Target{5, static_cast<std::uint32_t>(i + 1)}));
      EXPECT_EQ(one.delivered()[i].data, std::vector<std::uint32_t>{77});
    }
    EXPECT_EQ(counts.retransmissions, again);
    EXPECT_EQ(counts.discarded, discarded);
    one.step_send(Status::free, 20);
    EXPECT_EQ(one.packet_out().word.is_target(), again == 1);
    if (again == 1) {
      EXPECT_EQ(one.packet_out().word.value, 7u);
      EXPECT_TRUE(one.packet_out().word.last);
    }
  }
}

/// CA-8: pads never reach an operator, and are counted. CA-15: in place of a timer, a limit of consecutive pads.
TEST(CareFifoBuffer, DropsPads) {
  const Options options{.timeouts = {Timeouts::Kind::pads, 3}};
  Counts counts;
  FifoBuffer component(options, counts, 0);
  Cycle now = 0;
  for (const char what : {'t', 'p', 'p', 'd', 'p', 'p', 'p'}) component.step_input(wire(what), now++);
  EXPECT_EQ(counts.dropped_pads, 5u);
  EXPECT_EQ(component.queue().places(), 2u);
  EXPECT_EQ(counts.abort_requests, 0u);
  component.step_input(wire('p'), now);
  EXPECT_EQ(counts.abort_requests, 1u);
}

}  // namespace am::care::state_machines_test
