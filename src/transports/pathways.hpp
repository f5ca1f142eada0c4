// What a network may have beside messages: a bounded number of pathways, each of which a stream has for itself (am/stream.hpp). One that has
// none lets streams be as many as there are.
#pragma once

#include <am/types.hpp>

namespace am {

class Pathways {
 public:
  virtual ~Pathways() = default;
  /// For a stream of this node. False: there is none left on its way.
  [[nodiscard]] virtual bool reserve(NodeId to) noexcept = 0;
  /// That stream is over.
  virtual void give_back(NodeId to) noexcept = 0;

 protected:
  Pathways() = default;
  Pathways(const Pathways&) = default;
  Pathways& operator=(const Pathways&) = default;
};

}  // namespace am
