// Exceptions of handlers, caught where the next handler may throw, too. What is caught is freed by the C library's free,
// which am/safe_new.hpp does not cover: a handler that interrupts that and throws would enter malloc inside of it.
#pragma once

#include <am/events.hpp>

namespace test {

/// Whether an E came out of f(); seen(exception) is called for it. It ends in a critical section.
template <class E, class F, class G>
bool catches(am::Node& node, F&& f, G&& seen) {
  std::optional<am::CriticalSection> quiet;
  try {
    std::forward<F>(f)();
  } catch (const E& exception) {
    quiet.emplace(node);
    std::forward<G>(seen)(exception);
  }
  return quiet.has_value();
}
template <class E, class F>
bool catches(am::Node& node, F&& f) {
  return catches<E>(node, std::forward<F>(f), [](const E&) {});
}

}  // namespace test
