// Traffic on the M-Machine's network.
#include "emulated_hw/mmachine/mesh_port.hpp"

#include "unit/emulated_hw/port_checks.hpp"

namespace am::mmachine::mesh_port_test {

test::MakePort port_of(const Mesh::Shape& shape) {
  return [shape] { return std::make_unique<MeshPort>(shape); };
}

TEST(MmachineMeshPort, TakesTheSumOfThePartsWithoutLoad) {
  test::expect_sum_of_parts(port_of({.width = 4, .height = 3}), {3, 8, 13});
  MeshPort port({.width = 32, .height = 32});
  EXPECT_EQ(port.zero_load_latency(0, 3), 4u + 2) << "x + y + 4 (mesh.hpp), and the flits behind the header";
  EXPECT_EQ(test::latency(port, 0, 1023, 13, 2), 31u + 31 + 4 + 12);
}

TEST(MmachineMeshPort, BringsAllAndWhatIsOrderedInOrder) {
  const test::MakePort square = port_of({.width = 4, .height = 4});
  for (const char* channel : {"p0_ordered", "p1_ordered"})
    test::expect_all_comes_in_order(square, 5, square()->channel_named(channel));
  for (const char* channel : {"p0_unordered", "p1_unordered"})
    test::expect_all_comes(
        square, {.injection_rate = 1, .packet_size = 5, .channel = square()->channel_named(channel)}, false);
}

TEST(MmachineMeshPort, DoesTheSameInAnyOrder) {
  for (const unsigned channel : {0u, 3u})
    test::expect_same_in_any_order(port_of({.width = 5, .height = 4}),
                                   {.injection_rate = 0.5, .packet_size = 4, .channel = channel});
}

}  // namespace am::mmachine::mesh_port_test
