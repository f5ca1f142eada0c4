/* The C of 1993, on CMMD: no prototypes, implicit int, handlers of any type, arguments that are left away. */
#include <stdio.h>
#include <cm/cmmd.h>
#include <cm/timers.h>
#include <cmam/cmam.h>

#define TAG CMMD_DEFAULT_TAG

static CMMD_mcb sending;
static double rows[4][4];
int done = FALSE;

static sent(mcb, where) CMMD_mcb *mcb;
char *where;
{
  CMMD_free_mcb(*mcb);
  done = TRUE;
}

void *(*received)();

start_both(other)
int other;
{
  sending = CMMD_send_async(other, TAG, rows[0], sizeof rows[0], NULL, NULL);
  CMMD_free_mcb(CMMD_receive_async(other, TAG, rows[1], sizeof rows[1], NULL));
  CMMD_receive_async(CMMD_ANY_NODE, CMMD_ANY_TAG, rows[2], sizeof rows[2], (void *(*)())0, (void *)0);
  if (CMMD_send_async(other, TAG, rows[0], 0, sent, rows) == CMMD_ERRVAL && CMMD_get_errno() == CMMD_ERR_NO_RPORTS) return -1;
  CMMD_send_async_v(other, TAG, rows[0], 8, 32, 4, 0, 0);
  CMMD_receive_async_v(other, TAG, rows[0], 8, 32, 4, received, (char *)0);
  return 0;
}

int probe()
{
  CMMD_mcb mcb;
  if (!(mcb = CMMD_mcb_pending(CMMD_ANY_NODE, CMMD_ANY_TAG))) return 0;
  printf("%d bytes of %d, tag %d, %d\n", CMMD_mcb_bytes(mcb), CMMD_mcb_source(mcb), CMMD_mcb_tag(mcb), CMMD_mcb_len(mcb));
  CMMD_free_mcb(mcb);
  return CMMD_msg_pending(CMMD_ANY_NODE, TAG) ? CMMD_bytes_received() + CMMD_msg_sender() + CMMD_msg_tag() : 0;
}

add_up(n)
int n;
{
  done += n;
}

main(argc, argv)
int argc;
char **argv;
{
  int me = CMMD_self_address(), n = CMMD_partition_size(), first;
  CMMD_combiner_t combiner = CMMD_combiner_add;
  CMMD_scan_direction_t direction = CMMD_upward;
  CMMD_segment_mode_t mode = CMMD_start_bit;
  CMMD_scan_inclusion_t inclusion = CMMD_exclusive;
  CMMD_file_mode_t file_mode = CMMD_independent;

  if (n < 0) CMMD_enable_host();
  CMMD_fset_io_mode(stdout, CMMD_independent);
  CMMD_set_io_mode(2, file_mode);
  CMMD_enable_safety();
  CMMD_node_timer_clear(0);
  CMMD_node_timer_start(0);
  if (me % 2) {
    CMMD_send_block((me + 1) % n, TAG, rows, sizeof rows);
  } else if (CMMD_receive_block(CMMD_ANY_NODE, TAG, rows, sizeof rows) == CMMD_ERRVAL) {
    CMMD_error("node %d: %d bytes\n", me, CMMD_bytes_received());
  }
  start_both((me + 1) % n);
  while (!CMMD_msg_done(sending)) CMMD_poll();
  CMMD_msg_wait(sending);
  CMMD_free_mcb(sending);
  if (CMMD_send_noblock(me, TAG, &me, 4) || CMMD_receive(me, TAG, &n, 4) || CMMD_send(me, 1, "", 0)) return 1;
  if (CMMD_send_and_receive(0, TAG, rows[0], 8, 0, TAG, rows[1], 8) != TRUE) return 1;
  CMMD_swap(n - 1 - me, rows[0], 8, rows[0], 8);
  CMMD_swap_v(0, rows[0], 8, 8, 1, rows[0], 8, 8, 1);
  CMMD_all_msgs_wait();
  first = CMMD_scan_int(probe(), combiner, direction, mode, me == 0, inclusion);
  rows[0][0] = CMMD_scan_double(rows[0][1], CMMD_combiner_dmax, CMMD_downward, CMMD_segment_bit, 1, CMMD_inclusive);
  rows[0][0] += CMMD_scan_float(1.0, CMMD_combiner_fadd, CMMD_upward, CMMD_none, 0, CMMD_inclusive);
  CMMD_reduce_v(rows, rows, CMMD_combiner_dadd, sizeof(double), 16);
  CMMD_reduce_int_start(me, CMMD_combiner_max);
  while (!CMMD_reduce_done())
    ;
  first += CMMD_reduce_int_finish(me, CMMD_combiner_max);
  CMMD_scan_uint_start(1, CMMD_combiner_uadd, CMMD_upward, CMMD_none, 0, CMMD_exclusive);
  first += CMMD_scan_uint_finish();
  if (me == CMMD_host_node()) {
    CMMD_bc_from_host(rows, 8);
    CMMD_gather_from_nodes(rows, 8);
    CMMD_distrib_to_nodes(rows, 8);
    first += CMMD_reduce_from_nodes_int(0, CMMD_combiner_add);
  } else {
    CMMD_receive_bc_from_host(rows, 8);
    CMMD_concat_elements_to_host(rows, 8);
    CMMD_receive_element_from_host(rows, 8);
    CMMD_reduce_to_host_int(first, CMMD_combiner_add);
    CMAML_rpc_tohost(add_up, first);
  }
  CMMD_node_timer_stop(0);
  printf("%d: %d, %f s\n", me, first, CMMD_node_timer_busy(0));
  return 0;
}
