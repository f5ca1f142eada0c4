/* Another old name of GAM's header. */
#ifndef AM_COMPAT_GAM_GAM_H
#define AM_COMPAT_GAM_GAM_H
#include <am/compat/gam/am.h>
#endif
