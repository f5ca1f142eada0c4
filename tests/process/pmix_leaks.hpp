// To be included by test programs that load libpmix: LeakSanitizer asks this function what not to report.
// libpmix keeps a few allocations of its PMIx_Init until the process ends; ours are reported as ever.
#pragma once

// NOLINTBEGIN(bugprone-reserved-identifier, misc-definitions-in-headers): LeakSanitizer's name, one file each
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libpmix.so\n"; }
// NOLINTEND(bugprone-reserved-identifier, misc-definitions-in-headers)
