// AMX: a job in which each node has one endpoint, and entry i of its translation table is node i.
#include <am/collectives.hpp>
#include <am/error.hpp>
#include <am/message.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "models/am2/calls.hpp"

namespace am::models::am2 {

namespace {

constexpr tag_t spmd_tag = 0x616d'5350'4d44;

void entered(Reply& reply) { ++reply.node().own<State>().entered_by[reply.from()]; }
void complete(Reply& reply) { ++reply.node().own<State>().barrier_outs; }
void never_complete(Reply& reply, NodeId gone) { reply.node().own<State>().barrier_lacks = gone; }

template <auto H, class... A>
void tell(State& state, NodeId to, A... arguments) {
  static_cast<void>(state.node.reply_to<H>(to, arguments...));  // gone: nobody to tell
}

/// Polls, and runs AM-II's handlers. What one of them throws leaves at the end, by rethrow(): the other nodes count on this one.
class Serving {
 public:
  explicit Serving(State& state) noexcept : state_(state) {}

  /// Until done(), which only node `needed` can bring about: am::Error when that one is gone.
  template <class P>
  void until(NodeId needed, P done) {
    while (!done()) {
      try {
        state_.node.wait_until([&] { return done() || messages_wait(); }, needed);
        for (std::size_t i = 0; i < state_.bundles.size(); ++i) state_.run_messages(*state_.bundles[i]);
      } catch (...) {
        if (state_.node.is_gone(needed)) throw;
        if (thrown_ == nullptr) thrown_ = std::current_exception();
      }
    }
  }
  void rethrow() const {
    if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  }

 private:
  [[nodiscard]] bool messages_wait() const {
    return std::any_of(state_.bundles.begin(), state_.bundles.end(), [](const auto& bundle) {
      return std::any_of(bundle->endpoints.begin(), bundle->endpoints.end(),
                         [](auto* one) { return one->has_messages(); });
    });
  }

  State& state_;
  std::exception_ptr thrown_;
};

/// On node 0, which tells the others also when one of them is gone: am::Error.
void gather(State& state, Serving& serving, std::uint64_t barriers) {
  NodeId of = 0;
  try {
    for (; of < state.node.size(); ++of) serving.until(of, [&] { return state.entered_by[of] >= barriers; });
  } catch (...) {
    for (NodeId to = 1; to < state.node.size(); ++to) tell<never_complete>(state, to, of);
    throw;
  }
  for (NodeId to = 0; to < state.node.size(); ++to) tell<complete>(state, to);
}

/// libam's own barrier would not run AM-II's handlers, for which others may wait on their way to it.
void barrier(State& state, Serving& serving) {
  const std::uint64_t mine = ++state.barriers;
  tell<entered>(state, 0);
  if (state.node.id() == 0) gather(state, serving, mine);
  const auto is_complete = [&] { return state.barrier_outs >= mine; };
  serving.until(0, [&] { return is_complete() || state.barrier_lacks; });
  if (is_complete()) return;
  throw Error("barrier", "node " + std::to_string(state.node.id()),
              "node " + std::to_string(*state.barrier_lacks) + " has left or died and did not enter it",
              "end every node with AMX_SPMDExit");
}

/// Until every request of this node is answered, but for those whose receiver is gone. Then a barrier, and nothing is under way
/// any more.
void settle(State& state, Serving& serving) {
  const auto is_over = [&](const Translation& entry) {
    return entry.outstanding == 0 || state.node.is_gone(entry.name.node);
  };
  const auto answered_all = [&](const am2_endpoint* endpoint) {
    return std::all_of(endpoint->translations.begin(), endpoint->translations.end(), is_over);
  };
  serving.until(state.node.id(), [&] {
    return std::all_of(state.bundles.begin(), state.bundles.end(), [&](const auto& bundle) {
      return std::all_of(bundle->endpoints.begin(), bundle->endpoints.end(), answered_all);
    });
  });
}

}  // namespace
}  // namespace am::models::am2

using namespace am::models::am2;  // NOLINT: the C functions below are its face

extern "C" {

void (*AMX_SPMDkillmyprocess)(int) = std::exit;

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
    const std::vector<en_t> names = am::all_gather(state.node, name);  // runs no handler of AM-II
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
    Serving serving(state);
    barrier(state, serving);
    serving.rethrow();
    return AM_OK;
  });
}

int AMX_SPMDAllGather(void* source, void* destination, unsigned long nbytes) {
  return with_state("AMX_SPMDAllGather", [&](State& state) {
    if (state.running != nullptr) return refused(AM_ERR_RESOURCE, "AMX_SPMDAllGather", "not from a handler");
    if (nbytes != 0 && (source == nullptr || destination == nullptr)) return AM_ERR_BAD_ARG;
    am::Node& node = state.node;
    std::vector<std::byte> values(nbytes);
    for (am::NodeId root = 0; root < node.size(); ++root) {
      if (root == node.id() && nbytes != 0) std::memcpy(values.data(), source, nbytes);
      am::broadcast(node, std::span(values), root);
      if (nbytes != 0)
        std::memcpy(static_cast<std::byte*>(destination) + root * nbytes, values.data(), nbytes);
    }
    return AM_OK;
  });
}

int AMX_SPMDBroadcast(void* buffer, unsigned long nbytes, int root) {
  return with_state("AMX_SPMDBroadcast", [&](State& state) {
    if (state.running != nullptr) return refused(AM_ERR_RESOURCE, "AMX_SPMDBroadcast", "not from a handler");
    if ((nbytes != 0 && buffer == nullptr) || root < 0 || static_cast<am::NodeId>(root) >= state.node.size())
      return refused(AM_ERR_BAD_ARG, "AMX_SPMDBroadcast", "no memory, or no such node");
    am::broadcast(state.node, std::span(static_cast<std::byte*>(buffer), nbytes),
                  static_cast<am::NodeId>(root));
    return AM_OK;
  });
}

int AMX_SPMDSetThreadMode(int threads, const char** level, int* /*argc*/, char*** /*argv*/) {
  if (initialised() != nullptr)
    return refused(AM_ERR_RESOURCE, "AMX_SPMDSetThreadMode", "it comes before the start");
  if (level != nullptr) *level = "one thread: a node belongs to the one that has started it";
  return threads == 0 ? 1 : 0;
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
    if (const auto callback = std::exchange(state->exit_callback, nullptr)) callback(code);
    if (code == 0 && state->running == nullptr) {
      guarded("AMX_SPMDExit", [&] {
        Serving serving(*state);
        settle(*state, serving);
        barrier(*state, serving);
        serving.rethrow();
        return AM_Terminate();
      });
    }
  }
  AMX_SPMDkillmyprocess(code);
  std::abort();  // it did not
}

int AMX_SPMDIsWorker(char** /*argv*/) { return 1; }

const char* AMX_SPMDgetenvMaster(const char* name) {
  return std::getenv(name);
}  // NOLINT(concurrency-mt-unsafe)

int AMX_enEqual(en_t a, en_t b) { return a.node == b.node && a.endpoint == b.endpoint ? 1 : 0; }

}  // extern "C"
