// What a node prints when a wait takes too long, instead of hanging without a word.
#pragma once

#include <cstdint>

namespace am::core {

class Engine;

/// To stderr: what this node waits for and since when, what lies unreleased at each peer, and what those peers say of
/// themselves.
void print_report(Engine& engine, const char* what, std::uint64_t waited_ns);

}  // namespace am::core
