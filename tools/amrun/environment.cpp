#include "amrun/environment.hpp"

#include <algorithm>
#include <am/error.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "amrun/fault.hpp"
#include "core/settings/settings.hpp"
#include "transports/faults/plan.hpp"

namespace amrun {

bool names_place(std::string_view entry) {
  for (const std::string_view name : {"AM_RANK=", "AM_SIZE=", "AM_HOST_MEMORY_FD=", "AM_JOB="}) {
    if (entry.starts_with(name)) return true;
  }
  return false;
}

void set_variable(const std::string& variable) {
  const std::size_t equals = variable.find('=');
  if (equals == std::string::npos) return;
  setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1,
         1);  // NOLINT(concurrency-mt-unsafe)
}

std::vector<std::string> variables_for_hosts(const char* const* environment,
                                             const std::vector<std::string>& variables) {
  std::vector<std::string> chosen;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::string_view name = entry.substr(0, entry.find('='));
    const bool ours = name.starts_with("AM_") && !names_place(entry) && name != "AM_AGENT";
    const bool wanted = std::ranges::any_of(variables, [&](const std::string& variable) {
      return std::string_view(variable).substr(0, variable.find('=')) == name;
    });
    if (ours || wanted) chosen.emplace_back(entry);
  }
  return chosen;
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
