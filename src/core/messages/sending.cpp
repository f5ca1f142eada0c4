// Sends that found no line at once: those that wait, that are too long for a packet, that another one holds up, and
// drafts, whose place stays with the caller. The short message's own path is inline (am/node.hpp).
#include <am/error.hpp>
#include <am/impl/waiter.hpp>

#include <algorithm>
#include <cstring>
#include <string>

#include "core/node/engine.hpp"
#include "core/node/unknown_node.hpp"
#include "core/reports/fatal.hpp"

namespace am::core {

void Engine::count_sent(NodeId to, Priority priority, std::uint64_t bytes) noexcept {
  impl::Traffic& traffic = node_->traffic_[2 * std::size_t{to} + static_cast<std::size_t>(priority)];
  impl::count(traffic.sent_messages);
  impl::count(traffic.sent_bytes, bytes);
  node_->events_.nicond = true;
}

Status Engine::refused(NodeId to, Priority priority, std::size_t payload_bytes) noexcept {
  const auto p = static_cast<std::size_t>(priority);
  // No rings yet: no memory for them, nor for counting that; or a fault plan's refusal.
  if (!direct_ || board().is_linked(job_.id, to)) impl::count(node_->traffic_[2 * std::size_t{to} + p].again);
  refused_[p] = {true, to, payload_bytes};
  if (agenda_.outlet) look_again();  // a node that is armed asks to be told of this credit, too
  node_->events_.nicond = false;
  return Status::again;
}

void Engine::reserve(NodeId to, Priority priority, bool reserved) {
  if (reserved) {
    outgoing_.begin(to, priority);
  } else {
    outgoing_.end(to, priority);
  }
  reserve_line(to, priority, reserved);
}

/// Keeps the inline path, which does not ask outgoing_, off a link that is held.
void Engine::reserve_line(NodeId to, Priority priority, bool reserved) noexcept {
  if (rings_filled_inline_)
    shm_.producers()[2 * std::size_t{to} + static_cast<std::size_t>(priority)].reserve(reserved);
}

void Engine::commit_slot(const Transport::Slot& slot, const impl::OutMessage& message) noexcept {
  commit_message(*network_, slot, message, message.payload.size());
  count_sent(message.to, message.priority, message.bytes());
}

/// Sends a message whose payload goes at once. None when it has to go in pieces.
std::optional<Status> Engine::try_send_whole(const impl::OutMessage& message) noexcept {
  if (outgoing_.busy(message.to, message.priority))
    return refused(message.to, message.priority, message.payload.size());
  if (message.payload.size() > impl::packet_payload_bytes &&
      message.payload.size() > memory_.largest_payload())
    return Status::too_big;
  const Transport::Slot slot =
      network_->claim(message.to, message.priority, message.words, message.payload.size());
  if (slot.status == Status::again) return refused(message.to, message.priority, message.payload.size());
  if (slot.status != Status::ok) return slot.status;
  if (slot.room < message.payload.size()) return std::nullopt;
  if (!message.payload.empty()) std::memcpy(slot.payload, message.payload.data(), message.payload.size());
  commit_slot(slot, message);
  return Status::ok;
}

Status Engine::try_send(const impl::OutMessage& message) noexcept {
  if (message.to >= job_.size) return Status::no_such_node;
  const std::optional<Status> whole = try_send_whole(message);
  return whole ? *whole : send_copied_row(message);
}

Status Engine::send(const impl::OutMessage& message, bool wait) {
  must_not_be_a_child();
  const Status status = send_or_refuse(message, wait);
  if (status != Status::ok) node_->events_.nicond = false;
  return status;
}

Status Engine::send_or_refuse(const impl::OutMessage& message, bool wait) {
  if (message.to >= job_.size && wait) throw unknown_node("send a message", message.to, job_.size);
  if (!wait) return try_send(message);
#ifdef AM_CHECKED
  must_be_owner();
  must_not_wait(message.priority);
#endif
  std::optional<Status> whole;
  const Status status = wait_for_room(message.priority, [&] {
    whole = try_send_whole(message);
    return whole.value_or(Status::ok);
  });
  return whole ? status : send_lent_row(message);
}

/// A sender that may not wait leaves a copy behind as soon as the network has taken the first piece.
Status Engine::send_copied_row(const impl::OutMessage& message) noexcept {
  EventBytes copy = try_event_bytes(*memory_for_events(), message.payload.size());
  if (copy == nullptr) return refused(message.to, message.priority, message.payload.size());
  std::memcpy(copy.get(), message.payload.data(), message.payload.size());
  impl::OutMessage copied = message;
  copied.payload = Payload(copy.get(), message.payload.size());
  Row row(copied);
  const Status status = row.push(*network_);
  if (status == Status::again) {
    if (row.sent() == 0) return refused(message.to, message.priority, message.payload.size());
    reserve_line(message.to, message.priority, true);
    something_else_ = true;
    outgoing_.keep(std::move(copy), row);
    look_again();  // a node that is armed asks to be told of the credit, too
  }
  count_sent(message.to, message.priority, message.bytes());
  return Status::ok;
}

/// One that may wait cuts the pieces out of the caller's bytes. The row is on the link's list while this waits, so that
/// handlers which run meanwhile, and wait behind it, send it on.
Status Engine::send_lent_row(const impl::OutMessage& message) {
  Row row(message);
  outgoing_.lend(row);
  reserve_line(message.to, message.priority, true);
  something_else_ = true;
  try {
    const Status sent = wait_for_room(message.priority, [&] {
      push_rows();
      return row.status();
    });
    if (sent == Status::ok) count_sent(message.to, message.priority, message.bytes());
    return sent;
  } catch (...) {  // a handler threw: what has begun must end, though the caller's bytes go away now
    if (row.status() != Status::again) throw;
    if (row.sent() == 0) {
      reserve(message.to, message.priority, false);
    } else {
      EventBytes copy = try_event_bytes(*memory_for_events(), message.payload.size());
      if (copy == nullptr)
        give_up(job_.id, "no memory to go on with a message that a handler's exception interrupted");
      std::memcpy(copy.get(), message.payload.data(), message.payload.size());
      outgoing_.keep(std::move(copy), row);
      look_again();
      count_sent(message.to, message.priority, message.bytes());
    }
    throw;
  }
}

bool Engine::push_rows() {
  return outgoing_.push(*network_,
                        [this](NodeId to, Priority priority) { reserve_line(to, priority, false); });
}

/// Tries until the answer is not `again`. The computation polls meanwhile; a low handler serves the high network only.
template <class F>
Status Engine::wait_for_room(Priority priority, F attempt) {
  Status status = attempt();
  if (status != Status::again) return status;
  must_not_wait(priority);
  impl::Waiter waiter(*this,
                      priority == Priority::low ? "a send on the low network" : "a send on the high network");
  do {
    const bool computing = node_->events_.level == impl::Level::computation;
    const std::size_t did = computing ? poll() : serve_high();
    status = attempt();
    if (did != 0 || status != Status::again) {
      waiter.worked();
    } else {
      waiter.idle();
    }
  } while (status == Status::again);
  return status;
}

void Engine::must_be_owner() const {
  if (std::this_thread::get_id() != owner_ && impl::events_of_this_thread != node_)
    broken(job_.id, "used by another thread than the one that am::start or am::run_threads gave it to");
}

void Engine::must_not_wait(Priority priority) const {
  const impl::Level level = node_->events_.level;
  if (level == impl::Level::high || (level == impl::Level::low && priority == Priority::low)) {
    must_be_owner();  // the handler is another thread's: it is not to blame
    broken(job_.id, "handler ", running_handler(), " waits to send on the ", to_string(priority),
           " network: a reply handler may only try_, a request handler may wait for replies only");
  }
}

// -- drafts -----------------------------------------------------------------------------------------------------------

Transport::Slot Engine::claim_draft(const impl::OutMessage& message, std::size_t payload_bytes, bool wait) {
  must_not_be_a_child();
  const NodeId to = message.to;
  const Priority priority = message.priority;
  Transport::Slot slot{nullptr, Status::no_such_node, to, priority};
  if (to >= job_.size) {
    node_->events_.nicond = false;
    return slot;
  }
#ifdef AM_CHECKED
  must_be_owner();
  if (wait) must_not_wait(priority);
#endif
  const bool long_one = payload_bytes > impl::packet_payload_bytes;
  const auto attempt = [&] {
    if (long_one) {
      slot = network_->lend(to, priority, payload_bytes);
    } else if (outgoing_.busy(to, priority)) {
      slot.status = Status::again;
    } else {
      slot = network_->claim(to, priority, message.words, payload_bytes);
    }
    return slot.status;
  };
  slot.status = wait ? wait_for_room(priority, attempt) : attempt();
  if (slot.status == Status::ok && !long_one) reserve(to, priority, true);
  if (slot.status == Status::again) refused(to, priority, payload_bytes);
  if (slot.status != Status::ok) node_->events_.nicond = false;
  return slot;
}

void Engine::commit_draft(const Transport::Slot& slot, const impl::OutMessage& message) noexcept {
  must_not_be_a_child();
  commit_slot(slot, message);
  drop_draft(slot);
}

void Engine::drop_draft(const Transport::Slot& slot) noexcept {
  reserve(slot.to, slot.priority, false);
  if (agenda_.outlet) look_again();  // who was refused behind the draft has claimed nothing yet
}

Status Engine::commit_lent(const Transport::Slot& lent, const impl::OutMessage& message, bool wait) {
  must_not_be_a_child();
#ifdef AM_CHECKED
  must_be_owner();
  if (wait) must_not_wait(lent.priority);
#endif
  const auto attempt = [&] {
    if (outgoing_.busy(lent.to, lent.priority)) return refused(lent.to, lent.priority, 0);
    const Transport::Slot slot = network_->claim_lent(lent);
    if (slot.status == Status::again) return refused(lent.to, lent.priority, 0);
    if (slot.status == Status::ok) commit_slot(slot, message);
    return slot.status;
  };
  const Status status = wait ? wait_for_room(lent.priority, attempt) : attempt();
  if (status != Status::ok) node_->events_.nicond = false;
  return status;
}

}  // namespace am::core
