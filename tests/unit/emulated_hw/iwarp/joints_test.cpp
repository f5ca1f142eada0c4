// Joint cells of iWarp, where pathways meet: criteria IW-22 to IW-24, IW-47 and IW-49 (Borkar et al. 1990, 6, 8).
#include <gmock/gmock.h>

#include "array.hpp"

namespace am::iwarp::joints_test {

using enum Direction;
using test::Array;
using test::arrival;
using test::count;
using test::message_end;
using test::pathway_end;
using testing::HasSubstr;

Word header(CellNumber cell) { return {Sign{.cell = cell}.data(), Tag::message_begin}; }

/// IW-22, IW-23, IW-24, IW-47, IW-49: Figure 8 in so far as the text has it: pathways from 0 to 1 and from 1 to 5, joint in 1; and 4 to 7,
/// whose joints 6 and 3 are laid here as 4 to 6, 6 to 7, and 2 to 3, 3 to 7.
struct IwarpFigure8 : testing::Test {
  IwarpFigure8() : array(grid_wiring(kit::Grid({{4}, {2}}))), joint(array.network.agent(1)) {
    into = array.open(0, {{x_right, 1}});
    onward = array.open(1, {{y_up, 1}});
    array.run_dry();
    in = array.network.agent(0).output(into->output).to.channel;
  }
  void message(Array::Source* source, CellNumber to, Data first, unsigned words) {
    source->words.push_back(header(to));
    array.send(source, first, words);
    source->words.push_back(message_end);
  }
  Array array;
  CommunicationAgent& joint;
  Array::Source* into = nullptr;
  Array::Source* onward = nullptr;
  Channel in = no_channel;
};

TEST_F(IwarpFigure8, CarriesTwoClassesOfMessagesAtOnce) {
  message(into, 1, 100, 200);
  message(onward, 5, 300, 200);
  array.run(2 * 202 + 40);
  EXPECT_EQ(array.data(1, 0), count(100, 200));
  EXPECT_EQ(array.data(5, 1), count(300, 200)) << "each at the rate of its own bus";
}

TEST_F(IwarpFigure8, ForwardsWhatTheJointDoesNotMatch) {
  joint.link(in, onward->output);
  EXPECT_EQ(joint.input(in).state, Input::State::ends_here);
  message(into, 5, 100, 30);
  array.run_dry();
  EXPECT_EQ(array.data(5, 1), count(100, 30));
  EXPECT_TRUE(array.data(1, 0).empty());
  EXPECT_EQ(joint.posted(Event::message_begin), 0u);
}

TEST_F(IwarpFigure8, SplitsOffWhatIsForTheJointUntilTheLinkIsRestored) {
  joint.watch(Event::message_begin, ~kit::Requests{0});
  joint.link(in, onward->output);
  message(into, 1, 100, 30);
  message(into, 5, 200, 30);
  array.is_deaf[1] = true;
  array.run_dry();
  EXPECT_EQ(joint.posted(Event::message_begin), kit::request(in))
      << "its program is told, and has to take it";
  EXPECT_TRUE(array.data(5, 1).empty());
  EXPECT_EQ(array.network.agent(1).readable(in), 8u);
  std::vector<Word> taken;
  while (taken.empty() || taken.back() != message_end) {
    while (joint.readable(in) != 0 && (taken.empty() || taken.back() != message_end))
      taken.push_back(joint.pop(in));
    array.step();
  }
  EXPECT_EQ(taken.size(), 32u);
  array.run_dry();
  EXPECT_TRUE(array.data(5, 1).empty()) << "it is split";
  joint.restore(in);
  array.run_dry();
  EXPECT_EQ(array.data(5, 1), count(200, 30));
}

/// IW-22, case 3: the program reads the header, and directs the rest of the message to another pathway than the default.
TEST_F(IwarpFigure8, LetsTheProgramDirectAMessage) {
  Array::Source* other = array.open(1, {{x_right, 1}});
  array.run_dry();
  joint.link(in, onward->output);
  into->words.push_back(header(1));
  into->words.push_back({2});  // the next sign of the message's route: by that output
  array.send(into, 100, 40);
  into->words.push_back(message_end);
  message(into, 5, 500, 3);
  array.is_deaf[1] = true;
  array.run_dry();
  EXPECT_EQ(joint.pop(in).tag, Tag::message_begin);
  const Data sign = joint.pop(in).data;
  EXPECT_EQ(sign, 2u);
  joint.push(other->own, header(2));
  while (!joint.may_redirect(other->output)) array.step();
  joint.redirect(in, other->output);
  array.run_dry();
  EXPECT_EQ(array.data(2, 1), count(100, 40)) << "not a word was the program's";
  EXPECT_TRUE(array.data(5, 1).empty());
  joint.restore(in);
  array.run_dry();
  EXPECT_EQ(array.data(5, 1), count(500, 3));
}

/// IW-23 [V]: while a message passes the joint, the joint cannot send by that pathway; and the other way round. Messages do not mix.
TEST_F(IwarpFigure8, LetsOneMessageHaveAPathwayAtATime) {
  joint.link(in, onward->output);
  std::vector<Data> expected;
  for (const bool passes_first : {true, false}) {
    Array::Source* first = passes_first ? into : onward;
    first->words.push_back(header(5));
    array.send(first, 100, 5);
    array.run_dry();
    message(passes_first ? onward : into, 5, 900, 5);
    array.run_dry();
    for (const Data data : count(100, 5)) expected.push_back(data);
    EXPECT_EQ(array.data(5, 1), expected) << "the message under way has no end yet";
    EXPECT_THAT(kit::who_waits(array.network), HasSubstr("wait for the end of another message"));
    EXPECT_EQ(joint.may_redirect(onward->output), !passes_first) << "behind its own words only";
    array.send(first, 105, 5);
    first->words.push_back(message_end);
    array.run_dry();
    for (const Data data : count(105, 5)) expected.push_back(data);
    for (const Data data : count(900, 5)) expected.push_back(data);
    EXPECT_EQ(array.data(5, 1), expected);
    EXPECT_TRUE(joint.may_redirect(onward->output));
  }
}

/// IW-22 [A]: inputs of a joint have the output message by message, in turns with the joint's own; which keeps it where the joint is made
/// within its message.
TEST_F(IwarpFigure8, HasMessagesOfSeveralPathwaysInTurns) {
  Array::Source* other = array.open(2, {{x_left, 1}});
  array.run_dry();
  onward->words.push_back(header(5));
  array.run_dry();
  joint.link(in, onward->output);
  joint.link(array.network.agent(2).output(other->output).to.channel, onward->output);
  for (Data i = 0; i < 4; ++i) {
    message(into, 5, 100, 1);
    message(other, 5, 200, 1);
  }
  array.run_dry();
  EXPECT_TRUE(array.data(5, 1).empty()) << "the joint's own message has no end yet";
  onward->words.push_back(message_end);
  for (Data i = 0; i < 4; ++i) message(onward, 5, 300, 1);
  array.run_dry();
  const std::vector<Data> came = array.data(5, 1);
  ASSERT_EQ(came.size(), 12u);
  for (std::size_t i = 3; i < came.size(); ++i) EXPECT_EQ(came[i], came[i - 3]) << i;
}

/// A pathway that ends within a message that has been redirected gives the other pathway back.
TEST_F(IwarpFigure8, GivesAPathwayBackWhenARedirectedOneEnds) {
  joint.redirect(in, onward->output);
  array.send(into, 100, 5);
  into->words.push_back(pathway_end);
  array.run_dry();
  EXPECT_EQ(array.assigned(), 1u);
  message(onward, 5, 200, 5);
  array.run_dry();
  std::vector<Data> both = count(100, 5);
  for (const Data data : count(200, 5)) both.push_back(data);
  EXPECT_EQ(array.data(5, 1), both);
}

/// IW-47, IW-49: from the join until the first word leaves, 100 ns; a message's header is matched at a joint, 200 ns to the next cell, and
/// costs nothing extra in a cell that is none. Later words cost nothing more.
TEST_F(IwarpFigure8, JoinsInTheTimeOfSection8) {
  array.is_deaf[1] = array.is_deaf[5] = true;
  array.send(into, 100, 8);
  array.run_dry();
  joint.redirect(in, onward->output);
  EXPECT_EQ(arrival(array, 5), costs::join + costs::bus);
  array.run_dry();
  EXPECT_EQ(array.network.agent(5).readable(0) + array.network.agent(5).readable(2), 8u);

  for (const bool is_joint : {false, true}) {
    Array chain(grid_wiring(kit::Grid({{3}})));
    chain.is_deaf[2] = true;
    Array::Source* source = chain.open(0, {{x_right, is_joint ? 1u : 2u}});
    if (is_joint) {
      Array::Source* next = chain.open(1, {{x_right, 1}});
      chain.run_dry();
      chain.network.agent(1).link(chain.network.agent(0).output(source->output).to.channel, next->output);
    }
    chain.run_dry();
    source->words.push_back(header(2));
    EXPECT_EQ(arrival(chain, 2), costs::bus + (is_joint ? costs::match : costs::word) + costs::bus);
  }
}

/// IW-24: messages from 4 to 7 by the joint 6, with the queues of all channels in between as one queue.
TEST_F(IwarpFigure8, JointPathwaysAreOneQueue) {
  Array::Source* first = array.open(4, {{x_right, 2}});
  Array::Source* second = array.open(6, {{x_right, 1}});
  Array::Source* third = array.open(2, {{x_right, 1}});
  Array::Source* fourth = array.open(3, {{y_up, 1}});
  array.run_dry();
  array.network.agent(6).link(array.network.agent(5).output(0).to.channel, second->output);
  array.network.agent(3).link(array.network.agent(2).output(third->output).to.channel, fourth->output);
  array.is_deaf[7] = true;
  message(first, 7, 0, 100);
  message(third, 7, 1000, 50);
  array.run_dry();
  EXPECT_EQ(first->accepted - 1, 8u * 3 + 8) << "three busses, and the source's own channel";
  array.is_deaf[7] = false;
  array.run_dry();
  EXPECT_EQ(array.data(7, 6), count(0, 100));
  EXPECT_EQ(array.data(7, 3), count(1000, 50));
}

/// IW-22: a joint goes back to plain pathways when either of them is dismantled.
TEST_F(IwarpFigure8, DismantlesEachPathwayByItself) {
  joint.link(in, onward->output);
  message(into, 5, 1, 3);
  array.run_dry();
  onward->words.push_back(pathway_end);
  array.run_dry();
  EXPECT_EQ(array.assigned(), 1u);
  message(into, 5, 10, 3);
  array.run_dry();
  EXPECT_EQ(array.data(1, 0), count(10, 3)) << "no default: it is the program's";
  Array::Source* again = array.open(1, {{y_up, 1}});
  array.run_dry();
  joint.link(in, again->output);
  into->words.push_back(pathway_end);
  array.run_dry();
  message(array.open(0, {{x_right, 1}}), 5, 20, 3);
  array.run_dry();
  EXPECT_EQ(array.data(1, 0), (std::vector<Data>{10, 11, 12, 20, 21, 22})) << "another pathway, and no joint";
  for (Array::Source* last : {again, &array.sources.back()}) last->words.push_back(pathway_end);
  array.run_dry();
  EXPECT_EQ(array.assigned(), 0u);
  EXPECT_THROW(joint.link(in, onward->output), std::invalid_argument);
  EXPECT_THROW(joint.redirect(in, onward->output), std::invalid_argument);
}

}  // namespace am::iwarp::joints_test
