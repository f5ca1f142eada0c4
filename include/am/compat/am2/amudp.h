/* Programs that were written for AMUDP: <am/am2.h>, what that header brought along, and its own names. */
#ifndef AM_COMPAT_AM2_AMUDP_H
#define AM_COMPAT_AM2_AMUDP_H

#include <am/am2.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#ifndef AMUDP
#define AMUDP 1
#endif

#define amudp_stats_t amx_stats_t
#define amudp_handler_fn_t amx_handler_fn_t
#define amudp_category_t amx_category_t
#define amudp_Short amx_Short
#define amudp_Medium amx_Medium
#define amudp_Long amx_Long
#define amudp_NumCategories amx_NumCategories

#define AMUDP_VerboseErrors AMX_VerboseErrors
#define AMUDP_FatalErr AMX_FatalErr
#define AMUDP_enEqual AMX_enEqual
#define AMUDP_GetSourceId AMX_GetSourceId
#define AMUDP_SetTranslationTag AMX_SetTranslationTag
#define AMUDP_SetHandlerCallbacks AMX_SetHandlerCallbacks
#define AMUDP_GetEndpointStatistics AMX_GetEndpointStatistics
#define AMUDP_ResetEndpointStatistics AMX_ResetEndpointStatistics
#define AMUDP_AggregateStatistics AMX_AggregateStatistics
#define AMUDP_DumpStatistics AMX_DumpStatistics
#define AMUDP_initial_stats AMX_initial_stats
#define AMUDP_RequestVA AMX_RequestVA
#define AMUDP_RequestIVA AMX_RequestIVA
#define AMUDP_RequestXferVA AMX_RequestXferVA
#define AMUDP_ReplyVA AMX_ReplyVA
#define AMUDP_ReplyIVA AMX_ReplyIVA
#define AMUDP_ReplyXferVA AMX_ReplyXferVA
#define AMUDP_SPMDBarrier AMX_SPMDBarrier
#define AMUDP_SPMDAllGather AMX_SPMDAllGather
#define AMUDP_SPMDBroadcast AMX_SPMDBroadcast
#define AMUDP_SPMDNumProcs AMX_SPMDNumProcs
#define AMUDP_SPMDMyProc AMX_SPMDMyProc
#define AMUDP_SPMDExit AMX_SPMDExit
#define AMUDP_SPMDSetExitCallback AMX_SPMDSetExitCallback
#define AMUDP_SPMDkillmyprocess AMX_SPMDkillmyprocess
#define AMUDP_SPMDIsWorker AMX_SPMDIsWorker
#define AMUDP_SPMDgetenvMaster AMX_SPMDgetenvMaster
#define AMUDP_preHandlerCallback_t AMX_preHandlerCallback_t
#define AMUDP_postHandlerCallback_t AMX_postHandlerCallback_t
/* Here the launcher says how many there are, and starts them. */
#define AMUDP_SPMDStartup(argc, argv, nproc, depth, spawnfn, networkpid, bundle, endpoint) \
  AMX_SPMDStartup((argc), (argv), (depth), (networkpid), (bundle), (endpoint))

#endif
