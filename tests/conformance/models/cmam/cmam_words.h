// Calls of <am/cmam.h> as C compiles them, for cmam_test.cpp.
#ifndef CONFORMANCE_MODELS_CMAM_WORDS_H
#define CONFORMANCE_MODELS_CMAM_WORDS_H

#include <am/cmam.h>

#ifdef __cplusplus
extern "C" {
#endif

void send_doubles_from_c(int node, am_code handler); /* 1.0, 2, 3.0F, 4.5 */
double negated_by_c_on(int node, double number);     /* by a request and its reply */

/* Past the macros, with as many arguments as the handlers look at. */
void count_from_c(int node, am_code handler);
am_word returned_by_c_on(int node, am_word word);

#ifdef __cplusplus
}
#endif

#endif
