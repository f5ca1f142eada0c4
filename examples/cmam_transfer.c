/* Bulk transfers in C, as they were written for the CM-5: each node opens a segment over its memory, tells the number to its neighbour,
 * who fills it in parts, the last ones first; when all bytes are there a handler runs at the receiver. Once more with CMAML's ports.
 *
 *   amrun -n 2 build/bin/examples/cmam_transfer [KiB]
 */
#include <cmam/cmam.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int place_is_known = 0;
static volatile int place = 0; /* a segment's number or a port's, at the neighbour */
static volatile int full = 0;
static volatile int sent = 0;

static void your_place(int number) {
  place = number;
  place_is_known++;
}

static void segment_is_full(void* info, void* base) {
  if (info == base) full++;
}

static void port_is_full(int port, void* arg2) {
  if (CMAML_free_rport(port) && arg2 == (void*)&full) full++;
}

static void part_is_sent(void* counter) { (*(volatile int*)counter)++; }

static unsigned char value(int node, long at) { return (unsigned char)(node * 31 + at * 7 + at / 251); }

static long wrong_bytes(const unsigned char* bytes, long n, int from) {
  long wrong = 0;
  long i;
  for (i = 0; i < n; i++) wrong += bytes[i] != value(from, i);
  return wrong;
}

static long number(const char* text) {
  char* end;
  const long n = strtol(text, &end, 10);
  return *text != '\0' && *end == '\0' && n > 0 && n <= 1 << 20 ? n : 0;
}

int main(int argc, char** argv) {
  const int me = CMMD_self_address();
  const int nodes = CMMD_partition_size();
  const int after = (me + 1) % nodes;
  const int before = (me + nodes - 1) % nodes;
  const long kilobytes = argc > 1 ? number(argv[1]) : 1024;
  const long n = kilobytes * 1024;
  const long part = n / 8; /* a multiple of 128 */
  unsigned char* from;
  unsigned char* into;
  long wrong;
  long at;
  int port;
  int ok;
  if (kilobytes == 0 || argc > 2) {
    if (me == 0) fprintf(stderr, "usage: cmam_transfer [KiB]; a number from 1 to 1048576\n");
    CMMD_sync_with_nodes();
    return 2;
  }
  from = (unsigned char*)malloc((size_t)n);
  into = (unsigned char*)malloc((size_t)n);
  if (from == NULL || into == NULL) CMMD_error("no memory for %ld KiB", 2 * kilobytes);
  for (at = 0; at < n; at++) from[at] = value(me, at);

  memset(into, 0, (size_t)n);
  CMMD_sync_with_nodes();
  CMMD_node_timer_start(0);
  CMAM_4(before, your_place, CMAM_open_segment(into, (int)n, segment_is_full, into));
  CMAM_wait(&place_is_known, 1);
  for (at = n - part; at >= 0; at -= part) CMAM_xfer(after, place + (int)at, from + at, (int)part);
  CMAM_wait(&full, 1);
  CMMD_node_timer_stop(0);
  wrong = wrong_bytes(into, n, before);

  memset(into, 0, (size_t)n);
  port = CMAML_allocate_rport();
  CMAML_set_rport_addr(port, into);
  CMAML_set_rport_byte_counter(port, (int)n);
  CMAML_set_rport_total_nbytes(port, (int)n);
  CMAML_set_rport_handler(port, port_is_full);
  CMAML_set_rport_handler_arg2(port, (void*)&full);
  CMMD_sync_with_nodes();
  CMMD_node_timer_start(1);
  CMAML_request(before, your_place, port);
  CMAM_wait(&place_is_known, 1);
  for (at = 0; at < n; at += part)
    CMAML_scopy(after, place, 0, (int)at, from + at, (int)part, part_is_sent, (void*)&sent);
  CMAML_poll_while_lt(&full, 1);
  CMMD_node_timer_stop(1);
  wrong += wrong_bytes(into, n, before);

  ok = wrong == 0 && sent == 8;
  printf("node %d: %ld KiB from node %d by a segment and by a port, %ld bytes wrong: %s\n", me, kilobytes,
         before, wrong, ok ? "right" : "WRONG");
  if (me == 0)
    printf("%.0f MB/s into a segment, %.0f MB/s into a port\n", (double)n / CMMD_node_timer_elapsed(0) / 1e6,
           (double)n / CMMD_node_timer_elapsed(1) / 1e6);
  free(from);
  CMMD_sync_with_nodes();
  free(into);
  return ok ? 0 : 1;
}
