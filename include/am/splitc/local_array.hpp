// Arrays of a function: T A[count]::[block] between the braces of one is given back at its end. By all nodes, as they make it.
//
//   void step(int n) {
//     local_spread_array<double> a(procs(), n);      double a[PROCS]::[n];
//     ...
//   }                                                // here all nodes meet
#pragma once

#include <am/splitc/block_array.hpp>
#include <am/splitc/spread_array.hpp>
#include <exception>
#include <utility>

namespace am::splitc {

namespace impl {

/// An array that lives as long as this object. Its memory is used by nobody when the last node has come to the end; what is thrown
/// there leaves the next call that makes progress. Where an exception passes through, others may still use it: then it stays.
template <class Array>
class AtScopeEnd : public Array {
 public:
  template <class... Sizes>
  explicit AtScopeEnd(Sizes... sizes)
      : Array(static_cast<std::size_t>(sizes)...),
        node_(world().node()),
        exceptions_(std::uncaught_exceptions()) {}
  ~AtScopeEnd() {
    if (std::uncaught_exceptions() != exceptions_) return;
    try {
      all_spread_free(static_cast<const Array&>(*this));
    } catch (...) {
      node_.post([thrown = std::current_exception()](am::Node&) { std::rethrow_exception(thrown); });
    }
  }
  AtScopeEnd(const AtScopeEnd&) = delete;
  AtScopeEnd& operator=(const AtScopeEnd&) = delete;

 private:
  am::Node& node_;
  const int exceptions_;
};

}  // namespace impl

// NOLINTBEGIN(readability-identifier-naming): as the arrays are
/// Each is the array of its name, and can be passed as such, for as long as it lives.
template <class T>
using local_spread_array = impl::AtScopeEnd<spread_array<T>>;
template <class T>
using local_spread_array_2d = impl::AtScopeEnd<spread_array_2d<T>>;
template <class T>
using local_block_array = impl::AtScopeEnd<block_array<T>>;
// NOLINTEND(readability-identifier-naming)

}  // namespace am::splitc
