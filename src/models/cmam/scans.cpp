// CMMD's scans and reductions, at once or in two halves. In the order of the nodes, so that sums of floating-point values are the same in
// every run. Those at once go by the network's own, where it has them (am/collectives.hpp). In two halves each node tells all what it gives,
// and computes its own result.
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "models/cmam/control_network.hpp"

namespace am::models::cmam {

namespace {

template <class T>
Given given(T value, int bit) {
  Given mine{0, bit != 0 ? 1 : 0};
  std::memcpy(&mine.value, &value, sizeof value);
  return mine;
}
template <class T>
T value_of(const Given& given) {
  T value;
  std::memcpy(&value, &given.value, sizeof value);
  return value;
}

/// What combines with any value to that value.
template <class T>
T identity_of(CMMD_combiner_t combiner) {
  using Limits = std::numeric_limits<T>;
  const int operation = operation_of(combiner);
  if (operation == CMMD_combiner_max) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  if (operation == CMMD_combiner_min) return Limits::has_infinity ? Limits::infinity() : Limits::max();
  if constexpr (std::is_integral_v<T>) {
    if (operation == CMMD_combiner_and) return static_cast<T>(~T{0});
  }
  return T{0};
}

struct Scan {
  CMMD_combiner_t combiner;
  CMMD_scan_direction_t direction;
  CMMD_segment_mode_t mode;
  CMMD_scan_inclusion_t inclusion;
};

void check_scan(const Node& node, const char* call, const Scan& scan) {
  const auto is_one_of = [](int value, int last) { return value >= 0 && value <= last; };
  if (!is_one_of(scan.direction, CMMD_downward) || !is_one_of(scan.mode, CMMD_segment_bit) ||
      !is_one_of(scan.inclusion, CMMD_inclusive))
    broken(node.id(), call, ": direction ", scan.direction, ", segment mode ", scan.mode, ", inclusion ",
           scan.inclusion);
}

/// The bit of a segment is on its lowest node: in a scan downward its last one.
impl::ScanPart part_in(const Scan& scan, bool bit) {
  const bool is_last = scan.mode == CMMD_segment_bit && scan.direction == CMMD_downward;
  bit = bit && scan.mode != CMMD_none;
  return {.descends = scan.direction == CMMD_downward,
          .cut_before = bit && !is_last,
          .cut_behind = bit && is_last};
}

/// What a node has, from what is combined before it. Where it begins a segment that is of the one before, which only a start bit lets it see.
template <class T>
T scanned(std::optional<T> before, T value, int bit, const Scan& scan) {
  const bool sees_before = scan.mode == CMMD_start_bit && scan.inclusion == CMMD_exclusive;
  if (part_in(scan, bit != 0).cut_before && !sees_before) before.reset();
  if (scan.inclusion == CMMD_exclusive) return before.value_or(identity_of<T>(scan.combiner));
  return before ? combined(scan.combiner, *before, value) : value;
}

/// Of what all nodes gave.
template <class T>
T scanned(std::span<const Given> all, std::size_t node, const Scan& scan) {
  std::optional<T> before;
  for (std::size_t place = 0;; ++place) {
    const std::size_t from = scan.direction == CMMD_upward ? place : all.size() - 1 - place;
    const T value = value_of<T>(all[from]);
    const impl::ScanPart part = part_in(scan, all[from].bit != 0);
    if (from == node) return scanned(before, value, part.cut_before ? 1 : 0, scan);
    before = before && !part.cut_before ? combined(scan.combiner, *before, value) : value;
    if (part.cut_behind) before.reset();
  }
}

template <class T>
T scan_now(const char* call, T value, int bit, const Scan& scan) {
  const Together all(call);
  check_combiner<T>(all.node(), call, scan.combiner);
  check_scan(all.node(), call, scan);
  const auto before = with_combiner(scan.combiner, [&](auto op) {
    return impl::scan_before(all.node(), value, op, part_in(scan, bit != 0));
  });
  return scanned(before, value, bit, scan);
}

// -- in two halves: each node tells all what it gives -----------------------------------------------------------------------------

void gives(Request& request, std::uint64_t value, std::int64_t bit) {
  SplitCollective& split = request.node().own<State>().split;
  const std::uint64_t before = split.heard[request.from()]++;
  split.given[before % 2][request.from()] = {value, bit};
}

/// It is the control network's.
const impl::InternalHandlers<gives> internal_handler;

bool have_all_given(const SplitCollective& split) {
  return std::all_of(split.heard.begin(), split.heard.end(),
                     [&](std::uint64_t times) { return times >= split.begun; });
}

template <class T>
void start_half(SplitCollective::What what, const char* call, const char* type, T value, int bit,
                const Scan& scan) {
  const Together all(call);
  check_combiner<T>(all.node(), call, scan.combiner);
  check_scan(all.node(), call, scan);
  SplitCollective& split = state().split;
  if (split.under_way != SplitCollective::What::none)
    broken(all.node().id(), call, " while a scan or a reduction is under way");
  {
    const CriticalSection quiet(all.node());
    split.under_way = what;
    split.type = type;
    split.combiner = scan.combiner;
    split.direction = scan.direction;
    split.mode = scan.mode;
    split.inclusion = scan.inclusion;
    ++split.begun;
  }
  const Given mine = given(value, bit);
  for (NodeId to = 0; to < all.node().size(); ++to) all.node().request<gives>(to, mine.value, mine.bit);
}

int is_done(const char* call) {
  const Together all(call);
  all.node().poll();
  const CriticalSection quiet(all.node());
  return have_all_given(state().split) ? TRUE : FALSE;
}

/// Waits for the values of all, and says how they are combined.
Scan finish_half(const Node& node, SplitCollective::What what, const char* call, std::string_view type) {
  State& caller = state();
  SplitCollective& split = caller.split;
  if (split.under_way != what || split.type != type) broken(node.id(), call, ", which has not been started");
  for (NodeId of = 0; of < node.size(); ++of)
    caller.node().wait_until([&] { return split.heard[of] >= split.begun; }, of);
  split.under_way = SplitCollective::What::none;
  return {split.combiner, split.direction, split.mode, split.inclusion};
}
std::span<const Given> last_given() {
  const SplitCollective& split = state().split;
  return split.given[(split.begun - 1) % 2];
}

template <class T>
T finish_scan(const char* call, std::string_view type) {
  const Together all(call);
  const Scan scan = finish_half(all.node(), SplitCollective::What::scan, call, type);
  return scanned<T>(last_given(), all.node().id(), scan);
}
/// What the last node of an inclusive scan has.
template <class T>
T finish_reduction(const char* call, std::string_view type) {
  const Together all(call);
  const Scan scan = finish_half(all.node(), SplitCollective::What::reduction, call, type);
  return scanned<T>(last_given(), all.node().size() - 1, scan);
}

// -- of vectors -------------------------------------------------------------------------------------------------------------------

template <class T>
void reduce_all(Node& node, std::span<std::byte> values, CMMD_combiner_t combiner) {
  check_combiner<T>(node, "CMMD_reduce_v", combiner);
  with_combiner(combiner, [&](auto op) {
    impl::all_reduce_bytes(node, values, impl::CombineValues<T, decltype(op)>(op));
  });
}

/// By the combiner's initial, and by their size.
void reduce_typed(Node& node, std::span<std::byte> values, CMMD_combiner_t combiner, int size) {
  enum Initial { none, unsigned_integers, doubles, floats };
  const int initial = combiner >> 3;
  if (initial == none && size == sizeof(int)) return reduce_all<int>(node, values, combiner);
  if (initial == none && size == sizeof(long)) return reduce_all<long>(node, values, combiner);
  if (initial == unsigned_integers && size == sizeof(unsigned))
    return reduce_all<unsigned>(node, values, combiner);
  if (initial == unsigned_integers && size == sizeof(unsigned long))
    return reduce_all<unsigned long>(node, values, combiner);
  if (initial == doubles && size == sizeof(double)) return reduce_all<double>(node, values, combiner);
  if (initial == floats && size == sizeof(float)) return reduce_all<float>(node, values, combiner);
  broken(node.id(), "CMMD_reduce_v: ", combiner, " is no combiner for values of ", size, bytes_of(size));
}

}  // namespace

}  // namespace am::models::cmam

using namespace am::models::cmam;

/// The calls of one type of values.
#define AM_CMMD_TYPE(T, name)                                                                         \
  T CMMD_scan_##name(T value, CMMD_combiner_t combiner, CMMD_scan_direction_t direction,              \
                     CMMD_segment_mode_t mode, int bit, CMMD_scan_inclusion_t inclusion) {            \
    return scan_now("CMMD_scan_" #name, value, bit, {combiner, direction, mode, inclusion});          \
  }                                                                                                   \
  void CMMD_scan_##name##_start(T value, CMMD_combiner_t combiner, CMMD_scan_direction_t direction,   \
                                CMMD_segment_mode_t mode, int bit, CMMD_scan_inclusion_t inclusion) { \
    start_half(SplitCollective::What::scan, "CMMD_scan_" #name "_start", #name, value, bit,           \
               {combiner, direction, mode, inclusion});                                               \
  }                                                                                                   \
  T CMMD_scan_##name##_finish(...) { return finish_scan<T>("CMMD_scan_" #name "_finish", #name); }    \
  T CMMD_reduce_##name(T value, CMMD_combiner_t combiner) {                                           \
    return reduce("CMMD_reduce_" #name, value, combiner);                                             \
  }                                                                                                   \
  void CMMD_reduce_##name##_start(T value, CMMD_combiner_t combiner) {                                \
    start_half(SplitCollective::What::reduction, "CMMD_reduce_" #name "_start", #name, value, 0,      \
               {combiner, CMMD_upward, CMMD_none, CMMD_inclusive});                                   \
  }                                                                                                   \
  T CMMD_reduce_##name##_finish(...) { return finish_reduction<T>("CMMD_reduce_" #name "_finish", #name); }

AM_CMMD_TYPE(int, int)
AM_CMMD_TYPE(unsigned, uint)
AM_CMMD_TYPE(long, lint)
AM_CMMD_TYPE(unsigned long, luint)
AM_CMMD_TYPE(float, float)
AM_CMMD_TYPE(double, double)
#undef AM_CMMD_TYPE

int CMMD_scan_done(void) { return is_done("CMMD_scan_done"); }
int CMMD_reduce_done(void) { return is_done("CMMD_reduce_done"); }

void CMMD_reduce_v(const void* source, void* result, CMMD_combiner_t combiner, int size, int count) {
  constexpr const char* call = "CMMD_reduce_v";
  const Together all(call);
  const int nbytes =
      size > 0 && count >= 0 && count <= std::numeric_limits<int>::max() / size ? size * count : -1;
  const std::span<std::byte> given = bytes_at(all.node(), call, const_cast<void*>(source), nbytes);
  const std::span<std::byte> values = bytes_at(all.node(), call, result, nbytes);
  if (!given.empty()) std::memmove(values.data(), given.data(), given.size());
  reduce_typed(all.node(), values, combiner, size);
}
