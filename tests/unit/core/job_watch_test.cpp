// What an onlooker makes of a job's segment: who is stuck since when, what lies in the rings, what ran last. Time is ours.
#include "core/job_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <am/am.hpp>

#include "core/recorder.hpp"
#include "transports/shm/shm_transport.hpp"

namespace am::core {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t patience = 1000;

class JobWatches : public testing::Test {
 protected:
  JobWatches() {
    for (NodeId node = 0; node < 2; ++node)
      card(node).standing.store(static_cast<std::uint32_t>(shm::Standing::joined));
    for (std::size_t id : {std::size_t{3}, std::size_t{4}})
      std::snprintf(segment_->handler_name(id).text, sizeof segment_->handler_name(id).text, "handler_%zu",
                    id);
  }
  shm::NodeCard& card(NodeId node) { return segment_->card(node); }
  void send(NodeId from, NodeId to, impl::HandlerId handler, std::size_t payload = 0) {
    const Transport::Slot slot =
        from == 0 ? zero_.claim(to, Priority::low, payload) : one_.claim(to, Priority::low, payload);
    ASSERT_EQ(slot.status, Status::ok);
    slot.packet->payload_bytes = static_cast<std::uint32_t>(payload);
    const auto header = impl::Header::make(handler, 0, impl::lines_for(payload), 0);
    (from == 0 ? zero_ : one_).commit(slot, header);
    impl::count(segment_->traffic(from)[2 * std::size_t{to}].sent_messages);
  }

  std::shared_ptr<shm::Segment> segment_ = shm::Segment::create(2);
  shm::ShmTransport zero_{segment_, 0};
  shm::ShmTransport one_{segment_, 1};
  JobWatch watch_{*segment_, patience};
};

TEST_F(JobWatches, KeepStillWhileNothingWaits) {
  for (std::uint64_t now = 1; now < 10 * patience; now += patience / 4)
    EXPECT_EQ(watch_.look(now), std::nullopt) << now;
}

TEST_F(JobWatches, ReportAWaitThatLastsThenAfterFourTimesAsLong) {
  card(1).waiting_since_ns = 5;
  std::snprintf(card(1).waiting_for, sizeof card(1).waiting_for, "a test");
  EXPECT_EQ(watch_.look(10), std::nullopt);
  EXPECT_EQ(watch_.look(10 + patience - 1), std::nullopt);
  const auto report = watch_.look(10 + patience);
  ASSERT_TRUE(report);
  EXPECT_THAT(*report, HasSubstr("node 1 has not got on"));
  EXPECT_THAT(*report, HasSubstr("in a test"));
  EXPECT_THAT(*report, Not(HasSubstr("node 0 has not got on")));
  EXPECT_EQ(watch_.look(10 + 4 * patience - 1), std::nullopt);
  EXPECT_TRUE(watch_.look(10 + 4 * patience));
}

TEST_F(JobWatches, ForgetWhatGetsOn) {
  const Recorder recorder(&card(0));
  for (std::uint64_t now = 1; now < 10 * patience; now += patience / 2) {
    const Recorder::Running running(recorder, Priority::low, {RecordedEvent::Kind::low_message, 3, 1, 8});
    EXPECT_EQ(watch_.look(now), std::nullopt) << now;
  }
}

TEST_F(JobWatches, NameTheHandlerThatRunsAndWhatItInterrupts) {
  const Recorder recorder(&card(0));
  const Recorder::Running low(recorder, Priority::low, {RecordedEvent::Kind::low_message, 3, 1, 8});
  EXPECT_EQ(watch_.look(1), std::nullopt);
  EXPECT_THAT(watch_.look(1 + patience).value_or(""),
              HasSubstr("it runs handler handler_3, for a message from node 1"));
  const Recorder::Running high(recorder, Priority::high, {RecordedEvent::Kind::high_message, 4, 0, 8});
  EXPECT_THAT(describe_running(*segment_, 0),
              "handler handler_4, for a message from node 0; it interrupts handler handler_3, for a message "
              "from node 1");
}

TEST_F(JobWatches, SeeMessagesThatNobodyTakes) {
  send(0, 1, 3);
  send(0, 1, 4, 100);
  EXPECT_EQ(watch_.look(1), std::nullopt);
  const auto report = watch_.look(1 + patience);
  ASSERT_TRUE(report);
  EXPECT_THAT(
      *report,
      HasSubstr(
          "from node 0: low 166 of 170 lines free (2 packets, the first for handler_3); high 64 of 64"));
}

TEST_F(JobWatches, FollowARingThroughManyLaps) {
  for (int round = 0; round < 1000; ++round) {
    send(0, 1, 3, round % 7 == 0 ? 1000 : 0);
    send(0, 1, 4);
    EXPECT_THAT(describe_job(*segment_), HasSubstr("2 packets, the first for handler_3")) << round;
    for (int i = 0; i < 2; ++i) {
      one_.progress();
      const Transport::View view = one_.receive(Priority::low);
      ASSERT_TRUE(view);
      one_.release(view);
    }
    one_.progress();
    EXPECT_FALSE(one_.receive(Priority::low));  // and so everything is handed back
    EXPECT_THAT(describe_job(*segment_), Not(HasSubstr("packets"))) << round;
  }
}

TEST_F(JobWatches, TellTheLastEventsAndNoMore) {
  const Recorder recorder(&card(0));
  for (int i = 0; i < 40; ++i)
    const Recorder::Running running(recorder, Priority::low, {RecordedEvent::Kind::low_message, 3, 1, 8});
  { const Recorder::Running running(recorder, Priority::low, {.kind = RecordedEvent::Kind::timelet}); }
  {
    const Recorder::Running running(recorder, Priority::high,
                                    {RecordedEvent::Kind::high_message, 4, 1, 2'000'000});
  }
  EXPECT_THAT(describe_job(*segment_),
              HasSubstr("last events: high handler_4 from 1 (1048575 bytes); a timelet; 30 x low "
                        "handler_3 from 1 (8 bytes)"));
}

TEST(RecordedEvents, SurviveTheirPacking) {
  for (const NodeId from : {0u, 1u, 4095u}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{48}, RecordedEvent::most_bytes}) {
      const RecordedEvent event{RecordedEvent::Kind::high_message, 4095, from, bytes};
      const RecordedEvent copy = RecordedEvent::unpacked(event.packed());
      EXPECT_EQ(copy.kind, event.kind);
      EXPECT_EQ(copy.handler, event.handler);
      EXPECT_EQ(copy.from, from);
      EXPECT_EQ(copy.bytes, bytes);
    }
  }
}

}  // namespace
}  // namespace am::core
