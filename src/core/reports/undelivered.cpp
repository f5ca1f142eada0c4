#include "core/reports/undelivered.hpp"

#include "core/reports/text_out.hpp"

namespace am::core {

void Undelivered::count(Priority priority, impl::HandlerId handler, NodeId from) noexcept {
  ++messages_[static_cast<std::size_t>(priority)];
  if (first_.kind == RecordedEvent::Kind::none)
    first_ = RecordedEvent::of_message(priority, handler, from, 0);
}

void Undelivered::tell(NodeId self, const HandlerTable& table, bool all) const noexcept {
  const auto& [low, high] = messages_;
  if (low + high == 0) return;
  TextOut(&write_to_stderr) << "am: node " << self << " left with " << (all ? "" : "at least ") << low + high
                            << (low + high == 1 ? " message" : " messages") << " undelivered (" << low
                            << " low, " << high << " high; the first for handler "
                            << table.name(first_.handler) << " from node " << first_.from
                            << "): before a node ends, let it wait until all that it is sent has come; a "
                               "barrier alone does not tell that\n";
}

}  // namespace am::core
