// What a node prints when a wait takes too long, instead of hanging without a word.
#pragma once

#include <cstdint>

namespace am::core {

class Engine;

/// To stderr: what this node waits for and since when, what lies unreleased at each peer, and what those peers say of
/// themselves. Of several nodes that wait in the same call at the same time one speaks, unless
/// another one knows more: of messages that nobody takes, or of what it holds off itself.
void print_report(Engine& engine, const char* what, std::uint64_t waited_ns);

}  // namespace am::core
