// One line on the terminal that says how far a long measure is; nothing where stderr is no terminal, and
// nothing left on the screen when it is done.

#pragma once

#include <string>

namespace results {

class Progress {
 public:
  Progress(std::string what, int steps);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // Says that the next of `steps` steps begins.
  void step();

 private:
  std::string what_;
  int steps_;
  int done_ = 0;
  bool shown_;
};

}  // namespace results
