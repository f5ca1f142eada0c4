// A message under construction: its payload is written where the receiver will read it, without a copy.
//
//   am::Draft draft = node.prepare<h>(to, bytes, arguments...);
//   fill(draft.data());
//   draft.commit();
//
// A draft of up to impl::packet_payload_bytes (1 KiB) lies in the network: until commit, or until it is destroyed, which
// drops it, other sends to the same node and priority answer `again` (waiting ones wait, for ever if it is the same thread
// that holds the draft: commit first). A longer one holds up nobody.
#pragma once

#include <am/node.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace am {

class Draft {
 public:
  Draft(Draft&& other) noexcept;
  Draft& operator=(Draft&&) = delete;
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft();

  /// ok: data() may be filled. Otherwise why not: again (try_prepare), unreachable, too_big.
  [[nodiscard]] Status status() const noexcept { return status_; }
  explicit operator bool() const noexcept { return status_ == Status::ok; }

  /// The payload to fill; its first contents are arbitrary. Up to impl::packet_payload_bytes it lies in the receiver's
  /// ring; a longer one lies in this node's memory and is cut into packets by commit.
  [[nodiscard]] std::span<std::byte> data() noexcept { return {data_, bytes_}; }
  /// The same as values of T: as many whole ones as fit.
  template <class T>
  [[nodiscard]] std::span<T> as() noexcept {
    static_assert(impl::PlainValue<T>,
                  "libam: a payload is written as trivially copyable values without pointers");
    return {reinterpret_cast<T*>(data_), bytes_ / sizeof(T)};
  }

  /// Sends it. ok for one that lies in the ring already. A longer one may have to wait for room (if it was made by
  /// prepare) or answers `again` (try_prepare): then it can be committed again.
  Status commit();

 private:
  friend class Node;
  Draft(Node& node, const impl::OutMessage& message, std::size_t bytes, bool wait);

  void drop_own() noexcept;
  void hold_off_events();
  void let_events_go() noexcept;

  Node* node_;
  impl::OutMessage message_;
  std::size_t bytes_;
  bool wait_;
  Status status_ = Status::ok;
  impl::Packet* packet_ =
      nullptr;  // in the ring; then events are held off (impl::Hold) while it is filled in
  bool holds_ = false;
  std::shared_ptr<std::byte[]> own_{};  // too long for one packet
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
