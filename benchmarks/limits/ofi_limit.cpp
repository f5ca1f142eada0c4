#include "limits/ofi_limit.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "timing.hpp"

namespace ambench {

namespace {

constexpr std::size_t most_under_way = 16;

// `first` is what the one end measures; the other does `second` again and again, until that is over.
template <typename First, typename Second>
double run_ends(CorePair cores, const std::string& provider, std::size_t bytes, First first, Second second,
                CompletionQueue queue = CompletionQueue::polled_only) {
  return run_pair(
      cores, sizeof(OfiMeeting),
      [&](std::byte* memory) {
        OfiEnd end(provider, OfiMeeting::in(memory), 0, bytes, queue);
        const double result = first(end);
        end.part();
        return result;
      },
      [&](std::byte* memory) {
        OfiEnd end(provider, OfiMeeting::in(memory), 1, bytes, queue);
        while (!end.is_over()) second(end);
        end.part();
      });
}

}  // namespace

double ofi_half_rtt_ns(CorePair cores, const std::string& provider, CompletionQueue queue) {
  return run_ends(
      cores, provider, 0,
      [](OfiEnd& end) {
        constexpr int count = 100;
        const auto batch = [&] {
          for (int i = 0; i < count; ++i) {
            const std::uint64_t expected = end.received() + 1;
            end.inject();
            end.receive_until(expected);
          }
        };
        (void)median_batch_ns(batch, warm_up_ns);
        return median_batch_ns(batch) / (2.0 * count);
      },
      [](OfiEnd& end) {
        const std::uint64_t before = end.received();
        end.look();
        for (std::uint64_t i = before; i < end.received(); ++i) end.inject();
        end.post_receives();
      },
      queue);
}

double ofi_injects_million_per_s(CorePair cores, const std::string& provider) {
  constexpr std::uint64_t count = 10'000;
  return run_ends(
      cores, provider, 0,
      [](OfiEnd& end) {
        const auto batch = [&] {
          const std::uint64_t expected = end.received() + 1;
          for (std::uint64_t i = 0; i < count; ++i) end.inject();
          end.receive_until(expected);
        };
        (void)median_batch_ns(batch, warm_up_ns);
        return count * 1e3 / median_batch_ns(batch);
      },
      [](OfiEnd& end) {
        const std::uint64_t before = end.received() / count;
        end.look();
        end.post_receives();
        if (end.received() / count != before) end.inject();
      });
}

double ofi_stream_gb_per_s(CorePair cores, const std::string& provider, std::size_t bytes, Access access) {
  return run_ends(
      cores, provider, bytes,
      [&](OfiEnd& end) {
        if (!end.has_rma(bytes)) return 0.0;
        const std::size_t count = std::max<std::size_t>(8, (std::size_t{16} << 20) / bytes);
        const auto batch = [&] {
          for (std::size_t i = 0; i < count; ++i) {
            while (end.under_way() >= most_under_way) end.look();
            if (access == Access::read) {
              end.read();
            } else {
              end.write(i + 1 == count ? OfiEnd::Told::when_delivered : OfiEnd::Told::when_sent);
            }
          }
          while (end.under_way() != 0) end.look();
        };
        (void)median_batch_ns(batch, warm_up_ns);
        return static_cast<double>(count * bytes) / median_batch_ns(batch);
      },
      [](OfiEnd& end) { end.look(); });
}

}  // namespace ambench
