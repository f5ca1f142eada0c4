// am::start: from the environment to a node.
#include <unistd.h>
#include <am/start.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "core/engine.hpp"
#include "core/settings.hpp"

namespace am {

namespace {

/// Tells once per job about AM_ names that mean nothing: a misspelt setting must not live on unnoticed.
void report_unknown_settings() {
  for (const core::UnknownSetting& unknown : core::unknown_settings(environ)) {
    std::fprintf(stderr, "%s\n", unknown.text().c_str());
  }
}

void report_found(const core::Job& job, const core::Engine& engine) {
  std::fprintf(stderr, "am: node %u of %u: found %s; shared memory to all nodes%s\n", job.id, job.size,
               job.found == "alone" ? "no launcher, so it is alone" : job.found.c_str(),
               engine.oversubscribed() ? "; more nodes than processors: waits yield at once" : "");
}

}  // namespace

Node& start(int /*argc*/, char** /*argv*/, const Options& options) {
  static std::optional<Node> node;  // left at exit
  if (node) throw Error("start", "am::start was called before in this process", "call it once, in main");
  core::Settings settings = core::read_settings(environ);
  if (options.segment_bytes != 0) settings.segment_bytes = options.segment_bytes;
  if (options.dispatch) settings.dispatch = *options.dispatch;
  core::Job job = core::join_job(settings);
  // A program that this one starts is not this node: it shall not find our place taken.
  for (const char* name : {"AM_RANK", "AM_SIZE", "AM_SEGMENT_FD"})
    unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (job.id == 0) report_unknown_settings();
  auto engine = std::make_unique<core::Engine>(std::move(job), settings);
  if (settings.verbose) report_found(engine->job(), *engine);
  return node.emplace(std::move(engine));
}

}  // namespace am
