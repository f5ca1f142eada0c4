#include "core/node/options.hpp"

#include <am/error.hpp>
#include <am/impl/interrupt_safe.hpp>

namespace am {

constinit bool impl::handlers_may_allocate = false;

void core::apply(const Options& options, Settings& settings) {
  if (options.segment_bytes != 0) settings.segment_bytes = options.segment_bytes;
  if (options.dispatch) {
    settings.dispatch = *options.dispatch;
  } else if (settings.dispatch == Dispatch::interrupt && !options.interrupt_safe &&
             !impl::handlers_may_allocate) {
    throw Error(
        "start",
        "AM_DISPATCH=interrupt lets handlers interrupt the program anywhere, also inside malloc, and the "
        "program has not said that its handlers bear it",
        "use AM_DISPATCH=thread; or, if handlers neither allocate nor take locks, start with "
        "am::Options{.interrupt_safe = true}; or include am/safe_new.hpp in one source file");
  }
}

}  // namespace am
