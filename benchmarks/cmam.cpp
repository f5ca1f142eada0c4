// `ambench cmam`: what CMAM's calls cost on top of libam's own. A round trip of CMAM_request_4 and CMAM_reply_4 beside one of request
// and reply with as many words, and CMAM_xfer into a segment beside payloads that their handler copies; in turn, in one job.
#include <am/cmam.h>
#include <am/am.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "job.hpp"
#include "measure.hpp"
#include "peers/peers.hpp"
#include "timing.hpp"

namespace ambench::cmam {

namespace {

constexpr std::array<int, 2> sizes{4096, 1 << 20};

// Each node is a process: what follows is a node's own.
volatile int answers = 0;
volatile int segments_told = 0;
int segment = -1;
bool stopped = false;
std::uint64_t replies = 0;
std::vector<std::byte> memory;

void pong(am_word, am_word, am_word, am_word) { answers = answers + 1; }
void ping(am_word back, am_word a, am_word b, am_word c) {
  CMAM_reply_4(static_cast<int>(back), pong, a, b, c, back);
}
void answer(am::Reply&, std::int64_t, std::int64_t, std::int64_t, std::int64_t) { ++replies; }
void ask(am::Request& request, std::int64_t back, std::int64_t a, std::int64_t b, std::int64_t c) {
  request.reply<answer>(a, b, c, back);
}
void stop(am::Request&) { stopped = true; }

// -- transfers: of each, node 1 answers when the bytes are where they belong

void segment_is(int number) {
  segment = number;
  segments_told = segments_told + 1;
}
void segment_is_full(void* /*info*/, void* /*base*/) { CMAM_reply_4(0, pong); }
void open_segment(int bytes) {
  const int opened =
      CMAM_open_segment(memory.data(), bytes, reinterpret_cast<void (*)(...)>(segment_is_full), nullptr);
  CMAM_reply_4(0, segment_is, opened);
}
void copied(am::Reply&) { ++replies; }
void copy(am::Request& request, am::Payload payload) {
  std::memcpy(memory.data(), payload.data(), payload.size());
  request.reply<copied>();
}

void cmam_round_trip() {
  CMAM_request_4(1, ping, 0, 1, 2, 3);
  CMAM_wait(&answers, 1);
}
void round_trip(am::Node& node) {
  const std::uint64_t expected = replies + 1;
  node.request<ask>(1, std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3});
  node.wait_until([&] { return replies == expected; });
}

void cmam_transfer(int bytes) {
  CMAM_request_4(1, open_segment, bytes);
  CMAM_wait(&segments_told, 1);
  CMAM_xfer(1, segment, memory.data(), bytes);
  CMAM_wait(&answers, 1);
}
/// With the round trip that a segment's number takes.
void transfer(am::Node& node, int bytes) {
  round_trip(node);
  const std::uint64_t expected = replies + 1;
  node.request<copy>(1, std::span(memory).first(static_cast<std::size_t>(bytes)));
  node.wait_until([&] { return replies == expected; });
}

void run_node(am::Node& node, std::span<const std::string>) {
  memory.resize(sizes.back());
  say_place(node);
  static_cast<void>(CMMD_self_address());
  node.barrier();
  if (node.id() == 0) {
    const auto [cmam, libam] = medians_in_turn(
        cmam_round_trip, [&] { round_trip(node); }, 100);
    say_figure("round_trip/half_rtt_ns", cmam / 2);
    say_figure("round_trip/libam_half_rtt_ns", libam / 2);
    for (const int bytes : sizes) {
      const auto [xfer, payload] =
          medians_in_turn([&] { cmam_transfer(bytes); }, [&] { transfer(node, bytes); }, 4);
      const std::string row = std::to_string(bytes) + "/";
      say_figure(row + "transfer_us", xfer / 1e3);
      say_figure(row + "libam_transfer_us", payload / 1e3);
    }
    node.request<stop>(1);
  } else {
    node.wait_until([&] { return stopped; });
  }
  node.barrier();
}

Report measure_cmam(const Options& options) {
  Report report = report_of(measure, options, 2);
  const Series series = measure_pairs(measure, options, report);
  Row& trip = report.rows.emplace_back("CMAM_request_4 and CMAM_reply_4, half round trip");
  trip.figure("half_rtt_ns", "CMAM", series.at("round_trip/half_rtt_ns"));
  compare(trip, series, "round_trip/", "half_rtt_ns", "libam", "libam's request and reply");
  for (const int bytes : sizes) {
    const std::string prefix = std::to_string(bytes) + "/";
    Row& row =
        report.rows.emplace_back("CMAM_xfer of " + std::to_string(bytes) + " bytes into a new segment");
    row.key("bytes", static_cast<std::size_t>(bytes));
    row.figure("transfer_us", "CMAM", series.at(prefix + "transfer_us"));
    compare(row, series, prefix, "transfer_us", "libam", "libam: a round trip and a payload that is copied");
  }
  return report;
}

}  // namespace

const Measure measure{
    .name = "cmam",
    .meaning = "what CMAM's calls take, beside libam's own",
    .measure = measure_cmam,
    .run_node = run_node,
    .over_networks = true,
};

}  // namespace ambench::cmam
