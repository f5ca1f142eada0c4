// `ambench bulk`: bandwidth of blocking put and get, beside a plain memcpy between the same source and the
// same pages of the peer's segment; and the time of a put and a get of 8 bytes. The peer is idle: it takes no
// part.
//
// Twice, because it decides what moves between the caches:
//   warm       the source was not touched by the other core: the same data again and again
//   forwarded  the source was written by the other core just before: a put passes on what the peer has put
//   here, a get
//              fetches what the peer has computed. Only the transfer is timed.

#include <am/am.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "clock.hpp"
#include "job.hpp"
#include "measure.hpp"
#include "peers/peers.hpp"
#include "remote_bulk.hpp"
#include "timing.hpp"

namespace ambench::bulk {

namespace {

using Block = am::GlobalPtr<std::byte>;

constexpr std::array<std::size_t, 5> sizes{4096, 16384, 65536, 1 << 20, 4 << 20};
constexpr std::size_t largest = sizes.back();

struct State {
  std::uint64_t put_wanted = 0;   // bytes that node 1 is to put into node 0's inbox
  std::uint64_t fill_wanted = 0;  // bytes that node 1 is to write into its own outbox
  std::uint64_t done = 0;
  bool stopped = false;

  void want_put(am::Request&, std::uint64_t bytes) { put_wanted = bytes; }
  void want_fill(am::Request&, std::uint64_t bytes) { fill_wanted = bytes; }
  void is_done(am::Request&) { ++done; }
  void stop(am::Request&) { stopped = true; }
};

// The two blocks that every node has: what others put, and what it offers to be got.
struct Blocks {
  Block inbox;
  Block outbox;
};

class Mover {
 public:
  Mover(am::Node& node, State& state, Blocks blocks)
      : node_(node), state_(state), blocks_(blocks), private_(largest) {}

  void say_words() {
    const auto word = blocks_.inbox.on(1).as<std::uint64_t>();
    say_figure("8/put_ns", each_ns([&](std::uint64_t i) { am::put(node_, word, i); }));
    say_figure("8/get_ns", each_ns([&](std::uint64_t) { keep(am::get(node_, word)); }));
  }

  void say_bandwidth(std::size_t bytes) {
    const std::string name = std::to_string(bytes) + "/";
    const std::span<std::byte> mine(private_.data(), bytes);
    std::byte* const there = reach(blocks_.inbox.on(1), bytes);
    const auto put = [&](const std::byte* source) {
      am::put(node_, blocks_.inbox.on(1), std::span<const std::byte>(source, bytes));
    };
    const auto copy_in = [&](const std::byte* source) { std::memcpy(there, source, bytes); };
    say_figure(name + "put/warm/bandwidth_gb_per_s", warm(bytes, [&] { put(mine.data()); }));
    say_figure(name + "put/warm/limit_bandwidth_gb_per_s", warm(bytes, [&] { copy_in(mine.data()); }));
    const std::byte* const received = blocks_.inbox.local(node_);
    say_figure(name + "put/forwarded/bandwidth_gb_per_s",
               forwarded<&State::want_put>(bytes, [&] { put(received); }));
    say_figure(name + "put/forwarded/limit_bandwidth_gb_per_s",
               forwarded<&State::want_put>(bytes, [&] { copy_in(received); }));

    const std::byte* const offered = reach(blocks_.outbox.on(1), bytes);
    const auto get = [&] { am::get(node_, blocks_.outbox.on(1), mine); };
    const auto copy_out = [&] { std::memcpy(mine.data(), offered, bytes); };
    say_figure(name + "get/warm/bandwidth_gb_per_s", warm(bytes, get));
    say_figure(name + "get/warm/limit_bandwidth_gb_per_s", warm(bytes, copy_out));
    say_figure(name + "get/forwarded/bandwidth_gb_per_s", forwarded<&State::want_fill>(bytes, get));
    say_figure(name + "get/forwarded/limit_bandwidth_gb_per_s",
               forwarded<&State::want_fill>(bytes, copy_out));
  }

 private:
  // Where the peer's block lies in this process. The first put or get maps it.
  std::byte* reach(Block block, std::size_t bytes) {
    am::put(node_, block, std::byte{0});
    std::byte* const place = am::impl::GlobalAccess::reach(node_, block.address(), bytes);
    if (place == nullptr)
      throw std::runtime_error("node 1's segment is not mapped: there is no memcpy to compare with");
    return place;
  }

  template <typename F>
  static double each_ns(F&& operation) {
    constexpr std::uint64_t count = 10'000;
    return median_batch_ns([&] {
             for (std::uint64_t i = 0; i < count; ++i) operation(i);
           }) /
           count;
  }

  // GB/s of `transfer()`, repeated.
  template <typename F>
  double warm(std::size_t bytes, F&& transfer) {
    const std::size_t count = std::max<std::size_t>(1, (std::size_t{1} << 20) / bytes);
    const auto batch = [&] {
      for (std::size_t i = 0; i < count; ++i) {
        transfer();
        keep(private_.front());
      }
    };
    for (int warm_up = 0; warm_up < 4; ++warm_up) batch();
    return static_cast<double>(count * bytes) / median_batch_ns(batch);
  }

  // GB/s of `transfer()` alone, each after node 1 has written the source at the request `Wanted`.
  template <auto Wanted, typename F>
  double forwarded(std::size_t bytes, F&& transfer) {
    const double overhead = tick_overhead();
    std::vector<double> transfer_ticks;
    const auto once = [&] {
      const std::uint64_t expected = state_.done + 1;
      node_.request<Wanted>(1, bytes);
      node_.wait_until([&] { return state_.done == expected; });
      const std::uint64_t begin = ticks();
      transfer();
      keep(private_.front());
      transfer_ticks.push_back(static_cast<double>(ticks() - begin) - overhead);
    };
    for (int warm_up = 0; warm_up < 10; ++warm_up) once();
    transfer_ticks.clear();
    (void)median_batch_ns(once);
    return static_cast<double>(bytes) / (median_of(std::move(transfer_ticks)) * ns_per_tick());
  }

  am::Node& node_;
  State& state_;
  Blocks blocks_;
  std::vector<std::byte> private_;
};

// Node 1: writes what it is asked to; between that it is idle.
void write_on_demand(am::Node& node, State& state, Blocks blocks) {
  std::vector<std::byte> source(largest);
  for (int value = 1;; ++value) {
    node.wait_until([&] { return state.stopped || state.put_wanted != 0 || state.fill_wanted != 0; });
    if (state.stopped) return;
    if (state.put_wanted != 0) {
      am::put(node, blocks.inbox.on(0), std::span<const std::byte>(source).first(state.put_wanted));
    } else {
      std::memset(blocks.outbox.local(node), value, state.fill_wanted);
    }
    state.put_wanted = state.fill_wanted = 0;
    node.request<&State::is_done>(0);
  }
}

void run_node(am::Node& node, std::span<const std::string>) {
  const char* const transport = std::getenv("AM_TRANSPORT");
  if (transport != nullptr && std::string_view(transport) != "shm") return run_remote_bulk(node);
  State state;
  node.attach(state);
  say_place(node);
  const Blocks blocks{am::allocate_symmetric<std::byte>(node, largest),
                      am::allocate_symmetric<std::byte>(node, largest)};
  if (node.id() == 0) {
    Mover mover(node, state, blocks);
    mover.say_words();
    for (const std::size_t bytes : sizes) mover.say_bandwidth(bytes);
    node.request<&State::stop>(1);
  } else {
    write_on_demand(node, state, blocks);
  }
  node.barrier();
}

Report measure_bulk(const Options& options) {
  if (options.transport != "shm") return measure_remote_bulk(measure, options);
  Report report = report_of(measure, options, 2);
  const Series series = measure_pairs(measure, options, report);
  Row& words = report.rows.emplace_back("8 bytes, blocking, peer idle");
  words.key("bytes", 8);
  words.figure("put_ns", "put", series.at("8/put_ns")).figure("get_ns", "get", series.at("8/get_ns"));
  for (const std::size_t bytes : sizes) {
    for (const std::string operation : {"put", "get"}) {
      for (const std::string source : {"warm", "forwarded"}) {
        const std::string prefix = std::to_string(bytes) + "/" + operation + "/" + source + "/";
        const std::string of = source == "warm" ? ", source warm" : ", source just written by the other core";
        Row& row = report.rows.emplace_back(operation + " of " + std::to_string(bytes) + " bytes" + of);
        row.key("bytes", bytes).key("operation", operation).key("source", source);
        row.figure("bandwidth_gb_per_s", "libam", series.at(prefix + "bandwidth_gb_per_s"));
        compare(row, series, prefix, "bandwidth_gb_per_s", "limit", "one memcpy, same pages");
      }
    }
  }
  return report;
}

}  // namespace

const Measure measure{
    .name = "bulk",
    .meaning = "put and get: bandwidth beside one memcpy into the same pages, and time of 8 bytes",
    .measure = measure_bulk,
    .run_node = run_node,
    .over_networks = true,
};

}  // namespace ambench::bulk
