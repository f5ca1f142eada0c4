// A job as an onlooker sees it, who needs nothing of its nodes: what stands on the board of this host, and what lies in the
// queues between them. For reports, by a node itself or from outside. Any thread.
#pragma once

#include <memory>
#include <utility>

#include "host/memory.hpp"
#include "transports/queues.hpp"

namespace am::core {

class Onlooker {
 public:
  /// Throws am::Error.
  explicit Onlooker(std::shared_ptr<const host::Memory> memory)
      : memory_(std::move(memory)), queues_(queues_of(memory_)) {}

  [[nodiscard]] const host::Board& board() const noexcept { return memory_->board(); }
  [[nodiscard]] const Queues& queues() const noexcept { return *queues_; }

 private:
  std::shared_ptr<const host::Memory> memory_;
  std::unique_ptr<Queues> queues_;
};

}  // namespace am::core
