// am::start: from the environment to a node.
#include <unistd.h>
#include <am/start.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "core/node/engine.hpp"
#include "core/node/last_thread.hpp"
#include "core/node/options.hpp"
#include "core/node/uncaught.hpp"
#include "core/reports/found.hpp"
#include "core/reports/once.hpp"
#include "core/settings/settings.hpp"

namespace am {

namespace {

/// Tells once per job about AM_ names that mean nothing: a misspelt setting must not live on unnoticed.
void report_unknown_settings() {
  for (const core::UnknownSetting& unknown : core::unknown_settings(environ)) {
    std::fprintf(stderr, "%s\n", unknown.text().c_str());
  }
}

/// Settings and job. What is wrong with either is most likely wrong in all processes that a launcher has started: one of
/// them shall say it.
core::Job find_job(core::Settings& settings, const Options& options) {
  const core::LauncherEnvironment launcher = core::read_launcher_environment(environ);
  if (launcher.claimed_rank) core::this_process_is(static_cast<NodeId>(*launcher.claimed_rank));
  try {
    settings = core::read_settings(environ);
    if (settings.rank >= 0) core::this_process_is(static_cast<NodeId>(settings.rank));
    core::apply(options, settings);
    return core::join_job(settings);
  } catch (const Error&) {
    core::let_lower_ranks_speak(launcher.claimed_rank.value_or(0));
    throw;
  }
}

/// A program that holds libam.a and opens a library that is linked with libam.so has two copies, each with handlers and a node of its
/// own. The environment is what they have in common; a program that this one starts has another process number.
void must_be_the_only_copy() {
  constexpr const char* name = "LIBAM_JOINED_PROCESS";
  const std::string here = std::to_string(getpid());
  const char* const joined = getenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (joined != nullptr && joined == here) {
    throw Error(
        "start", "another copy of libam in this process has started a node",
        "link the program and all of its libraries with libam.so, or none of the libraries with libam");
  }
  setenv(name, here.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
}

/// So that a node which leaves on the way out of an error adds nothing to it. Comes before the node leaves, as it was asked
/// for later. Where the C library does not offer it the node is heard.
void note_how_the_program_ends([[maybe_unused]] Node& node) {
#ifdef __GLIBC__
  on_exit(
      [](int code, void* left) {
        if (code != 0) static_cast<Node*>(left)->engine().ends_badly();
      },
      &node);
#endif
}

}  // namespace

Node& start(int /*argc*/, char** /*argv*/, const Options& options) {
  static Node* node = nullptr;  // for good: objects that are older may know it, and go after it has left
  core::tell_of_the_uncaught();
  if (node != nullptr)
    throw Error("start", "am::start was called before in this process", "call it once, in main");
  must_be_the_only_copy();
  core::Settings settings;
  core::Job job = find_job(settings, options);
  core::this_process_is(job.id);
  // A program that this one starts is not this node: it shall not find our place taken.
  for (const char* name : {"AM_RANK", "AM_SIZE", "AM_HOST_MEMORY_FD", "AM_JOB"})
    unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (job.id == 0) report_unknown_settings();
  auto engine = std::make_unique<core::Engine>(std::move(job), settings);
  if (settings.verbose) std::fputs(core::describe_found(*engine).c_str(), stderr);
  node = new Node(std::move(engine));
  // Asked for now, it comes before libraries that the networks have begun to use take themselves down.
  if (std::atexit([] { node->engine().retire(); }) != 0)
    throw Error("start", "no memory to have the node leave at exit", "");
  note_how_the_program_ends(*node);
  core::end_with_the_programs_threads();
  return *node;
}

}  // namespace am
