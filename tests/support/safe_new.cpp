// Bodies of the conformance suite allocate in handlers and beside them, in every mode.
#include <am/safe_new.hpp>
