/* A work queue of AM-II in C: node 0 keeps numbers to be looked at, all nodes ask it for the next ones and tell what they found; the
 * number of steps until Collatz' sequence comes to 1 is the work. Node 0 checks the whole against one node alone. A node waits by
 * an event: it sleeps until its bundle has a message.
 *
 *   amrun -n 4 build/bin/examples/am2_work_queue [numbers]
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime; its name: NOLINT(readability-identifier-naming) */
#include <am/am2.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHUNK 64
#define GIVE_WORK 1
#define HERE_YOU_ARE 2
#define TAKE_RESULT 3

/* Node 0's, changed by handlers alone. */
static long next_number = 1;
static long last_number = 0;
static long results = 0;
static long total_steps = 0;
static int most_steps = 0;

/* Each node's. */
static int granted = 0;
static long first = 0;
static long behind = 0;

static void here_you_are(void* token, long from, long to) {
  (void)token;
  first = from;
  behind = to;
  granted++;
}

static void give_work(void* token) {
  const long from = next_number;
  next_number += CHUNK;
  if (next_number > last_number + 1) next_number = last_number + 1;
  AM_Reply2(token, HERE_YOU_ARE, from, next_number);
}

/* Sends no reply: the library answers for it. */
static void take_result(void* token, int numbers, long steps, int most) {
  (void)token;
  total_steps += steps;
  if (most > most_steps) most_steps = most;
  results += numbers;
}

static int steps_to_one(unsigned long n) {
  int steps = 0;
  for (; n != 1; steps++) n = n % 2 ? 3 * n + 1 : n / 2;
  return steps;
}

/* The steps of numbers from .. to-1, and the most that one of them takes. */
static long look_at(long from, long to, int* most) {
  long sum = 0;
  for (; from < to; from++) {
    const int steps = steps_to_one((unsigned long)from);
    sum += steps;
    if (steps > *most) *most = steps;
  }
  return sum;
}

static long number(const char* text) {
  char* end;
  const long value = strtol(text, &end, 10);
  return *text != '\0' && *end == '\0' && value > 0 && value <= 10000000 ? value : 0;
}

static void wait_for_messages(eb_t bundle) {
  AM_SetEventMask(bundle, AM_NOTEMPTY);
  AM_WaitSema(bundle);
  AM_Poll(bundle);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  eb_t bundle;
  ep_t endpoint;
  int right = 1;
  double began, took;
  const long numbers = argc > 1 ? number(argv[1]) : 20000;
  if (AMX_SPMDStartup(&argc, &argv, 0, NULL, &bundle, &endpoint) != AM_OK) return 1;
  if (numbers == 0 || argc > 2) {
    if (AMX_SPMDMyProc() == 0)
      fprintf(stderr, "usage: am2_work_queue [numbers]; a number from 1 to 10000000\n");
    AMX_SPMDBarrier();
    return 2;
  }
  last_number = numbers;
  AM_SetHandler(endpoint, GIVE_WORK, (am2_handler_fn_t)give_work);
  AM_SetHandler(endpoint, HERE_YOU_ARE, (am2_handler_fn_t)here_you_are);
  AM_SetHandler(endpoint, TAKE_RESULT, (am2_handler_fn_t)take_result);
  AMX_SPMDBarrier();
  began = seconds();
  for (;;) {
    int most = 0;
    long sum;
    AM_Request0(endpoint, 0, GIVE_WORK);
    while (granted == 0) wait_for_messages(bundle);
    granted = 0;
    if (first == behind) break;
    sum = look_at(first, behind, &most);
    AM_Request3(endpoint, 0, TAKE_RESULT, behind - first, sum, most);
  }
  if (AMX_SPMDMyProc() == 0) {
    int most = 0;
    long alone;
    while (results < numbers) wait_for_messages(bundle);
    took = seconds() - began;
    alone = look_at(1, numbers + 1, &most);
    right = alone == total_steps && most == most_steps;
    printf("%ld numbers on %d nodes: %ld steps, at most %d for one: %s\n", numbers, AMX_SPMDNumProcs(),
           total_steps, most_steps, right ? "as one node alone finds" : "WRONG");
    printf("%.0f numbers per second\n", (double)numbers / took);
    fflush(stdout);
  }
  AMX_SPMDExit(right ? 0 : 1); /* which answers until all are done */
  return 1;
}
