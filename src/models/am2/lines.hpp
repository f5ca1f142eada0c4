// AM-II's usual messages: short, of up to four words, from one node to another, each a line of the network (Line). They are sent from
// registers and run from registers: no Outgoing and no Message is made of them, unless something is not as usual.
//
// Each store on their way costs: a processor holds some 70 of them back for lines that it has to fetch, so what one message stores
// keeps the line of the next from being asked for. Saved registers are stores, too: where nothing is due but to write the line, no call
// is made.
#pragma once

#include <am/message.hpp>

#include <array>
#include <utility>

#include "models/am2/invoke.hpp"
#include "models/am2/state.hpp"

namespace am::impl {

/// A send in two steps. Neither makes a call, so the function around them saves no registers.
struct LineAccess {
  /// A free line on the way to that node, which the job has; or null. Nothing has happened yet.
  template <Priority P>
  [[gnu::always_inline]] static Packet* claim(Node& node, NodeId to) noexcept {
#ifdef AM_CHECKED
    node.check_use_(P, true);
#endif
    return node.rings_[link_index(to, P)].claim_line();
  }
  template <auto H, class... Words>
  [[gnu::always_inline]] static void send(Node& node, NodeId to, Packet& line, Words... words) noexcept {
    using Signature = typename Handler<H>::Traits;
    using Traits = SendTraits<Signature, Words...>;
    pack_words<Traits>(line.words, words...);
    node.publish_(to, Signature::priority, line, Header::make(Handler<H>::id(), Traits::Packed::words, 0, 0),
                  0);
  }
};

}  // namespace am::impl

namespace am::models::am2 {

using impl::LineAccess;

/// What has come as a line, for the endpoint's inbox, or to be judged.
template <class... Words>
[[gnu::noinline]] void line_waits(State& state, NodeId from, Came came, tag_t tag, Line line,
                                  Words... words) {
  Message message;
  message.came = came;
  message.from = from;
  message.to_endpoint = line.to();
  message.from_endpoint = line.from();
  message.tag = tag;
  message.head = {
      .count = sizeof...(words), .handler = line.handler(), .index = line.index(), .serial = line.serial()};
  const std::array<am2_word_t, 8> sent{words...};
  message.set_words(sent.data(), sent.size());
  state.arrived(message);
}

/// Zeros stand behind the words: see invoke.hpp.
template <class... Words>
[[gnu::always_inline]] inline void run_line(State& state, Token& token, am2_handler_fn_t handler,
                                            Words... words) {
  state.run_with(token, [&] {
    constexpr std::size_t zeros = 8 - sizeof...(words);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      reinterpret_cast<void (*)(void*, Words..., Word<I>...)>(handler)(&token, words..., Word<I>{0}...);
    }
    (std::make_index_sequence<zeros>{});
  });
}

template <class... Words>
void request_line_came(Request& request, std::uint64_t tag, std::uint64_t word, Words... words) {
  State& state = state_of(request.node());
  const Line line{word};
  am2_endpoint* const endpoint = state.find(line);
  if (endpoint != nullptr && state.runs_now(*endpoint) && endpoint->takes(tag)) [[likely]] {
    if (const am2_handler_fn_t handler = endpoint->plain_handler(line.handler())) [[likely]] {
      ++endpoint->stats.RequestsReceived[0];
      Token token{endpoint, nullptr, line, tag, request.from(), Came::request, true};
      return run_line(state, token, handler, words...);
    }
  }
  line_waits(state, request.from(), Came::request, tag, line, words...);
}

template <class... Words>
void reply_line_came(Reply& reply, std::uint64_t tag, std::uint64_t word, Words... words) {
  State& state = state_of(reply.node());
  const Line line{word};
  am2_endpoint* const endpoint = state.find(line);
  if (endpoint != nullptr) [[likely]] {
    State::credit(*endpoint, line.index(), line.serial());
    const am2_handler_fn_t handler =
        state.runs_now(*endpoint) ? endpoint->plain_handler(line.handler()) : nullptr;
    if (handler != nullptr) [[likely]] {
      ++endpoint->stats.RepliesReceived[0];
      Token token{endpoint, nullptr, line, tag, reply.from(), Came::reply, false};
      return run_line(state, token, handler, words...);
    }
  }
  line_waits(state, reply.from(), Came::reply, tag, line, words...);
}

}  // namespace am::models::am2
