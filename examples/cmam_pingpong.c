/* Ping-pong of active messages in C, as it was written for the CM-5: each node and its neighbour send each other requests, whose
 * handlers reply. The replies' words are checked.
 *
 *   amrun -n 2 build/bin/examples/cmam_pingpong [round trips]
 *
 * Nodes are processes here, so each has globals of its own.
 */
#include <cmam/cmam.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int answers = 0;
static long sum = 0;

/* Runs where the request came from: a reply handler sends nothing. */
static void pong(int round, int from, long square) {
  sum += square + from - round;
  answers++;
}

/* Who asks says so: messages do not tell where they come from. */
static void ping(int back, int round) {
  CMAM_reply_4(back, pong, round, CMMD_self_address(), (long)round * round);
}

static long number(const char* text) {
  char* end;
  const long value = strtol(text, &end, 10);
  return *text != '\0' && *end == '\0' && value > 0 && value <= 100000000 ? value : 0;
}

int main(int argc, char** argv) {
  const int me = CMMD_self_address();
  const int peer = (me + 1) % CMMD_partition_size();
  const long rounds = argc > 1 ? number(argv[1]) : 10000;
  long expected = 0;
  long i;
  int right;
  if (rounds == 0 || argc > 2) {
    if (me == 0) fprintf(stderr, "usage: cmam_pingpong [round trips]; a number from 1 to 100000000\n");
    CMMD_sync_with_nodes(); /* the first node that fails ends the job */
    return 2;
  }
  CMMD_sync_with_nodes();
  CMMD_node_timer_start(0);
  for (i = 0; i < rounds; i++) {
    CMAM_request_4(peer, ping, me, i); /* two words are missing: nobody looks at them */
    CMAM_wait(&answers, 1);            /* takes the one away */
    expected += i * i + peer - i;
  }
  CMMD_node_timer_stop(0);
  right = sum == expected && answers == 0;
  printf("node %d: %ld round trips to node %d, sum %ld: %s\n", me, rounds, peer, sum,
         right ? "right" : "WRONG");
  if (me == 0) printf("one takes %.0f ns\n", CMMD_node_timer_elapsed(0) * 1e9 / (double)rounds);
  CMMD_sync_with_nodes(); /* the neighbours still want answers */
  return right ? 0 : 1;
}
