// The library's own ring, its source unchanged, over the memory of a model: modelled::am::impl::Producer and Consumer.
//
// How. The ring's headers are read inside a namespace that has a `std` of its own. There std::atomic is a word of the
// model, found by its address; all the rest is the real std's. Nothing is shared with am::impl, so both may be linked
// into one program; but one file sees this ring or the real one, since each header is read once.
//
// What a payload or an argument holds is no atomic: the model's threads write and read it by Access.
#pragma once

// All that packet.hpp and ring.hpp include, before the namespace opens.
#include <am/types.hpp>
#include <map>

#include "support/model_access.hpp"

namespace modelled {

/// A way in which the code might be wrong.
enum class Fault {
  none,
  commit_relaxed,   // R1's release
  receive_relaxed,  // R1's acquire
  publish_relaxed,  // R2's release
  refresh_relaxed,  // R2's acquire
  no_clearing,      // I2: what follows a packet keeps the bits that it has
  line_too_many,    // I1: the producer thinks that one more line was released
  no_padding        // I3: the header of a pad packet is not written
};

/// Where the step that is being executed finds the model's words. Words that are not registered are never written in
/// the model, and zero.
struct Words {
  test::Access* access = nullptr;
  std::map<const void*, test::Location> headers;
  const void* released = nullptr;
  test::Location released_location = 0;
  Fault fault = Fault::none;
};
inline Words words;

namespace std {
using namespace ::std;

template <class T>
class atomic {
 public:
  static constexpr bool is_always_lock_free = true;

  T load(memory_order order) const {
    if (this == words.released) {
      if (words.fault == Fault::refresh_relaxed) order = memory_order_relaxed;
      return static_cast<T>(words.access->load(words.released_location, order) +
                            (words.fault == Fault::line_too_many ? 1 : 0));
    }
    const auto header = words.headers.find(this);
    if (header == words.headers.end()) return 0;
    if (words.fault == Fault::receive_relaxed) order = memory_order_relaxed;
    return static_cast<T>(words.access->load(header->second, order));
  }
  void store(T value, memory_order order) {
    if (this == words.released) {
      if (words.fault == Fault::publish_relaxed) order = memory_order_relaxed;
      words.access->store(words.released_location, value, order);
      return;
    }
    const auto header = words.headers.find(this);
    if (header == words.headers.end()) return words.access->fail("a store to a word that the model lacks");
    constexpr test::Word pad_flag = test::Word{8} << 52;
    if (words.fault == Fault::no_clearing && value == 0) return;
    if (words.fault == Fault::no_padding && (value & pad_flag) != 0) return;
    if (words.fault == Fault::commit_relaxed) order = memory_order_relaxed;
    words.access->store(header->second, value, order);
  }

 private:
  T unused_;  // as big as the real one; the value is the model's
};
}  // namespace std

namespace am {
using ::am::NodeId;
}

#include <am/impl/ring.hpp>

}  // namespace modelled
