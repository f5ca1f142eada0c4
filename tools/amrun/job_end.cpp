#include "amrun/job_end.hpp"

#include <signal.h>

#include <am/error.hpp>
#include <cstdlib>
#include <exception>

#include "amrun/fault.hpp"
#include "amrun/say.hpp"

namespace amrun {
namespace {

[[noreturn]] void die_of(int number) {
  signal(number, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  raise(number);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  std::_Exit(signal_base + number);
}

}  // namespace

int end_by(const std::function<JobEnd()>& run) {
  try {
    const JobEnd end = run();
    // Shells stop a loop around a program that SIGINT has killed, not around one that ended with code 130.
    if (end.by_signal == SIGINT) die_of(SIGINT);
    return end.exit_code;
  } catch (const Fault& fault) {
    say_directly(fault.what());
    return fault.exit_code();
  } catch (const am::Error& error) {
    say_directly("cannot " + error.what_failed() + ": " + error.why() + " (" + error.remedy() + ")");
  } catch (const std::exception& error) {
    say_directly(error.what());
  }
  return failed;
}

}  // namespace amrun
