/* Bulk transfer of AM-II in C: each node writes blocks into its neighbour's segment, the neighbour's handler sends each block back
 * with its bytes changed, into this node's segment; then all of it is fetched once more by AM_GetXfer. Every byte is checked.
 *
 *   amrun -n 2 build/bin/examples/am2_transfer [KiB]
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime; its name: NOLINT(readability-identifier-naming) */
#include <am/am2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STORE 1
#define STORED 2
#define FETCHED 3
#define BLOCK 65536L

/* A segment: blocks of the neighbour before us, and behind them what comes back. */
static char* segment;
static long half;
static long back = 0;
static long fetched = 0;

static char value_at(long i, int node) { return (char)(i * 7 + i / BLOCK + node); }

static void store(void* token, void* buf, int nbytes, long offset) {
  char* const bytes = (char*)buf;
  int i;
  for (i = 0; i < nbytes; i++) bytes[i] ^= 1;
  AM_ReplyXfer1(token, half + offset, STORED, bytes, nbytes, nbytes);
}

static void stored(void* token, void* buf, int nbytes, int sent) {
  (void)token;
  (void)buf;
  back += nbytes == sent ? nbytes : 0;
}

static void is_fetched(void* token, void* buf, int nbytes) {
  (void)token;
  (void)buf;
  fetched += nbytes;
}

static long number(const char* text) {
  char* end;
  const long value = strtol(text, &end, 10);
  return *text != '\0' && *end == '\0' && value > 0 && value <= 262144 ? value : 0;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  eb_t bundle;
  ep_t endpoint;
  char* mine;
  long at;
  long wrong = 0;
  int right_neighbour;
  double to_and_fro, fetching;
  const long kib = argc > 1 ? number(argv[1]) : 1024;
  if (AMX_SPMDStartup(&argc, &argv, 0, NULL, &bundle, &endpoint) != AM_OK) return 1;
  if (kib == 0 || argc > 2) {
    if (AMX_SPMDMyProc() == 0) fprintf(stderr, "usage: am2_transfer [KiB]; a number from 1 to 262144\n");
    AMX_SPMDBarrier();
    return 2;
  }
  half = kib * 1024;
  segment = (char*)calloc(2, (size_t)half);
  mine = (char*)malloc((size_t)half);
  if (segment == NULL || mine == NULL) return 1;
  for (at = 0; at < half; at++) mine[at] = value_at(at, AMX_SPMDMyProc());
  AM_SetSeg(endpoint, segment, 2 * (unsigned long)half);
  AM_SetHandler(endpoint, STORE, (am2_handler_fn_t)store);
  AM_SetHandler(endpoint, STORED, (am2_handler_fn_t)stored);
  AM_SetHandler(endpoint, FETCHED, (am2_handler_fn_t)is_fetched);
  AMX_SPMDBarrier();

  to_and_fro = seconds();
  right_neighbour = (AMX_SPMDMyProc() + 1) % AMX_SPMDNumProcs();
  for (at = 0; at < half; at += BLOCK) {
    const int bytes = (int)(half - at < BLOCK ? half - at : BLOCK);
    AM_RequestXfer1(endpoint, right_neighbour, at, STORE, mine + at, bytes, at);
  }
  while (back < half) AM_Poll(bundle);
  to_and_fro = seconds() - to_and_fro;
  for (at = 0; at < half; at++) wrong += segment[half + at] != (mine[at] ^ 1);
  memset(segment + half, 0, (size_t)half);
  fetching = seconds();
  for (at = 0; at < half; at += BLOCK) {
    const int bytes = (int)(half - at < BLOCK ? half - at : BLOCK);
    AM_GetXfer0(endpoint, right_neighbour, at, FETCHED, half + at, bytes);
  }
  while (fetched < half) AM_Poll(bundle);
  fetching = seconds() - fetching;
  for (at = 0; at < half; at++) wrong += segment[half + at] != (mine[at] ^ 1);
  printf("node %d: %ld KiB there, back, and fetched again, %ld values came wrong\n", AMX_SPMDMyProc(), kib,
         wrong);
  if (AMX_SPMDMyProc() == 0)
    printf("%.0f MB/s there and back, %.0f MB/s fetched\n", 2 * (double)half / to_and_fro / 1e6,
           (double)half / fetching / 1e6);
  fflush(stdout);
  AMX_SPMDExit(wrong == 0 ? 0 : 1);
  return 1;
}
