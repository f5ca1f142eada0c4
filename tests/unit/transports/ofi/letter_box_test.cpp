// What a letter box does with its buffers, told step by step what a provider would tell it: of buffers that net and ofi_rxm say to be
// used up before all that lies in them has come, or of which nobody learns whether they still have them.
#include "transports/ofi/letter_box.hpp"

#include <gtest/gtest.h>

#include "support/fake_fabric.hpp"

namespace am::ofi::letter_box_test {

constexpr std::size_t letter_room = 8192;
constexpr std::size_t peers = 3;

/// Of a provider of that name.
class LetterBoxes : public testing::TestWithParam<const char*> {
 protected:
  LetterBoxes()
      : fabric_({{.name = GetParam()}}),
        endpoint_(fabric_.library(), choose(fabric_.library(), {.provider = {}, .interfaces = {}})),
        arrivals_(2),
        box_(endpoint_, letter_room) {
    provide();
  }

  void provide(bool told_all = true) { box_.provide(arrivals_, told_all, peers); }

  /// Of the letter that lies in so many bytes from `begin` on. Flags beside FI_RECV.
  LetterBox::Came letter(const test::FakeFabric::Receive& buffer, std::size_t begin, std::size_t bytes,
                         std::uint64_t flags = 0) {
    return box_.came(
        {static_cast<Operation*>(buffer.context), FI_RECV | flags, buffer.at + begin, bytes, 0, 0});
  }
  LetterBox::Came failed(const test::FakeFabric::Receive& buffer, int error, std::byte* at = nullptr) {
    return box_.came({static_cast<Operation*>(buffer.context), FI_RECV, at, 0, error, 0});
  }
  /// Whether the provider has that buffer now.
  [[nodiscard]] bool is_given(const test::FakeFabric::Receive& buffer) const {
    return std::ranges::any_of(fabric_.receives(),
                               [&](const auto& one) { return one.context == buffer.context; });
  }
  /// Another one is full, of letters that have been read.
  void use_up_another() {
    const test::FakeFabric::Receive buffer = fabric_.take_receive();
    static_cast<void>(letter(buffer, 0, buffer.bytes, FI_MULTI_RECV));
  }

  test::FakeFabric fabric_;
  Endpoint endpoint_;
  frames::Arrivals arrivals_;
  LetterBox box_;
};

INSTANTIATE_TEST_SUITE_P(WhatEndsEarly, LetterBoxes, testing::Values("net", "tcp;ofi_rxm"),
                         [](const auto& one) { return one.param[0] == 'n' ? "net" : "rxm"; });

TEST_P(LetterBoxes, HaveABufferBackWhenAllLettersBeforeItsLastHaveCome) {
  const std::size_t before = fabric_.receives().size();
  const test::FakeFabric::Receive buffer = fabric_.take_receive();
  static_cast<void>(letter(buffer, 0, 1000));
  // The last place is told of first; what lies before it is still being written.
  static_cast<void>(letter(buffer, 3000, buffer.bytes - 3000, FI_MULTI_RECV));
  provide();
  EXPECT_FALSE(is_given(buffer)) << "a letter is missing";
  EXPECT_EQ(fabric_.receives().size(), before) << "who sends it holds up nobody";
  static_cast<void>(letter(buffer, 1000, 2000));
  use_up_another();
  provide();
  EXPECT_TRUE(is_given(buffer)) << "all have come";
}

/// Later versions of libfabric say so with the last that came, wherever it lies.
TEST_P(LetterBoxes, HaveABufferBackOfWhichTheLastPlaceCameBefore) {
  const test::FakeFabric::Receive buffer = fabric_.take_receive();
  static_cast<void>(letter(buffer, 1000, buffer.bytes - 1000));
  static_cast<void>(letter(buffer, 0, 1000, FI_MULTI_RECV));
  provide();
  EXPECT_TRUE(is_given(buffer));
}

TEST_P(LetterBoxes, DoNotRunOutOfBuffersWhileLettersAreMissingInAllOfThem) {
  const std::size_t before = fabric_.receives().size();
  for (int round = 0; round < 100; ++round) {
    const test::FakeFabric::Receive buffer = fabric_.take_receive();
    static_cast<void>(letter(buffer, 1000, buffer.bytes - 1000, FI_MULTI_RECV));
    provide();
    ASSERT_EQ(fabric_.receives().size(), before) << round;
  }
}

/// A stranger's: ofi_rxm has thrown it away, with the rest of the buffer.
TEST_P(LetterBoxes, OfRxmHaveABufferBackBehindALetterThatWasTooLong) {
  if (GetParam() != std::string("tcp;ofi_rxm")) GTEST_SKIP() << "net ends its connection";
  const test::FakeFabric::Receive buffer = fabric_.take_receive();
  static_cast<void>(letter(buffer, 1000, 500));
  static_cast<void>(failed(buffer, FI_ETRUNC, buffer.at + 1500));
  provide();
  EXPECT_FALSE(is_given(buffer)) << "the first letter is missing";
  static_cast<void>(letter(buffer, 0, 1000));
  use_up_another();
  provide();
  EXPECT_TRUE(is_given(buffer));
}

TEST_P(LetterBoxes, DoNotGiveABufferAgainInWhichALetterLies) {
  const test::FakeFabric::Receive buffer = fabric_.take_receive();
  LetterBox::Came first = letter(buffer, 0, 1000);
  static_cast<void>(letter(buffer, 1000, buffer.bytes - 1000, FI_MULTI_RECV));
  provide();
  EXPECT_FALSE(is_given(buffer)) << "somebody reads in it";
  first = {};
  use_up_another();
  provide();
  EXPECT_TRUE(is_given(buffer));
}

TEST_P(LetterBoxes, NeverUseABufferAgainOfWhichALetterEndedInTheMiddle) {
  const std::size_t before = fabric_.receives().size();
  const test::FakeFabric::Receive buffer = fabric_.take_receive();
  static_cast<void>(letter(buffer, 0, 1000));
  EXPECT_TRUE(failed(buffer, FI_ECONNRESET).text.empty());
  provide();
  EXPECT_EQ(fabric_.receives().size(), before) << "another one is in its place";
  EXPECT_FALSE(is_given(buffer));
  // Letters of other connections may still come into it, and the last one sets nothing free.
  EXPECT_EQ(letter(buffer, 1000, 500).text.size(), 500u);
  EXPECT_EQ(letter(buffer, 1500, buffer.bytes - 1500, FI_MULTI_RECV).text.size(), buffer.bytes - 1500);
  for (std::size_t i = 0; i < 2 * before; ++i) {
    use_up_another();
    provide();
    ASSERT_FALSE(is_given(buffer));
  }
}

/// It may have had none where it had no more than there are peers, as each may hide one that is used up.
TEST_P(LetterBoxes, OfNetGiveABufferForEachPeerThoughLettersLieInAllOfThem) {
  if (GetParam() != std::string("net")) GTEST_SKIP() << "it hides none";
  for (int round = 0; round < 100; ++round) {
    const test::FakeFabric::Receive buffer = fabric_.take_receive();
    const LetterBox::Came came = letter(buffer, 0, buffer.bytes, FI_MULTI_RECV);
    arrivals_.add(Priority::low, {.from = 1, .frame = came.text.first(64), .block = came.block});
    provide();
    ASSERT_GT(fabric_.receives().size(), peers) << round;
  }
  int left = 0;
  for (; arrivals_.receive(Priority::low) != nullptr; ++left) arrivals_.release(Priority::low);
  EXPECT_EQ(left, 100) << "they were copied out of buffers";
}

}  // namespace am::ofi::letter_box_test
