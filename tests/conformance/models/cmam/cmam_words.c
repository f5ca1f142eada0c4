/* The macros of <am/cmam.h> are others in C than in C++, and the functions behind them have no prototypes there. */
#include "conformance/models/cmam/cmam_words.h"

typedef struct {
  volatile double number;
  volatile am_word word;
  volatile int came;
} answer;

void send_doubles_from_c(int node, am_code handler) {
  const float three = 3.0F;
  CMAM_4(node, handler, 1.0, 2, three, 4.5);
}

/* Words and doubles take turns, which go in registers of two kinds. */
static void keep_number(double number, answer* where, double same, int one) {
  where->number = number == same ? number : 0;
  where->came = where->came + one;
}
static void negate(int back, double number, answer* where) {
  CMAM_reply_4(back, keep_number, -number, where, -number, 1);
}
double negated_by_c_on(int node, double number) {
  answer mine = {0, 0, 0};
  CMAM_request_4(node, negate, CMMD_self_address(), number, &mine);
  CMAM_wait(&mine.came, 1);
  return mine.number;
}

void count_from_c(int node, am_code handler) { (CMAM_4)(node, handler); }

static void keep_word(answer* where, am_word word) {
  where->word = word;
  where->came = where->came + 1;
}
static void give_back(am_word back, answer* where, am_word word) {
  (CMAM_reply_4)((int)back, (am_code)keep_word, where, word);
}
am_word returned_by_c_on(int node, am_word word) {
  answer mine = {0, 0, 0};
  (CMAM_request_4)(node, (am_code)give_back, (am_word)CMMD_self_address(), &mine, word);
  CMAM_wait(&mine.came, 1);
  return mine.word;
}
