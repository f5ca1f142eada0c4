// `ambench am2`: what AM-II's calls cost on top of libam's own. Round trips of AM_RequestM and AM_ReplyM, one by one and in bursts, beside
// those of request and reply with as many words, and AM_RequestXfer into a segment beside a payload that its handler copies; in turn, in
// one job.
#include <am/am2.h>
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

namespace ambench::am2 {

namespace {

constexpr std::array<int, 3> sizes{4096, 64 << 10, 512 << 10};
constexpr int burst = 32;  ///< as many as an endpoint may have under way to another
enum : handler_t { asks = 1, asks_four, answers, full, answers_four };

// Each node is a process: what follows is a node's own.
eb_t bundle = nullptr;
ep_t endpoint = nullptr;
std::uint64_t replies = 0;
bool stopped = false;
std::vector<std::byte> memory;

void am2_ask(void* token) { AM_Reply0(token, answers); }
void am2_ask_four(void* token, long a, long b, long c, long d) { AM_Reply4(token, answers_four, b, c, d, a); }
void am2_answer(void*) { ++replies; }
void am2_answer_four(void*, long, long, long, long) { ++replies; }
void am2_full(void* token, void* /*buffer*/, int /*nbytes*/) { AM_Reply0(token, answers); }

void answer(am::Reply&) { ++replies; }
void answer_four(am::Reply&, std::int64_t, std::int64_t, std::int64_t, std::int64_t) { ++replies; }
void ask(am::Request& request) { request.reply<answer>(); }
void ask_four(am::Request& request, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  request.reply<answer_four>(b, c, d, a);
}
void copy(am::Request& request, am::Payload payload) {
  std::memcpy(memory.data(), payload.data(), payload.size());
  request.reply<answer>();
}
void stop(am::Request&) { stopped = true; }

/// `count`: requests, before the replies are waited for.
template <class F>
void am2_round_trip(F send, int count = 1) {
  const std::uint64_t expected = replies + static_cast<std::uint64_t>(count);
  for (int i = 0; i < count; ++i) send();
  while (replies != expected) AM_Poll(bundle);
}
/// It polls as AM-II's programs do.
template <class F>
void round_trip(am::Node& node, F send, int count = 1) {
  const std::uint64_t expected = replies + static_cast<std::uint64_t>(count);
  for (int i = 0; i < count; ++i) send();
  while (replies != expected) node.poll();
}

template <class A, class B>
void in_turn(const std::string& row, A of_am2, B of_libam, int calls) {
  const auto [am2, libam] = medians_in_turn(of_am2, of_libam, calls);
  say_figure(row + "/round_trip_ns", am2);
  say_figure(row + "/libam_round_trip_ns", libam);
}

void set_up() {
  AMX_SPMDStartup(nullptr, nullptr, 0, nullptr, &bundle, &endpoint);
  memory.resize(sizes.back());
  AM_SetSeg(endpoint, memory.data(), memory.size());
  AM_SetHandler(endpoint, asks, reinterpret_cast<am2_handler_fn_t>(am2_ask));
  AM_SetHandler(endpoint, asks_four, reinterpret_cast<am2_handler_fn_t>(am2_ask_four));
  AM_SetHandler(endpoint, answers, reinterpret_cast<am2_handler_fn_t>(am2_answer));
  AM_SetHandler(endpoint, answers_four, reinterpret_cast<am2_handler_fn_t>(am2_answer_four));
  AM_SetHandler(endpoint, full, reinterpret_cast<am2_handler_fn_t>(am2_full));
  AMX_SPMDBarrier();
}

void measure_all(am::Node& node) {
  const auto am2_none = [] { AM_Request0(endpoint, 1, asks); };
  const auto am2_four = [] { AM_Request4(endpoint, 1, asks_four, 1, 2, 3, 4); };
  const auto none = [&] { node.request<ask>(1); };
  const auto four = [&] {
    node.request<ask_four>(1, std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{4});
  };
  in_turn(
      "0", [&] { am2_round_trip(am2_none); }, [&] { round_trip(node, none); }, 100);
  in_turn(
      "4", [&] { am2_round_trip(am2_four); }, [&] { round_trip(node, four); }, 100);
  in_turn(
      "burst_0", [&] { am2_round_trip(am2_none, burst); }, [&] { round_trip(node, none, burst); }, 10);
  in_turn(
      "burst_4", [&] { am2_round_trip(am2_four, burst); }, [&] { round_trip(node, four, burst); }, 10);
  for (const int bytes : sizes) {
    const std::span<std::byte> data = std::span(memory).first(static_cast<std::size_t>(bytes));
    in_turn(
        "xfer_" + std::to_string(bytes),
        [&] { am2_round_trip([&] { AM_RequestXfer0(endpoint, 1, 0, full, data.data(), bytes); }); },
        [&] { round_trip(node, [&] { node.request<copy>(1, data); }); }, 4);
  }
}

void run_node(am::Node& node, std::span<const std::string>) {
  say_place(node);
  set_up();
  node.barrier();
  if (node.id() == 0) {
    measure_all(node);
    node.request<stop>(1);
  } else {
    while (!stopped) AM_Poll(bundle);
  }
  AMX_SPMDBarrier();
  AM_Terminate();
}

Report measure_am2(const Options& options) {
  Report report = report_of(measure, options, 2);
  const Series series = measure_pairs(measure, options, report);
  const auto add = [&](const std::string& name, const std::string& prefix, const std::string& limit) {
    Row& row = report.rows.emplace_back(name);
    row.figure("round_trip_ns", "AM-II", series.at(prefix + "/round_trip_ns"));
    compare(row, series, prefix + "/", "round_trip_ns", "libam", limit);
  };
  for (const std::string words : {"0", "4"})
    add("AM_Request" + words + " and AM_Reply" + words, words, "libam's request and reply");
  for (const std::string words : {"0", "4"}) {
    add(std::to_string(burst) + " AM_Request" + words + ", then their replies", "burst_" + words,
        "libam's requests and replies");
  }
  for (const int bytes : sizes) {
    const std::string size = std::to_string(bytes);
    add("AM_RequestXfer0 of " + size + " bytes and AM_Reply0", "xfer_" + size,
        "libam's payload, copied by its handler, and reply");
  }
  return report;
}

}  // namespace

const Measure measure{
    .name = "am2",
    .meaning = "what AM-II's calls take, beside libam's own",
    .measure = measure_am2,
    .run_node = run_node,
    .over_networks = true,
};

}  // namespace ambench::am2
