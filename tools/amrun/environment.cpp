#include "amrun/environment.hpp"

#include <am/error.hpp>
#include <string>
#include <vector>

#include "amrun/fault.hpp"
#include "core/settings/settings.hpp"
#include "transports/faults/plan.hpp"

namespace amrun {

bool names_place(std::string_view entry) {
  for (const std::string_view name : {"AM_RANK=", "AM_SIZE=", "AM_HOST_MEMORY_FD="}) {
    if (entry.starts_with(name)) return true;
  }
  return false;
}

void check_settings(const char* const* environment) {
  std::vector<const char*> passed_on;
  for (; *environment != nullptr; ++environment) {
    if (!names_place(*environment)) passed_on.push_back(*environment);
  }
  passed_on.push_back(nullptr);
  std::string where;
  try {
    const am::core::Settings settings = am::core::read_settings(passed_on.data());
    where = "AM_FAULTS: ";
    static_cast<void>(am::faults::parse_plan(settings.faults));
  } catch (const am::Error& error) {
    throw Fault(wrong_usage, where + error.why() + " (" + error.remedy() + ")");
  }
}

}  // namespace amrun
