#include "amrun/ending.hpp"

#include <sys/wait.h>

#include <cstring>

#include "amrun/fault.hpp"
#include "core/settings/setting_value.hpp"

namespace amrun {

bool has_failed(int wait_status, Standing standing) {
  return !WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != 0 || standing != Standing::left;
}

int exit_code_for(int wait_status) {
  if (WIFSIGNALED(wait_status)) return signal_base + WTERMSIG(wait_status);
  const int code = WEXITSTATUS(wait_status);
  return code != 0 ? code : failed;
}

std::string how_it_ended(int wait_status, Standing standing) {
  std::string text;
  if (WIFSIGNALED(wait_status)) {
    const int number = WTERMSIG(wait_status);
    text = "was killed by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  } else {
    text = "exited with code " + std::to_string(WEXITSTATUS(wait_status));
    if (WEXITSTATUS(wait_status) == 0 && standing == Standing::joined) text += " without leaving the job";
  }
  if (standing == Standing::absent) text += " before it joined the job";
  return text;
}

bool is_stranger(int wait_status, Standing standing) {
  return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0 && standing == Standing::absent;
}

std::string nobody_joined(const std::string& program) {
  return "nobody joined the job: " + am::core::in_quotes(program) + " ended without a call of am::start";
}

}  // namespace amrun
