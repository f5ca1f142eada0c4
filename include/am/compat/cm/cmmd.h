/* CMMD, with CMAM and CMAML, under the name by which old sources include it: -I .../am/compat. */
#ifndef AM_COMPAT_CM_CMMD_H
#define AM_COMPAT_CM_CMMD_H
#include <am/cmmd.h>
#endif
