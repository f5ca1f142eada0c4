// Messages of the program that its node dropped, because it was leaving already. Accepted is delivered, unless the receiver
// leaves: a program that did not mean that shall hear of it.
#pragma once

#include <am/types.hpp>
#include <cstdint>

#include "core/events/handler_table.hpp"
#include "core/reports/recorder.hpp"

namespace am::core {

class Undelivered {
 public:
  void count(Priority priority, impl::HandlerId handler, NodeId from) noexcept;
  /// On standard error, if there were any. `all`: no more can come.
  void tell(NodeId self, const HandlerTable& table, bool all) const noexcept;

 private:
  std::uint64_t messages_[2] = {};  // by priority
  RecordedEvent first_;
};

}  // namespace am::core
