// A program that waits in system calls while messages interrupt it, hundreds of times in each: no call fails with EINTR,
// none ends before its time, and errno is left alone. Node 0 sends all the time; node 1 never polls.
#include "process/disturbed.hpp"

#if !defined(__SANITIZE_THREAD__)

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <ctime>

namespace interrupt_calls_test {

using namespace test;

const std::uint64_t enough = rounds(400);  // interrupts of a call that waits for something

/// Node 1. The handler that has come often enough brings what the call waits for.
struct Waiter {
  am::Node* node = nullptr;
  volatile std::uint64_t came = 0;
  volatile std::uint64_t bring_at = ~std::uint64_t{0};
  std::function<void()> bring;
  void come(am::Request&) {
    came = came + 1;
    errno = EDOM;
    if (came == bring_at) bring();
  }
  void expect(std::function<void()> f) {
    const am::CriticalSection quiet(*node);
    bring = std::move(f);
    bring_at = came + enough;
  }
};

std::uint64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}
timespec in(std::uint64_t ns, clockid_t clock) {
  const std::uint64_t when = now_ns(clock) + ns;
  return {static_cast<std::time_t>(when / 1'000'000'000), static_cast<long>(when % 1'000'000'000)};
}

void disturbed(const std::function<void(Waiter&)>& call) {
  test::disturbed<Waiter>(20'000, [&](am::Node& node, Waiter& waiter) {
    waiter.node = &node;
    call(waiter);
  });
}

void check_returned(long got, long expected, int error) {
  check_equal(got, expected, std::string("returned, errno: ") + std::strerror(error));
}

/// Calls that wait until a handler has brought what they wait for, and then return what is expected.
struct Waits {
  Waiter& waiter;
  std::function<void()> bring;
  void operator()(long expected, const std::function<long()>& call) const {
    for (int i = 0; i < 5; ++i) {
      waiter.expect(bring);
      errno = 0;
      const long got = call();
      check_returned(got, expected, errno);
      check(waiter.came >= waiter.bring_at, "returned before its time");
    }
  }
};

constexpr std::uint64_t nap_ns = 20'000'000;
constexpr timespec nap{0, static_cast<long>(nap_ns)};

/// A call that takes at least a nap by `clock`, again and again until it was interrupted often enough.
void naps(Waiter& waiter, clockid_t clock, const std::function<long()>& call) {
  const std::uint64_t until = waiter.came + enough;
  while (waiter.came < until) {
    const std::uint64_t began = now_ns(clock);
    errno = 0;
    const long got = call();
    const int error = errno;
    const std::uint64_t took = now_ns(clock) - began;
    check_returned(got, 0, error);
    check(took >= nap_ns, "ended after " + std::to_string(took) + " of " + std::to_string(nap_ns) + " ns");
  }
}
void naps(Waiter& waiter, const std::function<long()>& call) { naps(waiter, CLOCK_MONOTONIC, call); }

struct Pipe : test::Pinned {
  int ends[2] = {-1, -1};
  Pipe() { check(pipe(ends) == 0, "pipe"); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  void write_one() const { check(write(ends[1], "x", 1) == 1, "write"); }
  [[nodiscard]] long read_one() const {
    char c = 0;
    return read(ends[0], &c, 1);
  }
};

constexpr std::uint64_t hour_ns = 3'600'000'000'000;

TEST(InterruptedCalls, Read) {
  disturbed([](Waiter& waiter) {
    const Pipe pipe;
    const Waits waits{waiter, [&] { pipe.write_one(); }};
    waits(1, [&] { return pipe.read_one(); });
  });
}

TEST(InterruptedCalls, Write) {
  disturbed([](Waiter& waiter) {
    const Pipe pipe;
    std::array<char, 4096> page{};
    fcntl(pipe.ends[1], F_SETFL, O_NONBLOCK);
    while (write(pipe.ends[1], page.data(), page.size()) > 0) {
    }
    fcntl(pipe.ends[1], F_SETFL, 0);
    const Waits waits{waiter, [&] { check(read(pipe.ends[0], page.data(), page.size()) > 0, "read"); }};
    waits(static_cast<long>(page.size()), [&] { return write(pipe.ends[1], page.data(), page.size()); });
  });
}

TEST(InterruptedCalls, PollSelectEpoll) {
  disturbed([](Waiter& waiter) {
    const Pipe pipe;
    const Waits waits{waiter, [&] { pipe.write_one(); }};
    const auto and_read = [&](long got) { return got == 1 ? pipe.read_one() : got; };
    pollfd one{pipe.ends[0], POLLIN, 0};
    waits(1, [&] { return and_read(::poll(&one, 1, -1)); });
    waits(1, [&] { return and_read(ppoll(&one, 1, nullptr, nullptr)); });
    const timespec long_time{3600, 0};
    waits(1, [&] { return and_read(ppoll(&one, 1, &long_time, nullptr)); });
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipe.ends[0], &set);  // as it is when they return
    waits(1, [&] { return and_read(select(pipe.ends[0] + 1, &set, nullptr, nullptr, nullptr)); });
    waits(1, [&] { return and_read(pselect(pipe.ends[0] + 1, &set, nullptr, nullptr, nullptr, nullptr)); });
    const int poller = epoll_create1(0);
    epoll_event event{.events = EPOLLIN, .data = {}};
    check(epoll_ctl(poller, EPOLL_CTL_ADD, pipe.ends[0], &event) == 0, "epoll_ctl");
    waits(1, [&] { return and_read(epoll_wait(poller, &event, 1, -1)); });
    close(poller);
  });
}

TEST(InterruptedCalls, SelectAndPpollForATime) {
  disturbed([](Waiter& waiter) {
    naps(waiter, [] {
      timeval time{0, nap_ns / 1000};
      return select(0, nullptr, nullptr, nullptr, &time);
    });
    naps(waiter, [] { return pselect(0, nullptr, nullptr, nullptr, &nap, nullptr); });
    naps(waiter, [] { return ppoll(nullptr, 0, &nap, nullptr); });
  });
}

TEST(InterruptedCalls, Sleeps) {
  disturbed([](Waiter& waiter) {
    timespec left{};
    naps(waiter, [] { return nanosleep(&nap, nullptr); });
    naps(waiter, [&] {
      left = nap;
      return nanosleep(&left, &left);
    });
    naps(waiter, [&] { return nanosleep(&nap, &left); });
    for (const clockid_t clock : {CLOCK_MONOTONIC, CLOCK_REALTIME}) {
      naps(waiter, [&] { return clock_nanosleep(clock, 0, &nap, nullptr); });
      naps(waiter, [&] { return clock_nanosleep(clock, 0, &nap, &left); });
      naps(waiter, clock, [&] {
        const timespec until = in(nap_ns, clock);
        return clock_nanosleep(clock, TIMER_ABSTIME, &until, nullptr);
      });
    }
    naps(waiter, [] { return usleep(nap_ns / 1000); });
    naps(waiter, [] {
      std::this_thread::sleep_for(std::chrono::nanoseconds(nap_ns));
      return 0L;
    });
    check_equal(sleep(1), 0u, "sleep");
  });
}

#if defined(__x86_64__)
// A program that calls the system by itself, as other languages' libraries do.
TEST(InterruptedCalls, SleepsByHand) {
  disturbed([](Waiter& waiter) {
    naps(waiter, [] {
      long result = SYS_nanosleep;
      const timespec* time = &nap;
      timespec* left = nullptr;
      asm volatile("mov %[number], %%eax\n\tsyscall"
                   : "=&a"(result), "+D"(time), "+S"(left)
                   : [number] "i"(SYS_nanosleep)
                   : "rcx", "r11", "rdx", "r10", "memory");
      return result;
    });
  });
}
#endif

TEST(InterruptedCalls, Semaphores) {
  disturbed([](Waiter& waiter) {
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    const Waits waits{waiter, [&] { sem_post(&semaphore); }};
    waits(0, [&] { return sem_wait(&semaphore); });
    waits(0, [&] {
      const timespec until = in(hour_ns, CLOCK_REALTIME);
      return sem_timedwait(&semaphore, &until);
    });
    waits(0, [&] {
      const timespec until = in(hour_ns, CLOCK_MONOTONIC);
      return sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until);
    });
    naps(waiter, CLOCK_REALTIME, [&] {
      const timespec until = in(nap_ns, CLOCK_REALTIME);
      return sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT ? 0L : -1L;
    });
    sem_destroy(&semaphore);
  });
}

TEST(InterruptedCalls, Conditions) {
  disturbed([](Waiter& waiter) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    naps(waiter, CLOCK_REALTIME, [&] {
      const timespec until = in(nap_ns, CLOCK_REALTIME);
      int result = 0;
      while (result == 0)
        result = pthread_cond_timedwait(&condition, &mutex, &until);  // may wake for no reason
      return static_cast<long>(result - ETIMEDOUT);
    });
    pthread_mutex_unlock(&mutex);
  });
}

TEST(InterruptedCalls, WaitForAChild) {
  disturbed([](Waiter& waiter) {
    const Pipe pipe;
    const Waits waits{waiter, [&] { pipe.write_one(); }};
    waits(7, [&] {
      const pid_t child = fork();
      if (child == 0) _exit(pipe.read_one() == 1 ? 7 : 1);
      int status = 0;
      const pid_t got = waitpid(child, &status, 0);
      return got == child && WIFEXITED(status) ? static_cast<long>(WEXITSTATUS(status)) : -1L;
    });
  });
}

TEST(InterruptedCalls, AcceptAndReceive) {
  disturbed([](Waiter& waiter) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // An abstract name of this process.
    std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "am_test_%d", getpid());
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    const auto* name = reinterpret_cast<const sockaddr*>(&address);
    check(bind(listener, name, sizeof address) == 0 && listen(listener, 16) == 0, "listen");
    int caller = -1;
    const Waits waits{waiter, [&] {
                        caller = socket(AF_UNIX, SOCK_STREAM, 0);
                        check(connect(caller, name, sizeof address) == 0, "connect");
                      }};
    waits(0, [&] {
      const int accepted = accept(listener, nullptr, nullptr);
      if (accepted < 0) return -1L;
      close(accepted);
      close(caller);
      return 0L;
    });
    close(listener);
    int pair[2];
    check(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0, "socketpair");
    char buffer[8];
    const Waits for_a_datagram{waiter, [&] { check(send(pair[0], "abc", 3, 0) == 3, "send"); }};
    for_a_datagram(3, [&] { return recv(pair[1], buffer, sizeof buffer, 0); });
    close(pair[0]);
    close(pair[1]);
  });
}

TEST(InterruptedCalls, LocksAndThreads) {
  disturbed([](Waiter& waiter) {
    const Pipe pipe;
    const Waits waits{waiter, [&] { pipe.write_one(); }};
    waits(1, [&] {
      long got = 0;
      std::thread other([&] { got = pipe.read_one(); });
      other.join();
      return got;
    });
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    waits(0, [&] {
      std::atomic<bool> locked{false};
      std::thread other([&] {
        pthread_mutex_lock(&mutex);
        locked = true;
        static_cast<void>(pipe.read_one());
        pthread_mutex_unlock(&mutex);
      });
      while (!locked) std::this_thread::yield();
      const timespec until = in(hour_ns, CLOCK_REALTIME);
      const int got = pthread_mutex_timedlock(&mutex, &until);
      if (got == 0) pthread_mutex_unlock(&mutex);
      other.join();
      return static_cast<long>(got);
    });
  });
}

TEST(InterruptedCalls, ErrnoStays) {
  disturbed([](Waiter& waiter) {
    const std::uint64_t until = waiter.came + 10 * enough;
    for (int i = 0; waiter.came < until; ++i) {
      errno = i % 100;
      for (volatile int spin = 0; spin < 200;) spin = spin + 1;
      check_equal(errno, i % 100, "errno");
    }
  });
}

}  // namespace interrupt_calls_test

#endif
