// What a handler holds in its hand: the event it runs for, and exactly the sends that are allowed there.
//
//   LowEvent   any low event (request, timelet, outlet): may wait to send a reply, may try everything
//   Request    a message of the low network; adds who sent it and the reply to him
//   Reply      a message of the high network: may only try (T1 report, section 3.5: "a reply handler is not allowed to
//              loop indefinitely for any reason"); a waiting send does not compile
//
// The objects live as long as the handler runs. Definitions of the sends are in node.hpp.
#pragma once

#include <am/handler.hpp>
#include <am/types.hpp>
#include <functional>

#pragma push_macro("Status")  // types.hpp
#undef Status

namespace am {

class Group;

namespace impl {
/// For what is there to say why it does not compile.
template <class>
inline constexpr bool never = false;
}  // namespace impl

/// What a low event holds in its hand: a request, a timelet or the outlet. Valid while it runs.
class LowEvent {
 public:
  explicit LowEvent(Node& node) noexcept : node_(&node) {}

  /// The node that it runs on.
  [[nodiscard]] Node& node() const noexcept { return *node_; }
  /// The object that the program attached to this node (Node::attach).
  template <class T>
  [[nodiscard]] T& state() const noexcept;

  /// Sends on the high network to any node. Waits while it is full; meanwhile only high events run here.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status reply_to(NodeId to, A&&... args) const;
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status reply_to(UnorderedTo to, A&&... args) const;
  /// As reply_to, but answers `again` instead of waiting.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Status try_reply_to(NodeId to, A&&... args) const;
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Status try_reply_to(UnorderedTo to, A&&... args) const;
  /// Sends on the low network, or answers `again`. A low handler must not wait for the low network.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Status try_request(NodeId to, A&&... args) const;
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Status try_request(UnorderedTo to, A&&... args) const;
  /// Does not compile.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status request(const A&... /*args*/) const {
    static_assert(impl::never<F>,
                  "libam: a handler must not wait for the low network: write try_request, or post a function "
                  "that calls node.request");
    return Status::again;
  }
  /// Runs f(node) later in the node's own computation, in the order posted, during one of its polls. Allocates.
  void post(std::function<void(Node&)> f) const;

 protected:
  Node* node_;
};

/// What a request handler holds in its hand.
class Request : public LowEvent {
 public:
  Request(Node& node, NodeId from, bool multicast) noexcept
      : LowEvent(node), from_(from), multicast_(multicast) {}

  /// Who sent it.
  [[nodiscard]] NodeId from() const noexcept { return from_; }
  /// Whether it was sent to a group.
  [[nodiscard]] bool is_multicast() const noexcept { return multicast_; }

  /// Replies to the sender: LowEvent::reply_to(from(), ...). None, one or several replies per request.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status reply(A&&... args) const;
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Status try_reply(A&&... args) const;

 private:
  NodeId from_;
  bool multicast_;
};

/// What a reply handler holds in its hand. It may only try to send.
class Reply {
 public:
  Reply(Node& node, NodeId from, bool multicast) noexcept
      : node_(&node), from_(from), multicast_(multicast) {}

  /// The node that it runs on.
  [[nodiscard]] Node& node() const noexcept { return *node_; }
  /// Who sent it.
  [[nodiscard]] NodeId from() const noexcept { return from_; }
  /// Whether it was sent to a group.
  [[nodiscard]] bool is_multicast() const noexcept { return multicast_; }
  /// The object that the program attached to this node (Node::attach).
  template <class T>
  [[nodiscard]] T& state() const noexcept;

  /// Sends on the high network, or answers `again`.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Status try_reply_to(NodeId to, A&&... args) const;
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Status try_reply_to(UnorderedTo to, A&&... args) const;
  /// Sends on the low network, or answers `again`.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Status try_request(NodeId to, A&&... args) const;
  template <auto H, class F = impl::HandlerType<H>, class... A>
  [[nodiscard]] Status try_request(UnorderedTo to, A&&... args) const;
  /// Runs f(node) later in the node's own computation, as LowEvent::post.
  void post(std::function<void(Node&)> f) const;

  /// Does not compile: a reply handler must not wait. Nor do the two below.
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status reply(const A&... /*args*/) const {
    return must_not_wait_<F>();
  }
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status reply_to(const A&... /*args*/) const {
    return must_not_wait_<F>();
  }
  template <auto H, class F = impl::HandlerType<H>, class... A>
  Status request(const A&... /*args*/) const {
    return must_not_wait_<F>();
  }

 private:
  template <class F>
  static consteval Status must_not_wait_() {
    static_assert(
        impl::never<F>,
        "libam: a reply handler must not wait: write try_reply_to (to reply.from()) or try_request, or "
        "post a function that calls node.reply_to or node.request");
    return Status::again;
  }

  Node* node_;
  NodeId from_;
  bool multicast_;
};

}  // namespace am

#pragma pop_macro("Status")
