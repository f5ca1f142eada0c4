/* Programs that were written for AMMPI: <am/am2.h>, what that header brought along, and its own names. */
#ifndef AM_COMPAT_AM2_AMMPI_H
#define AM_COMPAT_AM2_AMMPI_H

#include <am/am2.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#ifndef AMMPI
#define AMMPI 1
#endif

#define ammpi_stats_t amx_stats_t
#define ammpi_handler_fn_t amx_handler_fn_t
#define ammpi_category_t amx_category_t
#define ammpi_Short amx_Short
#define ammpi_Medium amx_Medium
#define ammpi_Long amx_Long
#define ammpi_NumCategories amx_NumCategories

#define AMMPI_VerboseErrors AMX_VerboseErrors
#define AMMPI_FatalErr AMX_FatalErr
#define AMMPI_enEqual AMX_enEqual
#define AMMPI_GetSourceId AMX_GetSourceId
#define AMMPI_SetTranslationTag AMX_SetTranslationTag
#define AMMPI_SetHandlerCallbacks AMX_SetHandlerCallbacks
#define AMMPI_GetEndpointStatistics AMX_GetEndpointStatistics
#define AMMPI_ResetEndpointStatistics AMX_ResetEndpointStatistics
#define AMMPI_AggregateStatistics AMX_AggregateStatistics
#define AMMPI_DumpStatistics AMX_DumpStatistics
#define AMMPI_initial_stats AMX_initial_stats
#define AMMPI_RequestVA AMX_RequestVA
#define AMMPI_RequestIVA AMX_RequestIVA
#define AMMPI_RequestXferVA AMX_RequestXferVA
#define AMMPI_ReplyVA AMX_ReplyVA
#define AMMPI_ReplyIVA AMX_ReplyIVA
#define AMMPI_ReplyXferVA AMX_ReplyXferVA
#define AMMPI_SPMDBarrier AMX_SPMDBarrier
#define AMMPI_SPMDAllGather AMX_SPMDAllGather
#define AMMPI_SPMDBroadcast AMX_SPMDBroadcast
#define AMMPI_SPMDNumProcs AMX_SPMDNumProcs
#define AMMPI_SPMDMyProc AMX_SPMDMyProc
#define AMMPI_SPMDExit AMX_SPMDExit
#define AMMPI_SPMDSetExitCallback AMX_SPMDSetExitCallback
#define AMMPI_SPMDkillmyprocess AMX_SPMDkillmyprocess
#define AMMPI_SPMDIsWorker AMX_SPMDIsWorker
#define AMMPI_SPMDgetenvMaster AMX_SPMDgetenvMaster
#define AMMPI_preHandlerCallback_t AMX_preHandlerCallback_t
#define AMMPI_postHandlerCallback_t AMX_postHandlerCallback_t
#define AMMPI_SPMDStartup AMX_SPMDStartup
#define AMMPI_SPMDSetThreadMode AMX_SPMDSetThreadMode

#endif
