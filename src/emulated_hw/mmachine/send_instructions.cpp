#include "emulated_hw/mmachine/send_instructions.hpp"

#include "emulated_hw/mmachine/bits.hpp"

namespace am::mmachine {

namespace {

bool is_destination(const SendInstruction& send, const Word& word) noexcept {
  return send.is_physical ? !word.is_pointer : is_usable_pointer(word);
}

/// What a user names is certified to be safe: ExecuteMessage, which only the system makes.
bool is_handler(Privilege privilege, const Word& word) noexcept {
  const auto pointer = GuardedPointer::of(word);
  if (pointer && pointer->is(PointerType::execute_message)) return true;
  return privilege == Privilege::system && !jump(privilege, word).violation;
}

}  // namespace

std::optional<SendException> check_send(const SendInstruction& send, Privilege privilege,
                                        const Word& destination, const Word& handler_ip) noexcept {
  if (!may_use(privilege, send)) return SendException::permission_violation;
  if (!is_destination(send, destination)) return SendException::bad_destination;
  if (!is_handler(privilege, handler_ip)) return SendException::bad_handler;
  return {};
}

NodePlace physical_destination(const Word& destination) noexcept {
  constexpr std::uint64_t place = (1U << place_bits) - 1;
  return {static_cast<std::uint8_t>(destination.bits & place),
          static_cast<std::uint8_t>(destination.bits >> place_bits & place)};
}

}  // namespace am::mmachine
