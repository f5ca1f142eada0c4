// What a child does before its program is started (command.hpp): it takes limits, rights, system calls, folders or processors away
// from itself.
#pragma once

#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace process_test {

using Resource = decltype(RLIMIT_AS);

/// One that the program may raise again, up to what it was.
inline void limit(Resource resource, rlim_t value) {
  rlimit both{};
  getrlimit(resource, &both);
  both.rlim_cur = value;
  setrlimit(resource, &both);
}
inline void limit_for_good(Resource resource, rlim_t value) {
  const rlimit both{value, value};
  setrlimit(resource, &both);
}

/// The code with which a child ends that may not do this to itself.
inline constexpr int not_permitted = 96;

inline void filter_calls(std::vector<sock_filter> program) {
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    _exit(not_permitted);
}

/// From here on these system calls answer EPERM, as in a sandbox; for its children, too.
inline void forbid(std::initializer_list<long> calls) {
  std::vector<sock_filter> program = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long call : calls) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  filter_calls(std::move(program));
}

/// clone answers EINVAL where it is to make a child that shares memory, but for threads and vfork's.
inline void forbid_children_that_share() {
  filter_calls({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
                BPF_STMT(BPF_ALU | BPF_AND | BPF_K, CLONE_VM | CLONE_VFORK | CLONE_THREAD),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLONE_VM, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL)});
}

inline void become_nobody() {
  constexpr unsigned nobody = 65534;
  if (getuid() != 0) return;  // ordinary already
  if (setgroups(0, nullptr) != 0 || setresgid(nobody, nobody, nobody) != 0 ||
      setresuid(nobody, nobody, nobody) != 0)
    _exit(not_permitted);
}

/// A folder of this child alone in its place.
inline void replace(const char* folder, unsigned long flags, const char* options) {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", folder, "tmpfs", flags, options) != 0)
    _exit(not_permitted);
}

inline cpu_set_t own_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return set;
}
inline unsigned first_of(const cpu_set_t& set) {
  unsigned cpu = 0;
  while (!CPU_ISSET(cpu, &set)) ++cpu;
  return cpu;
}
inline void stay_on(unsigned cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}
/// The first processor that it may run on, alone.
inline void stay_on_one() { stay_on(first_of(own_processors())); }

}  // namespace process_test
