// `ambench splitc`: what Split-C's operations cost (am/splitc.hpp) with the other node on the same machine, each beside what a
// program could do at best: plain loads, stores and memcpy on the same pages, and a request with its reply. The other node is
// idle but for serving requests.
//
// Words are accessed 64 in turn, so that they lie in the cache and no two loads wait for each other; a blocking write is complete
// when it is in the store buffer, as every store. A chain of local loads, each of which needs the one before, shows what a global
// pointer adds to the latency.

#include <am/am.hpp>
#include <am/splitc.hpp>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "clock.hpp"
#include "job.hpp"
#include "measure.hpp"
#include "peers/peers.hpp"
#include "timing.hpp"

namespace ambench::splitc {

namespace {

namespace sc = am::splitc;
using Word = std::uint64_t;

constexpr std::uint64_t accesses = 64'000;
constexpr std::uint64_t puts_in_phase = 1000;
constexpr std::uint64_t words_in_turn = 64;
constexpr std::size_t bulk_bytes = std::size_t{1} << 20;

struct State {
  std::uint64_t replies = 0;
  bool stopped = false;

  void ask(am::Request& request, Word word) { request.reply<&State::answer>(word); }
  void answer(am::Reply&, Word) { ++replies; }
  void stop(am::Request&) { stopped = true; }
};

template <typename F>
double each_ns(std::uint64_t count, F&& batch) {
  (void)median_batch_ns(batch, warm_up_ns);
  return median_batch_ns(batch) / static_cast<double>(count);
}

constexpr std::ptrdiff_t in_turn(std::uint64_t i) { return static_cast<std::ptrdiff_t>(i % words_in_turn); }

// Reads through anything that is indexed as a pointer is.
template <typename P>
double read_ns(P words, std::uint64_t count = accesses) {
  return each_ns(count, [&] {
    for (std::uint64_t i = 0; i < count; ++i) {
      const Word value = words[in_turn(i)];
      keep(value);
    }
  });
}

template <typename P>
double write_ns(P words, std::uint64_t count = accesses) {
  return each_ns(count, [&] {
    for (std::uint64_t i = 0; i < count; ++i) {
      words[in_turn(i)] = i;
      keep(i);
    }
  });
}

// Each word says which is next.
template <typename P>
double chain_ns(P words) {
  return each_ns(accesses, [&] {
    Word at = 0;
    for (std::uint64_t i = 0; i < accesses; ++i) at = words[static_cast<std::ptrdiff_t>(at)];
    keep(at);
  });
}

void say_words(const sc::spread_array<Word>& array) {
  am::Node& node = sc::world().node();
  const sc::global_ptr<Word> there = array[1];
  const sc::global_ptr<Word> here = array[0];
  Word* const plain = am::direct(node, there.place());
  const std::uint64_t remote_accesses =
      plain != nullptr ? accesses : words_in_turn;  // then each is a round trip
  say_figure("read/remote_ns", read_ns(there, remote_accesses));
  say_figure("write/remote_ns", write_ns(there, remote_accesses));
  if (plain != nullptr) {
    say_figure("read/limit_remote_ns", read_ns(plain));
    say_figure("write/limit_remote_ns", write_ns(plain));
  }
  std::iota(array.mine(), array.mine() + words_in_turn, Word{1});
  array.mine()[words_in_turn - 1] = 0;
  say_figure("read/local_ns", read_ns(here));
  say_figure("read/limit_local_ns", read_ns(array.mine()));
  say_figure("chain/local_ns", chain_ns(here));
  say_figure("chain/limit_local_ns", chain_ns(array.mine()));
  say_figure("write/local_ns", write_ns(here));
  say_figure("write/limit_local_ns", write_ns(array.mine()));
}

void say_phases(const sc::spread_array<Word>& array) {
  const sc::global_ptr<Word> there = array[1];
  say_figure("put/each_ns", each_ns(puts_in_phase, [&] {
               for (std::uint64_t i = 0; i < puts_in_phase; ++i)
                 sc::put(there + static_cast<std::ptrdiff_t>(i), i);
               sc::sync();
             }));
  std::vector<Word> into(puts_in_phase);
  say_figure("get/each_ns", each_ns(puts_in_phase, [&] {
               for (std::uint64_t i = 0; i < puts_in_phase; ++i)
                 sc::get(&into[i], there + static_cast<std::ptrdiff_t>(i));
               sc::sync();
               keep(into.front());
             }));
  say_figure("store/each_ns", each_ns(puts_in_phase, [&] {
               for (std::uint64_t i = 0; i < puts_in_phase; ++i)
                 sc::store(there + static_cast<std::ptrdiff_t>(i), i);
             }));
}

void say_atomics(State& state, const sc::spread_array<Word>& array) {
  constexpr std::uint64_t calls = 200;
  am::Node& node = sc::world().node();
  const sc::global_ptr<Word> there = array[1];
  const auto calls_ns = [](auto call) {
    return each_ns(calls, [&] {
      for (std::uint64_t i = 0; i < calls; ++i) call();
    });
  };
  say_figure("fetch_add/call_ns", calls_ns([&] { keep(sc::fetch_add(there, 1)); }));
  say_figure("atomic/call_ns", calls_ns([&] {
               keep(sc::atomic([](Word& value, Word by) { return value += by; }, there, Word{1}));
             }));
  const double rtt_ns = calls_ns([&] {
    const std::uint64_t expected = state.replies + 1;
    node.request<&State::ask>(1, expected);
    node.wait_until([&] { return state.replies == expected; });
  });
  say_figure("fetch_add/limit_call_ns", rtt_ns);
  say_figure("atomic/limit_call_ns", rtt_ns);
}

void say_bulk(const sc::spread_array<std::byte>& array) {
  am::Node& node = sc::world().node();
  std::vector<std::byte> mine(bulk_bytes, std::byte{1});
  const auto gb_per_s = [](auto transfer) { return static_cast<double>(bulk_bytes) / each_ns(1, transfer); };
  const sc::global_ptr<std::byte> there = array[1];
  say_figure("bulk_put/bandwidth_gb_per_s", gb_per_s([&] {
               sc::bulk_put(there, mine.data(), bulk_bytes);
               sc::sync();
             }));
  if (std::byte* const plain = am::direct(node, there.place(), bulk_bytes); plain != nullptr) {
    say_figure("bulk_put/limit_bandwidth_gb_per_s", gb_per_s([&] {
                 std::memcpy(plain, mine.data(), bulk_bytes);
                 keep(*plain);
               }));
  }
}

void run_node(am::Node& node, std::span<const std::string>) {
  State state;
  node.attach(state);
  say_place(node);
  const sc::World world(node);
  const sc::spread_array<Word> words(sc::procs(), puts_in_phase);
  const sc::spread_array<std::byte> bytes(sc::procs(), bulk_bytes);
  if (node.id() == 0) {
    say_words(words);
    say_phases(words);
    say_atomics(state, words);
    say_bulk(bytes);
    node.request<&State::stop>(1);
  } else {
    node.wait_until([&] { return state.stopped; });
  }
  sc::all_store_sync();
}

struct Line {
  const char* prefix;
  const char* figure;
  const char* title;
  const char* limit;
};

constexpr Line lines[]{
    {"read/", "remote_ns", "8 bytes, blocking read of the other node's", "a plain load, same page"},
    {"write/", "remote_ns", "8 bytes, blocking write to the other node's", "a plain store, same page"},
    {"read/", "local_ns", "8 bytes, read of the node's own", "a plain load"},
    {"chain/", "local_ns", "8 bytes, a chain of reads of the node's own", "plain loads"},
    {"write/", "local_ns", "8 bytes, write to the node's own", "a plain store"},
    {"put/", "each_ns", "1000 puts of 8 bytes and sync, each", ""},
    {"get/", "each_ns", "1000 gets of 8 bytes and sync, each", ""},
    {"store/", "each_ns", "stores of 8 bytes, each", ""},
    {"fetch_add/", "call_ns", "fetch_add", "a request and its reply"},
    {"atomic/", "call_ns", "atomic of a function at the owner", "a request and its reply"},
    {"bulk_put/", "bandwidth_gb_per_s", "bulk_put of 1 MiB and sync", "one memcpy, same pages"},
};

Report measure_splitc(const Options& options) {
  Report report = report_of(measure, options, 2);
  const Series series = measure_pairs(measure, options, report);
  for (const Line& line : lines) {
    const std::string prefix = line.prefix;
    Row& row = report.rows.emplace_back(line.title);
    row.key("operation", prefix.substr(0, prefix.size() - 1) + "_" + line.figure);
    row.figure(line.figure, "libam", series.at(prefix + line.figure));
    if (series.has(prefix + "limit_" + line.figure))
      compare(row, series, prefix, line.figure, "limit", line.limit);
  }
  return report;
}

}  // namespace

const Measure measure{
    .name = "splitc",
    .meaning =
        "Split-C: reads, writes, puts, stores, atomic operations and bulk transfers, beside plain ones",
    .measure = measure_splitc,
    .run_node = run_node,
    .over_networks = true,
};

}  // namespace ambench::splitc
