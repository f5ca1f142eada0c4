// Macros that other libraries leave behind, with names that libam has as well: Xlib's, and Qt's.
#define Status int
#define None 0L
#define Success 0
#define slots
#define signals public
#define emit
#include <am/am2.h>
#include <am/cmam.h>
#include <am/gam.h>
#include <am/am.hpp>
#include <am/logp.hpp>
#include <am/splitc.hpp>
#include <type_traits>

static_assert(std::is_same_v<Status, int>, "and they are left as they were");
#undef Status
static_assert(am::to_string(am::Status::again) == "again");
