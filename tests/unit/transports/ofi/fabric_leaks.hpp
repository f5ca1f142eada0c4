// To be included by test programs that open real providers of libfabric: LeakSanitizer asks this function what not to report.
// Some of libfabric 1.17's (net, ofi_rxd) keep copies of what they were asked for until the process ends. What ours leave open the fake
// provider counts (support/fake_fabric.hpp).
#pragma once

// NOLINTBEGIN(bugprone-reserved-identifier, misc-definitions-in-headers): LeakSanitizer's name, one file each
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libfabric.so\n"; }
// NOLINTEND(bugprone-reserved-identifier, misc-definitions-in-headers)
