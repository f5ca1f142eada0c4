#include "core/fatal.hpp"

#include <cstdio>
#include <cstdlib>

namespace am::core {

namespace {
void say(NodeId node, std::string_view text) noexcept {
  std::fprintf(stderr, "am: node %u: %.*s\n", node, static_cast<int>(text.size()), text.data());
  std::fflush(stderr);
}
}  // namespace

void broken(NodeId node, std::string_view text) noexcept {
  say(node, text);
  std::abort();
}

void give_up(NodeId node, std::string_view text) noexcept {
  say(node, text);
  std::_Exit(1);
}

}  // namespace am::core
