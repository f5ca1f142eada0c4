#include "aminfo/doctor.hpp"

#include <am/version.h>
#include <sys/utsname.h>

#include <cstdio>
#include <iterator>
#include <utility>

namespace aminfo {
namespace {

const char* name_of(Level level) {
  switch (level) {
    case Level::ok:
      return "OK";
    case Level::warn:
      return "WARN";
    case Level::fail:
      return "FAIL";
  }
  return "?";
}

void print(const Finding& finding) {
  std::printf("  %-4s  %-15s  %s\n", name_of(finding.level), finding.subject.c_str(), finding.text.c_str());
  if (!finding.mend.empty()) std::printf("        %-15s  mend: %s\n", "", finding.mend.c_str());
}

// Prints as it goes: a check that takes long (a name server that does not answer) leaves the others on the
// screen.
class Report {
 public:
  void add(const Finding& finding) {
    print(finding);
    std::fflush(stdout);
    ++counts_[static_cast<std::size_t>(finding.level)];
  }
  void add(const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) add(finding);
  }
  int count(Level level) const { return counts_[static_cast<std::size_t>(level)]; }

 private:
  int counts_[3] = {};
};

}  // namespace

int run_doctor() {
  utsname machine{};
  uname(&machine);
  std::printf("libam %s on %s, %s %s %s\n", AM_VERSION, machine.nodename, machine.sysname, machine.release,
              machine.machine);
  Report report;
  report.add(check_settings());
  report.add(check_shared_memory());
  report.add(check_kernel());
  report.add(check_limits());
  report.add(check_processors());
  report.add(check_pmix());
  report.add(check_crypto());
  report.add(check_libfabric());
  report.add(check_host_name());
  std::printf("%d OK, %d WARN, %d FAIL\n", report.count(Level::ok), report.count(Level::warn),
              report.count(Level::fail));
  return report.count(Level::fail) == 0 ? 0 : 1;
}

}  // namespace aminfo
