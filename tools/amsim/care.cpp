// `amsim care`: what packets of CARE's network take by hops and words, cut through and stored at each site, beside the sum of the parts; the
// link words of random lists of targets beside those of unicasts; and how the deadlock of Figure 4 ends (src/emulated_hw/care; Byrd, Nakano and
// Delagi 1987, 1 and 3.4).

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "amsim/care/figures.hpp"
#include "amsim/machines.hpp"
#include "emulated_hw/care/zero_load_latency.hpp"

namespace amsim::care {

namespace {

using am::care::zero_load_latency;
using am::kit::Grid;

constexpr unsigned most_extent = 32;
constexpr std::uint32_t most_words = 256;
constexpr Cycle patience = 4096;  // of timeouts: longer than any of these packets takes by itself
constexpr int lists = 20;
constexpr std::uint64_t seeds = 20;

void add_unicasts(const Rectangle& mesh, std::uint32_t words, Report& report) {
  const am::care::Options cuts{.timeouts = {.limit = patience}};
  am::care::Options stores = cuts;
  stores.switching = am::care::Switching::stored;
  const std::string size = plural(words, "word");
  Row row("a packet of " + size + " to one site, cycles");
  row.key("columns", mesh.width).key("rows", mesh.height).key("words", words).references("sum");
  Chart chart{.name = "care_" + mesh.size() + "_" + std::to_string(words),
              .title = "CARE of " + mesh.size() + " sites: a packet of " + size + ", by its hops",
              .unit = "cycles",
              .exact = true,
              .columns = {"cut through", "stored at each site"},
              .rows = {}};
  for (const unsigned hops : distances_to(mesh.width + mesh.height - 2)) {
    const auto cut = static_cast<double>(unicast_time(hops, words, cuts));
    const auto stored = static_cast<double>(unicast_time(hops, words, stores));
    const std::string name = "hops_" + std::to_string(hops);
    const std::string label = plural(hops, "hop");
    row.beside(name + "_cut_cycles", label + ", cut through",
               {.value = static_cast<double>(zero_load_latency(hops, words))}, cut);
    row.beside(name + "_stored_cycles", label + ", stored at each site",
               {.value = static_cast<double>(hops * zero_load_latency(1, words))}, stored);
    chart.rows.push_back({label, {exactly(cut), exactly(stored)}});
  }
  report.rows.push_back(std::move(row));
  report.charts.push_back(std::move(chart));
}

std::vector<Target> draw_list(unsigned targets, unsigned sites, std::mt19937_64& random) {
  std::vector<Target> list;
  while (list.size() < targets) {
    const Target target{static_cast<NodeNumber>(random() % sites)};
    if (std::ranges::find(list, target) == list.end()) list.push_back(target);
  }
  return list;
}

void add_lists(const Rectangle& mesh, const std::vector<unsigned>& lengths, std::uint32_t words,
               Report& report) {
  Row row("link words of lists on a mesh of " + mesh.size() + ", each a mean of " + std::to_string(lists));
  row.key("columns", mesh.width).key("rows", mesh.height).key("words", words).references("unicasts");
  for (const unsigned targets : lengths) {
    std::mt19937_64 random(targets);
    double multicast = 0;
    double unicasts = 0;
    for (int i = 0; i < lists; ++i) {
      const auto from = static_cast<NodeNumber>(random() % mesh.nodes());
      const LinkWords carried =
          link_words(Grid{{mesh.width}, {mesh.height}}, from, draw_list(targets, mesh.nodes(), random), words,
                     {.timeouts = {.limit = patience}});
      multicast += static_cast<double>(carried.multicast) / lists;
      unicasts += static_cast<double>(carried.unicasts) / lists;
    }
    row.beside("targets_" + std::to_string(targets) + "_words",
               std::to_string(targets) + (targets == 1 ? " target, " : " targets, ") + std::to_string(words) +
                   (words == 1 ? " word" : " words"),
               {.value = unicasts}, multicast);
  }
  report.rows.push_back(std::move(row));
}

// What waits for what, when nothing has moved for a while.
std::string circle_without_timeouts() {
  Deadlock both({Timeouts::Kind::off, 1}, 1);
  while (both.machine.still_for() < 100 && !both.machine.is_empty()) both.machine.step();
  const std::string waits = both.machine.who_waits();
  return waits.substr(0, waits.find('\n'));
}

std::string outcome_of(Timeouts::Kind kind, Cycle limit) {
  const Recovery tried = recovery({kind, limit}, 1);
  return (tried.both_delivered ? "delivered after " : "not delivered in ") + std::to_string(tried.cycles) +
         " cycles, " + std::to_string(tried.aborts) + " aborts";
}

void add_deadlock(Report& report) {
  Row row("the deadlock of Figure 4: two lists, each has the site that the other wants");
  row.key("seeds", seeds);
  row.note("off", "without timeouts", circle_without_timeouts());
  for (const Cycle limit : {16u, 64u, 256u}) {
    const std::string of = std::to_string(limit);
    row.note("equal_" + of, "timeouts of " + of + " cycles", outcome_of(Timeouts::Kind::equal, limit));
    row.note("pads_" + of, "timeouts of " + of + " pads", outcome_of(Timeouts::Kind::pads, limit));
    double cycles = 0;
    double aborts = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Recovery tried = recovery({Timeouts::Kind::random, limit}, seed);
      cycles += static_cast<double>(tried.cycles) / seeds;
      aborts += static_cast<double>(tried.aborts) / seeds;
    }
    row.beside("random_" + of + "_cycles", "random ones from " + of + ": until all is delivered, a mean", {},
               cycles);
    row.beside("random_" + of + "_aborts", "  and of its aborts", {}, aborts);
  }
  report.rows.push_back(std::move(row));
}

Report simulate(const Options& options) {
  const std::vector<Rectangle> meshes = rectangles(options.parameters, "columns", "rows", most_extent);
  const std::vector<std::uint32_t> lengths_of_data = sizes(options.parameters, "words", 1, most_words);
  const auto lengths = options.parameters["targets"].numbers<unsigned>();
  for (const Rectangle& mesh : meshes) {
    for (const unsigned targets : lengths) {
      if (targets == 0 || targets > mesh.nodes())
        throw UsageError("targets has to be from 1 to the " + std::to_string(mesh.nodes()) + " sites");
    }
  }
  Report report = report_of(options);
  for_each_machine(options, meshes, [&](const Rectangle& mesh) {
    for (const std::uint32_t words : lengths_of_data) {
      add_unicasts(mesh, words, report);
      add_lists(mesh, lengths, words, report);
    }
  });
  add_deadlock(report);
  return report;
}

}  // namespace

const Simulation simulation{
    .name = "care",
    .meaning = "what packets to any list of sites take in CARE's network, and how their deadlocks end",
    .run = simulate,
    .parameters = {{"columns", "8", "of the mesh, 1 to 32 [list]"},
                   {"rows", "8", "of the mesh [list]"},
                   {"words", "16", "of data in a packet, 1 to 256 [list]"},
                   {"targets", "2,4,8,16", "of lists, which are drawn [list]"}},
};

}  // namespace amsim::care
