// What a network may do for all nodes of a job together: barriers, broadcasts, reductions and scans of a word, without messages (the
// CM-5's control network).
//
// Operations have numbers, from 1 on, the same on all nodes, which take part in their order; numbers may be left out, if by all. A node takes
// part and goes on. It asks for the result where it needs one. So nodes may be ahead of others: but of any 31 numbers that follow each other
// one at least belongs to an operation, here or by messages, whose end no node sees before all have begun it.
//
// Used by the node's own thread.
#pragma once

#include <am/types.hpp>
#include <cstdint>
#include <optional>

namespace am {

class Synchronizer {
 public:
  enum class Kind : std::uint8_t { barrier, broadcast, reduction, scan };
  /// Of words of 64 bits. Maxima and minima are of signed words or of unsigned ones.
  enum class Combiner : std::uint8_t {
    sum,
    maximum,
    minimum,
    maximum_unsigned,
    minimum_unsigned,
    bit_and,
    bit_or,
    bit_xor
  };
  static constexpr NodeId everybody = 0xffff;

  /// The same on all nodes, or they are told that it is not.
  struct Operation {
    Kind kind = Kind::barrier;
    Combiner combiner = Combiner::sum;
    bool descends = false;  ///< a scan, from the last node to the first
    NodeId root =
        0;  ///< of a broadcast, who gives the word; of a reduction, who gets it: a node or everybody
    std::uint32_t bytes = 0;  ///< of the word that mean something
    friend bool operator==(const Operation&, const Operation&) = default;
  };
  struct Part {
    std::uint64_t value = 0;  ///< of who gives one
    bool any = true;          ///< in a scan: it does
    bool cut = false;         ///< in a scan: nothing of what is before it comes to those behind it
  };
  struct Result {
    bool agreed = false;  ///< all nodes say that it is the same operation
    std::uint64_t value = 0;
    bool any = false;  ///< there is one: of a scan, what is combined of those before this node
  };

  virtual void take_part(std::uint64_t number, const Operation& operation, const Part& part) noexcept = 0;
  /// Whatever there is of it. The next Transport::arm() asks to be told of it, where there is none. `thoroughly`: also where a node that should have
  /// passed it on was killed, or stands still.
  [[nodiscard]] virtual std::optional<Result> result(std::uint64_t number, bool thoroughly) noexcept = 0;
  /// As what a node has taken part in the operation of that number, if it has. Not of one that is over for all.
  [[nodiscard]] virtual std::optional<Operation> part_of(NodeId node,
                                                         std::uint64_t number) const noexcept = 0;

 protected:
  ~Synchronizer() = default;
};

}  // namespace am
