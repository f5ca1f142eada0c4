/* CMMD's timers under the name by which old sources include them: -I .../am/compat. */
#ifndef AM_COMPAT_CM_TIMERS_H
#define AM_COMPAT_CM_TIMERS_H
#include <am/cmmd.h>
#endif
