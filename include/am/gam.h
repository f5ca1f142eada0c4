/* GAM (Generic Active Messages 1.x, Culler and others 1994/95) in C, with what its implementations added: LAM's five words, doubles,
 * medium messages and reply_xfer, TCPAM's errors, pSather's counters. For C89, C17 and C++. It stands on libam: any network, any
 * dispatch mode, nodes as processes or as threads.
 *
 * Names begin with gam_, as in LAM. Old sources with am_ names include "am.h": -I<prefix>/am/compat/gam finds it. What was chosen
 * where the implementations differ, and what is not covered (threads, locks): docs/porting.md, "GAM".
 *
 * Handlers get the sending node first: void h(vnn_t from, word...). They run inside the calls here, on the caller's thread, in every
 * dispatch mode. A request handler may reply (several times, and to any node); a reply handler, and that of gam_get, sends nothing.
 * No handler polls or waits. Handlers travel as their place in the program (all nodes run the same build); other addresses travel as
 * they are: those of globals mean the same on every node where the program is linked with -no-pie.
 *
 * Words are as wide as a pointer. Callers of the _4 calls may leave words out, K&R style; handlers get zeros for them (in C89, where
 * that cannot be known, anything).
 *
 * Every function that returns an int answers 0, or -1, and then gam_errno() says why, except where it says otherwise. */
#ifndef AM_GAM_H
#define AM_GAM_H

/* NOLINTBEGIN(modernize-*): it is C */

#ifdef __cplusplus
extern "C" {
#define GAM_ANY ...
#else
#define GAM_ANY
#endif

typedef int vnn_t;
typedef long gam_word_t;
typedef void (*gam_code_t)(void);
/* void h(vnn_t from, void* address, int nbytes, void* argument) */
typedef void (*handler_mem_t)(vnn_t, void*, int, void*);

/* gam_errno() */
#define GAM_OK 0
#define GAM_ENOTENABLED 1  /* gam_enable comes first */
#define GAM_EBADNODE 2     /* no such node */
#define GAM_EBADARG 3      /* negative length, no memory */
#define GAM_EHANDLER 4     /* not from a handler, or not from this one */
#define GAM_EUNREACHABLE 5 /* the node has left or died */
#define GAM_ESTART 6       /* the job cannot be joined; a line on standard error says why */

/* -- start and end ----------------------------------------------------------------------------------------------------- */

/* The first call, once, on every node. Its arguments in some dialects (use_glunix; nprocs, argc, argv) are not looked at: how many
 * nodes there are is the launcher's matter. */
int gam_enable(GAM_ANY);
int gam_disable(void); /* the last call, on every node: returns when all have called it */
void gam_exit(int code);
int gam_my_proc(void);
int gam_procs(void);
int gam_max_size(void);      /* bytes of a store or get; longer ones are taken, too */
int gam_errno(void);         /* of the last call that answered -1 on this node */
int gam_isalive(vnn_t node); /* 1 until its end is known here, else 0. Polls, outside of handlers */

/* -- words ------------------------------------------------------------------------------------------------------------- */

int gam_request_words(vnn_t to, gam_code_t handler, gam_word_t, gam_word_t, gam_word_t, gam_word_t,
                      gam_word_t);
int gam_reply_words(vnn_t to, gam_code_t handler, gam_word_t, gam_word_t, gam_word_t, gam_word_t, gam_word_t);

#define GAM_W(a) ((gam_word_t)(a))
#define gam_request_0(to, h) gam_request_words((to), (gam_code_t)(h), 0, 0, 0, 0, 0)
#define gam_request_1(to, h, a) gam_request_words((to), (gam_code_t)(h), GAM_W(a), 0, 0, 0, 0)
#define gam_request_2(to, h, a, b) gam_request_words((to), (gam_code_t)(h), GAM_W(a), GAM_W(b), 0, 0, 0)
#define gam_request_3(to, h, a, b, c) \
  gam_request_words((to), (gam_code_t)(h), GAM_W(a), GAM_W(b), GAM_W(c), 0, 0)
#define gam_request_5(to, h, a, b, c, d, e) \
  gam_request_words((to), (gam_code_t)(h), GAM_W(a), GAM_W(b), GAM_W(c), GAM_W(d), GAM_W(e))
#define gam_reply_0(to, h) gam_reply_words((to), (gam_code_t)(h), 0, 0, 0, 0, 0)
#define gam_reply_1(to, h, a) gam_reply_words((to), (gam_code_t)(h), GAM_W(a), 0, 0, 0, 0)
#define gam_reply_2(to, h, a, b) gam_reply_words((to), (gam_code_t)(h), GAM_W(a), GAM_W(b), 0, 0, 0)
#define gam_reply_3(to, h, a, b, c) gam_reply_words((to), (gam_code_t)(h), GAM_W(a), GAM_W(b), GAM_W(c), 0, 0)
#define gam_reply_5(to, h, a, b, c, d, e) \
  gam_reply_words((to), (gam_code_t)(h), GAM_W(a), GAM_W(b), GAM_W(c), GAM_W(d), GAM_W(e))

#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define GAM_FOUR_(f, to, h, a, b, c, d, ...) \
  f((to), (gam_code_t)(h), GAM_W(a), GAM_W(b), GAM_W(c), GAM_W(d), 0)
#define gam_request_4(to, ...) GAM_FOUR_(gam_request_words, to, __VA_ARGS__, 0, 0, 0, 0, 0)
#define gam_reply_4(to, ...) GAM_FOUR_(gam_reply_words, to, __VA_ARGS__, 0, 0, 0, 0, 0)
#else
int gam_request_4(); /* (vnn_t to, handler, up to four words) */
int gam_reply_4();
#endif

#define gam_request0 gam_request_0
#define gam_request1 gam_request_1
#define gam_request2 gam_request_2
#define gam_request3 gam_request_3
#define gam_request4 gam_request_4
#define gam_reply0 gam_reply_0
#define gam_reply1 gam_reply_1
#define gam_reply2 gam_reply_2
#define gam_reply3 gam_reply_3
#define gam_reply4 gam_reply_4

/* Two words and a double: void h(vnn_t from, word a, word b, double d). The two forms differ in the order of the arguments. A handler
 * may also take the double first: (from, d, a, b) is called in the same way. */
int gam_request_double(vnn_t to, gam_code_t handler, gam_word_t a, gam_word_t b, double d);
int gam_reply_double(vnn_t to, gam_code_t handler, gam_word_t a, gam_word_t b, double d);
#define gam_request_df(to, h, a, b, d) gam_request_double((to), (gam_code_t)(h), GAM_W(a), GAM_W(b), (d))
#define gam_reply_df(to, h, a, b, d) gam_reply_double((to), (gam_code_t)(h), GAM_W(a), GAM_W(b), (d))
#define gam_request_fd(to, h, d, a, b) gam_request_double((to), (gam_code_t)(h), GAM_W(a), GAM_W(b), (d))
#define gam_reply_fd(to, h, d, a, b) gam_reply_double((to), (gam_code_t)(h), GAM_W(a), GAM_W(b), (d))

/* Medium messages: void h(vnn_t from, void* buf, int nbytes, word a, word b). The buffer lives while the handler runs; it may write
 * there. Eight bytes of zeros lie behind it. */
int gam_request_medium(vnn_t to, gam_code_t handler, const void* buf, int nbytes, gam_word_t a, gam_word_t b);
int gam_reply_medium(vnn_t to, gam_code_t handler, const void* buf, int nbytes, gam_word_t a, gam_word_t b);
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define GAM_MEDIUM_(f, to, h, buf, n, a, b, ...) f((to), (gam_code_t)(h), (buf), (n), GAM_W(a), GAM_W(b))
#define gam_request(to, h, buf, ...) GAM_MEDIUM_(gam_request_medium, to, h, buf, __VA_ARGS__, 0, 0, 0)
#define gam_reply(to, h, buf, ...) GAM_MEDIUM_(gam_reply_medium, to, h, buf, __VA_ARGS__, 0, 0, 0)
#else
int gam_request(); /* (vnn_t to, handler, void* buf, int nbytes, up to two words) */
int gam_reply();
#endif

/* -- bulk -------------------------------------------------------------------------------------------------------------- */

/* Copies to `remote` on node `to`, then runs handler(from, remote, nbytes, argument) there, as a request handler. `local` may be used
 * again on return. The handler may be null. */
int gam_store_to(vnn_t to, const void* local, void* remote, int nbytes, gam_code_t handler, void* argument);
/* The same; end(to, local, nbytes, end_argument) runs here, before the call returns. */
int gam_store_async_to(vnn_t to, const void* local, void* remote, int nbytes, gam_code_t handler,
                       void* argument, gam_code_t end, void* end_argument);
/* Asks for what is at `remote`. Returns at once; handler(to, local, nbytes, argument) runs here, as a reply handler, when it is in
 * `local`. The handler may be null. */
int gam_get_from(vnn_t to, const void* remote, void* local, int nbytes, gam_code_t handler, void* argument);
/* From a request handler: a store back to `to`, where the handler runs as a reply handler. */
int gam_reply_store(vnn_t to, const void* local, void* remote, int nbytes, gam_code_t handler,
                    void* argument);
#define gam_store(to, l, r, n, h, arg) gam_store_to((to), (l), (r), (n), (gam_code_t)(h), (void*)(arg))
#define gam_store_async(to, l, r, n, h, arg, e, earg) \
  gam_store_async_to((to), (l), (r), (n), (gam_code_t)(h), (void*)(arg), (gam_code_t)(e), (void*)(earg))
#define gam_get(to, r, l, n, h, arg) gam_get_from((to), (r), (l), (n), (gam_code_t)(h), (void*)(arg))
#define gam_reply_xfer(to, l, r, n, h, arg) \
  gam_reply_store((to), (l), (r), (n), (gam_code_t)(h), (void*)(arg))

/* -- progress ---------------------------------------------------------------------------------------------------------- */

void gam_poll(void);
/* Returns when all nodes have called it. What a node has sent before (stores, gets, requests) has run by then, and what was answered
 * to it: after it all gets are complete. */
int gam_barrier(void);
/* Polls at least once and until *flag >= value; then takes value off *flag. gam_poll_wait looks before the first poll. */
int gam_wait(volatile int* flag, int value);
int gam_poll_wait(volatile int* flag, int value);
/* Returns when a handler has run. */
int gam_sleep(GAM_ANY);
int lam_sync_all(void); /* a barrier: 1, or -1 */

/* -- counters (pSather) ------------------------------------------------------------------------------------------------ */

#define gam_wait_for(cond) \
  do {                     \
    if (cond) break;       \
    gam_poll();            \
  } while (1)

typedef unsigned long* cntr_t;
#define WAITCNTR(a)              \
  unsigned long cntr_of_##a = 0; \
  cntr_t a = &cntr_of_##a
#define CNTR_INCR(a) CNTR_INCR_BY(a, 1)
#define CNTR_DECR(a) CNTR_DECR_BY(a, 1)
#define CNTR_INCR_BY(a, n) \
  (*(volatile unsigned long*)(a) = *(volatile unsigned long*)(a) + (unsigned long)(n))
#define CNTR_DECR_BY(a, n) \
  (*(volatile unsigned long*)(a) = *(volatile unsigned long*)(a) - (unsigned long)(n))
#define CNTR_IS_ZERO(a) (*(volatile unsigned long*)(a) == 0)
#define CNTR_WAIT_FOR_ZERO(a) gam_wait_for(CNTR_IS_ZERO(a))
/* The same as functions. */
void cntr_incr(cntr_t counter);
void cntr_decr(cntr_t counter);
void cntr_incr_by(cntr_t counter, long by);
void cntr_decr_by(cntr_t counter, long by);
void cntr_wait_for_zero(cntr_t counter);
int cntr_is_zero(cntr_t counter);
/* Handlers that count, whose word or argument is the counter. */
void gam_dummy(vnn_t from, void* address, int nbytes, void* argument);
void r_cntr_incr(vnn_t from, long counter);
void r_cntr_decr(vnn_t from, long counter);
void r_cntr_incr_mem(vnn_t from, void* address, int nbytes, void* counter);
void r_cntr_decr_mem(vnn_t from, void* address, int nbytes, void* counter);
/* As handlers of a store: count by a reply, on the node that sent it. */
void r_cntr_incr_reply_mem(vnn_t from, void* address, int nbytes, void* counter);
void r_cntr_decr_reply_mem(vnn_t from, void* address, int nbytes, void* counter);

typedef unsigned long* ta_sema_t;
#define TA_SEMAPHORE(a)          \
  unsigned long cntr_of_##a = 1; \
  ta_sema_t a = &cntr_of_##a
#define TA_SEMA_SIGNAL(a) (*(volatile unsigned long*)(a) = 0)
#define TA_SEMA_WAIT(a) gam_wait_for(CNTR_IS_ZERO(a))
void ta_sema_signal(ta_sema_t sema);
void ta_sema_wait(ta_sema_t sema);
void r_ta_sema_signal(vnn_t from, long sema);
void r_ta_sema_signal_mem(vnn_t from, void* address, int nbytes, void* sema);
void r_ta_sema_signal_reply_mem(vnn_t from, void* address, int nbytes, void* sema);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*) */

#endif
