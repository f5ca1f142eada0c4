// CMMD's messages. A sender asks; the node that has, or gets, a receive for it answers how many bytes it takes; then they travel, in
// pieces that are written straight into the receive's buffer. A handler of the low level sends them, so the sender may compute
// meanwhile, with interrupts on. Messages of the library wait for nobody but the network: two nodes that send to each other go on.
#include <am/cmmd.h>

#include <climits>
#include <cstring>
#include <optional>

#include "models/broken.hpp"
#include "models/cmam/messages.hpp"
#include "models/cmam/transfers.hpp"

namespace am::models::cmam {

namespace {

template <class F>
Code code_of_function(F* function) {
  return reinterpret_cast<Code>(function);
}

/// A program's buffer: elements of equal size, or one piece.
struct Elements {
  const void* buffer;
  std::int64_t size, stride, count;

  [[nodiscard]] std::int64_t bytes() const { return size * count; }
  [[nodiscard]] bool is_one_piece() const { return stride == size || count <= 1; }
  [[nodiscard]] bool overlaps(const Elements& other) const {
    const auto first = [](const Elements& e) {
      return reinterpret_cast<std::intptr_t>(e.buffer) + (e.stride < 0 ? e.stride * (e.count - 1) : 0);
    };
    const auto end = [&](const Elements& e) {
      return first(e) + (e.count > 0 ? e.size + (e.stride < 0 ? -e.stride : e.stride) * (e.count - 1) : 0);
    };
    return first(*this) < end(other) && first(other) < end(*this);
  }
};
Elements one_piece(const void* buffer, int nbytes) { return {buffer, nbytes, nbytes, 1}; }
Elements strided(const void* buffer, int size, int stride, int count) {
  return {buffer, size, stride, count};
}

struct Tell {
  am_code handler = nullptr;
  void* argument = nullptr;
};
Tell tell(void (*handler)(...), void* argument) { return {reinterpret_cast<am_code>(handler), argument}; }

// -- the way of a message ---------------------------------------------------------------------------------------------------------

/// The program's handler. It may give the message back.
void tell_program(Word number, Word, Word, Word) {
  State& teller = state();
  Message& message = *teller.exchange.find(number);
  int mcb = message.number;
  call(message.handler, reinterpret_cast<Word>(&mcb), word_of_pointer(message.argument), 0, 0);
  const CriticalSection quiet(teller.node());
  message.handler = nullptr;
  if (message.given_back) teller.exchange.release(message);
}

/// What is left to do when a message has been sent or received. Handlers are off.
End ends(Exchange& exchange, Message& message) {
  exchange.ends(message);
  if (message.handler != nullptr) return {code_of_function(tell_program), message.number, 0};
  if (message.given_back) exchange.release(message);
  return {};
}

/// To the high level, where nothing but the memory of the receive is touched.
void bytes_come(Reply& reply, std::uint32_t number, std::int64_t offset, Payload payload) {
  State& state = reply.node().own<State>();
  End end;
  {
    const CriticalSection quiet(state.node());
    Message& receive = *state.exchange.find(number);
    receive.place.write(offset, payload.bytes());
    receive.awaited -= static_cast<std::int64_t>(payload.size());
    if (receive.awaited > 0) return;
    end = ends(state.exchange, receive);
  }
  if (end.function == nullptr) return;
  const Running running(reply.node(), nullptr);
  run(state, end);
}

void send_bytes(Word number, Word, Word, Word) {
  State& sender = state();
  Message& message = *sender.exchange.find(number);
  const NodeId to = static_cast<NodeId>(message.peer);
  const Message* const here = to == sender.node().id() ? sender.exchange.find(message.theirs) : nullptr;
  const void* const bytes = message.copy.empty() ? message.place.buffer : message.copy.data();
  in_pieces(sender, "a message", bytes, message.bytes, here != nullptr ? here->place.buffer : nullptr,
            [&](std::int64_t offset, Payload piece) {
              sender.node().reply_to<bytes_come>(to, message.theirs, offset, piece);
            });
  End end;
  {
    const CriticalSection quiet(sender.node());
    end = ends(sender.exchange, message);
  }
  run(sender, end);
}

void granted(Reply& reply, std::uint32_t number, std::uint32_t receive, std::int64_t bytes) {
  State& state = reply.node().own<State>();
  {
    const CriticalSection quiet(state.node());
    Message& message = *state.exchange.find(number);
    message.theirs = receive;
    message.cut = bytes < message.bytes;
    message.bytes = bytes;
  }
  const Running running(reply.node(), nullptr);
  run(state, {code_of_function(send_bytes), static_cast<Word>(number), 0});
}

/// The receive has its message. Handlers are off.
void match(Message& receive, const Ask& ask) {
  receive.peer = static_cast<int>(ask.from);
  receive.tag = ask.tag;
  receive.theirs = ask.number;
  receive.cut = ask.bytes > receive.room;
  receive.bytes = receive.awaited = std::min(ask.bytes, receive.room);
}
void grant(Node& node, const Message& receive) {
  node.reply_to<granted>(static_cast<NodeId>(receive.peer), receive.theirs,
                         static_cast<std::uint32_t>(receive.number), receive.bytes);
}

void asks(Request& request, std::int32_t tag, std::uint32_t number, std::int64_t bytes) {
  State& state = request.node().own<State>();
  Message* receive = nullptr;
  {
    const CriticalSection quiet(state.node());
    const Ask ask{request.from(), tag, number, bytes};
    receive = state.exchange.take_receive(ask);
    if (receive != nullptr) {
      match(*receive, ask);
    } else {
      if (state.node().dispatch() == Dispatch::interrupt && !state.exchange.has_room_for_ask())
        broken(state.node().id(), "others would send more CMMD messages than there is memory to note in the ",
               "interrupt mode, and nobody receives them: receive more often");
      state.exchange.keep(ask);
    }
  }
  if (receive != nullptr) grant(state.node(), *receive);
}

void ask_now(Word number, Word, Word, Word) {
  State& sender = state();
  const Message& message = *sender.exchange.find(number);
  sender.node().request<asks>(static_cast<NodeId>(message.peer), message.tag,
                              static_cast<std::uint32_t>(message.number), message.bytes);
}
/// Behind what was put off: the order of messages is that of the calls.
void ask(State& sender, const Message& message) {
  if (sender.node().level() == Level::computation) {
    const auto is_first = [&sender] {
      const CriticalSection quiet(sender.node());  // handlers put off, too
      return !sender.has_put_off();
    };
    if (is_first()) return ask_now(message.number, 0, 0, 0);
  }
  const CriticalSection quiet(sender.node());
  sender.put_off({PutOff::What::end_of_transfer,
                  0,
                  sender.node().id(),
                  reinterpret_cast<std::uint64_t>(code_of_function(ask_now)),
                  {message.number, 0, 0, 0}});
}

// -- the calls --------------------------------------------------------------------------------------------------------------------

void check_elements(const State& state, const char* call, const Elements& elements) {
  const bool is_wrong = elements.size < 0 || elements.count < 0 || elements.bytes() > INT_MAX;
  if (is_wrong && elements.count != 1)
    broken(state.node().id(), call, " of ", elements.count, " times ", elements.size,
           bytes_of(elements.size));
  if (is_wrong || (elements.buffer == nullptr && elements.bytes() > 0))
    broken(state.node().id(), call, " of ", elements.bytes(), bytes_of(elements.bytes()),
           elements.buffer == nullptr ? " at a null address" : "");
}
void check_source(const State& state, const char* call, int node) {
  if (node != Exchange::any && (node < 0 || static_cast<NodeId>(node) >= state.node().size()))
    broken(state.node().id(), call, " from node ", node, " of a job of ", state.node().size());
}
void check_tag(const State& state, const char* call, int tag, bool may_be_any) {
  if (tag < 0 && !(may_be_any && tag == Exchange::any) && tag != Exchange::swap_tag)
    broken(state.node().id(), call, " with tag ", tag, ": tags are 0 or more");
}

/// Null where there is no memory for one more.
Message* begin(State& state, const char* call, bool sends, int node, int tag, const Elements& elements,
               const Tell& told) {
  if (state.node().level() == Level::high) not_in_this_handler(state, call);
  check_elements(state, call, elements);
  check_tag(state, call, tag, !sends);
  const CriticalSection quiet(state.node());
  const bool may_allocate =
      state.node().level() == Level::computation || state.node().dispatch() != Dispatch::interrupt;
  Message* const message = state.exchange.begin(may_allocate);
  state.exchange.error = message == nullptr ? CMMD_ERR_NO_RPORTS : 0;
  if (message == nullptr) return nullptr;
  message->sends = sends;
  message->peer = node;
  message->tag = tag;
  message->room = message->bytes = elements.bytes();
  message->place.buffer = static_cast<std::byte*>(const_cast<void*>(elements.buffer));
  message->handler = told.handler;
  message->argument = told.argument;
  state.exchange.starts(*message);
  return message;
}

void copy(Message& message, const Elements& elements) {
  message.copy.resize(static_cast<std::size_t>(elements.bytes()));
  for (std::int64_t i = 0; i < elements.count && elements.size > 0; ++i)
    std::memcpy(message.copy.data() + i * elements.size,
                static_cast<const std::byte*>(elements.buffer) + i * elements.stride,
                static_cast<std::size_t>(elements.size));
}

/// A send that nobody is asked for yet.
Message* begin_send(State& sender, const char* call, int node, int tag, const Elements& elements,
                    const Tell& told, bool copies) {
  copies = copies || !elements.is_one_piece();
  if (copies) only_in_the_computation(sender, call);
  Message* const message =
      begin(sender, call, true, static_cast<int>(checked_node(sender, call, node)), tag, elements, told);
  if (message != nullptr && copies) copy(*message, elements);
  return message;
}

Message* send(const char* call, int node, int tag, const Elements& elements, const Tell& told = {},
              bool copies = false) {
  State& sender = state();
  Message* const message = begin_send(sender, call, node, tag, elements, told, copies);
  if (message != nullptr) ask(sender, *message);
  return message;
}

Message* receive(const char* call, int node, int tag, const Elements& elements, const Tell& told = {}) {
  State& receiver = state();
  check_source(receiver, call, node);
  Message* const message = begin(receiver, call, false, node, tag, elements, told);
  if (message == nullptr) return nullptr;
  if (!elements.is_one_piece()) {
    message->place.element_bytes = static_cast<int>(elements.size);
    message->place.element_stride = static_cast<int>(elements.stride);
  }
  bool matched = false;
  {
    const CriticalSection quiet(receiver.node());
    if (const std::optional<Ask> ask = receiver.exchange.take_asked(node, tag)) {
      match(*message, *ask);
      matched = true;
    } else {
      receiver.exchange.keep(*message);
    }
  }
  if (matched) grant(receiver.node(), *message);
  return message;
}

/// Keeps what the calls without a message's number tell of. Handlers are off.
void tells_of(Exchange& exchange, const Message& message) {
  if (message.sends) {
    exchange.sent_bytes = message.bytes;
  } else {
    exchange.received = {static_cast<NodeId>(message.peer), message.tag, 0, message.bytes};
  }
}

void wait_for(State& waiter, const Message& message) {
  std::optional<NodeId> needed;
  {
    const CriticalSection quiet(waiter.node());
    if (message.peer != Exchange::any) needed = static_cast<NodeId>(message.peer);
  }
  try {
    waiter.node().wait_until([&] { return message.stage == Message::Stage::done; }, needed);
  } catch (...) {
    const CriticalSection quiet(waiter.node());
    waiter.exchange.withdraw(message);
    throw;
  }
}

/// Waits for a message that has no other name. Whether all of it has gone over.
bool complete(State& waiter, Message& message) {
  wait_for(waiter, message);
  const CriticalSection quiet(waiter.node());
  tells_of(waiter.exchange, message);
  waiter.exchange.release(message);
  return !message.cut;
}

int send_and_wait(const char* call, int node, int tag, const Elements& elements) {
  only_in_the_computation(state(), call);
  return complete(state(), *send(call, node, tag, elements)) ? 0 : CMMD_ERRVAL;
}
int receive_and_wait(const char* call, int node, int tag, const Elements& elements) {
  only_in_the_computation(state(), call);
  return complete(state(), *receive(call, node, tag, elements)) ? 0 : CMMD_ERRVAL;
}
/// What is sent without waiting names itself to nobody.
int send_a_copy(const char* call, int node, int tag, const Elements& elements) {
  Message* const message = send(call, node, tag, elements, {}, true);
  State& sender = state();
  const CriticalSection quiet(sender.node());
  message->given_back = true;
  if (message->stage == Message::Stage::done) sender.exchange.release(*message);
  return 0;
}
CMMD_mcb number_of(const Message* message) { return message != nullptr ? message->number : CMMD_ERRVAL; }

/// Each of the two is under way before either is waited for; and what the received one overwrites is copied before.
bool both(const char* call, int source, int receive_tag, const Elements& in, int destination, int send_tag,
          const Elements& out) {
  State& caller = state();
  only_in_the_computation(caller, call);
  Message& sent = *begin_send(caller, call, destination, send_tag, out, {}, in.overlaps(out));
  Message& received = *receive(call, source, receive_tag, in);
  ask(caller, sent);
  const bool all_sent = complete(caller, sent);
  return complete(caller, received) && all_sent;
}

Message& message_of(State& state, const char* call, CMMD_mcb mcb) {
  Message* const message = state.exchange.find(mcb);
  const bool is_here = message != nullptr && message->stage != Message::Stage::unused;
  if (!is_here || (message->given_back && message->handler == nullptr))
    broken(state.node().id(), call, ": there is no message ", mcb, " (any more)");
  return *message;
}

template <class F>
decltype(auto) ask_of(const char* call, CMMD_mcb mcb, F what) {
  State& owner = state();
  const CriticalSection quiet(owner.node());
  return what(message_of(owner, call, mcb));
}

/// Something that calls without a message's number tell of.
template <class F>
int kept(F what) {
  State& owner = state();
  const CriticalSection quiet(owner.node());
  return static_cast<int>(what(owner.exchange));
}

int polled_answer(bool (Exchange::*is_true)() const noexcept) {
  CMAML_poll();
  State& owner = state();
  const CriticalSection quiet(owner.node());
  return (owner.exchange.*is_true)() ? TRUE : FALSE;
}

std::optional<Ask> pending(const char* call, int node, int tag) {
  State& receiver = state();
  check_source(receiver, call, node);
  check_tag(receiver, call, tag, true);
  CMAML_poll();
  const CriticalSection quiet(receiver.node());
  const Ask* const ask = receiver.exchange.asked(node, tag);
  return ask != nullptr ? std::optional(*ask) : std::nullopt;
}

}  // namespace

}  // namespace am::models::cmam

using namespace am::models::cmam;

int CMMD_send(int node, int tag, const void* buffer, int nbytes) {
  return send_and_wait("CMMD_send", node, tag, one_piece(buffer, nbytes));
}
int CMMD_send_block(int node, int tag, const void* buffer, int nbytes) {
  return send_and_wait("CMMD_send_block", node, tag, one_piece(buffer, nbytes));
}
int CMMD_send_noblock(int node, int tag, const void* buffer, int nbytes) {
  return send_a_copy("CMMD_send_noblock", node, tag, one_piece(buffer, nbytes));
}
int CMMD_receive(int node, int tag, void* buffer, int nbytes) {
  return receive_and_wait("CMMD_receive", node, tag, one_piece(buffer, nbytes));
}
int CMMD_receive_block(int node, int tag, void* buffer, int nbytes) {
  return receive_and_wait("CMMD_receive_block", node, tag, one_piece(buffer, nbytes));
}

int CMMD_send_v(int node, int tag, const void* buffer, int size, int stride, int count) {
  return send_and_wait("CMMD_send_v", node, tag, strided(buffer, size, stride, count));
}
int CMMD_send_block_v(int node, int tag, const void* buffer, int size, int stride, int count) {
  return send_and_wait("CMMD_send_block_v", node, tag, strided(buffer, size, stride, count));
}
int CMMD_send_noblock_v(int node, int tag, const void* buffer, int size, int stride, int count) {
  return send_a_copy("CMMD_send_noblock_v", node, tag, strided(buffer, size, stride, count));
}
int CMMD_receive_v(int node, int tag, void* buffer, int size, int stride, int count) {
  return receive_and_wait("CMMD_receive_v", node, tag, strided(buffer, size, stride, count));
}
int CMMD_receive_block_v(int node, int tag, void* buffer, int size, int stride, int count) {
  return receive_and_wait("CMMD_receive_block_v", node, tag, strided(buffer, size, stride, count));
}

CMMD_mcb(CMMD_send_async)(int node, int tag, const void* buffer, int nbytes, void (*handler)(...),
                          void* argument) {
  return number_of(send("CMMD_send_async", node, tag, one_piece(buffer, nbytes), tell(handler, argument)));
}
CMMD_mcb(CMMD_receive_async)(int node, int tag, void* buffer, int nbytes, void (*handler)(...),
                             void* argument) {
  return number_of(
      receive("CMMD_receive_async", node, tag, one_piece(buffer, nbytes), tell(handler, argument)));
}
CMMD_mcb(CMMD_send_async_v)(int node, int tag, const void* buffer, int size, int stride, int count,
                            void (*handler)(...), void* argument) {
  return number_of(
      send("CMMD_send_async_v", node, tag, strided(buffer, size, stride, count), tell(handler, argument)));
}
CMMD_mcb(CMMD_receive_async_v)(int node, int tag, void* buffer, int size, int stride, int count,
                               void (*handler)(...), void* argument) {
  return number_of(receive("CMMD_receive_async_v", node, tag, strided(buffer, size, stride, count),
                           tell(handler, argument)));
}

int CMMD_send_and_receive(int source, int receive_tag, void* receive_buffer, int receive_nbytes,
                          int destination, int send_tag, const void* send_buffer, int send_nbytes) {
  return both("CMMD_send_and_receive", source, receive_tag, one_piece(receive_buffer, receive_nbytes),
              destination, send_tag, one_piece(send_buffer, send_nbytes))
             ? TRUE
             : CMMD_ERRVAL;
}
int CMMD_send_and_receive_v(int source, int receive_tag, void* receive_buffer, int receive_size,
                            int receive_stride, int receive_count, int destination, int send_tag,
                            const void* send_buffer, int send_size, int send_stride, int send_count) {
  return both("CMMD_send_and_receive_v", source, receive_tag,
              strided(receive_buffer, receive_size, receive_stride, receive_count), destination, send_tag,
              strided(send_buffer, send_size, send_stride, send_count))
             ? TRUE
             : CMMD_ERRVAL;
}
int CMMD_swap(int node, void* receive_buffer, int receive_nbytes, const void* send_buffer, int send_nbytes) {
  constexpr int tag = Exchange::swap_tag;
  return both("CMMD_swap", node, tag, one_piece(receive_buffer, receive_nbytes), node, tag,
              one_piece(send_buffer, send_nbytes))
             ? 0
             : CMMD_ERRVAL;
}
int CMMD_swap_v(int node, void* receive_buffer, int receive_size, int receive_stride, int receive_count,
                const void* send_buffer, int send_size, int send_stride, int send_count) {
  constexpr int tag = Exchange::swap_tag;
  return both("CMMD_swap_v", node, tag, strided(receive_buffer, receive_size, receive_stride, receive_count),
              node, tag, strided(send_buffer, send_size, send_stride, send_count))
             ? 0
             : CMMD_ERRVAL;
}

int CMMD_msg_done(CMMD_mcb mcb) {
  constexpr const char* call = "CMMD_msg_done";
  const auto is_done = [](const Message& message) {
    if (message.stage != Message::Stage::done) return FALSE;
    tells_of(state().exchange, message);
    return TRUE;
  };
  if (ask_of(call, mcb, is_done) == TRUE) return TRUE;
  CMAML_poll();
  return ask_of(call, mcb, is_done);
}
void CMMD_msg_wait(CMMD_mcb mcb) {
  constexpr const char* call = "CMMD_msg_wait";
  State& waiter = state();
  only_in_the_computation(waiter, call);
  wait_for(waiter, ask_of(call, mcb, [](Message& message) -> Message& { return message; }));
  ask_of(call, mcb, [&](const Message& message) { tells_of(waiter.exchange, message); });
}
void CMMD_free_mcb(CMMD_mcb mcb) {
  ask_of("CMMD_free_mcb", mcb, [](Message& message) {
    message.given_back = true;
    if (message.stage == Message::Stage::done && message.handler == nullptr)
      state().exchange.release(message);
  });
}
int CMMD_all_sends_done(void) { return polled_answer(&Exchange::sends_are_done); }
int CMMD_all_receives_done(void) { return polled_answer(&Exchange::receives_are_done); }
int CMMD_all_msgs_done(void) {
  const int sends = CMMD_all_sends_done();
  return sends == TRUE && polled_answer(&Exchange::receives_are_done) == TRUE &&
                 polled_answer(&Exchange::sends_are_done) == TRUE
             ? TRUE
             : FALSE;
}
void CMMD_all_msgs_wait(void) {
  State& waiter = state();
  only_in_the_computation(waiter, "CMMD_all_msgs_wait");
  waiter.node().wait_until(
      [&] { return waiter.exchange.sends_are_done() && waiter.exchange.receives_are_done(); }, std::nullopt);
}

int CMMD_mcb_len(CMMD_mcb mcb) {
  return ask_of("CMMD_mcb_len", mcb, [](const Message& message) { return static_cast<int>(message.room); });
}
int CMMD_mcb_bytes(CMMD_mcb mcb) {
  return ask_of("CMMD_mcb_bytes", mcb,
                [](const Message& message) { return static_cast<int>(message.bytes); });
}
int CMMD_mcb_tag(CMMD_mcb mcb) {
  return ask_of("CMMD_mcb_tag", mcb, [](const Message& message) { return message.tag; });
}
int CMMD_mcb_node(CMMD_mcb mcb) {
  return ask_of("CMMD_mcb_node", mcb, [](const Message& message) { return message.peer; });
}
int CMMD_mcb_source(CMMD_mcb mcb) {
  return ask_of("CMMD_mcb_source", mcb,
                [](const Message& message) { return message.sends ? CMMD_self_address() : message.peer; });
}
int CMMD_mcb_dest(CMMD_mcb mcb) {
  return ask_of("CMMD_mcb_dest", mcb,
                [](const Message& message) { return message.sends ? message.peer : CMMD_self_address(); });
}
void* CMMD_mcb_buffer(CMMD_mcb mcb) {
  return ask_of("CMMD_mcb_buffer", mcb, [](const Message& message) -> void* { return message.place.buffer; });
}
int CMMD_available_sends(void) { return INT_MAX; }
int CMMD_available_receives(void) { return INT_MAX; }
int CMMD_get_errno(void) {
  return kept([](const Exchange& exchange) { return exchange.error; });
}

int CMMD_msg_pending(int node, int tag) {
  const std::optional<Ask> ask = pending("CMMD_msg_pending", node, tag);
  if (!ask) return FALSE;
  return kept([&](Exchange& exchange) {
    exchange.received = *ask;
    return TRUE;
  });
}
CMMD_mcb CMMD_mcb_pending(int node, int tag) {
  const std::optional<Ask> ask = pending("CMMD_mcb_pending", node, tag);
  if (!ask) return 0;
  State& receiver = state();
  Message* const message =
      begin(receiver, "CMMD_mcb_pending", false, static_cast<int>(ask->from), ask->tag, {}, {});
  if (message == nullptr) return 0;
  const am::CriticalSection quiet(receiver.node());
  message->bytes = ask->bytes;
  receiver.exchange.ends(*message);
  return message->number;
}
int CMMD_bytes_received(void) {
  return kept([](const Exchange& exchange) { return exchange.received.bytes; });
}
int CMMD_msg_sender(void) {
  return kept([](const Exchange& exchange) { return exchange.received.from; });
}
int CMMD_msg_tag(void) {
  return kept([](const Exchange& exchange) { return exchange.received.tag; });
}
int CMMD_bytes_sent(void) {
  return kept([](const Exchange& exchange) { return exchange.sent_bytes; });
}

void CMMD_poll(void) { CMAML_poll(); }
void CMMD_enable_safety(void) { static_cast<void>(state()); }
void CMMD_disable_safety(void) { static_cast<void>(state()); }
