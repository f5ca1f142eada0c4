#include "amsim/trace_file.hpp"

#include "amsim/trace/views.hpp"
#include "results/output_file.hpp"
#include "results/usage_error.hpp"

namespace amsim {

namespace {

using Form = std::string (*)(const am::kit::Trace& trace);

Form form_of(const std::string& file) {
  if (file.ends_with(".html")) return to_page;
  if (file.ends_with(".json")) return to_json;
  if (file.ends_with(".svg")) return to_picture;
  throw results::UsageError(
      "--trace takes a name that ends in .html, for a page, .json, for Perfetto, or .svg, for a still; not "
      "'" +
      file + "'");
}

}  // namespace

void be_able_to_trace(const std::string& file) {
  static_cast<void>(form_of(file));
  results::be_able_to_write(file);
}

void write_trace(const std::string& file, const am::kit::Trace& trace, results::Report& report) {
  if (const std::string missing = trace.what_is_missing(); !missing.empty())
    report.remarks.push_back(missing);
  results::write_file(file, form_of(file)(trace));
}

}  // namespace amsim
