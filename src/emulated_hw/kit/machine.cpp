#include "emulated_hw/kit/machine.hpp"

#include <algorithm>
#include <stdexcept>

namespace am::kit {

bool Machine::cannot_go_on(Cycle patience) {
  constexpr Cycle while_programs_run = 100;  // times as long
  const Cycle quiet = std::min(now() - busy_at_, still_for());
  if (quiet <= patience) return false;
  if (all_sleep()) return true;
  if (!messages_are_under_way() && quiet <= while_programs_run * patience) return false;
  if (!is_busy_for(patience)) return true;
  busy_at_ = now();
  return false;
}

void Machine::throw_who_waits() const {
  throw std::runtime_error(
      std::string(name_) +
      (messages_are_under_way() ? ": nothing has moved for " : ": no message has been under way for ") +
      std::to_string(still_for()) + " cycles:\n" + who_waits());
}

}  // namespace am::kit
