/* CMAM and CMAML under the name by which old sources include them: -I .../am/compat. */
#ifndef AM_COMPAT_CMAM_CMAM_H
#define AM_COMPAT_CMAM_CMAM_H
#include <am/cmam.h>
#endif
