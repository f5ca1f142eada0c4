#include "aminfo/overview.hpp"

#include <unistd.h>

#include <am/version.h>
#include <algorithm>
#include <am/error.hpp>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "aminfo/doctor.hpp"
#include "aminfo/libfabric.hpp"
#include "core/settings/settings.hpp"
#include "transports/kinds.hpp"

namespace aminfo {
namespace {

constexpr std::size_t page_columns = 100;
constexpr std::size_t widest_cell = 34;  // but in the last column

/// In lines of so many columns, broken between words.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (text.size() - begin > width) {
    std::size_t end = text.rfind(' ', begin + width);
    if (end == std::string::npos || end <= begin) end = text.find(' ', begin);
    if (end == std::string::npos) break;
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  lines.push_back(text.substr(begin));
  return lines;
}

// Columns as wide as their widest cell, but broken where that is long; the last one takes what a page has left.
template <std::size_t columns>
void print_table(const std::vector<std::array<std::string, columns>>& rows) {
  std::array<std::size_t, columns> widths{};
  std::size_t left = page_columns - 2;
  for (std::size_t i = 0; i + 1 < columns; ++i) {
    for (const auto& row : rows)
      for (const std::string& part : wrapped(row[i], widest_cell))
        widths[i] = std::max(widths[i], part.size());
    left -= std::min(left, widths[i] + 2);
  }
  widths.back() = std::max(left, widest_cell);
  for (const auto& row : rows) {
    std::array<std::vector<std::string>, columns> cells;
    std::size_t height = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      cells[i] = wrapped(row[i], i + 1 < columns ? widest_cell : widths[i]);
      height = std::max(height, cells[i].size());
    }
    for (std::size_t y = 0; y < height; ++y) {
      std::string line;
      for (std::size_t i = 0; i < columns; ++i) {
        const std::string part = y < cells[i].size() ? cells[i][y] : "";
        line.append("  ").append(part).append(widths[i] - std::min(widths[i], part.size()), ' ');
      }
      line.erase(line.find_last_not_of(' ') + 1);
      std::printf("%s\n", line.c_str());
    }
  }
}

// The library says which transports it contains; here is how each is tried. One without a trial is shown as
// it is: there, but untried.
std::string usability(std::string_view transport, const Libfabric& libfabric) {
  if (transport == "ofi") return usability_of(libfabric);
  if (transport != "shm") return "built in; aminfo does not try it";
  const Finding finding = check_shared_memory();
  return finding.level == Level::fail ? "not usable: " + finding.text + "; aminfo --doctor" : "usable";
}

void print_transports(const Libfabric& libfabric) {
  std::printf("\ntransports in this build\n");
  std::vector<std::array<std::string, 3>> rows;
  for (const am::Kind& network : am::kinds())
    rows.push_back(
        {std::string(network.name), std::string(network.meaning), usability(network.name, libfabric)});
  print_table(rows);
}

// "-" where a name would stand.
void print_providers(const Libfabric& libfabric) {
  const std::vector<ProviderLine> lines = lines_of(libfabric.here, libfabric.elsewhere);
  if (lines.empty()) return;
  std::printf("\nproviders of libfabric\n");
  std::vector<std::array<std::string, 4>> rows = {
      {"name", "on", "for nodes of this host", "for nodes of several hosts"}};
  for (const ProviderLine& line : lines)
    rows.push_back({line.provider, line.domain, line.here, line.elsewhere});
  for (const Providers* const job : {&libfabric.here, &libfabric.elsewhere}) {
    if (job->chosen.why_not.empty()) continue;
    const std::string why = "none: " + job->chosen.why_not;
    rows.push_back({"-", "-", job == &libfabric.here ? why : "", job == &libfabric.here ? "" : why});
  }
  print_table(rows);
}

std::string shown(const std::string& value) { return value.empty() ? "-" : value; }

void print_settings() {
  using Origin = am::core::SettingRow::Origin;
  std::printf("\nsettings\n");
  std::vector<std::array<std::string, 5>> rows = {
      {"name", "value", "origin", "default", "meaning (what it takes)"}};
  for (const auto& row : am::core::describe_settings(environ)) {
    const char* const origin = row.origin == Origin::environment ? "environment" : "default";
    const std::string value = row.problem.empty() ? shown(row.value) : "malformed";
    rows.push_back({std::string(row.name), value, origin, shown(row.default_value),
                    std::string(row.meaning) + " (" + row.type + ")"});
  }
  print_table(rows);
}

// Every malformed value, where read_settings would stop at the first.
int report_malformed() {
  int count = 0;
  for (const auto& row : am::core::describe_settings(environ)) {
    if (row.problem.empty()) continue;
    std::fprintf(stderr, "am: settings: %s\n", row.problem.c_str());
    ++count;
  }
  if (count > 0) return 1;
  try {
    read_all_settings();
  } catch (const am::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace

int print_json() {
  using nlohmann::json;
  using Origin = am::core::SettingRow::Origin;
  const Libfabric libfabric = look_at_libfabric();
  json all = {{"version", AM_VERSION}, {"networks", json::array()}, {"providers", json::array()}};
  for (const am::Kind& network : am::kinds()) {
    all["networks"].push_back({{"name", network.name},
                               {"meaning", network.meaning},
                               {"within_a_host", network.within_a_host},
                               {"between_hosts", network.between_hosts},
                               {"usability", usability(network.name, libfabric)}});
  }
  for (const ProviderLine& line : lines_of(libfabric.here, libfabric.elsewhere)) {
    all["providers"].push_back({{"name", line.provider},
                                {"on", line.domain},
                                {"for_nodes_of_this_host", line.here},
                                {"for_nodes_of_several_hosts", line.elsewhere}});
  }
  for (const auto& row : am::core::describe_settings(environ)) {
    all["settings"].push_back({{"name", row.name},
                               {"value", row.value},
                               {"origin", row.origin == Origin::environment ? "environment" : "default"},
                               {"default", row.default_value},
                               {"type", row.type},
                               {"meaning", row.meaning},
                               {"problem", row.problem}});
  }
  std::printf("%s\n", all.dump(2).c_str());
  return report_malformed();
}

int print_overview() {
  std::printf("libam %s\n", AM_VERSION);
  const Libfabric libfabric = look_at_libfabric();
  print_transports(libfabric);
  print_providers(libfabric);
  print_settings();
  std::fflush(stdout);
  for (const auto& unknown : am::core::unknown_settings(environ)) {
    std::fprintf(stderr, "%s\n", unknown.text().c_str());
  }
  return report_malformed();
}

}  // namespace aminfo
