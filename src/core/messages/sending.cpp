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

Status Engine::refused(NodeId to, Priority priority) noexcept {
  const auto p = static_cast<std::size_t>(priority);
  // No rings yet: no memory for them, nor for counting that; or a fault plan's refusal.
  if (!direct_ || board().is_linked(job_.id, to)) impl::count(node_->traffic_[2 * std::size_t{to} + p].again);
  refused_[p] = {true, to};
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
  if (direct_) shm_.producers()[2 * std::size_t{to} + static_cast<std::size_t>(priority)].reserve(reserved);
}

Status Engine::try_send(const impl::OutMessage& message) noexcept {
  if (message.to >= job_.size) return Status::no_such_node;
  if (outgoing_.busy(message.to, message.priority)) return refused(message.to, message.priority);
  if (message.payload.size() > impl::packet_payload_bytes) return send_row(message, false);
  const Transport::Slot slot = network_->claim(message.to, message.priority, message.payload.size());
  if (slot.status == Status::again) return refused(message.to, message.priority);
  if (slot.status != Status::ok) return slot.status;
  impl::Packet& packet = *slot.packet;
  packet.payload_bytes = static_cast<std::uint32_t>(message.payload.size());
  packet.origin = message.origin;
  std::copy_n(message.word, message.words, packet.words);
  if (!message.payload.empty()) std::memcpy(packet.payload(), message.payload.data(), message.payload.size());
  network_->commit(slot, impl::Header::make(message.handler, message.words,
                                            impl::lines_for(message.payload.size()), message.flags));
  count_sent(message.to, message.priority, message.bytes());
  return Status::ok;
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
  if (message.payload.size() > impl::packet_payload_bytes && message.to < job_.size)
    return send_row(message, true);
  return wait_for_room(message.priority, [&] { return try_send(message); });
}

/// A payload beyond one packet. A sender that may wait sends it out of the caller's bytes; one that may not leaves a copy
/// behind as soon as the network has taken the first piece.
Status Engine::send_row(const impl::OutMessage& message, bool wait) {
  if (message.payload.size() > memory_.largest_payload()) return Status::too_big;
  if (wait) {
    const Status status = wait_for_room(message.priority, [&] {
      return outgoing_.busy(message.to, message.priority) ? Status::again : Status::ok;
    });
    if (status != Status::ok) return status;
    return send_lent_row(message);
  }
  const Status room = network_->claim(message.to, message.priority, impl::packet_payload_bytes).status;
  if (room == Status::again) return refused(message.to, message.priority);
  if (room != Status::ok) return room;
  EventBytes copy = try_event_bytes(*memory_for_events(), message.payload.size());
  if (copy == nullptr) return refused(message.to, message.priority);
  std::memcpy(copy.get(), message.payload.data(), message.payload.size());
  impl::OutMessage copied = message;
  copied.payload = Payload(copy.get(), message.payload.size());
  Row row(copied);
  if (row.push(*network_) == Status::again) {
    reserve_line(message.to, message.priority, true);
    something_else_ = true;
    outgoing_.keep(std::move(copy), row);
    look_again();  // a node that is armed asks to be told of the credit, too
  }
  count_sent(message.to, message.priority, message.bytes());
  return Status::ok;
}

/// The row is on the link's list while this waits, so that handlers which run meanwhile, and wait behind it, send it on.
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

Transport::Slot Engine::claim_draft(NodeId to, Priority priority, std::size_t payload_bytes, bool wait) {
  must_not_be_a_child();
  Transport::Slot slot{nullptr, Status::no_such_node, to, priority};
  if (to >= job_.size) {
    node_->events_.nicond = false;
    return slot;
  }
#ifdef AM_CHECKED
  must_be_owner();
  if (wait) must_not_wait(priority);
#endif
  const auto attempt = [&] {
    if (outgoing_.busy(to, priority)) return Status::again;
    slot = network_->claim(to, priority, payload_bytes);
    return slot.status;
  };
  slot.status = wait ? wait_for_room(priority, attempt) : attempt();
  if (slot.status == Status::ok) reserve(to, priority, true);
  if (slot.status == Status::again) refused(to, priority);
  if (slot.status != Status::ok) node_->events_.nicond = false;
  return slot;
}

void Engine::commit_draft(const Transport::Slot& slot, impl::Header header) noexcept {
  must_not_be_a_child();
  const std::uint64_t bytes = header.words() * 8 + slot.packet->payload_bytes;
  network_->commit(slot, header);
  drop_draft(slot);
  count_sent(slot.to, slot.priority, bytes);
}

void Engine::drop_draft(const Transport::Slot& slot) noexcept {
  reserve(slot.to, slot.priority, false);
  if (agenda_.outlet) look_again();  // who was refused behind the draft has claimed nothing yet
}

}  // namespace am::core
