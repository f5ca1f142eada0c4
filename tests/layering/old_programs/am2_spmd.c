/* A program for AMX as those for AMMPI and AMUDP are. */
#include <am2/ammpi.h>
#include <am2/ammpi_spmd.h>
#include <am2/am.h>

static volatile int answered;

static void request_handler(void *token, int a0, int a1) { AM_Reply1(token, 2, a0 + a1); }
static void reply_handler(void *token, int a0) { answered = a0; }
static void medium_handler(void *token, void *buf, int nbytes) { AM_ReplyI0(token, 2, buf, nbytes); }

int main(int argc, char **argv) {
  eb_t eb;
  ep_t ep;
  uint64_t networkpid;
  uintptr_t bytes;
  void *segment;
  handler_t any;
  if (AMX_SPMDStartup(&argc, &argv, 0, &networkpid, &eb, &ep) != AM_OK) return 1;
  AM_SetHandler(ep, 1, request_handler);
  AM_SetHandler(ep, 2, reply_handler);
  AM_SetHandlerAny(ep, &any, medium_handler);
  AM_MaxSegLength(&bytes);
  AM_GetSeg(ep, &segment, &bytes);
  AMX_SPMDBarrier();
  AM_Request2(ep, 0, 1, 3, 4);
  AM_RequestI0(ep, 0, any, &argc, sizeof argc);
  AM_RequestXfer1(ep, 0, 0, 1, &argc, sizeof argc, &argv);
  while (!answered) {
    AM_SetEventMask(eb, AM_NOTEMPTY);
    AM_WaitSema(eb);
    AM_Poll(eb);
  }
  AMX_SPMDExit(0);
  return 0;
}
