// A report as JSON. In a file of its own: the library for it costs the compiler more than all the rest of a file here.
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "results/report.hpp"

namespace results {

using Json = nlohmann::ordered_json;

std::string to_json(const Report& report) {
  const Machine& machine = report.machine;
  Json json;
  json["measure"] = report.measure;
  json["transport"] = report.transport;
  if (report.nodes != 0) json["nodes"] = report.nodes;
  json["machine"] = {{"cpu", machine.cpu},
                     {"cores", machine.cores},
                     {"kernel", machine.kernel},
                     {"compiler", machine.compiler},
                     {"build_type", machine.build_type},
                     {"optimized", machine.optimized},
                     {"pinned", report.pinned()},
                     {"cpus", report.cpus},
                     {"oversubscribed", report.oversubscribed()},
                     {"repetitions", report.repetitions},
                     {"peers", report.peers}};
  json["simulated"] = report.simulated;
  json["remarks"] = report.remarks;
  json["warnings"] = report.warnings();
  json["rows"] = Json::array();
  for (const Row& row : report.rows) {
    Json object = Json::object();
    for (const auto& [name, value] : row.keys_)
      std::visit([&, &key = name](const auto& it) { object[key] = it; }, value);
    for (const Row::Line& line : row.lines_) {
      if (const auto* note = std::get_if<std::string>(&line.value)) {
        object[line.name] = *note;
      } else if (const auto* compared = std::get_if<Row::Compared>(&line.value)) {
        const auto& [value, text] = compared->reference;
        Json reference;
        if (!text.empty()) {
          reference = text;
        } else if (value) {
          reference = *value;
        }
        object[line.name] = {{row.reference_, reference}, {"here", compared->here}, {"ratio", nullptr}};
        if (const auto ratio = compared->ratio()) object[line.name]["ratio"] = *ratio;
        if (!compared->remark.empty()) object[line.name]["remark"] = compared->remark;
      } else {
        const Summary& summary = std::get<Summary>(line.value);
        object[line.name] = {{"min", summary.min}, {"median", summary.median}, {"max", summary.max}};
      }
    }
    json["rows"].push_back(std::move(object));
  }
  return json.dump(2) + "\n";
}

}  // namespace results
