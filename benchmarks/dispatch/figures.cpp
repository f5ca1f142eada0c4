#include "dispatch/figures.hpp"

#include <string>

namespace ambench::dispatching {

namespace {

struct Kind {
  const char* name;
  const char* figure;
  const char* title;
};

std::optional<Summary> cell(const Series& series, const std::string& name) {
  if (!series.has(name)) return std::nullopt;
  return summarize(series.at(name));
}

std::string in(const Arrangement& arrangement, std::string_view name) {
  return std::string(arrangement.name) + "/" + std::string(name);
}

Row& row_of(Report& report, const Placed& placed, const std::string& what, const std::string& title) {
  const Arrangement& arrangement = placed.arrangement;
  Row& row = report.rows.emplace_back(std::string(arrangement.label) + ": " + title);
  row.key("dispatch", to_string(arrangement.mode)).key("arrangement", arrangement.name).key("what", what);
  row.key("sender_cpu", placed.places.sender).key("receiver_cpu", placed.places.receiver);
  return row;
}

void add_limit(Row& row, const std::vector<double>& own, const std::vector<double>& limit,
               const std::string& name, const std::string& label) {
  row.figure(name + "_ns", label, limit);
  row.figure("to_" + name + "_ratio", "  libam / " + label, ratios(own, limit));
}

void add_scenario(Report& report, const Series& series, const Placed& placed, const Scenario& scenario) {
  const Arrangement& arrangement = placed.arrangement;
  const std::string prefix = in(arrangement, scenario.name) + "/";
  Row& row = row_of(report, placed, std::string(scenario.name), "receiver " + std::string(scenario.label));
  if (!series.has(prefix + "one_way_ns")) {
    const bool told = arrangement.mode != am::Dispatch::poll;
    row.note("one_way", "send to handler",
             told ? "not here: both nodes are on one processor" : "never, until it polls");
    return;
  }
  const std::vector<double>& one_way = series.at(prefix + "one_way_ns");
  row.figure("one_way_ns", "send to handler", one_way);
  row.figure("one_way_p99_ns", "  99 of 100 are no longer", series.at(prefix + "one_way_p99_ns"));
  row.figure("one_way_longest_ns", "  the longest", series.at(prefix + "one_way_longest_ns"));
  row.figure("send_ns", "the sender is back from its call", series.at(prefix + "send_ns"));
  row.figure("back_ns", "reply to its handler (sender polls)", series.at(prefix + "back_ns"));
  row.figure("round_trip_ns", "both", series.at(prefix + "round_trip_ns"));
  if (scenario.program == Program::computes && arrangement.own_processor)
    add_limit(row, one_way, series.at("poll/polls/one_way_ns"), "polling", "poll, receiver polls");
  if (scenario.program == Program::computes && shares_processor(arrangement)) {
    const std::string limit = beside_limit_of(scenario);
    add_limit(row, one_way, series.at(limit + "_ns"), "beside", "limit: futex wake beside a computation");
    row.figure("beside_p99_ns", "  99 of 100 are no longer", series.at(limit + "_p99_ns"));
    row.figure("beside_longest_ns", "  the longest", series.at(limit + "_longest_ns"));
  }
  if (scenario.name == "computes" && arrangement.mode == am::Dispatch::interrupt)
    add_limit(row, one_way, series.at("limit/signal_ns"), "signal", "limit: tgkill to handler");
  if (scenario.program == Program::sleeps) {
    add_limit(row, one_way, series.at(in(arrangement, "limit/futex_ns")), "futex", "limit: futex wake");
    add_limit(row, one_way, series.at(in(arrangement, "limit/timed_futex_ns")), "timed_futex",
              "limit: the same, with a time limit");
  }
}

void add_costs(Report& report, const Series& series, const Placed& placed) {
  const Arrangement& arrangement = placed.arrangement;
  const auto at = [&](const std::string& name) -> const std::vector<double>& {
    return series.at(in(arrangement, name));
  };
  Row& steady = row_of(report, placed, "occupancy", "a message every 20 us while it computes");
  steady.figure("displaced_ns", "computation displaced, per message", at("steady/displaced_ns"));
  if (arrangement.mode == am::Dispatch::poll)
    steady.figure("polling_share_percent", "empty polls every 1 us: added to computation",
                  at("steady/polling_share_percent"));
  if (arrangement.mode == am::Dispatch::thread)
    steady.figure("handler_thread_ns", "handler thread's processor time, per message",
                  at("steady/handler_thread_ns"));
  if (arrangement.mode == am::Dispatch::interrupt)
    steady.figure("interrupts_per_message_ratio", "signals per message",
                  at("steady/interrupts_per_message_ratio"));
  Row& many = row_of(report, placed, "burst", "1000 requests in a burst");
  many.figure("each_ns", "per message", at("burst/each_ns"));
  if (arrangement.mode == am::Dispatch::interrupt)
    many.figure("burst_signals", "signals", at("burst/signals"));
  Row& section = row_of(report, placed, "critical_section", "critical section, nothing comes");
  section.figure("critical_section_ns", "entered and left", at("critical_section/each_ns"));
  Row& timelets = row_of(report, placed, "timelet", "timelet in 1 ms: how late");
  const bool polls = arrangement.mode == am::Dispatch::poll;
  const auto add_late = [&](const std::string& name, const std::string& label, const std::string& source) {
    timelets.figure(name + "_ns", label, at(source + "_ns"));
    timelets.figure(name + "_p99_ns", "  99 of 100 are no later", at(source + "_p99_ns"));
    timelets.figure(name + "_longest_ns", "  the latest", at(source + "_longest_ns"));
  };
  add_late("computing_late", polls ? "polls every 1 us" : "computes", "timelet_computes/late");
  add_late("sleeping_late", "sleeps in a wait", "timelet_sleeps/late");
}

Chart chart_of(const std::string& name, const std::string& title, const std::string& unit) {
  Chart chart;
  chart.name = name;
  chart.title = title;
  chart.unit = unit;
  for (const Arrangement& arrangement : arrangements) chart.columns.emplace_back(arrangement.label);
  return chart;
}

void add_row(Chart& chart, const Series& series, std::string_view label, const std::string& figure) {
  Chart::Row& row = chart.rows.emplace_back();
  row.label = label;
  for (const Arrangement& arrangement : arrangements)
    row.cells.push_back(cell(series, in(arrangement, figure)));
}

// Nothing where no handler thread shares a processor.
void add_beside_chart(Report& report, const Series& series) {
  Chart chart;
  chart.name = "beside";
  chart.title = "A thread woken beside a computation, on one processor";
  chart.unit = "ns";
  chart.logarithmic = true;
  chart.columns = {"handler thread", "bare futex"};
  for (const Scenario& scenario : scenarios) {
    const std::string own = "thread_shared/" + std::string(scenario.name) + "/one_way";
    const std::string limit = beside_limit_of(scenario);
    if (!series.has(limit + "_ns")) continue;
    const auto add = [&](const std::string& label, const char* figure) {
      chart.rows.push_back({label, {cell(series, own + figure), cell(series, limit + figure)}});
    };
    add(std::string(scenario.label), "_ns");
    add("99 of 100 are no longer", "_p99_ns");
    add("the longest", "_longest_ns");
  }
  if (!chart.rows.empty()) report.charts.push_back(std::move(chart));
}

std::optional<Summary> ratio(const Series& series, const std::string& own, const std::string& limit) {
  if (!series.has(own)) return std::nullopt;
  return summarize(ratios(series.at(own), series.at(limit)));
}

void add_limits_chart(Report& report, const Series& series) {
  Chart& chart = report.charts.emplace_back();
  chart.title = "Send to handler, against what the machine allows in the same run";
  chart.unit = "ns";
  chart.columns = {"libam", "limit"};
  Chart& against = report.charts.emplace_back();
  against.name = "against_limits";
  against.title = "Send to handler: libam / limit";
  against.unit = "x";
  against.columns = {"ratio"};
  const auto add = [&](const char* label, const std::string& own, const std::string& limit) {
    Chart& times = report.charts[report.charts.size() - 2];
    times.rows.push_back({label, {cell(series, own), cell(series, limit)}});
    report.charts.back().rows.push_back({label, {ratio(series, own, limit)}});
  };
  add("thread with its own processor, node computes / poll, receiver polls", "thread/computes/one_way_ns",
      "poll/polls/one_way_ns");
  if (series.has("limit/beside/computes_ns"))
    add("thread, processor shared, node computes / bare futex", "thread_shared/computes/one_way_ns",
        "limit/beside/computes_ns");
  add("interrupt, node computes / bare tgkill", "interrupt/computes/one_way_ns", "limit/signal_ns");
  add("woken from sleep (poll) / bare futex", "poll/sleeps/one_way_ns", "poll/limit/futex_ns");
  add("woken from sleep (poll) / futex with a time limit", "poll/sleeps/one_way_ns",
      "poll/limit/timed_futex_ns");
}

}  // namespace

std::string beside_limit_of(const Scenario& scenario) { return "limit/beside/" + std::string(scenario.name); }

void add_rows(Report& report, const Series& series, std::span<const Placed> all) {
  for (const Placed& placed : all) {
    for (const Scenario& scenario : scenarios) add_scenario(report, series, placed, scenario);
    add_costs(report, series, placed);
  }
}

void add_charts(Report& report, const Series& series) {
  Chart one_way =
      chart_of("one_way", "From send to the start of the handler, by what the receiver does", "ns");
  Chart high = chart_of("one_way_p99", "From send to handler: 99 of 100 are no longer", "ns");
  Chart longest = chart_of("one_way_longest", "From send to handler: the longest of a repetition", "ns");
  Chart send = chart_of("send", "What the call takes that sends, by what the receiver does", "ns");
  Chart round = chart_of("round_trip", "Request and reply (the sender polls)", "ns");
  for (Chart* chart : {&one_way, &high, &longest, &send, &round}) chart->logarithmic = true;
  for (const Scenario& scenario : scenarios) {
    add_row(one_way, series, scenario.label, std::string(scenario.name) + "/one_way_ns");
    add_row(high, series, scenario.label, std::string(scenario.name) + "/one_way_p99_ns");
    add_row(longest, series, scenario.label, std::string(scenario.name) + "/one_way_longest_ns");
    add_row(send, series, scenario.label, std::string(scenario.name) + "/send_ns");
    add_row(round, series, scenario.label, std::string(scenario.name) + "/round_trip_ns");
  }
  Chart occupancy =
      chart_of("occupancy", "What a message takes, one every 20 us while the receiver computes", "ns");
  add_row(occupancy, series, "computation displaced", "steady/displaced_ns");
  add_row(occupancy, series, "processor time of the handler thread", "steady/handler_thread_ns");
  Chart polls = chart_of("polling_share", "What empty polls add to the time of a computation", "%");
  add_row(polls, series, "a poll every 1 us", "steady/polling_share_percent");
  Chart burst =
      chart_of("burst", "1000 requests in a burst, while the receiver computes (poll: polls)", "ns");
  add_row(burst, series, "per message", "burst/each_ns");
  Chart signals = chart_of("burst_signals", "Signals for a burst of 1000 requests", "signals");
  add_row(signals, series, "signals", "burst/signals");
  Chart section = chart_of("critical_section", "Critical section entered and left, nothing comes", "ns");
  add_row(section, series, "critical section", "critical_section/each_ns");
  Chart timelets = chart_of("timelet", "How late a timelet in 1 ms runs", "ns");
  timelets.logarithmic = true;
  add_row(timelets, series, "computes (poll: polls every 1 us)", "timelet_computes/late_ns");
  add_row(timelets, series, "computes, 99 of 100", "timelet_computes/late_p99_ns");
  add_row(timelets, series, "computes, the latest", "timelet_computes/late_longest_ns");
  add_row(timelets, series, "sleeps in a wait", "timelet_sleeps/late_ns");
  add_row(timelets, series, "sleeps in a wait, 99 of 100", "timelet_sleeps/late_p99_ns");
  add_row(timelets, series, "sleeps in a wait, the latest", "timelet_sleeps/late_longest_ns");
  for (Chart* chart :
       {&one_way, &high, &longest, &send, &round, &occupancy, &polls, &burst, &signals, &section, &timelets})
    report.charts.push_back(std::move(*chart));
  add_beside_chart(report, series);
  add_limits_chart(report, series);
}

}  // namespace ambench::dispatching
