/* CMAM and CMAML under the name by which old sources include them: -I .../am/compat. */
#ifndef AM_COMPAT_CM_CMMD_H
#define AM_COMPAT_CM_CMMD_H
#include <am/cmam.h>
#endif
