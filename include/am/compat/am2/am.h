/* The old name of <am/am2.h>. */
#ifndef AM_COMPAT_AM2_AM_H
#define AM_COMPAT_AM2_AM_H
#include <am/am2.h>
#endif
