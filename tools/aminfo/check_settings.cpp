// Are the AM_ variables of this shell settings of libam, and can their values be read?
#include <unistd.h>

#include <algorithm>
#include <am/error.hpp>
#include <string>

#include "aminfo/doctor.hpp"
#include "core/settings/setting_value.hpp"
#include "core/settings/settings.hpp"
#include "transports/faults/plan.hpp"

namespace aminfo {

void read_all_settings() {
  const am::core::Settings settings = am::core::read_settings(environ);
  try {
    static_cast<void>(am::faults::parse_plan(settings.faults));
  } catch (const am::Error& error) {
    throw am::Error("settings", "AM_FAULTS: " + error.why(), error.remedy());
  }
}

std::vector<Finding> check_settings() {
  const std::string subject = "settings";
  std::vector<Finding> findings;
  for (const auto& unknown : am::core::unknown_settings(environ)) {
    const std::string name = am::core::in_quotes(unknown.name);
    findings.push_back({Level::warn, subject, name + " is not a setting of libam",
                        "unset it, or write the one that is meant, perhaps " + std::string(unknown.nearest)});
  }
  try {
    read_all_settings();
    if (findings.empty())
      findings.push_back({Level::ok, subject, "all AM_ variables are known and well formed", ""});
  } catch (const am::Error& error) {
    findings.push_back({Level::fail, subject, error.why(), error.remedy()});
  }
  return findings;
}

std::uint64_t segment_bytes() {
  am::core::Settings settings;
  try {
    settings = am::core::read_settings(environ);
  } catch (const am::Error&) {  // check_settings reports it
  }
  return std::max<std::uint64_t>(settings.segment_bytes, 4096);
}

}  // namespace aminfo
