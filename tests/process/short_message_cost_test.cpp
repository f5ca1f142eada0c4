// What a short message costs beside its own instructions: no allocation and no system call. Both are counted exactly,
// while two nodes flood each other with requests and replies, and while a node alone sends to itself.
//
// Allocations: this program's own malloc family counts and passes on to the C library's. System calls: a seccomp filter
// makes each of them a SIGSYS, whose handler names it and ends the node. Nothing takes a filter away again, so the flood
// is the last thing that a node does; it ends without leaving the job.
//
// The nodes poll and never wait: waiting may yield and sleep, that is its purpose. Where the flood itself has to give the
// processor to the other node, it yields with a mark in an argument that the kernel ignores, and the filter lets pass.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "process/own_malloc.hpp"
#include "support/job.hpp"

// -- allocations ----------------------------------------------------------------------------------------------------------

namespace {

std::uint64_t allocations = 0;
void malloc_begins(const char* /*function*/) noexcept { ++allocations; }

// -- system calls ---------------------------------------------------------------------------------------------------------

constexpr long our_own_yield = 0x616d;
constexpr int exit_code_of_a_system_call = 3;

void yield() { syscall(SYS_sched_yield, our_own_yield); }

void name_it(int, siginfo_t* info, void*) {
  std::array<char, 80> line{};
  const int length = std::snprintf(line.data(), line.size(), "system call %d in a flood of short messages\n",
                                   info->si_syscall);
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, line.data(), static_cast<std::size_t>(length));
  _exit(exit_code_of_a_system_call);
}

/// From here on this process may write to standard error, yield as above, and end. False where a kernel has no filters.
bool forbid_system_calls() {
  struct sigaction action {};
  action.sa_sigaction = name_it;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, nullptr);
  constexpr auto number = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  constexpr auto first_argument = static_cast<std::uint32_t>(offsetof(seccomp_data, args));  // its low half
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  std::array<sock_filter, 9> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_yield, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, first_argument),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, our_own_yield, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// The exit code of f as a child.
int in_child(const std::function<int()>& f) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) _exit(f());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// -- the flood ------------------------------------------------------------------------------------------------------------

constexpr std::uint64_t warm_up = 20'000;
constexpr std::uint64_t exchanges = 1'000'000;  // requests of each node, all answered
constexpr std::uint64_t window = 32;  // unanswered at a time: no handler ever waits for room for its reply

struct Traffic {
  std::uint64_t sent = 0;
  std::uint64_t answered = 0;
  std::uint64_t served = 0;
  std::uint64_t sum = 0;

  void answer(am::Reply&, std::uint64_t value) {
    ++answered;
    sum += value;
  }
  void serve(am::Request& request, std::uint64_t value) {
    ++served;
    request.reply<&Traffic::answer>(value + 1);
  }
};

/// Sends until `total` requests have been answered and as many of the peer's served. Never waits.
void flood(am::Node& node, Traffic& traffic, am::NodeId peer, std::uint64_t total) {
  std::uint32_t idle = 0;
  while (traffic.answered < total || traffic.served < total) {
    bool did = false;
    while (traffic.sent < total && traffic.sent - traffic.answered < window &&
           node.try_request<&Traffic::serve>(peer, traffic.sent) == am::Status::ok) {
      ++traffic.sent;
      did = true;
    }
    if (node.poll() != 0) did = true;
    idle = did ? 0 : idle + 1;
    if (idle > 100) yield();
  }
}

/// The body of a node: warm-up, then the flood under watch. Does not return.
[[noreturn]] void flood_under_watch(am::Node& node) {
  Traffic traffic;
  node.attach(traffic);
  node.barrier();
  const am::NodeId peer = (node.id() + 1) % node.size();
  flood(node, traffic, peer,
        warm_up);  // connects; and the peer is certainly out of the barrier, where it may have slept
  const std::uint64_t allocated_before = allocations;
  if (!forbid_system_calls()) std::_Exit(4);
  const std::uint64_t total = warm_up + exchanges;
  flood(node, traffic, peer, total);
  const std::uint64_t allocated = allocations - allocated_before;
  std::array<char, 120> line{};
  const int length = std::snprintf(
      line.data(), line.size(), "node %u: %llu exchanges, %llu allocations, no system call\n", node.id(),
      static_cast<unsigned long long>(exchanges), static_cast<unsigned long long>(allocated));
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, line.data(), static_cast<std::size_t>(length));
  _exit(allocated == 0 && traffic.sum == total * (total + 1) / 2 ? 0 : 5);
}

class ShortMessageCost : public testing::Test {
 protected:
  void SetUp() override {
    if (test::sanitized) GTEST_SKIP() << "sanitizers have a malloc of their own and make system calls";
    if (in_child([] { return forbid_system_calls() ? 0 : 1; }) != 0)
      GTEST_SKIP() << "this kernel or container has no seccomp filters";
    const auto look_at_the_clock = [] {
      if (!forbid_system_calls()) return 1;
      return am::host::monotonic_ns() != 0 ? 0 : 1;
    };
    if (in_child(look_at_the_clock) != 0)
      GTEST_SKIP() << "reading the clock is a system call on this machine (handlers are timed now and then)";
  }
};

TEST_F(ShortMessageCost, WhatCountsCounts) {
  const std::uint64_t before = allocations;
  { const auto allocated = std::make_unique<std::vector<int>>(1000); }
  EXPECT_EQ(allocations - before, 4U);  // two, and given back
  const auto call = [](long number) {
    return in_child([number] {
      if (!forbid_system_calls()) return 1;
      syscall(number, 0);
      return 0;
    });
  };
  EXPECT_EQ(call(SYS_getpid), exit_code_of_a_system_call);
  EXPECT_EQ(call(SYS_futex), exit_code_of_a_system_call);
  EXPECT_EQ(call(SYS_sched_yield), exit_code_of_a_system_call);
  const auto own_yield = [] {
    if (!forbid_system_calls()) return 1;
    yield();
    return 0;
  };
  EXPECT_EQ(in_child(own_yield), 0);
}

TEST_F(ShortMessageCost, BetweenTwoNodes) {
  EXPECT_NO_THROW(test::run_job({test::Nodes::processes}, 2, flood_under_watch));
}

TEST_F(ShortMessageCost, ToItself) {
  EXPECT_NO_THROW(test::run_job({test::Nodes::processes}, 1, flood_under_watch));
}

}  // namespace
