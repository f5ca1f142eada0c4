// From a function to a handler: what its signature says, and how every node of a program comes to the same number for it
// without a registration macro.
//
// A handler is a function `void h(am::Request&, Args...)` (low network), `void h(am::Reply&, Args...)` (high network),
// or such a member function of the object attached to the node. Args are plain values (am/impl/plain_value.hpp), 48 bytes
// together; the last parameter may be an am::Payload. A pointer that only comes back to its node travels as a
// std::uintptr_t.
#pragma once

#include <am/impl/arguments.hpp>
#include <am/impl/check_handler.hpp>
#include <am/impl/packet.hpp>
#include <am/payload.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace am {

class Node;
class Request;
class Reply;

namespace impl {

/// Runs a handler: unpacks the arguments of `packet` and calls the user's function with `message`, which is a Request
/// or a Reply as the handler's own signature says. `payload` is the whole payload, reassembled if it was cut.
using Thunk = void (*)(void* message, const Packet& packet, Payload payload);

/// No handler's number: a message that carries it is reported, not run.
inline constexpr HandlerId not_numbered = 0xffff;

/// One handler of this program. Entries exist once per process and are numbered when a job starts: by name, and those of one
/// name by their place in the program and its libraries, so that all nodes that run the same program agree.
struct HandlerEntry {
  std::string_view name;  ///< the function with its full signature, as the compiler writes it
  Thunk run;
  Priority priority;
  HandlerId id =
      not_numbered;  ///< set by the HandlerTable (src/core/events/handler_table.hpp) when the first job starts
  HandlerEntry* next = nullptr;
  bool internal = false;  ///< libam's own: it runs also while active messages are disabled (InternalHandlers)
};

/// Has an entry on the program's list: from before main, or from where its library is opened, until that is closed. Ends the
/// program when a job has started already: its nodes have agreed on their handlers (a library opened by dlopen comes too late then).
class Enrolment {
 public:
  explicit Enrolment(HandlerEntry& entry) noexcept;
  Enrolment(const Enrolment&) = delete;
  Enrolment& operator=(const Enrolment&) = delete;
  ~Enrolment();

 private:
  HandlerEntry& entry_;
};

/// The type of a handler, and the second parameter of every template that has a handler as its first. It is there for the
/// compiler: g++ 12 gives a pointer to a member of a class in an unnamed namespace external linkage as a template argument,
/// so that one template over two files' handlers of the same name would be one function; their types it keeps apart.
template <auto H>
using HandlerType = std::remove_cv_t<decltype(H)>;

/// A handler's signature, taken apart: M is Request or Reply, Object the attached object's type (void for a plain
/// function), P what follows the message.
template <class M, class Object, class... P>
struct Signature {
  static constexpr bool sound = check_signature<M, P...>();  ///< if not, the rest is that of one without P
  using Parameters = std::conditional_t<sound, std::tuple<std::remove_cvref_t<P>...>, std::tuple<>>;
  static constexpr Priority priority = std::is_same_v<M, Reply> ? Priority::high : Priority::low;
  static constexpr bool has_payload = sound && (is_payload<P> || ...);
  static constexpr std::size_t arity = std::tuple_size_v<Parameters> - (has_payload ? 1 : 0);
  using Packed = typename ArgumentsOf<Parameters, std::make_index_sequence<arity>>::type;

  template <auto H>
  static void run(void* message, const Packet& packet, Payload payload) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      auto& m = *static_cast<M*>(message);
      const std::uint64_t* words = packet.words;
      if constexpr (!sound) {
        // an error has said why
      } else if constexpr (has_payload) {
        invoke<H>(m, Packed::template unpack<std::tuple_element_t<I, Parameters>, I>(words)..., payload);
      } else {
        invoke<H>(m, Packed::template unpack<std::tuple_element_t<I, Parameters>, I>(words)...);
      }
    }
    (std::make_index_sequence<arity>{});
  }

 private:
  template <auto H, class... A>
  static void invoke(M& message, A... args) {
    if constexpr (std::is_void_v<Object>) {
      H(message, args...);
    } else {
      (message.template state<Object>().*H)(message, args...);
    }
  }
};

template <class F>
struct HandlerTraits : Signature<Request, void> {
  static constexpr bool sound = check_is_handler<F>();
  template <auto H>
  static void run(void* /*message*/, const Packet& /*packet*/, Payload /*payload*/) {}
};
template <class M, class... P>
struct HandlerTraits<void (*)(M&, P...)> : Signature<M, void, P...> {};
template <class M, class... P>
struct HandlerTraits<void (*)(M&, P...) noexcept> : Signature<M, void, P...> {};
template <class O, class M, class... P>
struct HandlerTraits<void (O::*)(M&, P...)> : Signature<M, O, P...> {};
template <class O, class M, class... P>
struct HandlerTraits<void (O::*)(M&, P...) noexcept> : Signature<M, O, P...> {};
template <class O, class M, class... P>
struct HandlerTraits<void (O::*)(M&, P...) const> : Signature<M, O, P...> {};
template <class O, class M, class... P>
struct HandlerTraits<void (O::*)(M&, P...) const noexcept> : Signature<M, O, P...> {};
template <class F>
  requires std::is_class_v<F> && requires(F f) { +f; }  // a lambda without captures
struct HandlerTraits<F> : HandlerTraits<decltype(+std::declval<F>())> {};

template <auto H, class F>
constexpr std::string_view handler_signature() noexcept {
  return __PRETTY_FUNCTION__;
}

/// The one entry of handler H. Naming Handler<H>::id() anywhere in the program enrols H before main.
template <auto H, class F = HandlerType<H>>
class Handler {
 public:
  using Traits = HandlerTraits<F>;
  static HandlerId id() noexcept {
    static_cast<void>(&enrolled_);
    return entry_.id;
  }

 private:
  template <auto... Own>
  friend struct InternalHandlers;

  static inline constinit HandlerEntry entry_{handler_signature<H, F>(), &Traits::template run<H>,
                                              Traits::priority};
  static inline const Enrolment enrolled_{entry_};
};

/// An object of this type, beside the handlers by which libam itself keeps its promises (src/core), or a model those of its
/// interface, marks them as such: they are no messages of the program, and its default handler does not get them. A static one, made before main.
template <auto... Own>
struct InternalHandlers {
  InternalHandlers() noexcept { (..., (Handler<Own>::entry_.internal = true)); }
};

}  // namespace impl
}  // namespace am
