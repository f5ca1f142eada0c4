// Sends that may have to wait: for room, for the pieces of a long payload, for a draft's place. What goes without waiting is
// the Sender's.
#include <am/error.hpp>
#include <am/impl/waiter.hpp>

#include "core/node/engine.hpp"
#include "core/node/unknown_node.hpp"
#include "core/reports/fatal.hpp"
#include "transports/payload_room.hpp"

namespace am::core {

Status Engine::send(const impl::OutMessage& message, bool wait) {
  must_not_be_a_child();
  const Status status = wait ? wait_to_send(message) : sender_.try_send(message);
  if (status != Status::ok) node_->events_.nicond = false;
  return status;
}

Status Engine::wait_to_send(const impl::OutMessage& message) {
  if (message.to >= job_.size) throw unknown_node("send a message", message.to, job_.size);
#ifdef AM_CHECKED
  must_be_owner();
  must_not_wait(message.priority);
#endif
  std::optional<Status> whole;
  const Status status = wait_for_room(message.priority, [&] {
    whole = sender_.try_send_whole(message);
    return whole.value_or(Status::ok);
  });
  return whole ? status : send_row(message);
}

/// Cuts the pieces out of the caller's bytes.
Status Engine::send_row(const impl::OutMessage& message) {
  Row row(message);
  sender_.begin_row(row);
  try {
    const Status sent = wait_for_room(message.priority, [&] {
      sender_.push();
      return row.status();
    });
    if (sent == Status::ok) sender_.end_row(row);
    return sent;
  } catch (...) {  // a handler threw: what has begun must end, though the caller's bytes go away now
    sender_.hand_over(row);
    throw;
  }
}

/// To all members, who ascend, at once (MulticastSender).
Status Engine::send_to_all(const impl::OutMessage& message, std::span<const NodeId> members, bool wait) {
  must_not_be_a_child();
#ifdef AM_CHECKED
  must_be_owner();
  if (wait) must_not_wait(message.priority);
#endif
  SharedBytes under_way;
  const auto attempt = [&] { return multicasts_.try_send(message, members, &under_way); };
  Status status = attempt();
  MulticastSender::List kept(memory_for_events());
  if (wait && status == Status::again) {
    kept.assign(members.begin(), members.end());  // handlers run meanwhile, and the program's list may change
    members = kept;
    status = try_until_room(message.priority, attempt);
  }
  if (wait && under_way != nullptr) {
    status = wait_for_room(message.priority, [&] {
      sender_.push();
      return under_way.use_count() == 1 ? Status::ok : Status::again;
    });
  }
  if (status != Status::ok) node_->events_.nicond = false;
  return status;
}

/// Tries until the answer is not `again`. The computation polls meanwhile; a low handler serves the high network only.
template <class F>
Status Engine::wait_for_room(Priority priority, F attempt) {
  const Status status = attempt();
  return status == Status::again ? try_until_room(priority, attempt) : status;
}

/// The same after a first try in vain.
template <class F>
Status Engine::try_until_room(Priority priority, F attempt) {
  must_not_wait(priority);
  impl::Waiter waiter(*this,
                      priority == Priority::low ? "a send on the low network" : "a send on the high network");
  Status status = Status::again;
  do {
    const bool computing = node_->events_.level == impl::Level::computation;
    const std::size_t did = computing ? poll() : serve_high();
    status = attempt();
    waiter.polled(did != 0 || status != Status::again);
  } while (status == Status::again);
  return status;
}

void Engine::must_be_owner() const {
  if (std::this_thread::get_id() != owner_ && impl::events_of_this_thread != node_)
    broken(job_.id,
           "used by another thread than the one that am::start or am::run_threads gave it to (leave all "
           "calls of a "
           "node to one thread)");
}

void Engine::must_not_wait(Priority priority) const {
  const impl::Level level = node_->events_.level;
  if (level == impl::Level::high || (level == impl::Level::low && priority == Priority::low)) {
    must_be_owner();  // the handler is another thread's: it is not to blame
    broken(job_.id, "handler ", running_handler(), " waits to send on the ", to_string(priority),
           " network: a reply handler may only try_, a request handler may wait for replies only");
  }
}

void Engine::room_is_wanted() noexcept {
  if (agenda_.outlet) attendant_.look_again();  // a node that is armed asks to be told of this credit, too
}

void Engine::more_waits_to_be_sent() noexcept {
  something_else_ = true;
  attendant_.look_again();  // a node that is armed asks to be told of the credit, too
}

void Engine::row_begins() noexcept { more_waits_to_be_sent(); }

// -- drafts -----------------------------------------------------------------------------------------------------------

Transport::Slot Engine::claim_draft(const impl::OutMessage& message, std::size_t payload_bytes, bool wait) {
  must_not_be_a_child();
  Transport::Slot slot{nullptr, Status::no_such_node, message.to, message.priority};
  if (message.to >= job_.size) {
    node_->events_.nicond = false;
    return slot;
  }
#ifdef AM_CHECKED
  must_be_owner();
  if (wait) must_not_wait(message.priority);
#endif
  const bool long_one = payload_bytes > impl::packet_payload_bytes;
  PayloadRoom* const room = long_one ? network().payload_room(message.to) : nullptr;
  const auto attempt = [&] {
    if (room != nullptr) {
      slot = room->lend(message.to, message.priority, payload_bytes);
    } else if (long_one) {
      slot.status = Status::too_big;
    } else {
      slot = sender_.claim(message, payload_bytes);
    }
    return slot.status;
  };
  slot.status = wait ? wait_for_room(message.priority, attempt) : attempt();
  if (slot.status == Status::ok && !long_one) sender_.hold(slot);
  if (slot.status == Status::again) sender_.refused(slot.to, slot.priority, payload_bytes);
  if (slot.status != Status::ok) node_->events_.nicond = false;
  return slot;
}

void Engine::commit_draft(const Transport::Slot& slot, const impl::OutMessage& message) noexcept {
  must_not_be_a_child();
  sender_.commit(slot, message);
  sender_.drop(slot);
}

Status Engine::commit_lent(const Transport::Slot& lent, const impl::OutMessage& message, bool wait) {
  must_not_be_a_child();
#ifdef AM_CHECKED
  must_be_owner();
  if (wait) must_not_wait(lent.priority);
#endif
  const auto attempt = [&] { return sender_.try_send_lent(lent, message); };
  const Status status = wait ? wait_for_room(lent.priority, attempt) : attempt();
  if (status != Status::ok) node_->events_.nicond = false;
  return status;
}

}  // namespace am::core
