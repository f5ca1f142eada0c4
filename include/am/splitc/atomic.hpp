// Atomic operations on global memory.
//
// atomic(f, p, args...) runs f(*p, args...) on the node that owns *p, as one handler: atomic with respect to the other calls of
// atomic() there, also of the owner's own. It is one request and one reply. f is a lambda without captures, or a function:
// atomic<f>(p, args...). It is short, uses memory of its own node alone, and does not wait. Arguments and result travel in
// words: plain values, 32 bytes of arguments and 40 of result.
//
// fetch_add and the like are done by the processor where the memory is mapped, else by the owner's handlers. So a place that
// these change is not changed by atomic(), too; and the owner changes it by them as well.
#pragma once

#include <am/events.hpp>
#include <am/global.hpp>
#include <am/splitc/global_ptr.hpp>
#include <am/splitc/world.hpp>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace am::splitc {

namespace impl {

/// A function as a type.
template <auto f>
struct Function {
  template <class... A>
  decltype(auto) operator()(A&&... args) const {
    return f(std::forward<A>(args)...);
  }
};

/// Whether F itself says what to run, on every node: then it travels as a handler's number.
template <class F>
inline constexpr bool is_code = std::is_empty_v<F>&& std::is_default_constructible_v<F>;

/// This thread runs a handler of `world`, which may be another thread than the program's.
class InHandler {
 public:
  explicit InHandler(World& world) noexcept;
  ~InHandler() { here = before_; }
  InHandler(const InHandler&) = delete;
  InHandler& operator=(const InHandler&) = delete;

 private:
  const Here before_;
};

template <class R>
void atomic_answered(Reply& reply, std::uint64_t ticket, R result) {
  World::of(reply.node()).answered(ticket, &result, sizeof result, Call::State::answered);
}
inline void atomic_done(Reply& reply, std::uint64_t ticket) {
  World::of(reply.node()).answered(ticket, nullptr, 0, Call::State::answered);
}

template <class F, class T, class... A>
void run_atomic(Request& request, am::GlobalPtr<T> at, std::uint64_t ticket, A... args) {
  World& world = World::of(request.node());
  const InHandler in_handler(world);
  try {
    T& place = *at.local(request.node());
    if constexpr (std::is_void_v<std::invoke_result_t<F, T&, A...>>) {
      F{}(place, args...);
      request.reply<atomic_done>(ticket);
    } else {
      const auto result = F{}(place, args...);
      request.reply<atomic_answered<std::remove_const_t<decltype(result)>>>(ticket, result);
    }
  } catch (...) {
    request.reply<&World::atomic_threw>(ticket);
    throw;
  }
}

void wait_for(World& world, NodeId owner, Call& call);

/// As long as one lives the answer has a place to go to.
class OpenCall {
 public:
  OpenCall(World& world, void* into, std::size_t bytes) : world_(world), call_{into, bytes} {
    world.begin(call_);
  }
  ~OpenCall() { world_.end(call_); }
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;

  [[nodiscard]] std::uint64_t ticket() const noexcept { return call_.ticket; }
  void wait(NodeId owner) { wait_for(world_, owner, call_); }

 private:
  World& world_;
  Call call_;
};

template <class F, class T, class... A>
auto atomic(am::GlobalPtr<T> at, A... args) {
  using R = std::decay_t<std::invoke_result_t<F, T&, A...>>;
  World& world = splitc::world();
  am::Node& node = world.node();
  if (T* own = nullptr; find_own(at, 0, own)) {
    const CriticalSection alone(node);
    return static_cast<R>(F{}(*own, args...));
  }
  static_cast<void>(am::direct(node, at));  // a place that is none is the caller's error
  constexpr bool has_result = !std::is_void_v<R>;
  struct Nothing {};
  alignas(std::conditional_t<has_result, R, Nothing>)
      std::byte result[sizeof(std::conditional_t<has_result, R, Nothing>)];
  OpenCall call(world, has_result ? result : nullptr, has_result ? sizeof result : 0);
  world.must_be_sent(node.request<run_atomic<F, T, A...>>(at.node(), at, call.ticket(), args...), at.node(),
                     "atomic");
  call.wait(at.node());
  if constexpr (has_result) return std::bit_cast<R>(result);
}

}  // namespace impl

/// Throws am::Error when f threw at the owner (there its exception leaves the call that makes progress), or the owner is gone.
template <class F, Pointer P, class... A>
auto atomic(F /*f*/, P at, A... args) {
  static_assert(impl::is_code<F>,
                "libam: atomic runs f on another node: give a lambda without captures, and what it needs as "
                "arguments; a function as atomic<f>(p, args...)");
  if constexpr (impl::is_code<F>) return impl::atomic<F>(at.place(), args...);
}
template <auto f, Pointer P, class... A>
auto atomic(P at, A... args) {
  return impl::atomic<impl::Function<f>>(at.place(), args...);
}

// Of 4 and 8 bytes. Each returns what was there before.
/// Adds to an integer in one step, and returns what was there.
template <Pointer P>
  requires AtomicInteger<typename P::element_type>
auto fetch_add(P at, typename P::value_type by) { return am::fetch_add(world().node(), at.place(), by); }
/// Writes in one step, and returns what was there.
template <Pointer P>
  requires AtomicInteger<typename P::element_type>
auto exchange(P at, typename P::value_type value) { return am::exchange(world().node(), at.place(), value); }
/// Writes in one step where `expected` stands; returns what was there.
template <Pointer P>
  requires AtomicInteger<typename P::element_type>
auto cmp_swap(P at, typename P::value_type expected, typename P::value_type value) {
  return am::compare_swap(world().node(), at.place(), expected, value);
}
/// Writes 1 in one step, and returns what was there.
template <Pointer P>
  requires AtomicInteger<typename P::element_type>
auto test_and_set(P at) { return am::exchange(world().node(), at.place(), 1); }

}  // namespace am::splitc
