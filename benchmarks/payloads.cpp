// `ambench payloads`: what a payload costs beside a message's words. Half round trip of a request and its reply whose payloads
// are written anew each time and read in full by their handlers; and one-way streams, copied (from the sender's memory, by the
// handler into its own) or in place (prepare; the handler reads).
//
// Every repetition is a new job; right after it, on the same two cores, plain streams through shared memory, and, with
// --compare, the neighbours, which do the same work.

#include <am/am.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "job.hpp"
#include "limits/stream_limit.hpp"
#include "measure.hpp"
#include "peers/peers.hpp"
#include "timing.hpp"
#include "wire.hpp"
#include "words.hpp"

namespace ambench::payloads {

namespace {

constexpr std::array<std::size_t, 14> round_trip_sizes{64,    256,   512,   1024,   2048,   4096,   8192,
                                                       16384, 32768, 65536, 131072, 262144, 524288, 1048576};
constexpr std::array<std::size_t, 3> stream_sizes{1040, 65536, 1048576};

struct State {
  std::vector<std::byte> own{};
  std::uint64_t asked = 0;
  std::uint64_t answers = 0;
  std::uint64_t sum = 0;
  std::uint64_t blocks = 0;
  std::uint64_t blocks_there = 0;
  bool stopped = false;

  void ask_words(am::Request& request, std::uint64_t word) { request.reply<&State::answer_words>(word); }
  void answer_words(am::Reply&, std::uint64_t word) {
    sum += word;
    ++answers;
  }
  void ask(am::Request& request, am::Payload payload) {
    sum += sum_of_words(payload.bytes());
    own.resize(payload.size());
    write_words(own, ++asked);
    request.reply<&State::answer>(own);
  }
  void answer(am::Reply&, am::Payload payload) {
    sum += sum_of_words(payload.bytes());
    ++answers;
  }
  void take_copy(am::Request&, am::Payload payload) {
    own.resize(payload.size());
    std::memcpy(own.data(), payload.data(), payload.size());
    ++blocks;
  }
  void take_in_place(am::Request&, am::Payload payload) {
    sum += sum_of_words(payload.bytes());
    ++blocks;
  }
  void how_many(am::Request& request) { request.reply<&State::that_many>(blocks); }
  void that_many(am::Reply&, std::uint64_t count) { blocks_there = count; }
  void stop(am::Request&) { stopped = true; }
};

class Asker {
 public:
  Asker(am::Node& node, State& state) : node_(node), state_(state) {}

  // 8 bytes, as an argument.
  double half_rtt_of_words_ns() {
    return half_rtt_ns([&](std::uint64_t number) { node_.request<&State::ask_words>(1, number); });
  }
  double half_rtt_ns(std::size_t bytes) {
    std::vector<std::byte> payload(bytes);
    return half_rtt_ns([&](std::uint64_t number) {
      write_words(payload, number);
      node_.request<&State::ask>(1, payload);
    });
  }
  double copied_gb_per_s(std::size_t bytes) {
    const std::vector<std::byte> payload(bytes, std::byte{1});
    return gb_per_s(bytes, [&] { node_.request<&State::take_copy>(1, payload); });
  }
  double in_place_gb_per_s(std::size_t bytes) {
    return gb_per_s(bytes, [&] {
      am::Draft draft = node_.prepare<&State::take_in_place>(1, bytes);
      write_words(draft.data(), sent_);
      draft.commit();
    });
  }

 private:
  template <typename F>
  double half_rtt_ns(F&& send) {
    constexpr int count = 10;
    const auto batch = [&] {
      for (int i = 0; i < count; ++i) {
        const std::uint64_t expected = state_.answers + 1;
        send(expected);
        node_.wait_until([&] { return state_.answers == expected; });
      }
    };
    (void)median_batch_ns(batch, warm_up_ns);
    return median_batch_ns(batch) / (2.0 * count);
  }
  template <typename F>
  double gb_per_s(std::size_t bytes, F&& send) {
    const std::uint64_t blocks = std::max<std::uint64_t>(4, (std::size_t{1} << 22) / bytes);
    const auto batch = [&] {
      for (std::uint64_t i = 0; i < blocks; ++i) send();
      sent_ += blocks;
    };
    (void)median_batch_ns(batch, warm_up_ns);
    const double batch_ns = median_batch_ns(batch);
    node_.request<&State::how_many>(1);
    node_.wait_until([&] { return state_.blocks_there == sent_; });
    return static_cast<double>(blocks) * static_cast<double>(bytes) / batch_ns;
  }

  am::Node& node_;
  State& state_;
  std::uint64_t sent_ = 0;
};

std::string prefix_of(std::size_t bytes) { return std::to_string(bytes) + "/"; }

void run_node(am::Node& node, std::span<const std::string>) {
  State state;
  node.attach(state);
  say_place(node);
  node.barrier();
  if (node.id() == 0) {
    Asker asker(node, state);
    say_figure("8/half_rtt_ns", asker.half_rtt_of_words_ns());
    for (const std::size_t bytes : round_trip_sizes)
      say_figure(prefix_of(bytes) + "half_rtt_ns", asker.half_rtt_ns(bytes));
    for (const std::size_t bytes : stream_sizes) {
      say_figure(prefix_of(bytes) + "copied_gb_per_s", asker.copied_gb_per_s(bytes));
      say_figure(prefix_of(bytes) + "in_place_gb_per_s", asker.in_place_gb_per_s(bytes));
    }
    node.request<&State::stop>(1);
  } else {
    node.wait_until([&] { return state.stopped; });
  }
  node.barrier();
}

void ask_limits(CorePair cores, Series& series) {
  for (const std::size_t bytes : stream_sizes) {
    series.add(prefix_of(bytes) + "limit_copied_gb_per_s", two_copy_stream_gb_per_s(cores, bytes));
    series.add(prefix_of(bytes) + "limit_in_place_gb_per_s", in_place_stream_gb_per_s(cores, bytes));
  }
}

void ask_peers(Peers& peers, CorePair cores, Series& series) {
  peers.ask_openmpi("payloads", round_trip_sizes, series);
  peers.with_ucx("ucx_am",
                 [&](const Ucx& ucx) { series.add(ucx.payload_half_rtts(cores, round_trip_sizes)); });
}

Report measure_payloads(const Options& options) {
  Report report = report_of(measure, options, 2);
  const Wire wire = wire_of(options.transport);
  const bool mapped = wire.kind == Wire::Kind::mapped;  // the streams of others have their limits in `bulk`
  Peers peers(options.compare ? Peers::Who::openmpi_and_ucx : Peers::Who::nobody, wire);
  const Series series = measure_pairs(measure, options, report, [&](CorePair cores, Series& beside) {
    if (mapped) ask_limits(cores, beside);
    ask_peers(peers, cores, beside);
  });
  peers.describe(report);
  const bool beside_others = report.pinned();
  if (!beside_others) report.remarks.push_back(nothing_beside_unbound);
  Row& words = report.rows.emplace_back("8 bytes of arguments, half round trip");
  words.key("bytes", 8);
  words.figure("half_rtt_ns", "libam", series.at("8/half_rtt_ns"));
  for (const std::size_t bytes : round_trip_sizes) {
    const std::string prefix = prefix_of(bytes);
    Row& row = report.rows.emplace_back(std::to_string(bytes) + " bytes, half round trip, written and read");
    row.key("bytes", bytes);
    row.figure("half_rtt_ns", "libam", series.at(prefix + "half_rtt_ns"));
    if (!beside_others) continue;
    peers.compare(row, series, prefix, "half_rtt_ns", "openmpi", "Open MPI");
    peers.compare(row, series, prefix, "half_rtt_ns", "ucx_am", "UCX, UCP am");
  }
  for (const std::size_t bytes : stream_sizes) {
    if (!mapped) break;
    const std::string prefix = prefix_of(bytes);
    Row& copied = report.rows.emplace_back(std::to_string(bytes) + " bytes, one way, copied in and out");
    copied.key("bytes", bytes);
    copied.figure("copied_gb_per_s", "libam", series.at(prefix + "copied_gb_per_s"));
    if (beside_others) compare(copied, series, prefix, "copied_gb_per_s", "limit", "limit: plain slots");
    Row& in_place =
        report.rows.emplace_back(std::to_string(bytes) + " bytes, one way, prepared and read in place");
    in_place.key("bytes", bytes);
    in_place.figure("in_place_gb_per_s", "libam", series.at(prefix + "in_place_gb_per_s"));
    if (beside_others) compare(in_place, series, prefix, "in_place_gb_per_s", "limit", "limit: plain slots");
  }
  return report;
}

}  // namespace

const Measure measure{
    .name = "payloads",
    .meaning = "round trips and streams of payloads, written anew and read",
    .can_compare = true,
    .measure = measure_payloads,
    .run_node = run_node,
    .over_networks = true,
};

}  // namespace ambench::payloads
