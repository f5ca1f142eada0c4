#include "emulated_hw/mmachine/send_instructions.hpp"

#include <gtest/gtest.h>

namespace am::mmachine::send_instructions_test {

using enum PointerType;
using enum Privilege;

Word pointer(PointerType type) { return setptr(system, pointer_bits(type, 4, 0x9000)).word; }
const std::optional<SendException> none;

/// The rows of Table 3.1, of which each has two instructions, and what a name says by its letters: {i|f} snd, the priority, p, nt, o. The text
/// says of the rows: messages of priority 1 are always consumed, and so are not throttled, users are subject to flow control (3.3), and only
/// priority 0 is translated (4.2.2).
TEST(SendInstructions, AreTheRowsOfTheTable) {
  constexpr std::array<std::string_view, 8> rows = {"snd0",    "snd0o",    "snd0p",   "snd0po",
                                                    "snd0pnt", "snd0pnto", "snd1pnt", "snd1pnto"};
  ASSERT_EQ(send_instructions.size(), 2 * rows.size());
  for (std::size_t i = 0; i < send_instructions.size(); ++i) {
    const SendInstruction& send = send_instructions[i];
    const std::string_view row = rows[i / 2];
    const auto says = [row](std::string_view word) { return row.find(word) != std::string_view::npos; };
    EXPECT_EQ(send.name, (send.is_floating ? "f" : "i") + std::string(row));
    EXPECT_EQ(send.is_floating, i % 2 == 1) << send.name;
    EXPECT_EQ(send.priority, says("1") ? 1 : 0) << send.name;
    EXPECT_EQ(send.is_physical, says("p")) << send.name;
    EXPECT_EQ(send.is_throttled, !says("nt")) << send.name;
    EXPECT_EQ(send.is_ordered, says("o")) << send.name;
    EXPECT_EQ(may_use(user, send), i < 4) << send.name;
    EXPECT_TRUE(may_use(system, send)) << send.name;
  }
  EXPECT_EQ(send_instruction(Send::isnd0).name, "isnd0");
  EXPECT_EQ(send_instruction(Send::fsnd0o).name, "fsnd0o");
  EXPECT_EQ(send_instruction(Send::isnd0pnto).name, "isnd0pnto");
  EXPECT_EQ(send_instruction(Send::fsnd1pnto).name, "fsnd1pnto");
}

TEST(SendInstructions, OfTheSystemAreRefusedToUsers) {
  for (const SendInstruction& send : send_instructions) {
    if (!send.is_physical) continue;
    EXPECT_EQ(check_send(send, user, Word{5}, pointer(execute_message)), SendException::permission_violation);
    EXPECT_EQ(check_send(send, user, {}, {}), SendException::permission_violation) << "before all else";
    EXPECT_EQ(check_send(send, system, Word{5}, pointer(execute_message)), none);
    EXPECT_EQ(check_send(send, system, pointer(read_write), pointer(execute_message)),
              SendException::bad_destination)
        << "a pointer is no node";
  }
}

TEST(SendInstructions, OfUsersGoToPointersAlone) {
  const Word handler = pointer(execute_message);
  for (const Send kind : {Send::isnd0, Send::fsnd0, Send::isnd0o, Send::fsnd0o}) {
    const SendInstruction& send = send_instruction(kind);
    for (const Privilege privilege : {user, system}) {
      const auto raised = [&](const Word& destination) {
        return check_send(send, privilege, destination, handler);
      };
      for (const PointerType type :
           {read_only, read_write, execute_user, execute_system, enter_user, enter_system, execute_message})
        EXPECT_EQ(raised(pointer(type)), none);
      EXPECT_EQ(raised({pointer(read_write).bits, false}), SendException::bad_destination);
      EXPECT_EQ(raised(lea(user, pointer(read_write), -0x20000).word), SendException::bad_destination);
      EXPECT_EQ(raised(pointer(PointerType{9})), SendException::bad_destination);
    }
  }
}

TEST(SendInstructions, OfUsersNameTrustedHandlersAlone) {
  const SendInstruction& send = send_instruction(Send::isnd0);
  const auto raised = [&](Privilege privilege, const Word& handler) {
    return check_send(send, privilege, pointer(read_write), handler);
  };
  EXPECT_EQ(raised(user, pointer(execute_message)), none);
  EXPECT_EQ(raised(system, pointer(execute_message)), none);
  for (const PointerType type : {execute_user, execute_system, enter_user, enter_system}) {
    EXPECT_EQ(raised(user, pointer(type)), SendException::bad_handler);
    EXPECT_EQ(raised(system, pointer(type)), none);
  }
  for (const Privilege privilege : {user, system}) {
    for (const PointerType type : {errval, read_only, read_write, PointerType{8}})
      EXPECT_EQ(raised(privilege, pointer(type)), SendException::bad_handler);
    EXPECT_EQ(raised(privilege, {pointer(execute_message).bits, false}), SendException::bad_handler);
    EXPECT_EQ(raised(privilege, injected(pointer(execute_message))),
              privilege == user ? SendException::bad_handler : none)
        << "what was injected is no user's HandlerIP any more";
    EXPECT_EQ(check_send(send, privilege, {}, {}), SendException::bad_destination) << "in this order";
  }
}

TEST(SendInstructions, PhysicalDestinationsAreNodes) {
  EXPECT_EQ(place_of(7 << 5 | 3), (NodePlace{3, 7}));
  EXPECT_EQ(place_of(~std::uint64_t{0}), (NodePlace{31, 31})) << "its 10 bits count";
}

}  // namespace am::mmachine::send_instructions_test
