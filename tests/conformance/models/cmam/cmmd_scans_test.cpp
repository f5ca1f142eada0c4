// CMMD's scans and reductions (<am/cmmd.h>): every combiner, direction, segment mode and inclusion, at once and in two halves, against
// what a loop over all nodes says. And the calls of the host, which is node 0.
#include <am/cmmd.h>
#include <am/am.hpp>

#include "support/cmam.hpp"

namespace cmmd_scans_test {

using namespace test;
using CmmdScans = test::OnCmam<test::OnEverySubstrate>;

constexpr int nodes = 4;

template <class T>
T combine(CMMD_combiner_t combiner, T a, T b) {
  switch (combiner & 7) {
    case CMMD_combiner_max:
      return a > b ? a : b;
    case CMMD_combiner_min:
      return a < b ? a : b;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (combiner & 7) {
      case CMMD_combiner_ior:
        return a | b;
      case CMMD_combiner_xor:
        return a ^ b;
      case CMMD_combiner_and:
        return a & b;
      default:
        break;
    }
  }
  return a + b;
}

/// What stands where there is nothing to combine.
template <class T>
T nothing(CMMD_combiner_t combiner) {
  using Limits = std::numeric_limits<T>;
  const T greatest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  const T least = Limits::has_infinity ? -Limits::infinity() : Limits::min();
  const int operation = combiner & 7;
  if (operation == CMMD_combiner_max) return least;
  if (operation == CMMD_combiner_min) return greatest;
  if constexpr (std::is_integral_v<T>) {
    if (operation == CMMD_combiner_and) return static_cast<T>(~T{0});
  }
  return T{0};
}

struct Case {
  CMMD_combiner_t combiner;
  CMMD_scan_direction_t direction;
  CMMD_segment_mode_t mode;
  unsigned bits;  ///< one for each node
  CMMD_scan_inclusion_t inclusion;
};

/// One step of a scan after the other, as a machine would go through its nodes.
template <class T>
T expected(const Case& scan, const std::array<T, nodes>& values) {
  const bool up = scan.direction == CMMD_upward;
  T running = nothing<T>(scan.combiner);
  bool empty = true;
  for (int step = 0; step < nodes; ++step) {
    const int node = up ? step : nodes - 1 - step;
    const auto has_bit = [&](int of) { return of < nodes && (scan.bits >> of & 1) != 0; };
    const bool restarts =
        step > 0 && (scan.mode == CMMD_segment_bit ? has_bit(up ? node : node + 1)
                                                   : scan.mode == CMMD_start_bit && has_bit(node));
    const T before = running;
    if (restarts) {
      running = nothing<T>(scan.combiner);
      empty = true;
    }
    const T exclusive = scan.mode == CMMD_start_bit ? before : running;
    running = empty ? values[static_cast<std::size_t>(node)]
                    : combine(scan.combiner, running, values[static_cast<std::size_t>(node)]);
    empty = false;
    if (node == me()) return scan.inclusion == CMMD_exclusive ? exclusive : running;
  }
  return running;
}

template <class T>
struct Calls {
  T (*scan)(T, CMMD_combiner_t, CMMD_scan_direction_t, CMMD_segment_mode_t, int, CMMD_scan_inclusion_t);
  void (*start)(T, CMMD_combiner_t, CMMD_scan_direction_t, CMMD_segment_mode_t, int, CMMD_scan_inclusion_t);
  T (*finish)(...);
  T (*reduce)(T, CMMD_combiner_t);
  void (*start_reduction)(T, CMMD_combiner_t);
  T (*finish_reduction)(...);
};

template <class T>
void check_scan(const Calls<T>& calls, const Case& scan, const std::array<T, nodes>& values) {
  const T mine = values[static_cast<std::size_t>(me())];
  const int bit = (scan.bits >> me() & 1) != 0 ? 5 : 0;
  const T result = expected(scan, values);
  check_equal(calls.scan(mine, scan.combiner, scan.direction, scan.mode, bit, scan.inclusion), result,
              "at once");
  if (scan.bits % 4 != 0) return;
  calls.start(mine, scan.combiner, scan.direction, scan.mode, bit, scan.inclusion);
  while (scan.bits / 4 == static_cast<unsigned>(me()) && CMMD_scan_done() == FALSE) {
  }
  check_equal(calls.finish(), result, "in two halves");
}

template <class T>
void check_type(const Calls<T>& calls, std::initializer_list<CMMD_combiner_t> combiners,
                const std::array<T, nodes>& values) {
  unsigned bits = 0;
  for (const CMMD_combiner_t combiner : combiners) {
    for (int direction : {CMMD_upward, CMMD_downward})
      for (int mode : {CMMD_none, CMMD_start_bit, CMMD_segment_bit}) {
        if (mode != CMMD_none && (combiner & 7) != CMMD_combiner_add)
          continue;  // segments are told from values
        for (int inclusion : {CMMD_exclusive, CMMD_inclusive})
          check_scan(calls, {combiner, direction, mode, ++bits % 16, inclusion}, values);
      }
    T all = values[0];
    for (int i = 1; i < nodes; ++i) all = combine(combiner, all, values[static_cast<std::size_t>(i)]);
    check_equal(calls.reduce(values[static_cast<std::size_t>(me())], combiner), all, "a reduction");
    calls.start_reduction(values[static_cast<std::size_t>(me())], combiner);
    while (CMMD_reduce_done() == FALSE) {
    }
    check_equal(calls.finish_reduction(), all, "in two halves");
  }
}

constexpr auto of_integers = {CMMD_combiner_add, CMMD_combiner_max, CMMD_combiner_min,
                              CMMD_combiner_ior, CMMD_combiner_xor, CMMD_combiner_and};
#define CALLS(T, name)                                                                         \
  Calls<T> {                                                                                   \
    CMMD_scan_##name, CMMD_scan_##name##_start, CMMD_scan_##name##_finish, CMMD_reduce_##name, \
        CMMD_reduce_##name##_start, CMMD_reduce_##name##_finish                                \
  }

template <class T>
void check_integers(const Calls<T>& calls, std::array<T, nodes> values) {
  for (const int combiner : of_integers) check_type(calls, {combiner}, values);
}

TEST_P(CmmdScans, IntsOfEachCombiner) {
  run_cmam(nodes, [] {
    check_integers(CALLS(int, int), {12, -7, 0x7ffff00f, 3});
    check_type(CALLS(int, int), {CMMD_combiner_add}, {5, 6, 7, 8});
  });
}
TEST_P(CmmdScans, OtherTypes) {
  run_cmam(nodes, [] {
    check_type(CALLS(unsigned, uint), {CMMD_combiner_uadd, CMMD_combiner_umax, CMMD_combiner_umin},
               {9, 1, 4000000000U, 3});
    check_type(CALLS(long, lint), {CMMD_combiner_max, CMMD_combiner_and}, {5L << 40, -1, 3L << 50, 7});
    check_type(CALLS(unsigned long, luint), {CMMD_combiner_xor, CMMD_combiner_uadd},
               {1UL << 63, 1, 2, 1UL << 63});
    check_type(CALLS(float, float), {CMMD_combiner_fadd, CMMD_combiner_fmax}, {0.5F, -2.0F, 4.0F, 8.0F});
    check_type(CALLS(double, double), {CMMD_combiner_dadd, CMMD_combiner_dmin, CMMD_combiner_max},
               {1e10, -0.25, 3, 1e-3});
  });
}

/// Every set of bits: segments of each length, at both ends.
TEST_P(CmmdScans, EverySetOfSegments) {
  run_cmam(nodes, [] {
    for (unsigned bits = 0; bits < 16; ++bits)
      for (int direction : {CMMD_upward, CMMD_downward})
        for (int mode : {CMMD_start_bit, CMMD_segment_bit})
          for (int inclusion : {CMMD_exclusive, CMMD_inclusive})
            check_scan(CALLS(int, int), {CMMD_combiner_add, direction, mode, bits, inclusion},
                       {1, 10, 100, 1000});
  });
}

/// A node that is through begins the next before others have heard of this one; other collectives come in between.
TEST_P(CmmdScans, HalvesOneAfterAnother) {
  run_cmam(3, [] {
    for (int round = 0; round < 60; ++round) {
      CMMD_scan_int_start(round + me(), CMMD_combiner_add, CMMD_upward, CMMD_none, 0, CMMD_inclusive);
      if (round % 7 == 0) check_equal(CMMD_reduce_int(1, CMMD_combiner_add), 3, "in between");
      check_equal(CMMD_scan_int_finish(), (me() + 1) * round + me() * (me() + 1) / 2, "a scan");
      CMMD_reduce_double_start(round * 0.5, CMMD_combiner_dmax);
      check_equal(CMMD_reduce_double_finish(), round * 0.5, "a reduction");
    }
  });
}

TEST_P(CmmdScans, VectorsByTheInitialOfTheCombiner) {
  run_cmam(3, [] {
    std::array<double, 3> doubles{1.0 + me(), -1.0, 0.5 * me()};
    CMMD_reduce_v(doubles.data(), doubles.data(), CMMD_combiner_dadd, sizeof(double), 3);
    check(doubles == std::array<double, 3>{6.0, -3.0, 1.5}, "doubles, in their place");
    const std::array<float, 2> floats{static_cast<float>(me()), 1.0F};
    std::array<float, 2> greatest{};
    CMMD_reduce_v(floats.data(), greatest.data(), CMMD_combiner_fmax, sizeof(float), 2);
    check(greatest == std::array<float, 2>{2.0F, 1.0F}, "floats");
    std::array<int, 2> ints{-1 - me(), 6 + me()};
    CMMD_reduce_v(ints.data(), ints.data(), CMMD_combiner_min, sizeof(int), 2);
    check(ints == std::array<int, 2>{-3, 6}, "ints");
    std::array<unsigned, 1> bits{me() == 1 ? 0x80000000U : 1U};
    CMMD_reduce_v(bits.data(), bits.data(), CMMD_combiner_umax, sizeof(unsigned), 1);
    check_equal(bits[0], 0x80000000U, "unsigned ints");
    std::array<long, 1> longs{5L << 40};
    CMMD_reduce_v(longs.data(), longs.data(), CMMD_combiner_add, sizeof(long), 1);
    check_equal(longs[0], 15L << 40, "longs");
    CMMD_reduce_v(nullptr, nullptr, CMMD_combiner_add, sizeof(int), 0);
  });
}

TEST_P(CmmdScans, AHostAndItsNodes) {
  run_cmam(3, [] {
    const bool is_host = me() == CMMD_host_node();
    (is_host ? CMMD_enable : CMMD_enable_host)();
    std::array<int, 2> pair{is_host ? 41 : 0, is_host ? 42 : 0};
    (is_host ? CMMD_bc_from_host : CMMD_receive_bc_from_host)(pair.data(), sizeof pair);
    check(pair == std::array<int, 2>{41, 42}, "a broadcast");
    std::array<int, 6> all{0, 1, 2, 3, 4, 5};
    (is_host ? CMMD_distrib_to_nodes : CMMD_receive_element_from_host)(is_host ? all.data() : pair.data(),
                                                                       sizeof pair);
    if (!is_host) check(pair == std::array<int, 2>{2 * me(), 2 * me() + 1}, "a part for each");
    pair[0] *= 10;
    all[2] = all[3] = all[4] = all[5] = 0;
    (is_host ? CMMD_gather_from_nodes : CMMD_concat_elements_to_host)(is_host ? all.data() : pair.data(),
                                                                      sizeof pair);
    if (is_host) check(all == std::array<int, 6>{0, 1, 20, 3, 40, 5}, "and back");
    (is_host ? CMMD_sync_host_with_nodes : CMMD_sync_with_host)();
    check_equal((is_host ? CMMD_reduce_from_nodes_int : CMMD_reduce_to_host_int)(1 + me(), CMMD_combiner_add),
                is_host ? 6 : 0, "a sum");
    check_equal((is_host ? CMMD_reduce_from_nodes_uint : CMMD_reduce_to_host_uint)(2U, CMMD_combiner_umax),
                is_host ? 2U : 0U, "the greatest");
    check_equal((is_host ? CMMD_reduce_from_nodes_double : CMMD_reduce_to_host_double)(is_host ? 0.0 : 0.25,
                                                                                       CMMD_combiner_dadd),
                is_host ? 0.5 : 0.0, "doubles");
    check_equal(
        (is_host ? CMMD_reduce_from_nodes_float : CMMD_reduce_to_host_float)(-1.0F, CMMD_combiner_fmin),
        is_host ? -1.0F : 0.0F, "floats");
    CMAML_request_tohost(count_one);
    CMAML_rpc_tohost(count_one, me());
    if (is_host) CMAM_wait(&mine().flag, 6);
  });
}

// CM-25: at once they go by the control network, where there is one.
TEST_P(CmmdScans, AtOnceSendNoMessagesWhereTheNetworkHasThem) {
  run(nodes, [](am::Node& node) {
    const auto sent = [&] {
      std::uint64_t all = 0;
      for (const am::PeerCounters& peer : am::counters(node).peers) all += peer.sent_messages;
      return all;
    };
    CMMD_sync_with_nodes();
    const std::uint64_t before = sent();
    for (const CMMD_combiner_t combiner : of_integers) {
      check_equal(CMMD_reduce_int(5, combiner),
                  combiner == CMMD_combiner_add   ? 20
                  : combiner == CMMD_combiner_xor ? 0
                                                  : 5,
                  "a reduction");
      check_equal(CMMD_scan_luint(3UL, combiner, CMMD_downward, CMMD_segment_bit, 1, CMMD_inclusive), 3UL,
                  "a scan");
    }
    const bool has_none = node.engine().network().synchronizer() == nullptr;
    check_equal(sent() != before, has_none, "messages were sent");
    CMMD_sync_with_nodes();
  });
}

INSTANTIATE_TEST_SUITE_P(Models, CmmdScans, test::cells_of<CmmdScans>(), test::name_of);

}  // namespace cmmd_scans_test
