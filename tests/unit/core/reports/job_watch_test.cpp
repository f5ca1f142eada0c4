// What an onlooker makes of a job's segment: who is stuck since when, what lies in the rings, what ran last. Time is ours.
#include "core/reports/job_watch.hpp"

#include <gmock/gmock.h>
#include <am/am.hpp>

#include "core/reports/card_words.hpp"
#include "core/reports/recorder.hpp"
#include "transports/shm/shm_transport.hpp"

namespace am::core::job_watch_test {

using namespace testing;

constexpr std::uint64_t patience = 1000;
constexpr RecordedEvent low_from_1{RecordedEvent::Kind::low_message, 3, 1, 8};
constexpr RecordedEvent posted_work{.kind = RecordedEvent::Kind::posted};
using Running = Recorder::Running;
using impl::Level;

class JobWatches : public testing::Test {
 protected:
  JobWatches() {
    for (NodeId node = 0; node < 2; ++node)
      card(node).standing.store(static_cast<std::uint32_t>(host::Standing::joined));
    for (std::size_t id : {std::size_t{3}, std::size_t{4}})
      std::snprintf(memory_->board().handler_name(id).text, sizeof memory_->board().handler_name(id).text,
                    "handler_%zu", id);
  }
  host::NodeCard& card(NodeId node) { return memory_->board().card(node); }
  void send(NodeId from, NodeId to, impl::HandlerId handler, std::size_t payload = 0) {
    const Transport::Slot slot =
        from == 0 ? zero_.claim(to, Priority::low, 0, payload) : one_.claim(to, Priority::low, 0, payload);
    ASSERT_EQ(slot.status, Status::ok);
    slot.packet->payload_bytes = static_cast<std::uint32_t>(payload);
    const auto header = impl::Header::make(handler, 0, 0, payload != 0 ? impl::flag::payload : 0);
    (from == 0 ? zero_ : one_).commit(slot, header);
  }

  /// What it says at `now`, having looked as often as it asks for since it looked last.
  std::string look_until(std::uint64_t now) {
    std::string said;
    for (; now_ < now; now_ += std::min(now - now_, watch_.interval_ns())) said += look(now_);
    return said + look(now_);
  }
  std::string look(std::uint64_t now) {
    return text_of([&](TextOut& out) { watch_.look(now, out); });
  }
  std::string job() {
    return text_of([&](TextOut& out) { describe_job(out, job_); });
  }
  /// Whether something waited for node 1, which takes it.
  bool take() {
    one_.progress();
    const Transport::View view = one_.receive(Priority::low);
    if (view) one_.release(view);
    return bool(view);
  }
  std::string running(NodeId node) {
    return text_of([&](TextOut& out) { describe_running(out, job_, node); });
  }

  std::uint64_t now_ = 10;
  std::shared_ptr<host::Memory> memory_ = host::Memory::create(2);
  Onlooker job_{memory_};
  shm::ShmTransport zero_{memory_, 0, impl::watch::on, true};
  shm::ShmTransport one_{memory_, 1, impl::watch::on, true};
  JobWatch watch_{job_, patience};
};

void wait_in_a_test(host::NodeCard& card) { publish_wait(card, "a test", 5); }

TEST_F(JobWatches, ReportAWaitThatLastsThenAfterFourTimesAsLong) {
  wait_in_a_test(card(1));
  EXPECT_EQ(look_until(10 + patience - 1), "");
  const std::string report = look_until(10 + patience);
  EXPECT_THAT(report, HasSubstr("node 1 has made no progress"));
  EXPECT_THAT(report, HasSubstr("in a test"));
  EXPECT_THAT(report, Not(HasSubstr("node 0 has made no progress")));
  EXPECT_EQ(look_until(10 + 4 * patience - 1), "");
  EXPECT_NE(look_until(10 + 4 * patience), "");
  EXPECT_EQ(look_until(10 + 16 * patience - 1), "");
  EXPECT_NE(look_until(10 + 16 * patience), "");
}

TEST_F(JobWatches, OfSeveralOneReportsEachStandstillOfEachNode) {
  JobWatch other(job_, patience);
  std::string others;
  wait_in_a_test(card(0));
  std::string said;
  for (; now_ <= 10 + 3 * patience; now_ += patience / 4) {
    if (now_ == 10 + patience / 2) wait_in_a_test(card(1));
    said += look(now_);
    others += text_of([&](TextOut& out) { other.look(now_ + patience / 8, out); });
  }
  const auto times = [](const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  for (const char* node : {"watchdog: node 0 has", "watchdog: node 1 has"})
    EXPECT_EQ(times(said + others, node), 1) << node << "\n" << said << others;
}

TEST_F(JobWatches, DoNotCountTheTimeInWhichTheyWereStopped) {
  wait_in_a_test(card(1));
  EXPECT_EQ(look_until(10 + patience / 2), "");
  now_ += 100 * patience;
  EXPECT_EQ(look_until(now_ + patience / 8), "");
  EXPECT_NE(look_until(now_ + patience), "");
}

TEST_F(JobWatches, ForgetWhatGetsOn) {
  const Recorder recorder(card(0), true);
  for (int i = 0; i < 20; ++i) {
    const Running running(recorder, Level::low, low_from_1);
    EXPECT_EQ(look_until(now_ + patience / 2), "") << i;
  }
}

TEST_F(JobWatches, SeeThatALongMessageIsTaken) {
  wait_in_a_test(card(1));
  for (int i = 0; i < 20; ++i) {
    send(0, 1, 3, 100);
    EXPECT_TRUE(take());  // a piece: no event
    EXPECT_EQ(look_until(now_ + patience / 2), "") << i;
  }
}

TEST_F(JobWatches, NameTheHandlerThatRunsAndWhatItInterrupts) {
  const Recorder recorder(card(0), true);
  const Running posted(recorder, Level::computation, posted_work);
  const Running low(recorder, Level::low, low_from_1);
  wait_in_a_test(card(0));
  EXPECT_THAT(look_until(10 + patience),
              ContainsRegex("it runs handler handler_3, for a message from node 1; it interrupts posted work "
                            "\\(in a test, for [0-9]+ ms\\)\n"));
  const Running high(recorder, Level::high,
                     {RecordedEvent::Kind::high_message, RecordedEvent::default_handler, 0, 8});
  EXPECT_EQ(running(0),
            "the default handler, for a message from node 0; it interrupts handler handler_3, for a message "
            "from node 1; it interrupts posted work");
}

TEST_F(JobWatches, NameTheHandlerOfANodeThatRecordsNothing) {
  send(0, 1, 4);
  card(1).mapped_at = one_.rings().mapped_at();
  one_.progress();
  const Transport::View view = one_.receive(Priority::low);
  HandledMessages(card(1)).set(Priority::low, *view.packet);
  EXPECT_EQ(running(1), "handler handler_4, for a message from node 0");
  HandledMessages(card(1)).set(Priority::low, *view.packet, HandledMessages::by_default_handler);
  EXPECT_EQ(running(1), "the default handler, for a message from node 0");
  HandledMessages(card(1)).clear(Priority::low);
  EXPECT_EQ(running(1), "");
}

TEST_F(JobWatches, NameRareEventsAndWhatIsGoneOnWithAfterThem) {
  for (const bool records : {false, true}) {
    const Recorder recorder(card(0), records);
    {
      const Running posted(recorder, Level::computation, posted_work);
      {
        const Running told(recorder, Level::computation,
                           {.kind = RecordedEvent::Kind::peer_death, .from = 1});
        EXPECT_THAT(running(0), HasSubstr("a peer-death function"));
      }
      EXPECT_EQ(running(0), "posted work");
      const Running low(recorder, Level::low, {.kind = RecordedEvent::Kind::timelet});
      EXPECT_EQ(running(0), "a timelet; it interrupts posted work");
    }
    EXPECT_EQ(running(0), "");
    EXPECT_EQ(job().find("last events") != std::string::npos, records);
  }
}

TEST_F(JobWatches, SayNothingOfAMessageOutsideTheRings) {
  static const impl::Packet elsewhere{};
  HandledMessages(card(1)).set(Priority::high, elsewhere);
  for (const std::uint64_t mapped_at : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    card(1).mapped_at = mapped_at;
    EXPECT_EQ(running(1), "");
  }
  card(1).mapped_at = reinterpret_cast<std::uintptr_t>(&elsewhere) + 8;  // as if it lay before the segment
  EXPECT_EQ(running(1), "");
}

TEST_F(JobWatches, SayNothingOfNodesThatHaveLeftOrNotJoined) {
  for (const host::Standing standing : {host::Standing::left, host::Standing::absent}) {
    JobWatch watch(job_, patience);
    card(0).reported.store(0);
    card(1).standing.store(static_cast<std::uint32_t>(standing));
    card(1).wait_status.store(3 << 8);  // exit code 3, as its launcher would say
    wait_in_a_test(card(0));
    std::string said;
    for (std::uint64_t now = 10; now <= 10 + 2 * patience; now += patience / 4)
      said += text_of([&](TextOut& out) { watch.look(now, out); });
    EXPECT_THAT(said, HasSubstr("node 0 has made no progress"));
    EXPECT_THAT(said, Not(HasSubstr("node 1 has made no progress")));
    EXPECT_THAT(said,
                HasSubstr(standing == host::Standing::left ? "node 1 has left the job with exit code 3\n"
                                                           : "node 1 has not joined\n"));
  }
}

TEST_F(JobWatches, ReportADeathOnce) {
  EXPECT_TRUE(may_report_death(memory_->board(), 1));
  EXPECT_FALSE(may_report_death(memory_->board(), 1));
}

TEST_F(JobWatches, FollowARingThroughManyLaps) {
  for (int round = 0; round < 1000; ++round) {
    send(0, 1, 3, round % 7 == 0 ? 1000 : 0);
    send(0, 1, 4);
    EXPECT_THAT(job(), HasSubstr("2 packets, the first for handler_3")) << round;
    EXPECT_TRUE(take());
    EXPECT_THAT(job(), HasSubstr("(1 packet, the first for handler_4)")) << round;
    EXPECT_TRUE(take());
    EXPECT_FALSE(take());  // and so everything is handed back
    EXPECT_THAT(job(), Not(HasSubstr("packet"))) << round;
  }
}

TEST(RecordedEvents, SurviveTheirPacking) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{48}, RecordedEvent::most_bytes}) {
    const RecordedEvent event{RecordedEvent::Kind::high_message, 4095, 4094, bytes};
    const auto [kind, handler, from, its_bytes] = RecordedEvent::unpacked(event.packed());
    EXPECT_TRUE(kind == event.kind && handler == 4095 && from == 4094 && its_bytes == bytes) << bytes;
  }
}

}  // namespace am::core::job_watch_test
