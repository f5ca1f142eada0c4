// Drafts: payloads written in place. A draft holds its link until it is committed or dropped; what was written arrives,
// whatever happens in between; a dropped one leaves no trace.

#include "support/job.hpp"

namespace draft_test {

using namespace test;
using Drafts = test::OnEverySubstrate;

struct Got {
  std::uint64_t messages = 0;
  std::uint64_t shorts = 0;
};
void take(am::Request& request, std::uint64_t size, std::uint64_t value, am::Payload payload) {
  check_equal(payload.size(), size, "the size of a payload");
  const bool right = std::ranges::all_of(payload.bytes(), [&](std::byte b) { return b == std::byte(value); });
  check(right, "a byte of a payload is wrong");
  ++request.state<Got>().messages;
}
void take_high(am::Reply& reply, am::Payload payload) {
  const bool right = std::ranges::all_of(payload.bytes(), [](std::byte b) { return b == std::byte{0xff}; });
  check(right, "a byte of a payload is wrong");
  ++reply.state<Got>().messages;
}
void note(am::Request& request) { ++request.state<Got>().shorts; }

am::Draft draft_of(am::Node& node, am::NodeId to, std::size_t size, std::uint64_t value) {
  for (;; test::poll_or_yield(node)) {
    am::Draft draft = node.try_prepare<take>(to, size, size, value);
    if (draft.status() == am::Status::again) continue;
    check_ok(draft.status());
    std::ranges::fill(draft.data(), std::byte(value));
    return draft;
  }
}

TEST_P(Drafts, DroppedOnesLeaveNoTrace) {
  run<Got>(2, [](am::Node& node, Got& got) {
    test::Random random(test::mix(test::seed(), node.id()));
    const am::NodeId to = 1 - node.id();
    const std::uint64_t messages = rounds(10'000);
    for (std::uint64_t sent = 0; sent < messages;) {
      // All ones: bits that look like a header of any lap, where one is not cleared.
      am::Draft draft = draft_of(node, to, random.below(1025), random.one_in(2) ? 0xff : 0x01);
      if (random.one_in(2)) {
        check_ok(draft.commit());
        ++sent;
      }
      const am::Draft dropped = draft_of(node, node.id(), random.below(3000), 0xff);
    }
    node.wait_until([&] { return got.messages == messages; });
    node.barrier();
    check_equal(got.messages, messages, "messages: the dropped ones do not come");
  });
}

TEST(HeldDraft, KeepsOthersOut) {
  test::run_alone<Got>([](am::Node& node, Got& got) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1024}}) {
      am::Draft draft = node.prepare<take>(0, size, size, std::uint64_t{3});
      check_ok(draft.status());
      check(node.try_request<note>(0) == am::Status::again, "a short send while a draft is held");
      check(node.try_prepare<take>(0, 8, std::uint64_t{8}, std::uint64_t{0}).status() == am::Status::again,
            "a second draft");
      for (const std::size_t others : {1, 100, 1024, 5000}) {
        const std::vector<std::byte> bytes(others, std::byte{9});
        check(node.try_request<take>(0, bytes.size(), std::uint64_t{9}, bytes) == am::Status::again,
              "another payload of " + std::to_string(others) + " bytes");
      }
      check_ok(node.try_reply_to<take_high>(0, std::vector<std::byte>(10, std::byte{0xff})),
               "the other priority is free");
      std::ranges::fill(draft.data(), std::byte{3});
      node.poll();
      check_equal(got.messages, 1u, "a poll runs what may run");
      am::Draft moved = std::move(draft);
      check_ok(moved.commit());
      check_ok(node.try_request<note>(0), "free again");
      node.wait_until([&] { return got.messages == 2 && got.shorts == 1; });
      got = {};
    }
  });
}

TEST(HeldDraft, ThatIsLongLetsOthersIn) {
  test::run_alone<Got>([](am::Node& node, Got& got) {
    const std::size_t size = 1025;
    am::Draft draft = node.prepare<take>(0, size, size, std::uint64_t{3});
    std::ranges::fill(draft.data(), std::byte{3});
    check_ok(node.try_request<note>(0), "a short send while a long draft is held");
    check_ok(node.request<note>(0), "one that waits");
    node.wait_until([&] { return got.shorts == 2; });
    check_equal(got.messages, 0u, "the draft is sent by its commit");
    check_ok(draft.commit());
    node.wait_until([&] { return got.messages == 1; });
  });
}

// The ring was full before, so a sleeping node looks for room in it: that must not touch the draft.
TEST(HeldDraft, KeepsItsContentWhileTheNodeSleeps) {
  test::run_alone<Got>([](am::Node& node, Got& got) {
    for (const std::size_t size : {std::size_t{1024}, std::size_t{64}, std::size_t{8}}) {
      got = {};
      std::uint64_t sent = 0;
      while (node.try_request<note>(0) == am::Status::ok) ++sent;
      node.wait_until([&] { return got.shorts == sent; });
      am::Draft draft = draft_of(node, 0, size, 0x77);
      bool woken = false;
      node.on_timelet(node.count() + 20'000'000, [&](am::LowEvent&) { woken = true; });
      node.wait_until([&] { return woken; });
      check(std::ranges::all_of(draft.data(), [](std::byte b) { return b == std::byte{0x77}; }),
            "the draft was changed");
      check_ok(draft.commit());
      node.wait_until([&] { return got.messages == 1; });
    }
  });
}

TEST(DraftDeathTest, CommittedTwice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(test::run_alone<Got>([](am::Node& node, Got&) {
                 am::Draft draft = node.prepare<take>(0, 8, std::uint64_t{8}, std::uint64_t{0});
                 static_cast<void>(draft.commit());
                 static_cast<void>(draft.commit());
               }),
               "committed twice");
}

INSTANTIATE_TEST_SUITE_P(Contract, Drafts, test::cells_of<Drafts>(), test::name_of);

}  // namespace draft_test
