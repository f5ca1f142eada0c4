#include <am/draft.hpp>
#include <am/error.hpp>
#include <new>
#include <string>

#include "core/engine.hpp"
#include "core/fatal.hpp"

namespace am {

Draft::Draft(Node& node, const impl::OutMessage& message, std::size_t bytes, bool wait)
    : node_(&node), message_(message), bytes_(bytes), wait_(wait) {
  core::Engine& engine = node.engine();
  const bool nobody = message.to >= node.size();
  if (nobody && wait)
    throw Error("prepare a message", "there is no node " + std::to_string(message.to), "check the node id");
  if (bytes > impl::packet_payload_bytes && !nobody) {
    if (bytes > engine.memory().largest_payload()) {
      status_ = Status::too_big;
      return;
    }
    own_.reset(new (std::nothrow) std::byte[bytes]);
    status_ = own_ == nullptr ? Status::too_big : Status::ok;
    data_ = own_.get();
    return;
  }
  const Transport::Slot slot = engine.claim_draft(message.to, message.priority, bytes, wait);
  status_ = slot.status;
  if (slot.status != Status::ok) return;
  packet_ = slot.packet;
  data_ = packet_->payload();
}

Draft::Draft(Draft&& other) noexcept
    : node_(std::exchange(other.node_, nullptr)),
      message_(other.message_),
      bytes_(other.bytes_),
      wait_(other.wait_),
      status_(other.status_),
      packet_(std::exchange(other.packet_, nullptr)),
      own_(std::move(other.own_)),
      data_(std::exchange(other.data_, nullptr)) {}

Draft::~Draft() {
  if (packet_ != nullptr) node_->engine().drop_draft({packet_, Status::ok, message_.to, message_.priority});
}

Status Draft::commit() {
  if (status_ != Status::ok) return status_;
  if (node_ == nullptr)
    core::broken(message_.origin, "a draft was committed twice, or after it was moved from");
  if (packet_ == nullptr) {
    message_.payload = Payload(data_, bytes_);
    const Status sent = node_->send_slowly_(message_, wait_);
    if (sent == Status::ok) node_ = nullptr;
    return sent;
  }
  if (node_->engine().is_gone(message_.to)) return status_ = Status::unreachable;  // its place is gone, too
  impl::Packet& packet = *std::exchange(packet_, nullptr);
  packet.payload_bytes = static_cast<std::uint32_t>(bytes_);
  packet.origin = message_.origin;
  std::copy_n(message_.word, message_.words, packet.words);
  node_->engine().commit_draft(
      {&packet, Status::ok, message_.to, message_.priority},
      impl::Header::make(message_.handler, message_.words, impl::lines_for(bytes_), 0));
  node_ = nullptr;
  return Status::ok;
}

}  // namespace am
