/* The old name of AMUDP's part that starts jobs. */
#ifndef AM_COMPAT_AM2_AMUDP_SPMD_H
#define AM_COMPAT_AM2_AMUDP_SPMD_H
#include <am/compat/am2/amudp.h>
#endif
