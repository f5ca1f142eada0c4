/* The version of libam. The build takes it from here. For C and C++. */
#ifndef AM_VERSION_H
#define AM_VERSION_H

#define AM_VERSION_MAJOR 0
#define AM_VERSION_MINOR 1
#define AM_VERSION_PATCH 0
#define AM_VERSION "0.1.0"

/* To compare with: AM_VERSION_NUMBER >= 10203 means 1.2.3 or later. */
#define AM_VERSION_NUMBER (AM_VERSION_MAJOR * 10000 + AM_VERSION_MINOR * 100 + AM_VERSION_PATCH)

#endif
