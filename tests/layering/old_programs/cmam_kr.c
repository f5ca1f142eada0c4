/* The C of 1992: no prototypes, implicit int, fewer words than a handler could take, handlers of any shape, addresses in words. */
#include <cmam/cmam.h>
#include <cm/cmmd.h>
#include <cm/cmaml.h>

int count;
double total;
char line[64];

add_up(a, b)
int a, b;
{
  count += a + b;
}

void deposit(where, value)
double *where;
double value;
{
  *where += value;
}

static void finish(info, base) void *info, *base;
{
  count = info == base;
}

static int fetch(from, offset, back)
int from, offset;
char *back;
{
  CMAML_reply(from, add_up, line[offset], back);
  return 0;
}

main(argc, argv)
int argc;
char **argv;
{
  void (*send)() = CMAM_4;
  int segment = CMAM_open_segment(line, sizeof line, finish, line);
  float third = 0.5f;
  CMAM_4(0, add_up);
  CMAM_4(0, add_up, 1);
  CMAM_3(0, add_up, 1, 2, argv);
  CMAM_request_4(0, fetch, CMMD_self_address(), argc, line, &segment);
  CMAM_reply_2(0, add_up, -1, 'x');
  CMAML_rpc(0, deposit, &total, 1.5);
  CMAML_rpc(0, deposit, &total, third, third + 1);
  CMAM_xfer(0, segment + 8, line, 8);
  CMAM_wait((int *)&count, 1);
  (*send)(0, add_up, 1, 2);
  CMAML_set_rport_handler(CMAML_allocate_rport(), finish);
  CMAML_scopy(0, 0, 0, 0, line, 8, 0, 0);
  return argc > 0 ? 0 : 1;
}
