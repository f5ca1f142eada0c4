// Traffic on the CNS-1's network, through the T1s' interfaces.
#include "emulated_hw/t1/mesh_port.hpp"

#include "unit/emulated_hw/port_checks.hpp"

namespace am::t1::mesh_port_test {

test::MakePort port_of(const Shape& shape) {
  return [shape] { return std::make_unique<MeshPort>(shape); };
}

TEST(T1MeshPort, TakesTheSumOfThePartsWithoutLoad) {
  for (const bool wraps : {false, true})
    test::expect_sum_of_parts(port_of({.rows = 3, .columns = 5, .wraps = wraps}), {1, 4, 10});
  const MeshPort port({});
  EXPECT_EQ(port.zero_load_latency(0, 1), 1u + 3) << "a link, a router and its link (mesh.hpp)";
  EXPECT_EQ(port.zero_load_latency(4, 10), 1u + 5 * 3 + 9);
}

TEST(T1MeshPort, BringsAllInOrderHoweverMuchThereIs) {
  for (const unsigned channel : {0u, 1u})
    test::expect_all_comes_in_order(port_of({.rows = 4, .columns = 4}), 4, channel);
}

TEST(T1MeshPort, DoesTheSameInAnyOrder) {
  test::expect_same_in_any_order(port_of({.rows = 4, .columns = 5}),
                                 {.injection_rate = 0.5, .packet_size = 3});
}

}  // namespace am::t1::mesh_port_test
