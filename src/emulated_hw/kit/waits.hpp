// Who waits for whom where nothing moves, for people: the circle, if there is one, and a line for each that waits.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace am::kit {

class Waits {
 public:
  /// What stands at `place` goes on only when one of `behind` does; these are places, too. `line` says it for people, without a newline.
  void add(std::string place, std::string line, std::vector<std::string> behind = {});

  /// "a circle: A -> B -> A", if there is one, then all lines, in the order in which they were added. Each ends with a newline.
  [[nodiscard]] std::string text() const;
  /// The places of a circle, the first one again at its end; or none.
  [[nodiscard]] std::vector<std::string> circle() const;

 private:
  struct One {
    std::string place;
    std::string line;
    std::vector<std::string> behind;
  };
  std::vector<One> all_;
  std::unordered_map<std::string, std::size_t> by_place_;  // in all_
};

/// The same of a network, or of a part of a machine.
template <class One>
[[nodiscard]] std::string who_waits(const One& one) {
  Waits waits;
  one.add_waits(waits);
  return waits.text();
}

}  // namespace am::kit
