/* A job of AM-II that ends in the way that its argument says. */
#include <am/am2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { quiet = 1, messages = 10 };

static int came = 0;
static void comes(void* token) {
  (void)token;
  came++;
}

static void says_code(int code) {
  printf("node %d ends with %d\n", AMX_SPMDMyProc(), code);
  fflush(stdout);
}
static void ends_once_more(int code) {
  says_code(code);
  AMX_SPMDExit(code + 1);
}

static int is(const char* asked, const char* use) { return strcmp(asked, use) == 0; }

/* The second argument names a file that is not there: node 1 makes it when it has run what node 0 has sent, which polls no more. */
static int one_way(eb_t bundle, ep_t endpoint, const char* file) {
  int i;
  if (AMX_SPMDMyProc() == 0) {
    for (i = 0; i < messages; i++) AM_Request0(endpoint, 1, quiet);
    while (access(file, F_OK) != 0) {
    }
  } else {
    while (came < messages) AM_Poll(bundle);
    fclose(fopen(file, "w"));
  }
  return 0;
}

/* Node 1 takes them in, by polling another bundle, and runs none. */
static int unpolled(eb_t bundle, ep_t endpoint) {
  int i;
  eb_t other;
  AMX_SPMDAllGather(NULL, NULL, 0); /* behind it node 1 is in no barrier that would run them */
  if (AMX_SPMDMyProc() == 0) {
    for (i = 0; i < messages; i++) AM_Request0(endpoint, 1, quiet);
    AMX_SPMDAllGather(NULL, NULL, 0);
  } else {
    AMX_SPMDAllGather(NULL, NULL, 0);
    AM_SetEventMask(bundle, AM_NOTEMPTY);
    AM_WaitSema(bundle);
    AM_AllocateBundle(AM_SEQ, &other);
    for (i = 0; i < 1000; i++) AM_Poll(other);
  }
  return 0;
}

int main(int argc, char** argv) {
  eb_t bundle;
  ep_t endpoint;
  const char* use = argc > 1 ? argv[1] : "";
  if (AMX_SPMDStartup(&argc, &argv, 0, NULL, &bundle, &endpoint) != AM_OK) return 9;
  AM_SetHandler(endpoint, quiet, (am2_handler_fn_t)comes);
  AMX_SPMDBarrier();
  if (is(use, "one_way")) return one_way(bundle, endpoint, argv[2]);
  if (is(use, "unpolled")) return unpolled(bundle, endpoint);
  AMX_SPMDSetExitCallback(is(use, "twice") ? ends_once_more : says_code);
  if (is(use, "early") && AMX_SPMDMyProc() == 1) return 0;
  if (is(use, "badly") && AMX_SPMDMyProc() == 0) {
    while (1) AM_Poll(bundle);
  }
  AMX_SPMDExit(is(use, "badly") || is(use, "twice") ? 3 : 0);
  return 8;
}
