#include <gmock/gmock.h>

#include "process/roles.hpp"

// Nodes do not wait for GoogleTest's start.
int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "--node")
    return process_test::Role::play({argv + 2, argv + argc});
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
