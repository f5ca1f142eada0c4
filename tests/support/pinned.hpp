// What is neither copied nor moved, as it stands for something that there is once.
#pragma once

namespace test {

class Pinned {
 public:
  Pinned() = default;
  ~Pinned() = default;
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
};

}  // namespace test
