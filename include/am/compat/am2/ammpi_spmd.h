/* The old name of AMMPI's part that starts jobs. */
#ifndef AM_COMPAT_AM2_AMMPI_SPMD_H
#define AM_COMPAT_AM2_AMMPI_SPMD_H
#include <am/compat/am2/ammpi.h>
#endif
