/* Ping-pong of AM-II in C: each node's endpoint sends requests to that of its neighbour, whose handler replies. The replies' words
 * are checked, and that nothing came back.
 *
 *   amrun -n 2 build/bin/examples/am2_pingpong [round trips]
 *
 * Nodes are processes here, so each has globals of its own.
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime; its name: NOLINT(readability-identifier-naming) */
#include <am/am2.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PING 1
#define PONG 2

static int answers = 0;
static long sum = 0;
static int came_back = 0;

static void ping(void* token, int round, long* where) {
  AM_Reply3(token, PONG, round, (long)round * round, where);
}

/* The pointer was on its way to the neighbour and back: it means something here alone. */
static void pong(void* token, int round, long square, long* where) {
  (void)token;
  *where += square - round;
  answers++;
}

static void returned(int status, op_t opcode, void* argblock) {
  fprintf(stderr, "am2_pingpong: a message (%#x) came back: %#x, for handler %d\n", (unsigned)opcode,
          (unsigned)status, ((am2_returned_t*)argblock)->handler);
  came_back++;
}

static long number(const char* text) {
  char* end;
  const long value = strtol(text, &end, 10);
  return *text != '\0' && *end == '\0' && value > 0 && value <= 100000000 ? value : 0;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  eb_t bundle;
  ep_t endpoint;
  long expected = 0;
  long i;
  int right;
  double began, took;
  const long rounds = argc > 1 ? number(argv[1]) : 1000;
  if (AMX_SPMDStartup(&argc, &argv, 0, NULL, &bundle, &endpoint) != AM_OK) return 1;
  if (rounds == 0 || argc > 2) {
    if (AMX_SPMDMyProc() == 0)
      fprintf(stderr, "usage: am2_pingpong [round trips]; a number from 1 to 100000000\n");
    AMX_SPMDBarrier(); /* the first node that fails ends the job */
    return 2;
  }
  AM_SetHandler(endpoint, 0, (am2_handler_fn_t)returned);
  AM_SetHandler(endpoint, PING, (am2_handler_fn_t)ping);
  AM_SetHandler(endpoint, PONG, (am2_handler_fn_t)pong);
  AMX_SPMDBarrier();
  began = seconds();
  for (i = 0; i < rounds; i++) {
    AM_Request2(endpoint, (AMX_SPMDMyProc() + 1) % AMX_SPMDNumProcs(), PING, i, &sum);
    while (answers == 0) AM_Poll(bundle);
    answers--;
    expected += i * i - i;
  }
  took = seconds() - began;
  right = sum == expected && came_back == 0;
  printf("node %d: %ld round trips, sum %ld: %s\n", AMX_SPMDMyProc(), rounds, sum, right ? "right" : "WRONG");
  if (AMX_SPMDMyProc() == 0) printf("one takes %.0f ns\n", took * 1e9 / (double)rounds);
  fflush(stdout);
  AMX_SPMDExit(right ? 0 : 1);
  return 1;
}
