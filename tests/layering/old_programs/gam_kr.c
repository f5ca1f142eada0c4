/* GAM's programs as they were written: K&R definitions, handlers of any shape, fewer words than the call has room for. */
#include <gam/am.h>

int count;

void pong(from, flag)
vnn_t from;
volatile int *flag;
{
  *flag += 1;
}

void ping(from, flag)
vnn_t from;
volatile int *flag;
{
  am_reply_4(from, pong, flag);
}

void done(from, address, nbytes, argument)
vnn_t from;
void *address;
int nbytes;
void *argument;
{
  count += nbytes;
}

int main(argc, argv)
int argc;
char **argv;
{
  static char here[64];
  volatile int flag = 0;
  am_enable();
  am_request_4((am_my_proc() + 1) % am_procs(), ping, &flag);
  am_wait(&flag, 1);
  am_request_1(0, ping, &flag);
  am_wait_for(flag == 1);
  am_store(0, here, here + 32, 32, done, here);
  am_get(0, here, here + 32, 32, done, 0);
  gam_request(0, done, here, 8, 1, 2);
  barrier();
  am_disable();
  return 0;
}
