/* CMAM and CMAML, the Active Messages of the CM-5, for programs in C (C89 to C17, K&R style included) and C++.
 *
 * What each call does here, where old descriptions are unsure, and how to port a program: docs/porting.md. Old sources find this file
 * as <cmam/cmam.h>, <cm/cmmd.h> and <cm/cmaml.h> with one -I, of the folder am/compat.
 *
 * A word is as wide as a pointer. A handler gets four of them: void h(a0, a1, a2, a3), of which it may declare fewer, each an
 * integer or a pointer; what the sender left out is 0. A double counts as one word (two on the CM-5) and may stand anywhere.
 * Handlers are named by their addresses. They lie elsewhere in each process: the library sends where they lie in the program. All
 * nodes run the same build of it. A code address inside other words is not looked at: see docs/porting.md.
 *
 * A program is a node from its first call on (amrun starts several). Calls belong to the node's own thread and to its handlers. Nodes
 * that are threads of one process share the program's globals, and nothing of this library.
 */
#ifndef AM_CMAM_H
#define AM_CMAM_H

#if defined(__GNUC__)
/* macros with a variable number of arguments are newer than C89, and () means anything there */
#pragma GCC system_header
#endif

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define AM_OLD_ANY_ ...
#else
#define AM_OLD_ANY_
#endif

typedef intptr_t am_word;
typedef void (*am_code)(void);

/* -- short messages ------------------------------------------------------------------------------------------------------------
 * call(node, handler, up to four words). None waits for the receiver's handler; each waits while the network is full, and runs
 * handlers meanwhile (in a request handler: those of replies alone). A reply's handler sends nothing.
 *
 * These are macros, which widen each word and supply those that are missing; without them (#undef CMAM_4, or through a pointer) they
 * are functions of six arguments, which a K&R caller may leave out as far as the handler does not look at them.
 */
#ifdef __cplusplus
#define AM_OLD_SEND_ARGUMENTS_ (int node, am_code handler, am_word a0, am_word a1, am_word a2, am_word a3)
#else
#define AM_OLD_SEND_ARGUMENTS_ ()
#endif
void CMAM_4 AM_OLD_SEND_ARGUMENTS_;
void CMAM_request_4 AM_OLD_SEND_ARGUMENTS_;
void CMAM_reply_4 AM_OLD_SEND_ARGUMENTS_;
void CMAML_request AM_OLD_SEND_ARGUMENTS_;
void CMAML_reply AM_OLD_SEND_ARGUMENTS_;
void CMAML_rpc AM_OLD_SEND_ARGUMENTS_;

/* -- polling and waiting ------------------------------------------------------------------------------------------------------ */
void CMAM_poll(void);
void CMAM_request_poll(void);
void CMAM_reply_poll(void);
void CMAM_wait(volatile int* flag, int value); /* polls until *flag >= value, then subtracts value */
void CMAML_poll(void);
void CMAML_request_poll(void);
void CMAML_reply_poll(void);
void CMAML_poll_while_lt(volatile int* flag, int value); /* does not change *flag */
void CMAML_poll_until_gte(volatile int* flag, int value);
void CMAML_poll_while_lt_info(volatile int* flag, int value, void* info);
void CMAML_wait(volatile int* flag, int value);
void CMAML_poll_wait(volatile int* flag, int value);

/* -- segments: memory that a number of bytes is awaited in -------------------------------------------------------------------- */
/* The segment's number, to which offsets are added, or -1. end_xfer(info, base) runs when the bytes are there. */
int CMAM_open_segment(void* base, int nbytes, void (*end_xfer)(AM_OLD_ANY_), void* info);
void CMAM_shorten_segment(int segment, int nbytes); /* that many bytes fewer are awaited */
void CMAM_kill_segment(int segment);                /* closes it; end_xfer does not run */
int CMAM_query_segment(int segment);                /* bytes that are still awaited, 0 where it is closed */
void CMAM_xfer(int node, int segment_and_offset, void* buffer, int nbytes);
void CMAM_reply_xfer(int node, int segment_and_offset, void* buffer, int nbytes);

/* -- interrupts: handlers at any time, or in calls only ----------------------------------------------------------------------- */
void CMAM_enable(void);
void CMAM_disable(void);
void CMAM_enable_interrupt(void);
void CMAM_disable_interrupt(void);
int CMAML_enable_interrupts(void);  /* whether they were on */
int CMAML_disable_interrupts(void); /* whether they were on */
int CMAML_interrupt_status(void);
int CMAML_inside_interrupt_handler(void);
int CMMD_enable_interrupts(void);
int CMMD_disable_interrupts(void);
int CMMD_interrupt_status(void);
int CMMD_inside_interrupt_handler(void);

/* -- receive ports ------------------------------------------------------------------------------------------------------------- */
int CMAML_allocate_rport(void);     /* -1: none is free */
int CMAML_allocate_this_rport(int); /* the port, or -1 */
int CMAML_free_rport(int rport);    /* 0: it is free already */
int CMAML_number_of_rports(void);
int CMAML_number_of_free_rports(void);
void CMAML_set_rport_addr(int rport, void* buffer);
void CMAML_set_rport_byte_counter(int rport, int nbytes);
void CMAML_set_rport_total_nbytes(int rport, int nbytes);
void CMAML_set_rport_handler(int rport, void (*handler)(AM_OLD_ANY_)); /* handler(rport, arg2) */
void CMAML_set_rport_handler_arg2(int rport, void* arg2);
void CMAML_set_rport_esize(int rport, int bytes);
void CMAML_set_rport_estride(int rport, int bytes);
void CMAML_set_rport_ecount(int rport, int elements);
void* CMAML_get_rport_addr(int rport);
int CMAML_get_rport_byte_counter(int rport);
int CMAML_get_rport_total_nbytes(int rport);
am_code CMAML_get_rport_handler(int rport);
void* CMAML_get_rport_handler_arg2(int rport);
int CMAML_get_rport_esize(int rport);
int CMAML_get_rport_estride(int rport);
int CMAML_get_rport_ecount(int rport);
/* 1. sent(sent_argument) runs before it returns, where sent is not null. */
int CMAML_scopy(int node, int rport, int align, int offset, void* buffer, int nbytes,
                void (*sent)(AM_OLD_ANY_), void* sent_argument);

/* -- what programs use of CMMD besides; the rest is in am/cmmd.h ----------------------------------------------------------------- */
int CMMD_self_address(void);
int CMMD_partition_size(void);
void CMMD_sync_with_nodes(void);
void CMMD_sync_with_nodes_start(void);
int CMMD_sync_done(void);
void CMMD_sync_with_nodes_finish(void);
int CMMD_set_global_or(int bit);
int CMMD_get_global_or(void);
/* The initial says of which type the values are where nothing else does (CMMD_reduce_v in am/cmmd.h): none or u ints and longs by the
 * size, d doubles, f floats. Elsewhere the function says it. */
enum {
  CMMD_combiner_add,
  CMMD_combiner_max,
  CMMD_combiner_min,
  CMMD_combiner_ior,
  CMMD_combiner_xor,
  CMMD_combiner_and,
  CMMD_combiner_uadd = 8,
  CMMD_combiner_umax,
  CMMD_combiner_umin,
  CMMD_combiner_dadd = 16,
  CMMD_combiner_dmax,
  CMMD_combiner_dmin,
  CMMD_combiner_fadd = 24,
  CMMD_combiner_fmax,
  CMMD_combiner_fmin
};
typedef int CMMD_combiner_t;
int CMMD_reduce_int(int value, CMMD_combiner_t combiner);
unsigned CMMD_reduce_uint(unsigned value, CMMD_combiner_t combiner);
long CMMD_reduce_lint(long value, CMMD_combiner_t combiner);
unsigned long CMMD_reduce_luint(unsigned long value, CMMD_combiner_t combiner);
float CMMD_reduce_float(float value, CMMD_combiner_t combiner);
double CMMD_reduce_double(double value, CMMD_combiner_t combiner);
void CMMD_bc_to_nodes(void* buffer, int nbytes);
void CMMD_receive_bc_from_node(void* buffer, int nbytes);
void CMMD_concat_with_nodes(void* mine, void* all, int nbytes);
int CMMD_node_timer_clear(int timer);
int CMMD_node_timer_start(int timer);
int CMMD_node_timer_stop(int timer);
double CMMD_node_timer_elapsed(int timer);
double CMMD_node_timer_busy(int timer);
double CMMD_node_timer_idle(int timer);
void CMMD_error(const char* format, ...);

/* -- how the macros come to words ---------------------------------------------------------------------------------------------- */
/* `doubles`: a bit for each word that is one. The words follow, each an am_word or a double. */
void am_cmam_send_doubles(int call, unsigned doubles, int node, am_code handler, ...);

#ifdef __cplusplus
}

/* C++ has no conversion that makes words of everything but leaves a double what it is; this is it. */
template <class T>
inline am_word am_old_value(T value) {
  return (am_word)value;
}
inline double am_old_value(double value) { return value; }
inline double am_old_value(float value) { return value; }
inline unsigned am_old_double(double) { return 1; }
inline unsigned am_old_double(float) { return 1; }
template <class T>
inline unsigned am_old_double(T) {
  return 0;
}
#define AM_OLD_VALUE_(x) am_old_value(x)
#define AM_OLD_DOUBLE_(x) am_old_double(x)
#elif defined(__GNUC__)
#define AM_OLD_DOUBLE_(x)                                           \
  (unsigned)(__builtin_types_compatible_p(__typeof__(x), double) || \
             __builtin_types_compatible_p(__typeof__(x), float))
#define AM_OLD_VALUE_(x) __builtin_choose_expr(AM_OLD_DOUBLE_(x), (x), (am_word)(x))
#else
#define AM_OLD_DOUBLE_(x) 0U
#define AM_OLD_VALUE_(x) (am_word)(x)
#endif

/* By the number of words; five or more do not compile. */
#define AM_OLD_PICK_(node, handler, a0, a1, a2, a3, send, ...) send
#define AM_OLD_SEND_(f, call, ...)                                                                          \
  AM_OLD_PICK_(__VA_ARGS__, AM_OLD_SEND_4_, AM_OLD_SEND_3_, AM_OLD_SEND_2_, AM_OLD_SEND_1_, AM_OLD_SEND_0_, \
               0)                                                                                           \
  (f, call, __VA_ARGS__)
#define AM_OLD_SEND_0_(f, call, node, h) (f)(node, (am_code)(h), 0, 0, 0, 0)
#define AM_OLD_SEND_1_(f, call, node, h, a0) \
  AM_OLD_SEND_4_(f, call, node, h, a0, (am_word)0, (am_word)0, (am_word)0)
#define AM_OLD_SEND_2_(f, call, node, h, a0, a1) \
  AM_OLD_SEND_4_(f, call, node, h, a0, a1, (am_word)0, (am_word)0)
#define AM_OLD_SEND_3_(f, call, node, h, a0, a1, a2) AM_OLD_SEND_4_(f, call, node, h, a0, a1, a2, (am_word)0)
#ifdef __cplusplus
#define AM_OLD_SEND_4_(f, call, node, h, a0, a1, a2, a3)                                         \
  am_old_send(f, call, node, (am_code)(h), am_old_value(a0), am_old_value(a1), am_old_value(a2), \
              am_old_value(a3))
template <class F, class A, class B, class C, class D>
inline void am_old_send(F f, int call, int node, am_code h, A a0, B a1, C a2, D a3) {
  const unsigned doubles =
      am_old_double(a0) | am_old_double(a1) << 1 | am_old_double(a2) << 2 | am_old_double(a3) << 3;
  if (doubles != 0) {
    am_cmam_send_doubles(call, doubles, node, h, a0, a1, a2, a3);
  } else {
    f(node, h, (am_word)a0, (am_word)a1, (am_word)a2, (am_word)a3);
  }
}
#else
#define AM_OLD_DOUBLES_(a0, a1, a2, a3) \
  (AM_OLD_DOUBLE_(a0) | AM_OLD_DOUBLE_(a1) << 1 | AM_OLD_DOUBLE_(a2) << 2 | AM_OLD_DOUBLE_(a3) << 3)
#define AM_OLD_SEND_4_(f, call, node, h, a0, a1, a2, a3)                                                    \
  (AM_OLD_DOUBLES_(a0, a1, a2, a3)                                                                          \
       ? am_cmam_send_doubles(call, AM_OLD_DOUBLES_(a0, a1, a2, a3), node, (am_code)(h), AM_OLD_VALUE_(a0), \
                              AM_OLD_VALUE_(a1), AM_OLD_VALUE_(a2), AM_OLD_VALUE_(a3))                      \
       : (f)(node, (am_code)(h), (am_word)(a0), (am_word)(a1), (am_word)(a2), (am_word)(a3)))
#endif

#define CMAM_1(...) AM_OLD_SEND_(CMAM_4, 0, __VA_ARGS__)
#define CMAM_2(...) AM_OLD_SEND_(CMAM_4, 0, __VA_ARGS__)
#define CMAM_3(...) AM_OLD_SEND_(CMAM_4, 0, __VA_ARGS__)
#define CMAM_4(...) AM_OLD_SEND_(CMAM_4, 0, __VA_ARGS__)
#define CMAM_request_1(...) AM_OLD_SEND_(CMAM_request_4, 1, __VA_ARGS__)
#define CMAM_request_2(...) AM_OLD_SEND_(CMAM_request_4, 1, __VA_ARGS__)
#define CMAM_request_3(...) AM_OLD_SEND_(CMAM_request_4, 1, __VA_ARGS__)
#define CMAM_request_4(...) AM_OLD_SEND_(CMAM_request_4, 1, __VA_ARGS__)
#define CMAM_reply_1(...) AM_OLD_SEND_(CMAM_reply_4, 2, __VA_ARGS__)
#define CMAM_reply_2(...) AM_OLD_SEND_(CMAM_reply_4, 2, __VA_ARGS__)
#define CMAM_reply_3(...) AM_OLD_SEND_(CMAM_reply_4, 2, __VA_ARGS__)
#define CMAM_reply_4(...) AM_OLD_SEND_(CMAM_reply_4, 2, __VA_ARGS__)
#define CMAML_request(...) AM_OLD_SEND_(CMAML_request, 3, __VA_ARGS__)
#define CMAML_reply(...) AM_OLD_SEND_(CMAML_reply, 4, __VA_ARGS__)
#define CMAML_rpc(...) AM_OLD_SEND_(CMAML_rpc, 5, __VA_ARGS__)

#endif
