#include "remote_bulk.hpp"

#include <am/am.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clock.hpp"
#include "job.hpp"
#include "limits/limit.hpp"
#include "measure.hpp"
#include "peers/peers.hpp"
#include "timing.hpp"

namespace ambench {

namespace {

constexpr std::array<std::size_t, 4> sizes{4096, 65536, 1 << 20, 4 << 20};
constexpr std::size_t largest = sizes.back();
constexpr std::uint64_t short_puts = 1000;

struct State {
  std::uint64_t received = 0;  // bytes
  std::uint64_t answered = 0;
  bool stopped = false;

  void take(am::Request&, am::Payload payload) { received += payload.size(); }
  void how_much(am::Request& request, std::uint64_t expected) {
    if (received != expected) throw std::runtime_error("payloads are missing");
    request.reply<&State::so_much>();
  }
  void so_much(am::Reply&) { ++answered; }
  void stop(am::Request&) { stopped = true; }
};

class Mover {
 public:
  Mover(am::Node& node, State& state, am::GlobalPtr<std::byte> there)
      : node_(node), state_(state), there_(there), mine_(largest) {}

  void say_words() {
    const auto word = there_.as<std::uint64_t>();
    say_figure("8/put_ns", each_ns(100, [&] { am::put(node_, word, 1); }));
    say_figure("8/get_ns", each_ns(100, [&] { keep(am::get(node_, word)); }));
    std::vector<std::uint64_t> values(short_puts, 5);
    say_figure("8/pipelined_put_ns", each_ns(1, [&] {
                                       am::Counter counter;
                                       for (std::uint64_t i = 0; i < short_puts; ++i)
                                         am::begin_put(node_, word + static_cast<std::ptrdiff_t>(i),
                                                       std::span<const std::uint64_t>(&values[i], 1),
                                                       counter);
                                       am::wait(node_, counter, short_puts);
                                     }) / static_cast<double>(short_puts));
  }

  void say_bandwidth(std::size_t bytes) {
    const std::string name = std::to_string(bytes) + "/";
    const std::span<std::byte> mine(mine_.data(), bytes);
    const int count = static_cast<int>(std::max<std::size_t>(1, (std::size_t{16} << 20) / bytes));
    const auto gb_per_s = [&](double ns) { return static_cast<double>(bytes) / ns; };
    say_figure(name + "put/bandwidth_gb_per_s",
               gb_per_s(each_ns(1,
                                [&] {
                                  am::Counter counter;
                                  for (int i = 0; i < count; ++i)
                                    am::begin_put(node_, there_, std::span<const std::byte>(mine), counter);
                                  am::wait(node_, counter, static_cast<std::uint64_t>(count));
                                }) /
                        count));
    say_figure(name + "get/bandwidth_gb_per_s",
               gb_per_s(each_ns(1,
                                [&] {
                                  am::Counter counter;
                                  for (int i = 0; i < count; ++i) am::begin_get(node_, there_, mine, counter);
                                  am::wait(node_, counter, static_cast<std::uint64_t>(count));
                                }) /
                        count));
    say_figure(name + "payload/bandwidth_gb_per_s",
               gb_per_s(each_ns(1,
                                [&] {
                                  for (int i = 0; i < count; ++i) node_.request<&State::take>(1, mine);
                                  sent_ += static_cast<std::uint64_t>(count) * bytes;
                                  const std::uint64_t expected = state_.answered + 1;
                                  node_.request<&State::how_much>(1, sent_);
                                  node_.wait_until([&] { return state_.answered == expected; });
                                }) /
                        count));
  }

 private:
  template <typename F>
  static double each_ns(int count, F&& operation) {
    const auto batch = [&] {
      for (int i = 0; i < count; ++i) operation();
    };
    (void)median_batch_ns(batch, warm_up_ns);
    return median_batch_ns(batch) / count;
  }

  am::Node& node_;
  State& state_;
  am::GlobalPtr<std::byte> there_;
  std::vector<std::byte> mine_;
  std::uint64_t sent_ = 0;
};

}  // namespace

void run_remote_bulk(am::Node& node) {
  State state;
  node.attach(state);
  say_place(node);
  const am::GlobalPtr<std::byte> place = am::allocate_symmetric<std::byte>(node, largest);
  node.barrier();
  if (node.id() == 0) {
    Mover mover(node, state, place.on(1));
    mover.say_words();
    for (const std::size_t bytes : sizes) mover.say_bandwidth(bytes);
    node.request<&State::stop>(1);
  } else {
    node.wait_until([&] { return state.stopped; });
  }
  node.barrier();
}

Report measure_remote_bulk(const Measure& measure, const Options& options) {
  Report report = report_of(measure, options, 2);
  const Limit limit(wire_of(options.transport));
  const Series series = measure_pairs(measure, options, report, [&](CorePair cores, Series& beside) {
    for (const std::size_t bytes : sizes) {
      const double written = limit.stream_gb_per_s(cores, bytes, false);
      const bool differs = limit.stream_label(true) != limit.stream_label(false);
      const double got = differs ? limit.stream_gb_per_s(cores, bytes, true) : written;
      for (const char* what : {"put", "get", "payload"})
        beside.add(std::to_string(bytes) + "/" + what + "/limit_bandwidth_gb_per_s",
                   std::string_view(what) == "get" ? got : written);
    }
  });
  Row& words = report.rows.emplace_back("8 bytes: blocking, and 1000 of them at once");
  words.key("bytes", 8);
  words.figure("put_ns", "put", series.at("8/put_ns")).figure("get_ns", "get", series.at("8/get_ns"));
  words.figure("pipelined_put_ns", "of 1000 puts, each", series.at("8/pipelined_put_ns"));
  for (const std::size_t bytes : sizes) {
    for (const std::string operation : {"put", "get", "payload"}) {
      const std::string prefix = std::to_string(bytes) + "/" + operation + "/";
      Row& row = report.rows.emplace_back(operation + " of " + std::to_string(bytes) + " bytes");
      row.key("bytes", bytes).key("operation", operation);
      row.figure("bandwidth_gb_per_s", "libam", series.at(prefix + "bandwidth_gb_per_s"));
      if (!report.pinned()) continue;
      const std::string label = limit.stream_label(operation == "get");
      const std::vector<double>& beside = series.at(prefix + "limit_bandwidth_gb_per_s");
      if (beside.front() == 0) {
        row.note("limit_bandwidth_gb_per_s", label, "none: the provider has no FI_RMA for so many bytes");
      } else {
        compare(row, series, prefix, "bandwidth_gb_per_s", "limit", label);
      }
    }
  }
  return report;
}

}  // namespace ambench
