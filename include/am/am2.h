/* AM-II (Active Messages 2, Mainwaring and Culler 1995), in C: endpoints, bundles, tags, translation tables, returned
 * messages. For C89, C17 and C++. It stands on libam: any network, any dispatch mode, nodes as processes or as threads.
 *
 * Old sources include "am.h", "ammpi.h" or "amudp.h": -I<prefix>/am/compat/am2 finds them. What follows of the interface, what was
 * chosen where its sources differ, and what of UDPAM's dialect is not covered: docs/porting.md, "AM-II".
 *
 * Threads: a node belongs to one thread, and so do its bundles, endpoints and the calls here. Nodes of one process share
 * nothing. Handlers run in AM_Poll, in AM_RequestM (which polls first), in AMX_SPMDBarrier and nowhere else, on the caller's
 * thread, one at a time, in every dispatch mode: from AM_Init on the node polls. What an endpoint sends to its own bundle runs before
 * the call returns: the handler of a request within AM_RequestM, that of its reply within AM_ReplyM.
 *
 * Every int that a function returns is a status by name, AM_OK or AM_ERR_..., except where it says otherwise. */
#ifndef AM_AM2_H
#define AM_AM2_H

/* NOLINTBEGIN(modernize-*, readability-identifier-naming): it is C, with the names of AMX */

#include <am/am2_calls.h>
#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- types ------------------------------------------------------------------------------------------------------------- */

typedef unsigned long tag_t;
/* An index of an endpoint's handler table, 0 .. 255. 0 is the handler for messages that come back. */
typedef int handler_t;
typedef int op_t;
typedef struct am2_bundle* eb_t;
typedef struct am2_endpoint* ep_t;
typedef ep_t ea_t;
/* The name of an endpoint in the job: a value, sent as bytes in any message. */
typedef struct {
  unsigned node;
  unsigned endpoint;
} en_t;
/* A handler of whatever type. In C every one is taken as it is; in C++ write (am2_handler_fn_t)f. */
typedef void (*am2_handler_fn_t)();

/* -- constants --------------------------------------------------------------------------------------------------------- */

#define AM_OK 0
#define AM_ERR_NOT_INIT 1
#define AM_ERR_NOT_TERM 2
#define AM_ERR_BAD_ARG 3
#define AM_ERR_RESOURCE 4
#define AM_ERR_NOT_SENT 5
#define AM_ERR_IN_USE 6

/* Access to a bundle. AM_PAR is refused (AM_ERR_RESOURCE): a node belongs to one thread. */
#define AM_SEQ 0
#define AM_PAR 1

/* Tags: an endpoint with AM_ALL takes messages of every tag, one with AM_NONE (as it is made) none. */
#define AM_NONE ((tag_t)0)
#define AM_ALL ((tag_t)1)

/* Event masks of a bundle. */
#define AM_NOEVENTS 0
#define AM_NOTEMPTY 1

/* Why a message came back: handler 0's first argument. One bit each. */
#define EBADARGS 0x1
#define EBADENTRY 0x2
#define EBADTAG 0x4
#define EBADHANDLER 0x8
#define EBADSEGOFF 0x10
#define EBADLENGTH 0x20
#define EBADENDPOINT 0x40
#define ECONGESTION 0x80
#define EUNREACHABLE 0x100
#define EREPLYREJECTED 0x200

/* Which call it came from: handler 0's second argument is one of these | the number of words << 8. */
#define REQUEST 0x10000000
#define REPLY 0x20000000
#define AM_REQUEST_M (REQUEST | 0x1)
#define AM_REQUEST_IM (REQUEST | 0x2)
#define AM_REQUEST_XFER_M (REQUEST | 0x4)
#define AM_GET_XFER_M (REQUEST | 0x8)
#define AM_REPLY_M (REPLY | 0x1)
#define AM_REPLY_IM (REPLY | 0x2)
#define AM_REPLY_XFER_M (REPLY | 0x4)
#define AM_GET_XFER_REPLY_M (REPLY | 0x8)

/* Handler 0 is void h(int status, op_t opcode, void* argblock); argblock points to this. It lives while the handler runs. */
typedef struct {
  en_t endpoint; /* to which it was sent */
  tag_t tag;
  handler_t handler;
  unsigned long nbytes; /* of its payload, which does not come back */
  int count;
  am2_word_t words[16];
} am2_returned_t;

/* -- start and end ----------------------------------------------------------------------------------------------------- */

/* Joins the job (amrun, mpirun, alone) where this thread has no node yet. Calls nest: the last AM_Terminate frees what is left.
 * Before AM_Init, and after the last AM_Terminate, everything else answers AM_ERR_NOT_INIT. */
int AM_Init(void);
int AM_Terminate(void);

/* -- bundles and endpoints --------------------------------------------------------------------------------------------- */

int AM_AllocateBundle(int type, eb_t* bundle);
int AM_AllocateEndpoint(eb_t bundle, ep_t* endpoint, en_t* name);
/* An endpoint whose name any node can write down: am2_known_name(node, port). AM_ERR_IN_USE where this node has it already. */
int AM_AllocateKnownEndpoint(eb_t bundle, ep_t* endpoint, en_t* name, int port);
en_t am2_known_name(int node, int port);
/* What has come for it and did not run goes back to its senders (EBADENDPOINT). */
int AM_FreeEndpoint(ep_t endpoint);
int AM_FreeBundle(eb_t bundle);
int AM_MoveEndpoint(ep_t endpoint, eb_t from, eb_t to);

int AM_SetTag(ep_t endpoint, tag_t tag);
int AM_GetTag(ep_t endpoint, tag_t* tag);
int AM_SetSeg(ep_t endpoint, void* address, unsigned long nbytes);
int AM_GetSeg(ep_t endpoint, void** address, unsigned long* nbytes);
int AM_MaxSegLength(unsigned long* nbytes);
/* How many requests to one destination may be unanswered; more of them wait. 1 .. 1024. `endpoints` is looked at no further. */
int AM_SetExpectedResources(ep_t endpoint, int endpoints, int outstanding);

/* -- translation table ------------------------------------------------------------------------------------------------- */

int AM_Map(ep_t endpoint, int index, en_t name, tag_t tag);
int AM_MapAny(ep_t endpoint, int* index, en_t name, tag_t tag);
int AM_UnMap(ep_t endpoint, int index);
#define AM_Unmap AM_UnMap
int AM_GetTranslationName(ep_t endpoint, int index, en_t* name);
int AM_GetTranslationTag(ep_t endpoint, int index, tag_t* tag);
int AM_GetTranslationInuse(ep_t endpoint, int index); /* AM_OK where it is in use */
int AM_MaxNumTranslations(int* count);
int AM_GetNumTranslations(ep_t endpoint, int* count);
int AM_SetNumTranslations(ep_t endpoint, int count);

/* -- handler table ----------------------------------------------------------------------------------------------------- */

int AM_SetHandler(ep_t endpoint, handler_t handler, am2_handler_fn_t function);
int AM_SetHandlerAny(ep_t endpoint, handler_t* handler, am2_handler_fn_t function);
int AM_MaxNumHandlers(void); /* the number */
int AM_GetNumHandlers(ep_t endpoint, int* count);
int AM_SetNumHandlers(ep_t endpoint, int count);

/* -- progress and events ----------------------------------------------------------------------------------------------- */

/* Runs what has come for the bundle's endpoints. Not from a handler (AM_ERR_RESOURCE). */
int AM_Poll(eb_t bundle);
int AM_GetEventMask(eb_t bundle, int* mask);
int AM_SetEventMask(eb_t bundle, int mask);
/* Returns when a message waits for the bundle, and clears its mask; runs none. With AM_NOEVENTS it returns at once. */
int AM_WaitSema(eb_t bundle);
int AM_Wait(eb_t bundle);

/* -- messages: <am/am2_calls.h> ---------------------------------------------------------------------------------------- */

int AM_MaxShort(void);  /* words: 16 */
int AM_MaxMedium(void); /* bytes */
int AM_MaxLong(void);   /* bytes */

/* With up to four words, which is usual: they stay in registers. */
int am2_request0(ep_t endpoint, int destination, handler_t handler);
int am2_request1(ep_t endpoint, int destination, handler_t handler, am2_word_t a0);
int am2_request2(ep_t endpoint, int destination, handler_t handler, am2_word_t a0, am2_word_t a1);
int am2_request3(ep_t endpoint, int destination, handler_t handler, am2_word_t a0, am2_word_t a1,
                 am2_word_t a2);
int am2_request4(ep_t endpoint, int destination, handler_t handler, am2_word_t a0, am2_word_t a1,
                 am2_word_t a2, am2_word_t a3);
int am2_request(ep_t endpoint, int destination, handler_t handler, int count, ...);
int am2_request_i(ep_t endpoint, int destination, handler_t handler, const void* source, int nbytes,
                  int count, ...);
int am2_request_xfer(ep_t endpoint, int destination, unsigned long offset, handler_t handler,
                     const void* source, int nbytes, int async, int count, ...);
int am2_get_xfer(ep_t endpoint, int destination, unsigned long source_offset, handler_t handler,
                 unsigned long destination_offset, int nbytes, int async, int count, ...);
int am2_reply0(void* token, handler_t handler);
int am2_reply1(void* token, handler_t handler, am2_word_t a0);
int am2_reply2(void* token, handler_t handler, am2_word_t a0, am2_word_t a1);
int am2_reply3(void* token, handler_t handler, am2_word_t a0, am2_word_t a1, am2_word_t a2);
int am2_reply4(void* token, handler_t handler, am2_word_t a0, am2_word_t a1, am2_word_t a2, am2_word_t a3);
int am2_reply(void* token, handler_t handler, int count, ...);
int am2_reply_i(void* token, handler_t handler, const void* source, int nbytes, int count, ...);
int am2_reply_xfer(void* token, unsigned long offset, handler_t handler, const void* source, int nbytes,
                   int count, ...);

/* Of the message whose handler runs. */
int AM_GetSourceEndpoint(void* token, en_t* name);
int AM_GetDestEndpoint(void* token, ep_t* endpoint);
int AM_GetMsgTag(void* token, tag_t* tag);

/* == AMX: what AMMPI and AMUDP add to AM-II. A job of one endpoint each, statistics, callbacks, and calls that take a list of words.
 * "ammpi.h" and "amudp.h" have the same under the names that begin with AMMPI_ and AMUDP_. */

typedef am2_handler_fn_t amx_handler_fn_t;

/* -- a job of one endpoint each ---------------------------------------------------------------------------------------- */

/* Bundle, endpoint, tag, and a translation table in which entry i is node i. `depth` outstanding requests; 0: as many as by
 * default. argc and argv stay as they are. Collective, like the three below it. */
int AMX_SPMDStartup(int* argc, char*** argv, int depth, unsigned long* networkpid, eb_t* bundle,
                    ep_t* endpoint);
int AMX_SPMDBarrier(void);                                                    /* polls */
int AMX_SPMDAllGather(void* source, void* destination, unsigned long nbytes); /* runs no handlers */
int AMX_SPMDBroadcast(void* buffer, unsigned long nbytes, int root);          /* runs no handlers */
int AMX_SPMDNumProcs(void);                                                   /* the number */
int AMX_SPMDMyProc(void);                                                     /* the number */
int AMX_SPMDExit(int code);                                                   /* does not return */
int AMX_SPMDSetExitCallback(void (*callback)(int code));
extern void (*AMX_SPMDkillmyprocess)(int code); /* by which AMX_SPMDExit ends the process: exit */
/* Before the start: not 0 where calls may come from as many threads. Here a node belongs to one: 1 for `threads` 0, else 0;
 * *level says what there is. */
int AMX_SPMDSetThreadMode(int threads, const char** level, int* argc, char*** argv);
int AMX_SPMDIsWorker(char** argv); /* 1: every process is one */
const char* AMX_SPMDgetenvMaster(const char* name);

/* -- beside AM-II's own calls ------------------------------------------------------------------------------------------ */

/* Of the message whose handler runs: the index in the endpoint's translation table that names who has sent it. In a job of AMX the
 * node. AM_ERR_RESOURCE where none does. */
int AMX_GetSourceId(void* token, int* index);
int AMX_SetTranslationTag(ep_t endpoint, int index, tag_t tag); /* of an entry that is in use */
int AMX_enEqual(en_t a, en_t b);                                /* 1 or 0 */
extern int AMX_VerboseErrors; /* not 0: what a call refuses is said on standard error */
/* Says it on standard error, with the node, and ends the job. */
#ifdef __GNUC__
__attribute__((format(printf, 1, 2)))
#endif
void AMX_FatalErr(const char* format, ...);

/* As AM_RequestM and so on, with the words in a list: each an int there. */
int AMX_RequestVA(ep_t endpoint, int destination, handler_t handler, int count, va_list words);
int AMX_RequestIVA(ep_t endpoint, int destination, handler_t handler, const void* source, int nbytes,
                   int count, va_list words);
int AMX_RequestXferVA(ep_t endpoint, int destination, handler_t handler, const void* source, int nbytes,
                      unsigned long offset, int async, int count, va_list words);
int AMX_ReplyVA(void* token, handler_t handler, int count, va_list words);
int AMX_ReplyIVA(void* token, handler_t handler, const void* source, int nbytes, int count, va_list words);
int AMX_ReplyXferVA(void* token, handler_t handler, const void* source, int nbytes, unsigned long offset,
                    int count, va_list words);

/* -- callbacks --------------------------------------------------------------------------------------------------------- */

typedef enum { amx_Short, amx_Medium, amx_Long, amx_NumCategories } amx_category_t;

/* Called before and after each handler of an endpoint, but for handler 0. They make no calls of AM-II. `words` are the lower halves;
 * `buffer` is null for a short message. Null: none. */
typedef void (*AMX_preHandlerCallback_t)(amx_category_t category, int is_request, int handler, void* token,
                                         void* buffer, unsigned long nbytes, int count, unsigned* words);
typedef void (*AMX_postHandlerCallback_t)(amx_category_t category, int is_request);
int AMX_SetHandlerCallbacks(ep_t endpoint, AMX_preHandlerCallback_t before, AMX_postHandlerCallback_t after);

/* -- statistics -------------------------------------------------------------------------------------------------------- */

/* Of an endpoint since it was made, or was reset. By category; gets and what they bring count as long ones. Answers that libam sends
 * for handlers which do not are not counted, nor are latencies: their least stays the largest number, the others 0. */
typedef struct {
  unsigned long RequestsSent[amx_NumCategories];
  unsigned long RepliesSent[amx_NumCategories];
  unsigned long RequestsReceived[amx_NumCategories];
  unsigned long RepliesReceived[amx_NumCategories];
  unsigned long ReturnedMessages;
  unsigned long RequestMinLatency;
  unsigned long RequestMaxLatency;
  unsigned long RequestSumLatency;
  unsigned long RequestDataBytesSent[amx_NumCategories]; /* words and data */
  unsigned long ReplyDataBytesSent[amx_NumCategories];
  unsigned long RequestTotalBytesSent[amx_NumCategories]; /* with what stands around them */
  unsigned long ReplyTotalBytesSent[amx_NumCategories];
  unsigned long TotalBytesSent;
} amx_stats_t;

extern const amx_stats_t AMX_initial_stats;
int AMX_GetEndpointStatistics(ep_t endpoint, amx_stats_t* stats);
int AMX_ResetEndpointStatistics(ep_t endpoint);
/* Adds to `sum`. */
int AMX_AggregateStatistics(amx_stats_t* sum, const amx_stats_t* stats);
/* As text, which stays until the next call; also to `file`, a FILE *, where that is not null. `global`: they are of all nodes. */
const char* AMX_DumpStatistics(void* file, const amx_stats_t* stats, int global);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*, readability-identifier-naming) */

#endif
