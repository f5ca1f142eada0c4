/* Ping-pong of GAM in C, K&R style as its programs were: each node and its neighbour send each other requests with one word, the
 * address of a flag, whose handlers reply with it.
 *
 *   amrun -n 2 build/bin/examples/gam_pingpong [round trips]
 *
 * Nodes are processes here, so each has globals of its own.
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime; its name: NOLINT(readability-identifier-naming) */
#include <am/gam.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long pings = 0;

/* The flag is on the node that asked: a reply handler raises it there. */
static void pong(vnn_t from, volatile int* flag) {
  (void)from;
  *flag += 1;
}

static void ping(vnn_t from, volatile int* flag) {
  pings++;
  gam_reply_1(from, pong, flag);
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
  volatile int flag = 0;
  long i;
  int right;
  double began, took;
  const long rounds = argc > 1 ? number(argv[1]) : 1000;
  if (gam_enable() != 0) return 1;
  if (rounds == 0 || argc > 2) {
    if (gam_my_proc() == 0)
      fprintf(stderr, "usage: gam_pingpong [round trips]; a number from 1 to 100000000\n");
    gam_barrier(); /* the first node that fails ends the job */
    return 2;
  }
  gam_barrier();
  began = seconds();
  for (i = 0; i < rounds; i++) {
    gam_request_4((gam_my_proc() + 1) % gam_procs(), ping,
                  &flag); /* three words are missing: nobody looks at them */
    gam_wait(&flag, 1);   /* takes the one away */
  }
  took = seconds() - began;
  gam_wait_for(pings == rounds);
  right = flag == 0;
  printf("node %d: %ld round trips, %ld requests of the neighbour: %s\n", gam_my_proc(), rounds, pings,
         right ? "right" : "WRONG");
  if (gam_my_proc() == 0) printf("one takes %.0f ns\n", took * 1e9 / (double)rounds);
  gam_disable();
  return right ? 0 : 1;
}
