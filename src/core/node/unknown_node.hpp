// What is said of a node that the job does not have.
#pragma once

#include <am/error.hpp>
#include <am/types.hpp>
#include <cstdint>
#include <limits>
#include <string>

namespace am::core {

[[nodiscard]] inline Error unknown_node(const char* what, NodeId node, NodeId size,
                                        const char* remedy = "check the node id") {
  const std::string minus = node > std::numeric_limits<std::int32_t>::max()
                                ? " (" + std::to_string(static_cast<std::int32_t>(node)) + ")"
                                : "";
  return {what,
          "there is no node " + std::to_string(node) + minus + ": the job has nodes 0 to " +
              std::to_string(size - 1),
          remedy};
}

}  // namespace am::core
