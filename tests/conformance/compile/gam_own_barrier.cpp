// A program for GAM that has a barrier of its own.
#define GAM_NO_LAM_NAMES
#include <am/compat/gam/am.h>

static long barrier(long phase) { return am_barrier() == 0 ? phase + 1 : phase; }

int main() { return barrier(1) == 2 ? 0 : 1; }
