#include "emulated_hw/mmachine/guarded_pointer.hpp"

#include <gtest/gtest.h>

#include "support/random.hpp"

namespace am::mmachine::guarded_pointer_test {

using enum PointerType;

constexpr std::array types = {errval,     read_only,    read_write,      execute_user,   execute_system,
                              enter_user, enter_system, execute_message, PointerType{8}, PointerType{15}};
constexpr std::uint64_t address_end = std::uint64_t{1} << 54;

Word pointer(PointerType type, unsigned length, std::uint64_t address) {
  return setptr(Privilege::system, pointer_bits(type, length, address)).word;
}
Outcome is_word(const Word& word) { return {.word = word}; }
Outcome raises(Violation why) { return {.violation = why}; }

/// Figure 5-4, by hand.
TEST(GuardedPointer, LiesInItsWordAsInTheFigure) {
  const Word word = pointer(read_write, 0x2a, 0x12345678);
  EXPECT_EQ(word, (Word{0x2a80'0000'1234'5678, true}));
  const auto read = GuardedPointer::of(word);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->type(), read_write);
  EXPECT_EQ(read->length(), 0x2au);
  EXPECT_EQ(read->address(), 0x12345678u);
  EXPECT_EQ(read->word(), word);
  EXPECT_EQ(pointer_bits(PointerType{15}, 63, ~std::uint64_t{0}), ~std::uint64_t{0});
  EXPECT_EQ(pointer_bits(errval, 64, address_end), 0u) << "what does not fit is cut off";
}

TEST(GuardedPointer, ComesOnlyFromATag) {
  const std::uint64_t bits = pointer_bits(read_write, 3, 0x4000);
  EXPECT_EQ(GuardedPointer::of({bits, false}), std::nullopt);
  EXPECT_EQ(setptr(Privilege::user, bits), raises(Violation::privilege));
  EXPECT_EQ(setptr(Privilege::system, bits), is_word({bits, true}));
}

TEST(GuardedPointer, SegmentsArePowersOfTwoThatHoldTheirAddress) {
  const auto of = [](unsigned length, std::uint64_t address) {
    return *GuardedPointer::of(pointer(read_only, length, address));
  };
  EXPECT_EQ(of(0, 0x1fff).segment_begin(), 0x1800u);
  EXPECT_EQ(of(0, 0x1fff).segment_addresses(), 2048u) << "a page, as the GTLB has it";
  static_assert(GuardedPointer::least_log_addresses == Gtlb::page_bits);
  EXPECT_EQ(of(3, 0x1fff).segment_begin(), 0u);
  EXPECT_EQ(of(42, address_end - 1).segment_begin(), address_end / 2);
  for (const unsigned length : {43U, 44U, 63U}) {
    EXPECT_EQ(of(length, address_end - 1).segment_begin(), 0u);
    EXPECT_EQ(of(length, 5).segment_addresses(), address_end) << "all there is";
  }
}

/// By division in a type in which nothing wraps around.
struct Reference {
  __extension__ using Wide = __int128;

  Reference(unsigned length, std::uint64_t address, std::int64_t offset) {
    Wide addresses = 2048;
    for (unsigned i = 0; i < length && addresses < address_end; ++i) addresses *= 2;
    const Wide segment = Wide{address} / addresses;
    target = Wide{address} + offset;
    inside = target >= segment * addresses && target < (segment + 1) * addresses;
  }

  Wide target;
  bool inside;
};

TEST(GuardedPointer, ArithmeticStaysInTheSegment) {
  test::Random random(test::seed());
  std::uint64_t inside = 0;
  constexpr std::uint64_t rounds = 200'000;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const auto length = static_cast<unsigned>(random.below(64));
    const std::uint64_t address = random() >> (10 + random.below(50));
    const auto offset = static_cast<std::int64_t>(random()) >> random.below(64);
    const Reference reference(length, address, offset);
    const Outcome got = lea(Privilege::user, pointer(read_write, length, address), offset);
    ASSERT_FALSE(got.violation);
    if (reference.inside) {
      ++inside;
      ASSERT_EQ(got.word, pointer(read_write, length, static_cast<std::uint64_t>(reference.target)))
          << length << ' ' << address << ' ' << offset;
    } else {
      ASSERT_EQ(fault_of(got.word), Fault::out_of_segment) << length << ' ' << address << ' ' << offset;
      ASSERT_EQ(GuardedPointer::of(got.word)->address(),
                static_cast<std::uint64_t>(reference.target) % address_end);
    }
  }
  EXPECT_GT(inside, rounds / 10);
  EXPECT_LT(inside, rounds - rounds / 10) << "both are tried";
}

TEST(GuardedPointer, ArithmeticEndsAtBothEdges) {
  const Word word = pointer(read_only, 1, 0x5432);  // its segment: 0x5000 to 0x5fff
  EXPECT_EQ(lea(Privilege::user, word, 0xbcd), is_word(pointer(read_only, 1, 0x5fff)));
  EXPECT_EQ(lea(Privilege::user, word, -0x432), is_word(pointer(read_only, 1, 0x5000)));
  EXPECT_EQ(fault_of(lea(Privilege::user, word, 0xbce).word), Fault::out_of_segment);
  EXPECT_EQ(fault_of(lea(Privilege::user, word, -0x433).word), Fault::out_of_segment);
  for (const std::int64_t offset : {INT64_MAX, INT64_MIN, INT64_MIN + 0x432}) {
    EXPECT_EQ(fault_of(lea(Privilege::system, word, offset).word), Fault::out_of_segment)
        << "the system's arithmetic is no other";
  }
}

/// What went wrong is told where the result is used, not where it comes from; nor does it come back.
TEST(GuardedPointer, AnErrorValueFaultsWhereItIsUsed) {
  const Word error = lea(Privilege::user, pointer(read_write, 0, 0), -1).word;
  EXPECT_EQ(lea(Privilege::user, error, 1), is_word(error));
  EXPECT_EQ(check_load(error), Violation::error_value);
  EXPECT_EQ(check_store(error), Violation::error_value);
  EXPECT_EQ(jump(Privilege::system, error).violation, Violation::error_value);
}

/// What each type permits; of the 16 codes eight are none.
TEST(GuardedPointer, DoesWhatItsTypeSays) {
  using enum Privilege;
  constexpr auto wrong_type = Violation::wrong_type;
  const auto to = [](PointerType type) { return pointer(type, 4, 0x9000); };
  const auto goes_on = [&](PointerType type, Privilege as) { return Jumped{to(type), as, {}}; };
  const auto stops = [](Violation why) { return Jumped{.violation = why}; };
  const Jumped is_none = stops(wrong_type), as_user = goes_on(execute_user, user),
               as_system = goes_on(execute_system, system);
  const struct {
    PointerType type;
    bool user_moves, system_moves, is_read, is_written;
    Jumped user_jumps, system_jumps;
  } rows[] = {
      {read_only, true, true, true, false, is_none, is_none},
      {read_write, true, true, true, true, is_none, is_none},
      {execute_user, true, true, false, false, as_user, as_user},
      {execute_system, true, true, false, false, stops(Violation::privilege), as_system},
      {enter_user, false, true, false, false, as_user, as_user},
      {enter_system, false, true, false, false, as_system, as_system},
      {execute_message, false, true, false, false, is_none, is_none},
      {PointerType{8}, false, false, false, false, is_none, is_none},
      {PointerType{15}, false, false, false, false, is_none, is_none},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(static_cast<int>(row.type));
    const Word word = to(row.type);
    const Outcome moved = is_word(pointer(row.type, 4, 0x9008));
    EXPECT_EQ(lea(user, word, 8), row.user_moves ? moved : raises(wrong_type));
    EXPECT_EQ(lea(system, word, 8), row.system_moves ? moved : raises(wrong_type));
    EXPECT_EQ(check_load(word), row.is_read ? std::nullopt : std::optional(wrong_type));
    EXPECT_EQ(check_store(word), row.is_written ? std::nullopt : std::optional(wrong_type));
    EXPECT_EQ(check_use(word).has_value(), static_cast<unsigned>(row.type) >= pointer_types);
    EXPECT_EQ(jump(user, word), row.user_jumps);
    EXPECT_EQ(jump(system, word), row.system_jumps);
    const Word untagged{word.bits, false};
    EXPECT_EQ(lea(system, untagged, 8), raises(Violation::not_a_pointer));
    EXPECT_EQ(check_load(untagged), Violation::not_a_pointer);
    EXPECT_EQ(check_store(untagged), Violation::not_a_pointer);
    EXPECT_EQ(jump(system, untagged), stops(Violation::not_a_pointer));
  }
  EXPECT_TRUE(check_use(pointer(errval, 1, 0)));
}

TEST(GuardedPointer, AHandlerBecomesExecutableWhenItIsInjected) {
  const Word handler = pointer(execute_message, 4, 0x9010);
  EXPECT_EQ(jump(Privilege::system, handler).violation, Violation::wrong_type) << "not before";
  EXPECT_EQ(injected(handler), pointer(execute_system, 4, 0x9010));
  EXPECT_FALSE(jump(Privilege::system, injected(handler)).violation);
  const Word no_pointer{handler.bits, false};
  EXPECT_EQ(injected(no_pointer), no_pointer);
  for (const PointerType type : types) {
    if (type == execute_message) continue;
    const Word word = pointer(type, 4, 0x9010);
    EXPECT_EQ(injected(word), word);
  }
}

/// The table in 4.3.1, by hand.
TEST(GuardedPointer, ANetParityFaultIsAnErrorValue) {
  const NetParityFault fault{
      .count = 0xa5, .priority = 1, .ordered = false, .argument_count = 9, .sender = {.x = 3, .y = 30}};
  const Word word = errval_of(fault);
  const std::uint64_t kind = static_cast<std::uint64_t>(Fault::net_parity) << 54;
  EXPECT_EQ(word, (Word{kind | 0xa5 << 16 | 1 << 15 | 0 << 14 | 9 << 10 | 30 << 5 | 3, true}));
  EXPECT_EQ(check_load(word), Violation::error_value);
  EXPECT_EQ(net_parity_fault_of({word.bits, false}), std::nullopt);
  EXPECT_EQ(net_parity_fault_of(pointer(read_only, 2, 0)), std::nullopt);
  EXPECT_EQ(net_parity_fault_of(lea(Privilege::user, pointer(read_only, 0, 0), -1).word), std::nullopt);
  EXPECT_EQ(fault_of(pointer(errval, 63, 0)), std::nullopt) << "no fault that there is";
  const NetParityFault opposite{
      .count = 0x5a, .priority = 0, .ordered = true, .argument_count = 6, .sender = {.x = 28, .y = 1}};
  for (const NetParityFault& one : {fault, opposite}) EXPECT_EQ(net_parity_fault_of(errval_of(one)), one);
}

}  // namespace am::mmachine::guarded_pointer_test
