// The standard input of a job on several hosts: the head reads it for node 0, whose part takes one piece after the other.
#pragma once

#include <span>
#include <vector>

#include "amrun/part_line.hpp"

namespace amrun {

class HeadInput {
 public:
  // `parts` outlive this; the first of them has node 0.
  explicit HeadInput(std::vector<PartLine>& parts) : parts_(parts) {}

  // Node 0 reads for itself what amrun was given.
  void leave_to_node_0() { state_ = State::ended; }
  // There is none.
  void end();

  // Whether a piece is to be read now.
  [[nodiscard]] bool is_wanted();
  // Whether amrun may be waiting for the terminal's foreground, of whose coming no poll tells.
  [[nodiscard]] bool may_come_later() const;
  // When it is readable. `buffer`: for a piece.
  void read_some(std::span<char> buffer);
  // The part has taken the piece.
  void taken();

 private:
  enum class State { awaited, under_way, ended };

  std::vector<PartLine>& parts_;
  State state_ = State::awaited;
};

}  // namespace amrun
