/* CMMD, the message passing library of the CM-5 (its version 3), for programs in C (C89 to C17, K&R style included) and C++. Its
 * handlers, ports, barriers, reductions, broadcasts and timers are in am/cmam.h, which this file brings.
 *
 * What each call does here, where old descriptions are unsure, and which calls are missing: docs/porting.md. Old sources find this file
 * as <cm/cmmd.h> and <cm/timers.h> with one -I, of the folder am/compat.
 *
 * Calls belong to the node's own thread, in its computation, where nothing else is said.
 */
#ifndef AM_CMMD_H
#define AM_CMMD_H

#include <am/cmam.h>
#include <stdio.h> /* as the original: programs rely on it */

#if defined(__GNUC__)
#pragma GCC system_header
#endif

#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define CMMD_ANY_NODE (-1)
#define CMMD_ANY_TAG (-1)
#define CMMD_DEFAULT_TAG 0
#define CMMD_ERRVAL (-1)
#define CMMD_ERR_NO_RPORTS 1 /* no memory for one message more, in a handler that interrupts */

/* -- messages: a send and the receive that matches it by node and tag, in order ---------------------------------------------------
 * 0, or CMMD_ERRVAL where the receiver's buffer was too small for all: it is full then, and the rest is lost. A message that is shorter
 * than the buffer is no error. Tags are 0 or more.
 */
int CMMD_send(int node, int tag, const void* buffer, int nbytes);         /* as CMMD_send_block */
int CMMD_send_block(int node, int tag, const void* buffer, int nbytes);   /* until it is received */
int CMMD_send_noblock(int node, int tag, const void* buffer, int nbytes); /* copies what it sends */
int CMMD_receive(int node, int tag, void* buffer, int nbytes);
int CMMD_receive_block(int node, int tag, void* buffer, int nbytes);

/* Numbers of messages: from 1 on. The memory is the message's until it is done; handler(&mcb, argument) runs then, as a request's
 * handler or in a call. Receives may be called by the handlers of requests, too; so the sends, where nothing has to be copied. */
typedef int CMMD_mcb;
CMMD_mcb CMMD_send_async(int node, int tag, const void* buffer, int nbytes, void (*handler)(AM_OLD_ANY_),
                         void* argument);
CMMD_mcb CMMD_receive_async(int node, int tag, void* buffer, int nbytes, void (*handler)(AM_OLD_ANY_),
                            void* argument);
int CMMD_msg_done(CMMD_mcb mcb); /* polls */
void CMMD_msg_wait(CMMD_mcb mcb);
void CMMD_free_mcb(CMMD_mcb mcb); /* at any time: a message that is under way goes on. Also in handlers */
int CMMD_all_sends_done(void);    /* these three poll */
int CMMD_all_receives_done(void);
int CMMD_all_msgs_done(void);
void CMMD_all_msgs_wait(void);
int CMMD_mcb_len(CMMD_mcb mcb);   /* of the buffer; these also in handlers */
int CMMD_mcb_bytes(CMMD_mcb mcb); /* of what was sent or received */
int CMMD_mcb_tag(CMMD_mcb mcb);
int CMMD_mcb_node(CMMD_mcb mcb); /* the other one */
int CMMD_mcb_source(CMMD_mcb mcb);
int CMMD_mcb_dest(CMMD_mcb mcb);
void* CMMD_mcb_buffer(CMMD_mcb mcb);
int CMMD_available_sends(void); /* how many more may be under way: INT_MAX, there is no limit but memory */
int CMMD_available_receives(void);
int CMMD_get_errno(void); /* of the last CMMD_ERRVAL without a message: CMMD_ERR_NO_RPORTS; else 0 */

int CMMD_msg_pending(int node, int tag); /* polls; whether one waits, which the next three then tell of */
CMMD_mcb CMMD_mcb_pending(int node, int tag); /* describes it, and does not receive it; 0: none */
int CMMD_bytes_received(void);                /* by the last receive that was waited for, or found done */
int CMMD_msg_sender(void);
int CMMD_msg_tag(void);
int CMMD_bytes_sent(void); /* by the last send that was waited for */

/* Both at once: no order of the two nodes blocks them. The two buffers may be one. */
int CMMD_send_and_receive(int source, int receive_tag, void* receive_buffer, int receive_nbytes,
                          int destination, int send_tag, const void* send_buffer, int send_nbytes); /* TRUE */
int CMMD_swap(int node, void* receive_buffer, int receive_nbytes, const void* send_buffer,
              int send_nbytes); /* 0 */

/* Elements of `size` bytes, `stride` bytes from one's beginning to the next's. What is packed at one end need not be at the other. */
int CMMD_send_v(int node, int tag, const void* buffer, int size, int stride, int count);
int CMMD_send_block_v(int node, int tag, const void* buffer, int size, int stride, int count);
int CMMD_send_noblock_v(int node, int tag, const void* buffer, int size, int stride, int count);
int CMMD_receive_v(int node, int tag, void* buffer, int size, int stride, int count);
int CMMD_receive_block_v(int node, int tag, void* buffer, int size, int stride, int count);
CMMD_mcb CMMD_send_async_v(int node, int tag, const void* buffer, int size, int stride, int count,
                           void (*handler)(AM_OLD_ANY_), void* argument);
CMMD_mcb CMMD_receive_async_v(int node, int tag, void* buffer, int size, int stride, int count,
                              void (*handler)(AM_OLD_ANY_), void* argument);
int CMMD_send_and_receive_v(int source, int receive_tag, void* receive_buffer, int receive_size,
                            int receive_stride, int receive_count, int destination, int send_tag,
                            const void* send_buffer, int send_size, int send_stride, int send_count);
int CMMD_swap_v(int node, void* receive_buffer, int receive_size, int receive_stride, int receive_count,
                const void* send_buffer, int send_size, int send_stride, int send_count);

void CMMD_poll(void);
void CMMD_enable_safety(void); /* arguments are checked in any case */
void CMMD_disable_safety(void);

/* -- scans and reductions ---------------------------------------------------------------------------------------------------------
 * With CMMD_start_bit a scan begins anew on nodes whose bit is set, seen in its direction: exclusive, such a node still has the result
 * of what lies before. With CMMD_segment_bit the bit is set on the lowest node of each segment, whatever the direction, and nothing
 * leaves a segment. What has nothing before it gets 0, the least, the greatest, or all ones (CMMD_combiner_and).
 */
enum { CMMD_upward, CMMD_downward };
enum { CMMD_none, CMMD_start_bit, CMMD_segment_bit };
enum { CMMD_exclusive, CMMD_inclusive };
typedef int CMMD_scan_direction_t;
typedef int CMMD_segment_mode_t;
typedef int CMMD_scan_inclusion_t;
int CMMD_scan_int(int value, CMMD_combiner_t combiner, CMMD_scan_direction_t direction,
                  CMMD_segment_mode_t mode, int bit, CMMD_scan_inclusion_t inclusion);
unsigned CMMD_scan_uint(unsigned value, CMMD_combiner_t combiner, CMMD_scan_direction_t direction,
                        CMMD_segment_mode_t mode, int bit, CMMD_scan_inclusion_t inclusion);
long CMMD_scan_lint(long value, CMMD_combiner_t combiner, CMMD_scan_direction_t direction,
                    CMMD_segment_mode_t mode, int bit, CMMD_scan_inclusion_t inclusion);
unsigned long CMMD_scan_luint(unsigned long value, CMMD_combiner_t combiner, CMMD_scan_direction_t direction,
                              CMMD_segment_mode_t mode, int bit, CMMD_scan_inclusion_t inclusion);
float CMMD_scan_float(float value, CMMD_combiner_t combiner, CMMD_scan_direction_t direction,
                      CMMD_segment_mode_t mode, int bit, CMMD_scan_inclusion_t inclusion);
double CMMD_scan_double(double value, CMMD_combiner_t combiner, CMMD_scan_direction_t direction,
                        CMMD_segment_mode_t mode, int bit, CMMD_scan_inclusion_t inclusion);

/* In two halves, one at a time: the second waits, and does not look at its arguments. */
void CMMD_scan_int_start(int value, CMMD_combiner_t combiner, CMMD_scan_direction_t direction,
                         CMMD_segment_mode_t mode, int bit, CMMD_scan_inclusion_t inclusion);
void CMMD_scan_uint_start(unsigned value, CMMD_combiner_t combiner, CMMD_scan_direction_t direction,
                          CMMD_segment_mode_t mode, int bit, CMMD_scan_inclusion_t inclusion);
void CMMD_scan_lint_start(long value, CMMD_combiner_t combiner, CMMD_scan_direction_t direction,
                          CMMD_segment_mode_t mode, int bit, CMMD_scan_inclusion_t inclusion);
void CMMD_scan_luint_start(unsigned long value, CMMD_combiner_t combiner, CMMD_scan_direction_t direction,
                           CMMD_segment_mode_t mode, int bit, CMMD_scan_inclusion_t inclusion);
void CMMD_scan_float_start(float value, CMMD_combiner_t combiner, CMMD_scan_direction_t direction,
                           CMMD_segment_mode_t mode, int bit, CMMD_scan_inclusion_t inclusion);
void CMMD_scan_double_start(double value, CMMD_combiner_t combiner, CMMD_scan_direction_t direction,
                            CMMD_segment_mode_t mode, int bit, CMMD_scan_inclusion_t inclusion);
int CMMD_scan_int_finish(AM_OLD_ANY_);
unsigned CMMD_scan_uint_finish(AM_OLD_ANY_);
long CMMD_scan_lint_finish(AM_OLD_ANY_);
unsigned long CMMD_scan_luint_finish(AM_OLD_ANY_);
float CMMD_scan_float_finish(AM_OLD_ANY_);
double CMMD_scan_double_finish(AM_OLD_ANY_);
void CMMD_reduce_int_start(int value, CMMD_combiner_t combiner);
void CMMD_reduce_uint_start(unsigned value, CMMD_combiner_t combiner);
void CMMD_reduce_lint_start(long value, CMMD_combiner_t combiner);
void CMMD_reduce_luint_start(unsigned long value, CMMD_combiner_t combiner);
void CMMD_reduce_float_start(float value, CMMD_combiner_t combiner);
void CMMD_reduce_double_start(double value, CMMD_combiner_t combiner);
int CMMD_reduce_int_finish(AM_OLD_ANY_);
unsigned CMMD_reduce_uint_finish(AM_OLD_ANY_);
long CMMD_reduce_lint_finish(AM_OLD_ANY_);
unsigned long CMMD_reduce_luint_finish(AM_OLD_ANY_);
float CMMD_reduce_float_finish(AM_OLD_ANY_);
double CMMD_reduce_double_finish(AM_OLD_ANY_);
int CMMD_scan_done(void); /* polls */
int CMMD_reduce_done(void);

/* `count` elements of `size` bytes; their type is the combiner's. The two may be one. */
void CMMD_reduce_v(const void* source, void* result, CMMD_combiner_t combiner, int size, int count);

/* -- the host, which is node 0 ----------------------------------------------------------------------------------------------------
 * It calls what is left, all others what is right of each pair.
 */
int CMMD_host_node(void);    /* 0 */
void CMMD_enable(void);      /* the host, first of all */
void CMMD_enable_host(void); /* the others */
void CMMD_sync_host_with_nodes(void);
void CMMD_sync_with_host(void);
void CMMD_bc_from_host(void* buffer, int nbytes);
void CMMD_receive_bc_from_host(void* buffer, int nbytes);
/* One block of nbytes for each node, in their order; the host's own is left alone. */
void CMMD_distrib_to_nodes(void* all, int nbytes);
void CMMD_receive_element_from_host(void* buffer, int nbytes);
void CMMD_gather_from_nodes(void* all, int nbytes);
void CMMD_concat_elements_to_host(void* buffer, int nbytes);
/* The result, in which the host's value counts, is the host's; the others get 0. */
int CMMD_reduce_from_nodes_int(int value, CMMD_combiner_t combiner);
int CMMD_reduce_to_host_int(int value, CMMD_combiner_t combiner);
unsigned CMMD_reduce_from_nodes_uint(unsigned value, CMMD_combiner_t combiner);
unsigned CMMD_reduce_to_host_uint(unsigned value, CMMD_combiner_t combiner);
float CMMD_reduce_from_nodes_float(float value, CMMD_combiner_t combiner);
float CMMD_reduce_to_host_float(float value, CMMD_combiner_t combiner);
double CMMD_reduce_from_nodes_double(double value, CMMD_combiner_t combiner);
double CMMD_reduce_to_host_double(double value, CMMD_combiner_t combiner);

/* -- files, and standard output: docs/porting.md says what a mode does here ------------------------------------------------------- */
typedef enum { CMMD_local = 0, CMMD_independent = 1, CMMD_sync_bc = 2, CMMD_sync_seq = 3 } CMMD_file_mode_t;
/* 0, or -1 with errno. All nodes call them together where the mode is, or was, a sync_ one. */
int CMMD_set_io_mode(int descriptor, CMMD_file_mode_t mode);
int CMMD_fset_io_mode(FILE* file, CMMD_file_mode_t mode);
CMMD_file_mode_t CMMD_get_io_mode(int descriptor);
CMMD_file_mode_t CMMD_fget_io_mode(FILE* file);

#ifdef __cplusplus
}
#endif

/* As those of CMAM_4 and its like: a handler of any type, and the arguments behind may be missing. */
#define AM_OLD_ASYNC_(f, node, tag, buffer, nbytes, handler, argument, ...) \
  (f)(node, tag, buffer, nbytes, (void (*)(AM_OLD_ANY_))(handler), argument)
#define AM_OLD_ASYNC_V_(f, node, tag, buffer, size, stride, count, handler, argument, ...) \
  (f)(node, tag, buffer, size, stride, count, (void (*)(AM_OLD_ANY_))(handler), argument)
#define CMMD_send_async(...) AM_OLD_ASYNC_(CMMD_send_async, __VA_ARGS__, 0, 0, 0)
#define CMMD_receive_async(...) AM_OLD_ASYNC_(CMMD_receive_async, __VA_ARGS__, 0, 0, 0)
#define CMMD_send_async_v(...) AM_OLD_ASYNC_V_(CMMD_send_async_v, __VA_ARGS__, 0, 0, 0)
#define CMMD_receive_async_v(...) AM_OLD_ASYNC_V_(CMMD_receive_async_v, __VA_ARGS__, 0, 0, 0)

/* CMAML's sends to the host: call(handler, up to four words) */
#define CMAML_request_tohost(...) AM_OLD_SEND_(CMAML_request, 3, 0, __VA_ARGS__)
#define CMAML_reply_tohost(...) AM_OLD_SEND_(CMAML_reply, 4, 0, __VA_ARGS__)
#define CMAML_rpc_tohost(...) AM_OLD_SEND_(CMAML_rpc, 5, 0, __VA_ARGS__)

#endif
