// What is said of a node that the job does not have.
#pragma once

#include <am/error.hpp>
#include <am/types.hpp>
#include <string>

namespace am::core {

[[nodiscard]] inline Error unknown_node(const char* what, NodeId node, NodeId size,
                                        const char* remedy = "check the node id") {
  return {what,
          "there is no node " + std::to_string(node) + ": the job has nodes 0 to " + std::to_string(size - 1),
          remedy};
}

}  // namespace am::core
