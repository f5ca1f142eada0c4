// AMX: a job in which each node has one endpoint, and entry i of its translation table is node i.
#include <am/collectives.hpp>
#include <am/error.hpp>
#include <am/message.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "models/am2/calls.hpp"

namespace am::models::am2 {

namespace {

constexpr tag_t spmd_tag = 0x616d'5350'4d44;

void entered(Reply& reply) { ++reply.node().own<State>().barrier_ins; }
void complete(Reply& reply) { ++reply.node().own<State>().barrier_outs; }

template <auto H>
void tell(State& state, NodeId to) {
  const auto attempt = [&] { return state.node.try_reply_to<H>(to) != Status::again; };
  if (!attempt()) state.wait(attempt);
}

/// Polls, and runs AM-II's handlers, until done().
template <class P>
void serve_until(State& state, P done) {
  const auto waits = [&] {
    return std::any_of(state.bundles.begin(), state.bundles.end(), [](const auto& bundle) {
      return std::any_of(bundle->endpoints.begin(), bundle->endpoints.end(),
                         [](auto* one) { return one->has_messages(); });
    });
  };
  while (!done()) {
    state.wait([&] { return done() || waits(); });
    for (std::size_t i = 0; i < state.bundles.size(); ++i) state.run_messages(*state.bundles[i]);
  }
}

/// libam's own barrier would not run AM-II's handlers, for which others may wait on their way to it.
void barrier(State& state) {
  const std::uint64_t mine = ++state.barriers;
  const NodeId n = state.node.size();
  tell<entered>(state, 0);
  if (state.node.id() == 0) {
    serve_until(state, [&] { return state.barrier_ins >= mine * n; });
    for (NodeId to = 0; to < n; ++to) tell<complete>(state, to);
  }
  serve_until(state, [&] { return state.barrier_outs >= mine; });
}

/// Until every request of this node is answered. Then a barrier, and nothing is under way any more.
void settle(State& state) {
  const auto answered_all = [](const am2_endpoint* endpoint) {
    return std::all_of(endpoint->translations.begin(), endpoint->translations.end(),
                       [](const Translation& entry) { return entry.outstanding == 0; });
  };
  serve_until(state, [&] {
    return std::all_of(state.bundles.begin(), state.bundles.end(), [&](const auto& bundle) {
      return std::all_of(bundle->endpoints.begin(), bundle->endpoints.end(), answered_all);
    });
  });
}

/// libam's collectives, in which AM-II's messages are taken in but not run.
std::vector<en_t> names_of_all(Node& node, en_t own) {
  std::vector<en_t> names;
  polling(node, [&] { names = all_gather(node, own); });
  return names;
}

}  // namespace
}  // namespace am::models::am2

using namespace am::models::am2;  // NOLINT: the C functions below are its face

extern "C" {

int AMX_SPMDStartup(int* /*argc*/, char*** /*argv*/, int depth, unsigned long* networkpid, eb_t* bundle,
                    ep_t* endpoint) {
  if (bundle == nullptr || endpoint == nullptr || depth < 0) return AM_ERR_BAD_ARG;
  if (const int status = AM_Init()) return status;
  return with_state("AMX_SPMDStartup", [&](State& state) {
    en_t name;
    if (const int status = AM_AllocateBundle(AM_SEQ, bundle)) return status;
    if (const int status = AM_AllocateEndpoint(*bundle, endpoint, &name)) return status;
    (*endpoint)->tag = spmd_tag;
    if (depth > 0) (*endpoint)->window = std::min(static_cast<std::uint32_t>(depth), largest_window);
    const std::vector<en_t> names = names_of_all(state.node, name);
    if (static_cast<int>(names.size()) > fewest_translations) {
      if (const int status = AM_SetNumTranslations(*endpoint, static_cast<int>(names.size()))) return status;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (const int status = AM_Map(*endpoint, static_cast<int>(i), names[i], spmd_tag)) return status;
    }
    if (networkpid != nullptr) *networkpid = 1;
    return AM_OK;
  });
}

int AMX_SPMDBarrier() {
  return with_state("AMX_SPMDBarrier", [](State& state) {
    if (state.running != nullptr) return refused(AM_ERR_RESOURCE, "AMX_SPMDBarrier", "not from a handler");
    barrier(state);
    return AM_OK;
  });
}

int AMX_SPMDAllGather(void* source, void* destination, unsigned long nbytes) {
  return with_state("AMX_SPMDAllGather", [&](State& state) {
    if (state.running != nullptr) return refused(AM_ERR_RESOURCE, "AMX_SPMDAllGather", "not from a handler");
    if (nbytes != 0 && (source == nullptr || destination == nullptr)) return AM_ERR_BAD_ARG;
    am::Node& node = state.node;
    std::vector<std::byte> values(nbytes);
    am::models::polling(node, [&] {
      for (am::NodeId root = 0; root < node.size(); ++root) {
        if (root == node.id() && nbytes != 0) std::memcpy(values.data(), source, nbytes);
        am::broadcast(node, std::span(values), root);
        if (nbytes != 0)
          std::memcpy(static_cast<std::byte*>(destination) + root * nbytes, values.data(), nbytes);
      }
    });
    return AM_OK;
  });
}

int AMX_SPMDNumProcs() {
  const State* const state = initialised();
  return state == nullptr ? -1 : static_cast<int>(state->node.size());
}

int AMX_SPMDMyProc() {
  const State* const state = initialised();
  return state == nullptr ? -1 : static_cast<int>(state->node.id());
}

int AMX_SPMDSetExitCallback(void (*callback)(int)) {
  return with_state("AMX_SPMDSetExitCallback", [&](State& state) {
    state.exit_callback = callback;
    return AM_OK;
  });
}

/// A program that ends well ends together: no node leaves while another one still needs it.
int AMX_SPMDExit(int code) {
  if (State* const state = initialised()) {
    if (state->exit_callback != nullptr) state->exit_callback(code);
    if (code == 0 && state->running == nullptr) {
      guarded("AMX_SPMDExit", [&] {
        settle(*state);
        barrier(*state);
        return AM_Terminate();
      });
    }
  }
  std::exit(code);  // NOLINT(concurrency-mt-unsafe): as the program asks
}

int AMX_SPMDIsWorker(char** /*argv*/) { return 1; }

const char* AMX_SPMDgetenvMaster(const char* name) {
  return std::getenv(name);
}  // NOLINT(concurrency-mt-unsafe)

int AMX_enEqual(en_t a, en_t b) { return a.node == b.node && a.endpoint == b.endpoint ? 1 : 0; }

}  // extern "C"
