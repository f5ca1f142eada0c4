/* Programs that were written for AMMPI: <am/am2.h>, and what that header brought along. */
#ifndef AM_COMPAT_AM2_AMMPI_H
#define AM_COMPAT_AM2_AMMPI_H
#include <am/am2.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#endif
