// A cable between two hosts (process/namespaces.hpp) that is as bad as one likes: frames take their time, overtake each other, come
// twice, or not at all, by a seed. In user space, as not every kernel can do that: an interface of each host is a tap, and what goes
// in at one of them is written to the other one by a thread here.
#pragma once

#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include <thread>

#include "host/descriptor.hpp"
#include "process/namespaces.hpp"
#include "support/random.hpp"

namespace process_test {

struct CableFaults {
  double loss = 0;     ///< of all frames, so many are lost
  double doubled = 0;  ///< so many come twice
  std::chrono::microseconds delay{0};
  std::chrono::microseconds jitter{0};  ///< at most so much is added: frames overtake each other
  double bytes_per_second = 0;          ///< 0: as fast as it goes
};

class BadLink : test::Pinned {
 public:
  /// Between the first two hosts, whose interfaces with that name it makes; `v4` is what their addresses begin with.
  BadLink(const Namespaces& hosts, const std::string& interface, const std::string& v4,
          const CableFaults& faults, std::uint64_t seed)
      : faults_(faults), random_(seed), stop_(eventfd(0, EFD_CLOEXEC)) {
    for (std::size_t host : {1u, 2u}) {
      ends_[host - 1] = open_tap(hosts.name(host), interface);
      const std::string address = v4 + std::to_string(host) + "/24";
      for (const std::vector<std::string>& command :
           {std::vector<std::string>{"ip", "-n", hosts.name(host), "addr", "add", address, "dev", interface},
            {"ip", "-n", hosts.name(host), "link", "set", interface, "up"}}) {
        const Outcome outcome = run(command);
        if (outcome.exit_code != 0) problem_ += outcome.err;
      }
    }
    if (works()) thread_ = std::thread([this] { forward(); });
  }
  ~BadLink() {
    if (!thread_.joinable()) return;
    eventfd_write(stop_.get(), 1);
    thread_.join();
  }

  [[nodiscard]] bool works() const { return problem_.empty(); }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Frames that had a fault, so far.
  [[nodiscard]] int faults() const { return done_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Frame {
    std::size_t to;
    std::vector<std::byte> bytes;
  };

  /// A descriptor stays in the namespace in which it was opened: on a thread that goes there and ends.
  am::host::Descriptor open_tap(const std::string& host, const std::string& interface) {
    am::host::Descriptor tap;
    std::thread([&] {
      const am::host::Descriptor there(open(("/run/netns/" + host).c_str(), O_RDONLY | O_CLOEXEC));
      const bool is_there = there && setns(there.get(), CLONE_NEWNET) == 0;
      tap = am::host::Descriptor(open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
      ifreq request{};
      request.ifr_flags = IFF_TAP | IFF_NO_PI;
      interface.copy(request.ifr_name, sizeof request.ifr_name - 1);
      if (!is_there || !tap || ioctl(tap.get(), TUNSETIFF, &request) != 0)
        problem_ += std::string("no tap: ") + std::strerror(errno);
    }).join();
    return tap;
  }

  void forward() {
    for (;;) {
      std::array<pollfd, 3> polled{
          {{stop_.get(), POLLIN, 0}, {ends_[0].get(), POLLIN, 0}, {ends_[1].get(), POLLIN, 0}}};
      timespec nap{};
      const timespec* limit = nullptr;
      if (!under_way_.empty()) {
        const auto left = std::max(under_way_.begin()->first - Clock::now(), Clock::duration::zero());
        nap = {.tv_sec = 0, .tv_nsec = std::min<long>(left.count(), 999'999'999)};
        limit = &nap;
      }
      if (ppoll(polled.data(), polled.size(), limit, nullptr) < 0 && errno != EINTR) return;
      if (polled[0].revents != 0) return;
      for (std::size_t end : {0u, 1u}) {
        if (polled[end + 1].revents != 0) take(end);
      }
      for (const auto now = Clock::now(); !under_way_.empty() && under_way_.begin()->first <= now;) {
        const Frame& frame = under_way_.begin()->second;
        static_cast<void>(write(ends_[frame.to].get(), frame.bytes.data(), frame.bytes.size()));
        under_way_.erase(under_way_.begin());
      }
    }
  }

  void take(std::size_t end) {
    std::array<std::byte, 65536> room;
    for (ssize_t got = 0; (got = read(ends_[end].get(), room.data(), room.size())) > 0;) {
      const std::vector<std::byte> bytes(room.begin(), room.begin() + got);
      auto& free_at = free_at_[end];
      free_at = std::max(free_at, Clock::now());
      if (faults_.bytes_per_second > 0)
        free_at += std::chrono::nanoseconds(
            static_cast<long>(1e9 * static_cast<double>(got) / faults_.bytes_per_second));
      if (free_at - Clock::now() > std::chrono::milliseconds(200)) continue;  // its queue is full
      if (happens(faults_.loss)) continue;
      for (int copies = happens(faults_.doubled) ? 2 : 1; copies > 0; --copies)
        under_way_.emplace(free_at + faults_.delay + jitter(), Frame{1 - end, bytes});
    }
  }

  bool happens(double share) {
    const bool now = static_cast<double>(random_.below(1'000'000)) < share * 1e6;
    if (now) ++done_;
    return now;
  }
  std::chrono::microseconds jitter() {
    if (faults_.jitter.count() == 0) return {};
    return std::chrono::microseconds(random_.below(static_cast<std::size_t>(faults_.jitter.count())));
  }

  const CableFaults faults_;
  test::Random random_;
  const am::host::Descriptor stop_;
  std::array<am::host::Descriptor, 2> ends_;
  std::string problem_;
  std::multimap<Clock::time_point, Frame> under_way_;
  std::array<Clock::time_point, 2> free_at_{};
  std::atomic<int> done_ = 0;
  std::thread thread_;
};

}  // namespace process_test
