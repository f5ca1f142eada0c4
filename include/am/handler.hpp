// From a function to a handler: what its signature says, how its arguments lie in a packet, and how every node of a
// program comes to the same number for it without a registration macro.
//
// A handler is a function `void h(am::Request&, Args...)` (low network), `void h(am::Reply&, Args...)` (high network),
// or such a member function of the object attached to the node. Args are trivially copyable values, 48 bytes together;
// the last parameter may be an am::Payload.
#pragma once

#include <am/impl/packet.hpp>
#include <am/payload.hpp>
#include <array>
#include <bit>
#include <cstring>
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

/// One handler of this program. Entries exist once per process and are numbered when a job starts, by name, so that all
/// nodes that run the same program agree.
struct HandlerEntry {
  std::string_view name;  ///< the function with its full signature, as the compiler writes it
  Thunk run;
  Priority priority;
  HandlerId id =
      not_numbered;  ///< set by the HandlerTable (src/core/handler_table.hpp) when the first job starts
  HandlerEntry* next = nullptr;
  bool internal = false;  ///< libam's own: it runs also while active messages are disabled (InternalHandlers)
};

/// Puts an entry on the program's list. Called before main by the static initialiser below. Ends the program when a job
/// has started already: its nodes have agreed on their handlers (a library opened by dlopen comes too late then).
HandlerEntry* enrol(HandlerEntry* entry) noexcept;

/// The type of a handler, and the second parameter of every template that has a handler as its first. It is there for the
/// compiler: g++ 12 gives a pointer to a member of a class in an unnamed namespace external linkage as a template argument,
/// so that one template over two files' handlers of the same name would be one function; their types it keeps apart.
template <auto H>
using HandlerType = std::remove_cv_t<decltype(H)>;

template <class T>
inline constexpr bool is_payload = std::is_same_v<std::remove_cvref_t<T>, Payload>;

// Arguments lie one after another, each at its natural alignment but at most 8.
template <class... Args>
constexpr auto argument_offsets() {
  std::array<std::size_t, sizeof...(Args) + 1> offsets{};  // the last one is the end
  std::size_t at = 0;
  std::size_t i = 0;
  (([&] {
     const std::size_t align = alignof(Args) < 8 ? alignof(Args) : 8;
     at = (at + align - 1) / align * align;
     offsets[i++] = at;
     at += sizeof(Args);
   }()),
   ...);
  offsets[i] = at;
  return offsets;
}

template <class... Args>
struct Arguments {
  static constexpr auto offsets = argument_offsets<Args...>();
  static constexpr std::size_t bytes = offsets[sizeof...(Args)];
  static constexpr std::size_t words = (bytes + 7) / 8;

  static_assert(
      (std::is_trivially_copyable_v<Args> && ...),
      "libam: a handler's arguments must be trivially copyable values (no references to the sender's memory, "
      "no std::string or std::vector: send those as the am::Payload)");
  static_assert((!std::is_pointer_v<Args> && ...),
                "libam: a pointer means nothing on another node; send an am::GlobalPtr");
  static_assert(
      bytes <= max_words * 8,
      "libam: a handler's arguments take more than 48 bytes (6 words of 64 bits); send the rest as its "
      "am::Payload");

  static void pack(std::uint64_t* words, const Args&... args) noexcept {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (std::memcpy(reinterpret_cast<std::byte*>(words) + offsets[I], &args, sizeof(Args)), ...);
    }
    (std::index_sequence_for<Args...>{});
  }
  template <class T, std::size_t I>
  static T unpack(const std::uint64_t* words) noexcept {
    alignas(T) std::byte copy[sizeof(T)];
    std::memcpy(copy, reinterpret_cast<const std::byte*>(words) + offsets[I], sizeof(T));
    return std::bit_cast<T>(copy);
  }
};

template <class Parameters, class Indices>
struct ArgumentsOf;
template <class Parameters, std::size_t... I>
struct ArgumentsOf<Parameters, std::index_sequence<I...>> {
  using type = Arguments<std::tuple_element_t<I, Parameters>...>;
};

/// A handler's signature, taken apart: M is Request or Reply, Object the attached object's type (void for a plain
/// function), P what follows the message.
template <class M, class Object, class... P>
struct Signature {
  static_assert(std::is_same_v<M, Request> || std::is_same_v<M, Reply>,
                "libam: a handler's first parameter is am::Request& or am::Reply&; it decides the network");
  static_assert(((!std::is_lvalue_reference_v<P> || std::is_const_v<std::remove_reference_t<P>>)&&...),
                "libam: a handler's arguments arrive by value; take them by value or by const reference");
  using Parameters = std::tuple<std::remove_cvref_t<P>...>;
  static constexpr Priority priority = std::is_same_v<M, Request> ? Priority::low : Priority::high;
  static constexpr bool has_payload = [] {
    if constexpr (sizeof...(P) == 0) {
      return false;
    } else {
      return is_payload<std::tuple_element_t<sizeof...(P) - 1, Parameters>>;
    }
  }();
  static constexpr std::size_t arity = sizeof...(P) - (has_payload ? 1 : 0);
  using Packed = typename ArgumentsOf<Parameters, std::make_index_sequence<arity>>::type;

  template <auto H>
  static void run(void* message, const Packet& packet, Payload payload) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      auto& m = *static_cast<M*>(message);
      const std::uint64_t* words = packet.words;
      if constexpr (has_payload) {
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
struct HandlerTraits {
  static_assert(
      sizeof(F) == 0,
      "libam: a handler is a function or member function that returns void and takes am::Request& or "
      "am::Reply& first");
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
  requires std::is_class_v<F>  // a lambda without captures
struct HandlerTraits<F> : HandlerTraits<decltype(+std::declval<F>())> {
};

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
  static inline HandlerEntry* enrolled_ = enrol(&entry_);
};

/// An object of this type, beside the handlers by which libam itself keeps its promises (src/core), marks them as such:
/// they are no messages of the program, and its default handler does not get them. A static one, made before main.
template <auto... Own>
struct InternalHandlers {
  InternalHandlers() noexcept { (..., (Handler<Own>::entry_.internal = true)); }
};

}  // namespace impl
}  // namespace am
