/* A work queue in C, as it would have been written for the CM-5: node 0 keeps numbers to be looked at, all nodes ask it for the next
 * ones and tell what they found; the number of steps until Collatz' sequence comes to 1 is the work. Node 0 checks the whole against
 * one node alone.
 *
 *   amrun -n 4 build/bin/examples/cmam_work_queue [numbers]
 */
#include <cmam/cmam.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNK 64

/* Node 0's, changed by handlers alone. */
static long next_number = 1;
static long last_number = 0;
static volatile int results = 0;
static long total_steps = 0;
static int most_steps = 0;

/* Each node's. */
static volatile int granted = 0;
static long first = 0;
static long behind = 0;

static void here_you_are(long from, long to) {
  first = from;
  behind = to;
  granted++;
}

static void give_work(int to) {
  const long from = next_number;
  next_number += CHUNK;
  if (next_number > last_number + 1) next_number = last_number + 1;
  CMAM_reply_4(to, here_you_are, from, next_number);
}

static void take_result(int numbers, long steps, int most) {
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

int main(int argc, char** argv) {
  const int me = CMMD_self_address();
  const long numbers = argc > 1 ? number(argv[1]) : 20000;
  int right = 1;
  if (numbers == 0 || argc > 2) {
    if (me == 0) fprintf(stderr, "usage: cmam_work_queue [numbers]; a number from 1 to 10000000\n");
    CMMD_sync_with_nodes();
    return 2;
  }
  last_number = numbers;
  CMMD_sync_with_nodes();
  CMMD_node_timer_start(0);
  for (;;) {
    int most = 0;
    long sum;
    CMAM_request_4(0, give_work, me);
    CMAM_wait(&granted, 1);
    if (first == behind) break;
    sum = look_at(first, behind, &most);
    CMAM_4(0, take_result, (int)(behind - first), sum, most);
  }
  if (me == 0) {
    int most = 0;
    long alone;
    CMAM_wait(&results, (int)numbers);
    CMMD_node_timer_stop(0);
    alone = look_at(1, numbers + 1, &most);
    right = alone == total_steps && most == most_steps;
    printf("%ld numbers on %d nodes: %ld steps, at most %d for one: %s\n", numbers, CMMD_partition_size(),
           total_steps, most_steps, right ? "as one node alone finds" : "WRONG");
    printf("%.0f numbers per second\n", (double)numbers / CMMD_node_timer_elapsed(0));
  }
  CMMD_sync_with_nodes(); /* node 0 answers until all have been told that nothing is left */
  return right ? 0 : 1;
}
