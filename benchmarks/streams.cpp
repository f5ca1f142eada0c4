// `ambench streams`: words of 8 bytes that go through a stream one at a time from node 0 to node 1, beside a plain ring of words (over
// shared memory), or streamed writes of 64 KiB (between processes that do not see each other's memory), of bytes that stay the same, and of words
// that are stored before each write and added up. And, over shared memory, from
// node 0 to node 2 through node 1, which splices the two streams, or copies.

#include <am/am.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "job.hpp"
#include "limits/limit.hpp"
#include "limits/ring_limit.hpp"
#include "limits/tcp_limit.hpp"
#include "measure.hpp"
#include "peers/peers.hpp"
#include "results/pinning.hpp"
#include "results/progress.hpp"
#include "timing.hpp"

namespace ambench::streams {

namespace {

using Word = std::uint64_t;
constexpr std::uint64_t tag = 1;
constexpr std::size_t streamed_bytes = 65536;
constexpr std::size_t streamed_bytes_of_batch = std::size_t{16} << 20;  // as the limits have

// Million/s, as they are written: many times around the ring. The stream is this function's own, as in a program that writes in a loop.
[[gnu::noinline]] double write_words(am::Node& node, am::NodeId to) {
  constexpr std::uint64_t batch_words = streamed_bytes_of_batch / sizeof(Word);
  am::StreamOut<Word> out(node, to, tag);
  std::vector<double> samples;
  const double warm = now_ns() + warm_up_ns;
  for (double before = now_ns(); before < warm + min_time_ns || samples.empty();) {
    for (std::uint64_t i = 0; i < batch_words; ++i) out.write(i);
    const double after = now_ns();
    if (before >= warm) samples.push_back(after - before);
    before = after;
  }
  return batch_words * 1e3 / median_of(std::move(samples));
}

[[gnu::noinline]] void read_words(am::Node& node, am::NodeId from) {
  am::StreamIn<Word> in(node, from, tag);
  Word sum = 0;
  for (Word word = 0; in.read(word) == am::StreamStatus::ok;) sum += word;
  if (sum == 0) throw std::runtime_error("no words came");
}

void copy_words(am::Node& node, am::NodeId from, am::NodeId to) {
  am::StreamIn<Word> in(node, from, tag);
  am::StreamOut<Word> out(node, to, tag);
  for (Word word = 0; in.read(word) == am::StreamStatus::ok;) out.write(word);
}

void splice_words(am::Node& node, am::NodeId from, am::NodeId to) {
  am::StreamIn<Word> in(node, from, tag);
  am::splice(std::move(in), am::StreamOut<Word>(node, to, tag));
}

// Arguments of a job of three: "spliced" or "copied", and the core of each node.
void run_node(am::Node& node, std::span<const std::string> arguments) {
  if (!arguments.empty()) pin_to(std::stoi(arguments[1 + node.id()]));
  say_place(node);
  node.barrier();
  if (node.id() == 0) {
    const std::string prefix = arguments.empty() ? "" : arguments[0] + "/";
    say_figure(prefix + "words_million_per_s", write_words(node, 1));
  } else if (node.id() + 1 == node.size()) {
    read_words(node, node.id() - 1);
  } else if (arguments[0] == "spliced") {
    splice_words(node, 0, 2);
  } else {
    copy_words(node, 0, 2);
  }
  node.barrier();
}

void add_third_node(Report& report, const Series& series) {
  Row& row = report.rows.emplace_back("8-byte words, through a third node, shared memory");
  row.figure("words_million_per_s", "spliced there", series.at("spliced/words_million_per_s"));
  compare(row, series, "spliced/", "words_million_per_s", "copied", "copied there");
}

Report measure_streams(const Options& options) {
  Report report = report_of(measure, options, 2);
  const Limit limit(wire_of(options.transport));
  const bool in_memory = options.transport == "shm" || is_emulated(options);
  const Series series = measure_pairs(measure, options, report, [&](CorePair cores, Series& beside) {
    beside.add("limit_words_million_per_s",
               in_memory ? ring_words_million_per_s(cores)
                         : limit.stream_gb_per_s(cores, streamed_bytes, false) * 1e3 / sizeof(Word));
    if (is_emulated(options)) ask_shared_memory(measure, beside);
    if (options.transport == "tcp")
      beside.add("peer_words_million_per_s",
                 tcp_words_stream_gb_per_s(cores, streamed_bytes) * 1e3 / sizeof(Word));
    if (!in_memory) return;
    // Three nodes on two cores, each way where it goes best: who writes and who reads on different ones; who copies, on another than both.
    const std::string one = std::to_string(cores.first), other = std::to_string(cores.second);
    for (const std::string way : {"spliced", "copied"}) {
      const Finished job = run_job(measure.name, 3, {way, one, other, way == "spliced" ? other : one},
                                   {.bound = false, .environment = {"AM_TRANSPORT=shm"}});
      const double rate = job.figures().at(way + "/words_million_per_s");
      beside.add(way == "spliced" ? "spliced/words_million_per_s" : "spliced/copied_words_million_per_s",
                 rate);
    }
  });
  Row& row = report.rows.emplace_back("8-byte words, one at a time");
  row.figure("words_million_per_s", "libam", series.at("words_million_per_s"));
  if (!report.pinned()) {
    report.remarks.push_back(nothing_beside_unbound);
    return report;
  }
  compare(row, series, "", "words_million_per_s", "limit",
          in_memory ? "limit: plain ring of words" : limit.stream_label(false) + " of 64 KiB");
  if (options.transport == "tcp")
    compare(row, series, "", "words_million_per_s", "peer", "such words by writes of 64 KiB");
  if (is_emulated(options))
    compare(row, series, "", "words_million_per_s", "shm", "libam over shared memory");
  if (in_memory) add_third_node(report, series);
  return report;
}

}  // namespace

const Measure measure{
    .name = "streams",
    .meaning = "words through a stream, and spliced through a third node",
    .measure = measure_streams,
    .run_node = run_node,
    .over_networks = true,
};

}  // namespace ambench::streams
