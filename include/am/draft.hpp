// A message under construction: its payload is written where the receiver will read it, without a copy.
//
//   am::Draft draft = node.prepare<h>(to, bytes, arguments...);
//   fill(draft.data());
//   draft.commit();
//
// A draft of up to impl::packet_payload_bytes (1 KiB) has its place in the order already: until commit, or until it is
// destroyed, which drops it, other sends to the same node and priority answer `again` (waiting ones wait, for ever if it is the
// same thread that holds the draft: commit first). A longer one holds up nobody; its place is that of its commit.
#pragma once

#include <am/node.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#pragma push_macro("Status")  // types.hpp
#undef Status

namespace am {

/// A message whose payload its sender writes where the receiver will read it. Node::prepare makes one.
class Draft {
 public:
  Draft(Draft&& other) noexcept;
  Draft& operator=(Draft&&) = delete;
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    if (node_ != nullptr) drop();
  }

  /// ok: data() may be filled. Otherwise why not: again (try_prepare), unreachable, too_big.
  [[nodiscard]] Status status() const noexcept { return status_; }
  explicit operator bool() const noexcept { return status_ == Status::ok; }

  /// The payload to fill; its first contents are arbitrary. It lies where the receiver will read it, in memory of the network,
  /// if that takes so much at once (shared memory: 1 MiB); else in this node's memory, and commit sends it in pieces.
  [[nodiscard]] std::span<std::byte> data() noexcept { return {data_, bytes_}; }
  /// The same as values of T: as many whole ones as fit.
  template <class T>
  [[nodiscard]] std::span<T> as() noexcept {
    static_assert(impl::PlainValue<T>,
                  "libam: a payload is written as trivially copyable values without pointers");
    static_assert(alignof(T) <= impl::payload_alignment,
                  "libam: a payload begins aligned to 16 bytes: copy values that need more into data()");
    return {reinterpret_cast<T*>(data_), bytes_ / sizeof(T)};
  }

  /// Sends it. ok for one of up to impl::packet_payload_bytes. A longer one may have to wait for room (if it was made by
  /// prepare) or answers `again` (try_prepare): then it can be committed again.
  Status commit();

 private:
  friend class Node;
  Draft(Node& node, const impl::OutMessage& message, std::size_t bytes, bool wait);

  Status commit_long();
  void drop() noexcept;
  void hold_off_events();
  void let_events_go() noexcept;

  Node* node_;
  impl::OutMessage message_;
  std::size_t bytes_;
  bool wait_;
  Status status_ = Status::ok;
  impl::Packet* packet_ =
      nullptr;  // its slot, if it has one; then events are held off (impl::Hold) while it is filled in
  bool holds_ = false;
  std::uint32_t lane_ = 0;              // the network's own
  std::uint64_t mark_ = 0;              // the network's, of its slot or of memory that it lends; 0: none
  std::shared_ptr<std::byte[]> own_{};  // more than the network takes at once
  std::byte* data_ = nullptr;
};

template <auto H, class F, class... A>
Draft Node::prepare(NodeId to, std::size_t bytes, A&&... args) {
  using Traits = impl::DraftTraits<typename impl::Handler<H>::Traits, A...>;
  return Draft(*this, pack_<H, F, Traits>(to, std::forward<A>(args)..., Payload()), bytes, true);
}

template <auto H, class F, class... A>
Draft Node::try_prepare(NodeId to, std::size_t bytes, A&&... args) {
  using Traits = impl::DraftTraits<typename impl::Handler<H>::Traits, A...>;
  return Draft(*this, pack_<H, F, Traits>(to, std::forward<A>(args)..., Payload()), bytes, false);
}

}  // namespace am

#pragma pop_macro("Status")
