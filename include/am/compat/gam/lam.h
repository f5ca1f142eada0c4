/* Another old name of GAM's header. */
#ifndef AM_COMPAT_GAM_LAM_H
#define AM_COMPAT_GAM_LAM_H
#include <am/compat/gam/am.h>
#endif
