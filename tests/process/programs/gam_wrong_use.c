/* Names a handler that GAM cannot find, in the way that its argument says, as a job of two. Built twice: the other build has a function
 * more. */
#include <am/gam.h>
#include <string.h>

static int data = 3;
static char memory[8];

#ifdef OTHER_BUILD
void one_function_more(int n) { memory[n & 7] = 1; }
static void the_others_handler(vnn_t from, int n) { one_function_more(from + n); }
#else
static void the_others_handler(vnn_t from, int n) { data += from + n; }
#endif
static void ends_a_store(vnn_t from, void* address, int n, void* argument) {
  the_others_handler(from, n + (address == argument));
}
static void replies_null(vnn_t from) { gam_reply_0(from, 0); }
static void replies_by_store(vnn_t from) { gam_reply_xfer(from, memory, memory, 8, (gam_word_t)&data, 0); }

static int is(const char* asked, const char* use) { return strcmp(asked, use) == 0; }

int main(int argc, char** argv) {
  static volatile int never = 0;
  const char* use = argc > 1 ? argv[1] : "";
  gam_enable();
  if (gam_my_proc() == 0) {
    if (is(use, "null")) gam_request_0(1, 0);
    if (is(use, "data")) gam_request_1(1, (gam_word_t)&data, 1);
    if (is(use, "medium")) gam_request_medium(1, 0, memory, 8, 1, 2);
    if (is(use, "store")) gam_store(1, memory, memory, 8, (gam_word_t)&data, 0);
    if (is(use, "null_reply")) gam_request_0(1, replies_null);
    if (is(use, "get")) gam_get(1, memory, memory, 8, (gam_word_t)&data, 0);
    if (is(use, "reply_xfer")) gam_request_0(1, replies_by_store);
    if (is(use, "other_build")) gam_request_1(1, the_others_handler, 1);
    if (is(use, "other_store")) gam_store(1, memory, memory, 0, ends_a_store, 0);
  }
  gam_wait(&never, 1);
  return 0;
}
