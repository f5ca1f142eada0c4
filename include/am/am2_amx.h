/* AMX: what AMMPI and AMUDP add to AM-II. A job of one endpoint each, statistics, callbacks, and calls that take a list of words. Part
 * of <am/am2.h>, which includes it. "ammpi.h" and "amudp.h" have the same under the names that begin with AMMPI_ and AMUDP_. */
#ifndef AM_AM2_AMX_H
#define AM_AM2_AMX_H

/* NOLINTBEGIN(modernize-*): it is C */

#include <am/am2.h>
#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* NOLINTEND(modernize-*) */

#endif
