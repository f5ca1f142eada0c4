/* GAM under its old names: those of <am/gam.h> with am_ before them, the handler types of pSather, and what LAM's header brought:
 * barrier() and splitc_poll(). A program that has a barrier of its own says -DGAM_NO_LAM_NAMES. */
#ifndef AM_COMPAT_GAM_AM_H
#define AM_COMPAT_GAM_AM_H

#include <am/gam.h>

typedef void (*handler_0_t)(vnn_t);
typedef void (*handler_1_t)(vnn_t, long);
typedef void (*handler_2_t)(vnn_t, long, long);
typedef void (*handler_3_t)(vnn_t, long, long, long);
typedef void (*handler_4_t)(vnn_t, long, long, long, long);
typedef void (*handler_df_t)(vnn_t, long, long, double);
typedef void (*handler_t)();

#define am_enable gam_enable
#define am_disable gam_disable
#define am_exit gam_exit
#define am_my_proc gam_my_proc
#define am_procs gam_procs
#define am_max_size gam_max_size
#define am_errno gam_errno
#define am_isalive gam_isalive
#define am_poll gam_poll
#define am_thread_poll gam_poll
#define am_sleep gam_sleep
#define am_barrier gam_barrier
#define am_wait gam_wait
#define am_poll_wait gam_poll_wait
#define am_wait_for gam_wait_for
#define am_dummy gam_dummy
#define am_request_0 gam_request_0
#define am_request_1 gam_request_1
#define am_request_2 gam_request_2
#define am_request_3 gam_request_3
#define am_request_4 gam_request_4
#define am_request_5 gam_request_5
#define am_request_df gam_request_df
#define am_request_fd gam_request_fd
#define am_reply_0 gam_reply_0
#define am_reply_1 gam_reply_1
#define am_reply_2 gam_reply_2
#define am_reply_3 gam_reply_3
#define am_reply_4 gam_reply_4
#define am_reply_5 gam_reply_5
#define am_reply_df gam_reply_df
#define am_reply_fd gam_reply_fd
#define am_reply_xfer gam_reply_xfer
#define am_store gam_store
#define am_store_async gam_store_async
#define am_get gam_get

#define AM_PROCS gam_procs()
#define AM_MY_PROC gam_my_proc()

#ifndef GAM_NO_LAM_NAMES
#define barrier() gam_barrier()
#define splitc_poll() gam_poll()
#endif

#endif
