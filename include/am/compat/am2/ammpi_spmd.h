/* The old name of <am/am2.h>, its AMX_SPMD part. */
#ifndef AM_COMPAT_AM2_AMMPI_SPMD_H
#define AM_COMPAT_AM2_AMMPI_SPMD_H
#include <am/am2.h>
#endif
