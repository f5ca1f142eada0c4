/* A work queue of GAM in C: node 0 keeps numbers to be looked at, all nodes ask it for the next ones and tell what they found; the
 * number of steps until Collatz' sequence comes to 1 is the work. Node 0 checks the whole against one node alone.
 *
 *   amrun -n 4 build/bin/examples/gam_work_queue [numbers]
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime; its name: NOLINT(readability-identifier-naming) */
#include <am/gam.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

static void here_you_are(vnn_t from_node, long from, long to) {
  (void)from_node;
  first = from;
  behind = to;
  granted++;
}

static void give_work(vnn_t to) {
  const long from = next_number;
  next_number += CHUNK;
  if (next_number > last_number + 1) next_number = last_number + 1;
  gam_reply_2(to, here_you_are, from, next_number);
}

static void take_result(vnn_t from_node, int numbers, long steps, int most) {
  (void)from_node;
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

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  int right = 1;
  double began, took;
  const long numbers = argc > 1 ? number(argv[1]) : 20000;
  if (gam_enable() != 0) return 1;
  if (numbers == 0 || argc > 2) {
    if (gam_my_proc() == 0) fprintf(stderr, "usage: gam_work_queue [numbers]; a number from 1 to 10000000\n");
    gam_barrier();
    return 2;
  }
  last_number = numbers;
  gam_barrier();
  began = seconds();
  for (;;) {
    int most = 0;
    long sum;
    gam_request_0(0, give_work);
    gam_wait(&granted, 1);
    if (first == behind) break;
    sum = look_at(first, behind, &most);
    gam_request_3(0, take_result, behind - first, sum, most);
  }
  if (gam_my_proc() == 0) {
    int most = 0;
    long alone;
    gam_wait(&results, (int)numbers);
    took = seconds() - began;
    alone = look_at(1, numbers + 1, &most);
    right = alone == total_steps && most == most_steps;
    printf("%ld numbers on %d nodes: %ld steps, at most %d for one: %s\n", numbers, gam_procs(), total_steps,
           most_steps, right ? "as one node alone finds" : "WRONG");
    printf("%.0f numbers per second\n", (double)numbers / took);
  }
  gam_disable(); /* node 0 answers until all have been told that nothing is left */
  return right ? 0 : 1;
}
