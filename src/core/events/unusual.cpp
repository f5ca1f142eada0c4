// What is to be done with a packet that is not simply words, or a short payload beside them, for a handler: its payload is where
// the network says, or it is a piece of a long one, or of a multicast; or active messages are disabled, and the default handler
// gets what the program has sent.
#include <optional>

#include "core/events/levels.hpp"
#include "core/messages/own_send.hpp"
#include "core/node/engine.hpp"
#include "core/reports/fatal.hpp"
#include "core/reports/text_out.hpp"

namespace am::core {

namespace {

constexpr const char* not_a_row = "the pieces of a long payload do not fit together";

/// Keeps a half-built payload until its handler has run.
class Assembled {
 public:
  Assembled(Assembler& assembler, const Transport::View& view, bool active) noexcept
      : assembler_(assembler), view_(view), active_(active) {}
  ~Assembled() {
    if (active_) assembler_.done(view_);
  }
  Assembled(const Assembled&) = delete;
  Assembled& operator=(const Assembled&) = delete;

 private:
  Assembler& assembler_;
  const Transport::View& view_;
  const bool active_;
};

}  // namespace

/// Payloads, pieces of long ones, multicasts, and everything while active messages are disabled: then the default handler
/// gets what the program sent, while libam's own messages run as ever, for other nodes wait for what they do.
Engine::Handled Engine::take_unusual(const Transport::View& view) {
  // What the network lends may be written by a sender that is not what it should be: each length is read once, then checked.
  const impl::Packet& packet = *view.packet;
  if ((view.head.flags() & ~impl::flag::known) != 0)
    return corrupt(view, "it reaches beyond its ring, or has unknown flags");
  Payload payload;
  if (view.head.has(impl::flag::payload)) {
    const std::optional<Payload> found = network().payload_of(view);
    if (!found) return corrupt(view, "its payload cannot lie where it says");
    payload = *found;
  }
  if (view.head.words() > impl::max_words || (view.head.place() != 0 && payload.empty()))
    return corrupt(view, "its lengths contradict each other");
  if (left_ && handled_[static_cast<std::size_t>(view.priority)] == &packet) {  // see run_no_more_handlers
    handled_.clear(view.priority);
    return Handled::taken;
  }
  const impl::HandlerId id = view.head.handler();
  if (!view.head.has(impl::flag::more) &&
      (id >= handlers_.size() || handlers_[id].priority != view.priority)) {
    unknown_handler(id, view.source);  // not who a multicast says that it is from
    return Handled::taken;
  }
  const bool multicast = view.head.has(impl::flag::multicast);
  if (multicast && table_.is_internal(id)) return corrupt(view, "libam sends no multicast of its own");
  impl::Arrival message{.packet = &packet,
                        .head = view.head,
                        .from = multicast ? impl::read_once(packet.origin) : view.source,
                        .payload = payload,
                        .priority = view.priority};
  if (message.from >= job_.size) return corrupt(view, "it names a sender that the job does not have");
  if (view.head.has(impl::flag::more)) {
    return add_piece(view, message.payload);
  }
  if (view.head.has(impl::flag::last) &&
      assembler_.complete(view, message.payload) != Assembler::Outcome::taken)
    return corrupt(view, not_a_row);
  if (multicast) {
    const OwnSend own(*this);
    const Forwarding::Outcome forwarded = forwarding_.pass_on(view, message);
    if (forwarded.malformed != nullptr) return corrupt(view, forwarded.malformed);
    if (forwarded.deferred) return Handled::deferred;
  }
  if (left_) {
    if (!table_.is_internal(id)) undelivered_.count(view.priority, id, message.from);
    // Not one that has come between the pieces of a row.
    if (view.head.has(impl::flag::last)) assembler_.done(view);
    return Handled::taken;
  }
  count_received(view.source, view.priority, message.bytes());
  const Assembled assembled(assembler_, view, view.head.has(impl::flag::last));
  handled_payload_[static_cast<std::size_t>(view.priority)] = message.payload.size();
  if (keeping_ != 0 && !table_.is_internal(id)) {
    keep(message);
  } else {
    run_handler_or_default(message);
  }
  return Handled::ran;
}

void Engine::run_handler_or_default(const impl::Arrival& message) {
  if (node_->events_.ame || !agenda_.default_handler || table_.is_internal(message.head.handler())) {
    run_handler(message);
  } else {
    run_default_handler(message);
  }
}

void Engine::run_default_handler(const impl::Arrival& message) {
  handled_.set(message.priority, *message.packet, HandledMessages::by_default_handler);
  Incoming incoming(*node_, message);
  const auto f = agenda_.default_handler;  // it may replace itself
  const Recorder::Running running(recorder_, level_of(message.priority),
                                  RecordedEvent::of_message(message.priority, RecordedEvent::default_handler,
                                                            message.from, message.bytes()));
  try {
    const Attendant::Interruptible interruptible(attendant_, message.priority == Priority::low);
    (*f)(incoming);
  } catch (...) {
    event_threw();
    throw;
  }
}

/// A piece that there is no room for stays in the network, and its sender waits.
Engine::Handled Engine::add_piece(const Transport::View& view, Payload piece) {
  const std::uint64_t total = impl::read_once(view.packet->words[0]);
  if (total > largest_payload()) return corrupt(view, not_a_row);
  switch (assembler_.add(view, total, piece, !left_ && !membership_.is_gone(view.source))) {
    case Assembler::Outcome::taken:
      return Handled::taken;
    case Assembler::Outcome::malformed:
      return corrupt(view, not_a_row);
    case Assembler::Outcome::no_memory:
      if (!std::exchange(told_of_no_memory_, true)) {
        TextOut(&write_to_stderr) << "am: node " << job_.id << ": no memory to put together a payload of "
                                  << total << " bytes from node " << view.source
                                  << ": it waits in the network until there is\n";
      }
      break;
    case Assembler::Outcome::later:
      break;
  }
  return Handled::deferred;
}

Engine::Handled Engine::corrupt(const Transport::View& view, const char* how) {
  distrust(view.source, "a packet from node ", view.source, " is corrupt: ", how);
  return Handled::taken;
}

void Engine::unknown_handler(impl::HandlerId id, NodeId source) {
  distrust(source, "a message from node ", source, " names handler ", id,
           ", which this program does not have at that priority");
}

}  // namespace am::core
