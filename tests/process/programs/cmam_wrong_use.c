/* Breaks one rule of CMAM's, which its argument names, as a job of two. Built twice: the other build has a function more. */
#include <cm/cmmd.h>
#include <cmam/cmam.h>
#include <string.h>

static volatile int answers = 0;
static volatile int segment = 0;
static int data = 3;
static char memory[64];

static void answer(void) { answers++; }
static void segment_is(int number) {
  segment = number;
  answers++;
}
static void over(void* info, void* base) { answers += info == base; }

static void send_from_reply(int to) { CMAM_4(to, answer); }
static void transfer_from_reply(int to) { CMAM_xfer(to, 0, memory, 8); }
static void wait_in_reply(void) { CMAM_wait(&answers, 1000); }
static void sync_in_request(void) { CMMD_sync_with_nodes(); }
static void receive_in_request(void) { CMMD_receive_block(0, 1, memory, 8); }
static void send_message_from_reply(void) { CMMD_send_async(0, 1, memory, 8, 0, 0); }
#ifdef OTHER_BUILD
void one_function_more(int n) { memory[n & 63] = 1; }
static void the_others_handler(int n) { one_function_more(n); }
#else
static void the_others_handler(int n) { answers += n; }
#endif

static int is(const char* asked, const char* use) { return strcmp(asked, use) == 0; }

static void wait_for_ever(void) { CMAM_wait(&answers, 1000); }

static void open_and_tell(int bytes) {
  CMAM_4(0, segment_is, CMAM_open_segment(memory, bytes, over, memory));
}

int main(int argc, char** argv) {
  const int me = CMMD_self_address();
  const char* use = argc > 1 ? argv[1] : "";
  if (me == 1) {
    if (is(use, "of_the_host")) CMMD_gather_from_nodes(memory, 8);
    if (is(use, "outside") || is(use, "too_much")) open_and_tell(32);
    if (is(use, "beyond_port")) {
      CMAML_allocate_this_rport(3);
      CMAML_set_rport_addr(3, memory);
      CMAML_set_rport_byte_counter(3, 32);
      CMAML_set_rport_total_nbytes(3, 32);
      CMAM_4(0, answer);
    }
    if (is(use, "killed")) {
      segment = CMAM_open_segment(memory, 32, over, memory);
      CMAM_kill_segment(segment);
      CMAM_4(0, segment_is, segment);
    }
    wait_for_ever();
  }
  if (is(use, "null")) CMAM_4(1, 0);
  if (is(use, "data")) CMAM_request_4(1, (am_code)(am_word)&data);
  if (is(use, "node")) CMAML_request(2, answer);
  if (is(use, "negative_node")) CMAML_rpc(-1, answer);
  if (is(use, "other_build")) CMAM_4(1, the_others_handler, 1);
  if (is(use, "send_from_reply")) CMAM_reply_4(1, send_from_reply, 0);
  if (is(use, "transfer_from_reply")) CMAM_reply_4(1, transfer_from_reply, 0);
  if (is(use, "wait_in_reply")) CMAM_reply_4(1, wait_in_reply);
  if (is(use, "sync_in_request")) CMAM_4(1, sync_in_request);
  if (is(use, "outside") || is(use, "killed") || is(use, "too_much") || is(use, "beyond_port"))
    CMAM_wait(&answers, 1);
  if (is(use, "outside")) CMAM_xfer(1, segment + 30, memory, 8);
  if (is(use, "too_much")) {
    CMAM_xfer(1, segment, memory, 20);
    CMAM_xfer(1, segment, memory, 20);
  }
  if (is(use, "killed")) CMAM_xfer(1, segment, memory, 8);
  if (is(use, "no_segment")) CMAM_xfer(1, 12345, memory, 8);
  if (is(use, "negative_size")) CMAM_xfer(1, 64, memory, -8);
  if (is(use, "kill_twice")) CMAM_kill_segment(64);
  if (is(use, "no_port")) CMAML_scopy(1, 3, 0, 0, memory, 8, 0, 0);
  if (is(use, "beyond_port")) CMAML_scopy(1, 3, 0, 30, memory, 8, 0, 0);
  if (is(use, "negative_scopy")) CMAML_scopy(1, 3, 0, 0, memory, -8, 0, 0);
  if (is(use, "shorten")) CMAM_shorten_segment(CMAM_open_segment(memory, 32, over, memory), 40);
  if (is(use, "port_here")) CMAML_set_rport_addr(3, memory);
  if (is(use, "receive_in_request")) CMAM_4(1, receive_in_request);
  if (is(use, "message_from_reply")) CMAM_reply_4(1, send_message_from_reply);
  if (is(use, "message_to")) CMMD_send_noblock(2, 1, memory, 8);
  if (is(use, "message_from")) CMMD_receive_block(2, 1, memory, 8);
  if (is(use, "message_size")) CMMD_send_block(1, 1, memory, -8);
  if (is(use, "message_null")) CMMD_receive_async(1, 1, 0, 8, 0, 0);
  if (is(use, "message_elements")) CMMD_receive_v(1, 1, memory, 1 << 20, 8, 1 << 20);
  if (is(use, "message_tag")) CMMD_send(1, CMMD_ANY_TAG, memory, 8);
  if (is(use, "no_message")) CMMD_msg_done(7);
  if (is(use, "freed_message")) {
    const CMMD_mcb mcb = CMMD_receive_async(1, 1, memory, 8, 0, 0);
    CMMD_free_mcb(mcb);
    CMMD_msg_wait(mcb);
  }
  if (is(use, "scan")) CMMD_scan_int(1, CMMD_combiner_add, 2, CMMD_none, 0, CMMD_inclusive);
  if (is(use, "not_started")) CMMD_reduce_int_finish();
  if (is(use, "two_started")) {
    CMMD_reduce_int_start(1, CMMD_combiner_add);
    CMMD_scan_uint_start(1, CMMD_combiner_add, CMMD_upward, CMMD_none, 0, CMMD_inclusive);
  }
  if (is(use, "vector")) CMMD_reduce_v(memory, memory, CMMD_combiner_dadd, 4, 2);
  if (is(use, "of_the_nodes")) CMMD_receive_bc_from_host(memory, 8);
  if (is(use, "timer")) CMMD_node_timer_start(64);
  if (is(use, "combiner")) CMMD_reduce_double(1.0, CMMD_combiner_xor);
  if (is(use, "error")) CMMD_error("node %d of %d has had enough\n", me, CMMD_partition_size());
  wait_for_ever();
  return 0;
}
