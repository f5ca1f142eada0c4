// Bulk transfers of CMAM (segments) and CMAML (receive ports). The bytes travel as payloads, each with the place where they belong;
// their handler puts them there, counts them, and at zero runs the end-of-transfer handler, which may send: see the head of
// models/cmam/state.hpp. A transfer that its receiver does not await ends that node, with a line that says what came from whom.
#include <am/cmam.h>

#include <cstring>

#include "models/broken.hpp"
#include "models/cmam/messages.hpp"
#include "models/cmam/transfers.hpp"

namespace am::models::cmam {

namespace {

/// Only this node itself sends it: the function is an address of this process.
void run_end(Request& request, std::uint64_t function, Word a0, Word a1) {
  if (request.from() != request.node().id())
    broken(request.node().id(), "node ", request.from(),
           " sent the end of a transfer, which only this node may");
  const auto end = reinterpret_cast<Code>(function);
  const Running running(request.node(), end);
  call(end, a0, a1, 0, 0);
}

/// Counts bytes of a segment down, which is closed at zero.
End count_down(Segments& segments, Segment& segment, std::int64_t bytes) {
  segment.awaited -= bytes;
  if (segment.awaited > 0) return {};
  const End end{segment.end, word_of_pointer(segment.info), word_of_pointer(segment.base)};
  segments.close(segment);
  return end;
}

End take(State& state, NodeId from, std::int64_t at, Payload payload) {
  const CriticalSection quiet(state.node());
  const auto bytes = static_cast<std::int64_t>(payload.size());
  Segment* const segment = state.segments.find(at);
  if (segment == nullptr)
    broken(state.node().id(), "CMAM_xfer of node ", from, ": ", bytes, bytes_of(bytes),
           " for segment and offset ", at, ", where no segment is open (any more)");
  const std::int64_t offset = at - segment->number;
  if (bytes > segment->bytes - offset)
    broken(state.node().id(), "CMAM_xfer of node ", from, ": ", bytes, bytes_of(bytes), " at offset ", offset,
           " of a segment of ", segment->bytes);
  if (bytes > segment->awaited)
    broken(state.node().id(), "CMAM_xfer of node ", from, ": ", bytes, bytes_of(bytes),
           " for a segment that awaits ", segment->awaited, " more");
  if (bytes != 0) std::memcpy(segment->base + offset, payload.data(), payload.size());
  return count_down(state.segments, *segment, bytes);
}

End take(State& state, NodeId from, std::int64_t number, std::int64_t offset, Payload payload) {
  const CriticalSection quiet(state.node());
  Rport* const port = state.rports.find(number);
  if (port == nullptr)
    broken(state.node().id(), "CMAML_scopy of node ", from, ": rport ", number,
           " is not allocated (any more)");
  if (!port->takes(offset, payload.size()))
    broken(state.node().id(), "CMAML_scopy of node ", from, ": ", payload.size(), bytes_of(payload.size()),
           " at offset ", offset, " of rport ", number,
           port->buffer == nullptr ? ", which has no address" : ", which awaits ", port->awaited,
           " bytes of ", port->total_bytes);
  port->write(offset, payload.bytes());
  port->awaited -= static_cast<int>(payload.size());
  if (port->awaited > 0) return {};
  return {port->handler, static_cast<Word>(number), word_of_pointer(port->argument)};
}

template <class Message, class... Place>
void take_and_run(Message& message, Payload payload, Place... place) {
  const Running running(message.node(), nullptr);
  run(*here.state, take(*here.state, message.from(), place..., payload));
}

void take_low(Request& request, std::int64_t at, Payload payload) { take_and_run(request, payload, at); }
void take_high(Reply& reply, std::int64_t at, Payload payload) { take_and_run(reply, payload, at); }
void take_at_port_low(Request& request, std::int64_t number, std::int64_t offset, Payload payload) {
  take_and_run(request, payload, number, offset);
}
void take_at_port_high(Reply& reply, std::int64_t number, std::int64_t offset, Payload payload) {
  take_and_run(reply, payload, number, offset);
}

/// Where a transfer writes, if that is in this node; else null.
const std::byte* place_here(State& sender, NodeId to, std::int64_t at) {
  if (to != sender.node().id()) return nullptr;
  const CriticalSection quiet(sender.node());
  const Segment* const segment = sender.segments.find(at);
  return segment != nullptr ? segment->base + (at - segment->number) : nullptr;
}
const std::byte* place_here(State& sender, NodeId to, int number, int offset) {
  if (to != sender.node().id()) return nullptr;
  const CriticalSection quiet(sender.node());
  const Rport* const port = sender.rports.find(number);
  return port != nullptr && port->buffer != nullptr ? port->buffer + offset : nullptr;
}

void transfer(const char* name, int node, std::int64_t at, const void* buffer, int nbytes, bool as_reply) {
  State& sender = state();
  if (sender.node().level() == Level::high) not_in_this_handler(sender, name);
  const NodeId to = checked_node(sender, name, node);
  in_pieces(sender, name, buffer, nbytes, place_here(sender, to, at),
            [&](std::int64_t offset, Payload piece) {
              if (as_reply || sender.node().level() == Level::low) {
                sender.node().reply_to<take_high>(to, at + offset, piece);
              } else {
                sender.node().request<take_low>(to, at + offset, piece);
              }
            });
}

/// A port of this node, which the program has allocated.
Rport& port_here(State& state, const char* call, int number) {
  Rport* const port = state.rports.find(number);
  if (port == nullptr) broken(state.node().id(), call, ": rport ", number, " is not allocated");
  return *port;
}

template <class T>
void set(const char* call, int number, T Rport::*member, T value) {
  State& owner = state();
  const CriticalSection quiet(owner.node());
  port_here(owner, call, number).*member = value;
}
template <class T>
T get(const char* call, int number, T Rport::*member) {
  State& owner = state();
  const CriticalSection quiet(owner.node());
  return port_here(owner, call, number).*member;
}

Segment& segment_here(State& state, const char* call, int number) {
  Segment* const segment = state.segments.find(number);
  if (segment == nullptr) broken(state.node().id(), call, ": segment ", number, " is not open");
  return *segment;
}

}  // namespace

void run(State& state, const End& end) {
  if (end.function == nullptr) return;
  Node& node = state.node();
  if (node.level() != Level::high) {
    const Running running(node, end.function);
    call(end.function, end.a0, end.a1, 0, 0);
    return;
  }
  const auto function = reinterpret_cast<std::uint64_t>(end.function);
  if (state.has_put_off() || node.try_request<run_end>(node.id(), function, end.a0, end.a1) != Status::ok)
    state.put_off({PutOff::What::end_of_transfer, 0, node.id(), function, {end.a0, end.a1, 0, 0}});
}

}  // namespace am::models::cmam

using namespace am::models::cmam;

int CMAM_open_segment(void* base, int nbytes, void (*end_xfer)(...), void* info) {
  State& owner = state();
  const am::CriticalSection quiet(owner.node());
  if (base == nullptr && nbytes > 0) return -1;
  return owner.segments.open(base, nbytes, reinterpret_cast<am::models::Code>(end_xfer), info);
}

void CMAM_shorten_segment(int segment, int nbytes) {
  State& owner = state();
  End end;
  {
    const am::CriticalSection quiet(owner.node());
    Segment& shorter = segment_here(owner, "CMAM_shorten_segment", segment);
    if (nbytes < 0 || nbytes > shorter.awaited)
      am::models::broken(owner.node().id(), "CMAM_shorten_segment by ", nbytes,
                         " bytes of a segment that awaits ", shorter.awaited);
    end = count_down(owner.segments, shorter, nbytes);
  }
  run(owner, end);
}

void CMAM_kill_segment(int segment) {
  State& owner = state();
  const am::CriticalSection quiet(owner.node());
  owner.segments.close(segment_here(owner, "CMAM_kill_segment", segment));
}

int CMAM_query_segment(int segment) {
  State& owner = state();
  const am::CriticalSection quiet(owner.node());
  const Segment* const found = owner.segments.find(segment);
  return found != nullptr ? static_cast<int>(found->awaited) : 0;
}

void CMAM_xfer(int node, int segment_and_offset, void* buffer, int nbytes) {
  transfer("CMAM_xfer", node, segment_and_offset, buffer, nbytes, false);
}
void CMAM_reply_xfer(int node, int segment_and_offset, void* buffer, int nbytes) {
  transfer("CMAM_reply_xfer", node, segment_and_offset, buffer, nbytes, true);
}

int CMAML_allocate_rport(void) {
  State& owner = state();
  const am::CriticalSection quiet(owner.node());
  return owner.rports.allocate();
}
int CMAML_allocate_this_rport(int rport) {
  State& owner = state();
  const am::CriticalSection quiet(owner.node());
  return owner.rports.allocate_this(rport);
}
int CMAML_free_rport(int rport) {
  State& owner = state();
  const am::CriticalSection quiet(owner.node());
  return owner.rports.free(rport) ? 1 : 0;
}
int CMAML_number_of_rports(void) { return Rports::count; }
int CMAML_number_of_free_rports(void) {
  State& owner = state();
  const am::CriticalSection quiet(owner.node());
  return owner.rports.free_ports();
}

void CMAML_set_rport_addr(int rport, void* buffer) {
  set("CMAML_set_rport_addr", rport, &Rport::buffer, static_cast<std::byte*>(buffer));
}
void CMAML_set_rport_byte_counter(int rport, int nbytes) {
  set("CMAML_set_rport_byte_counter", rport, &Rport::awaited, nbytes);
}
void CMAML_set_rport_total_nbytes(int rport, int nbytes) {
  set("CMAML_set_rport_total_nbytes", rport, &Rport::total_bytes, nbytes);
}
void CMAML_set_rport_handler(int rport, void (*handler)(...)) {
  set("CMAML_set_rport_handler", rport, &Rport::handler, reinterpret_cast<am::models::Code>(handler));
}
void CMAML_set_rport_handler_arg2(int rport, void* arg2) {
  set("CMAML_set_rport_handler_arg2", rport, &Rport::argument, arg2);
}
void CMAML_set_rport_esize(int rport, int bytes) {
  set("CMAML_set_rport_esize", rport, &Rport::element_bytes, bytes);
}
void CMAML_set_rport_estride(int rport, int bytes) {
  set("CMAML_set_rport_estride", rport, &Rport::element_stride, bytes);
}
void CMAML_set_rport_ecount(int rport, int elements) {
  set("CMAML_set_rport_ecount", rport, &Rport::element_count, elements);
}
void* CMAML_get_rport_addr(int rport) { return get("CMAML_get_rport_addr", rport, &Rport::buffer); }
int CMAML_get_rport_byte_counter(int rport) {
  return get("CMAML_get_rport_byte_counter", rport, &Rport::awaited);
}
int CMAML_get_rport_total_nbytes(int rport) {
  return get("CMAML_get_rport_total_nbytes", rport, &Rport::total_bytes);
}
am_code CMAML_get_rport_handler(int rport) { return get("CMAML_get_rport_handler", rport, &Rport::handler); }
void* CMAML_get_rport_handler_arg2(int rport) {
  return get("CMAML_get_rport_handler_arg2", rport, &Rport::argument);
}
int CMAML_get_rport_esize(int rport) { return get("CMAML_get_rport_esize", rport, &Rport::element_bytes); }
int CMAML_get_rport_estride(int rport) {
  return get("CMAML_get_rport_estride", rport, &Rport::element_stride);
}
int CMAML_get_rport_ecount(int rport) { return get("CMAML_get_rport_ecount", rport, &Rport::element_count); }

int CMAML_scopy(int node, int rport, int /*align*/, int offset, void* buffer, int nbytes, void (*sent)(...),
                void* sent_argument) {
  State& sender = state();
  if (sender.node().level() == am::Level::high) not_in_this_handler(sender, "CMAML_scopy");
  const am::NodeId to = checked_node(sender, "CMAML_scopy", node);
  in_pieces(sender, "CMAML_scopy", buffer, nbytes, place_here(sender, to, rport, offset),
            [&](std::int64_t at, am::Payload piece) {
              if (sender.node().level() == am::Level::low) {
                sender.node().reply_to<take_at_port_high>(to, std::int64_t{rport}, offset + at, piece);
              } else {
                sender.node().request<take_at_port_low>(to, std::int64_t{rport}, offset + at, piece);
              }
            });
  if (sent != nullptr)
    call(reinterpret_cast<am::models::Code>(sent), word_of_pointer(sent_argument), 0, 0, 0);
  return 1;
}
