// The standard input of a job on several hosts: the head reads it for node 0, whose part takes one piece after the other.
#pragma once

#include <span>
#include <vector>

#include "amrun/line_to_part.hpp"

namespace amrun {

class HeadInput {
 public:
  // `parts` outlive this. They are there before the first other call, and the first of them has node 0.
  explicit HeadInput(std::vector<LineToPart>& parts) : parts_(parts) {}

  // Node 0 reads for itself what amrun was given.
  void leave_to_node_0() { state_ = State::ended; }
  // Nothing more will come: tells node 0's part.
  void end();

  // Whether a piece is to be read now. Gives the input up when node 0's part is over.
  [[nodiscard]] bool is_wanted();
  // Whether the wanted input comes from a terminal. amrun may come to the terminal's foreground at any time, and no poll tells of that.
  [[nodiscard]] bool depends_on_foreground() const;
  // Reads a piece by way of the caller's buffer, and sends it. Call it after poll.
  void read_some(std::span<char> buffer);
  // The part has taken the piece.
  void taken();

 private:
  enum class State { awaited, under_way, ended };

  std::vector<LineToPart>& parts_;
  State state_ = State::awaited;
};

}  // namespace amrun
