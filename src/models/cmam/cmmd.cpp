// CMMD's calls that programs on CMAML use, too: who and how many, barriers, the global OR, broadcasts, timers.
#include <time.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

#include "models/cmam/control_network.hpp"

namespace am::models::cmam {

namespace {

// -- the split barrier: each node tells all that it has started, so that each knows whom it waits for --------------------------

void has_started(Request& request) { ++request.node().own<State>().started_by[request.from()]; }

bool have_all_started(const State& state) {
  return std::all_of(state.started_by.begin(), state.started_by.end(),
                     [&](std::uint64_t times) { return times >= state.started; });
}

// -- the global OR: each node knows how many have their bit set ------------------------------------------------------------------

void count_bit(Node& node, int change) {
  const CriticalSection quiet(node);
  node.own<State>().nodes_with_bit += change;
}
void or_changes(Request& request, int change) { count_bit(request.node(), change); }
void or_changes_by_a_handler(Reply& reply, int change) { count_bit(reply.node(), change); }

/// They are the control network's.
const impl::InternalHandlers<has_started, or_changes, or_changes_by_a_handler> internal_handlers;

// -- broadcasts -------------------------------------------------------------------------------------------------------------------

/// The receivers do not say whose broadcast it is: so that is found out first.
void take_part_in_broadcast(const char* call, void* buffer, int nbytes, bool is_root) {
  const Together all(call);
  Node& node = all.node();
  struct Who {
    std::uint32_t roots;
    NodeId root;
  };
  const Who who = all_reduce(node, Who{is_root ? 1U : 0U, is_root ? node.id() : 0}, [](Who a, Who b) {
    return Who{a.roots + b.roots, std::max(a.root, b.root)};
  });
  if (who.roots != 1)
    broken(node.id(), call, ": ", who.roots,
           " nodes have called CMMD_bc_to_nodes: one calls it, and the others CMMD_receive_bc_from_node");
  broadcast(node, bytes_at(node, call, buffer, nbytes), who.root);
}

// -- timers -----------------------------------------------------------------------------------------------------------------------

std::uint64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

Timer& timer_of(State& state, const char* call, int number) {
  if (number < 0 || number >= State::timers)
    broken(state.node().id(), call, ": timer ", number, " of ", State::timers);
  return state.timer[number];
}

constexpr double seconds = 1e-9;

Count elapsed_ns(const State& state, const Timer& timer) {
  return timer.elapsed + (timer.running ? state.node().count() - timer.began : 0);
}
std::uint64_t busy_ns(const Timer& timer) {
  return timer.cpu + (timer.running ? cpu_ns() - timer.cpu_began : 0);
}

}  // namespace

}  // namespace am::models::cmam

using namespace am::models::cmam;

int CMMD_self_address(void) { return static_cast<int>(state().node().id()); }
int CMMD_partition_size(void) { return static_cast<int>(state().node().size()); }

void CMMD_sync_with_nodes(void) { Together("CMMD_sync_with_nodes").node().barrier(); }

void CMMD_sync_with_nodes_start(void) {
  const Together all("CMMD_sync_with_nodes_start");
  State& caller = state();
  {
    const am::CriticalSection quiet(caller.node());
    if (!have_all_started(caller))
      am::models::broken(caller.node().id(), "CMMD_sync_with_nodes_start while one is under way");
    ++caller.started;
  }
  for (am::NodeId to = 0; to < all.node().size(); ++to) all.node().request<has_started>(to);
}
int CMMD_sync_done(void) {
  const Together all("CMMD_sync_done");
  all.node().poll();
  State& caller = state();
  const am::CriticalSection quiet(caller.node());
  return have_all_started(caller) ? 1 : 0;
}
void CMMD_sync_with_nodes_finish(void) {
  const Together all("CMMD_sync_with_nodes_finish");
  State& caller = state();
  for (am::NodeId of = 0; of < all.node().size(); ++of)
    all.node().wait_until([&] { return caller.started_by[of] >= caller.started; }, of);
}

int CMMD_set_global_or(int bit) {
  State& caller = state();
  am::Node& node = caller.node();
  if (node.level() == am::Level::high) not_in_this_handler(caller, "CMMD_set_global_or");
  const int now = bit != 0 ? 1 : 0;
  int before = 0;
  {
    const am::CriticalSection quiet(node);
    before = std::exchange(caller.global_or_bit, now);
  }
  const int change = now - before;
  if (change == 0) return before;
  count_bit(node, change);
  const OnControlNetwork control(caller);
  for (am::NodeId to = 0; to < node.size(); ++to) {
    if (to == node.id()) continue;
    if (node.level() == am::Level::low) {
      node.reply_to<or_changes_by_a_handler>(to, change);
    } else {
      node.request<or_changes>(to, change);
    }
  }
  return before;
}
int CMMD_get_global_or(void) {
  State& caller = state();
  const am::CriticalSection quiet(caller.node());
  return caller.nodes_with_bit > 0 ? 1 : 0;
}

void CMMD_bc_to_nodes(void* buffer, int nbytes) {
  take_part_in_broadcast("CMMD_bc_to_nodes", buffer, nbytes, true);
}
void CMMD_receive_bc_from_node(void* buffer, int nbytes) {
  take_part_in_broadcast("CMMD_receive_bc_from_node", buffer, nbytes, false);
}
void CMMD_concat_with_nodes(void* mine, void* all, int nbytes) {
  constexpr const char* call = "CMMD_concat_with_nodes";
  const Together together(call);
  am::Node& node = together.node();
  const std::span<std::byte> own = bytes_at(node, call, mine, nbytes);
  for (am::NodeId of = 0; of < node.size(); ++of) {
    const std::span<std::byte> place =
        bytes_at(node, call, all, nbytes).empty()
            ? std::span<std::byte>()
            : std::span(static_cast<std::byte*>(all) + of * own.size(), own.size());
    if (of == node.id() && !own.empty()) std::memmove(place.data(), own.data(), own.size());
    am::broadcast(node, place, of);
  }
}

int CMMD_node_timer_clear(int timer) {
  timer_of(state(), "CMMD_node_timer_clear", timer) = {};
  return 0;
}
int CMMD_node_timer_start(int timer) {
  State& caller = state();
  Timer& started = timer_of(caller, "CMMD_node_timer_start", timer);
  if (started.running) return -1;
  started.running = true;
  started.began = caller.node().count();
  started.cpu_began = cpu_ns();
  return 0;
}
int CMMD_node_timer_stop(int timer) {
  State& caller = state();
  Timer& stopped = timer_of(caller, "CMMD_node_timer_stop", timer);
  if (!stopped.running) return -1;
  stopped.elapsed = elapsed_ns(caller, stopped);
  stopped.cpu = busy_ns(stopped);
  stopped.running = false;
  return 0;
}
double CMMD_node_timer_elapsed(int timer) {
  State& caller = state();
  return static_cast<double>(elapsed_ns(caller, timer_of(caller, "CMMD_node_timer_elapsed", timer))) *
         seconds;
}
double CMMD_node_timer_busy(int timer) {
  return static_cast<double>(busy_ns(timer_of(state(), "CMMD_node_timer_busy", timer))) * seconds;
}
double CMMD_node_timer_idle(int timer) {
  return std::max(0.0, CMMD_node_timer_elapsed(timer) - CMMD_node_timer_busy(timer));
}

void CMMD_error(const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  std::size_t shown = length < 0 ? 0 : std::min(static_cast<std::size_t>(length), sizeof text - 1);
  while (shown > 0 && text[shown - 1] == '\n') --shown;
  am::models::broken(state().node().id(), std::string_view(text, shown));
}
