/* Bulk transfer of GAM in C: each node tells its neighbours where its memory is, stores blocks there, fetches them back, and gets
 * others by gam_reply_xfer from the handler of a store. Every byte is checked, and the bytes around.
 *
 *   amrun -n 2 build/bin/examples/gam_transfer [KiB]
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime; its name: NOLINT(readability-identifier-naming) */
#include <am/gam.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define GUARD 16

static char* theirs; /* where our right neighbour's memory is */
static volatile int heard = 0;
static volatile int stored = 0;
static volatile int returned = 0;

static void here_is(vnn_t from, char* memory) {
  (void)from;
  theirs = memory;
  heard++;
}

/* On the neighbour, when a block is there: the same bytes go back to where the sender has asked for. */
static void send_back(vnn_t from, char* block, int nbytes, char* there) {
  gam_reply_xfer(from, block, there, nbytes, gam_dummy, NULL);
}

static void count(vnn_t from, void* block, int nbytes, void* counter) {
  (void)from;
  (void)block;
  (void)nbytes;
  ++*(volatile int*)counter;
}

static char value_at(long i) { return (char)(i * 7 + 1 + gam_my_proc()); }

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
  const long kib = argc > 1 ? number(argv[1]) : 1024;
  const long bytes = kib * 1024;
  long at;
  long wrong = 0;
  int blocks = 0;
  char *area, *mine, *back, *echo;
  int me, right, left;
  double began, took;
  if (gam_enable() != 0) return 1;
  me = gam_my_proc();
  right = (me + 1) % gam_procs();
  left = (me + gam_procs() - 1) % gam_procs();
  if (kib == 0 || argc > 2) {
    if (me == 0) fprintf(stderr, "usage: gam_transfer [KiB]; a number from 1 to 262144\n");
    gam_barrier();
    return 2;
  }
  area = (char*)calloc(1, (size_t)bytes + 2 * GUARD);
  mine = (char*)malloc((size_t)bytes);
  back = (char*)calloc(1, (size_t)bytes);
  echo = (char*)calloc(1, (size_t)bytes);
  if (area == NULL || mine == NULL || back == NULL || echo == NULL) return 1;
  for (at = 0; at < bytes; at++) mine[at] = value_at(at);
  gam_request_1(left, here_is, area);
  gam_wait(&heard, 1);
  gam_barrier();

  began = seconds();
  for (at = 0; at < bytes; at += gam_max_size(), blocks++) {
    const int n = (int)(bytes - at < gam_max_size() ? bytes - at : gam_max_size());
    gam_store(right, mine + at, theirs + GUARD + at, n, send_back, echo + at);
    gam_get(right, theirs + GUARD + at, back + at, n, count, &returned);
  }
  gam_wait(&returned, blocks);
  took = seconds() - began;
  /* Replies came in order here; a program that does not know counts them, as this one does once more. */
  gam_store_async(right, mine, theirs + GUARD, 1, send_back, echo, count, &stored);
  gam_wait(&stored, 1);
  gam_get(right, theirs + GUARD, back, 1, count, &returned);
  gam_wait(&returned, 1);
  gam_barrier();
  for (at = 0; at < bytes; at++) wrong += (back[at] != mine[at]) + (echo[at] != mine[at]);
  for (at = 0; at < GUARD; at++) wrong += (area[at] != 0) + (area[GUARD + bytes + at] != 0);
  printf("node %d: %ld KiB in %d blocks there, back and fetched, %ld values came wrong\n", me, kib, blocks,
         wrong);
  if (me == 0) printf("%.0f MB/s, of all three together\n", 3 * (double)bytes / took / 1e6);
  gam_disable();
  return wrong == 0 ? 0 : 1;
}
