#include <am/draft.hpp>
#include <am/error.hpp>
#include <memory>
#include <memory_resource>
#include <string>

#include "core/node/engine.hpp"
#include "core/node/unknown_node.hpp"
#include "core/reports/fatal.hpp"

namespace am {

namespace {

std::shared_ptr<std::byte[]> own_bytes(core::Engine& engine, std::size_t bytes) {
  std::pmr::memory_resource* memory = engine.memory_for_events();
  core::EventBytes block = core::try_event_bytes(*memory, bytes);
  if (block == nullptr) return {};
  const core::ReturnBytes give_back = block.get_deleter();
  return {block.release(), give_back, std::pmr::polymorphic_allocator<std::byte>(memory)};
}

}  // namespace

Draft::Draft(Node& node, const impl::OutMessage& message, std::size_t bytes, bool wait)
    : node_(&node), message_(message), bytes_(bytes), wait_(wait) {
  core::Engine& engine = node.engine();
  const bool nobody = message.to >= node.size();
  if (nobody && wait) throw core::unknown_node("prepare a message", message.to, node.size());
  const impl::Hold hold(node);
  if (bytes > impl::packet_payload_bytes && !nobody) {
    if (bytes > engine.memory().largest_payload()) {
      status_ = Status::too_big;
      return;
    }
    own_ = own_bytes(engine, bytes);
    status_ = own_ == nullptr ? Status::too_big : Status::ok;
    data_ = own_.get();
    return;
  }
  const Transport::Slot slot = engine.claim_draft(message.to, message.priority, bytes, wait);
  status_ = slot.status;
  if (slot.status != Status::ok) return;
  hold_off_events();
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
      holds_(std::exchange(other.holds_, false)),
      own_(std::move(other.own_)),
      data_(std::exchange(other.data_, nullptr)) {}

Draft::~Draft() {
  drop_own();
  if (packet_ != nullptr) node_->engine().drop_draft({packet_, Status::ok, message_.to, message_.priority});
  let_events_go();
}

void Draft::drop_own() noexcept {
  if (own_ == nullptr) return;
  const impl::Hold hold(*node_);  // event memory belongs to whoever is in the node
  own_.reset();
}

/// A handler that waits for the link that a draft holds would wait for ever, if it ran beside it.
void Draft::hold_off_events() {
  holds_ = node_->shared_;
  if (holds_) node_->enter_();
}

void Draft::let_events_go() noexcept {
  if (std::exchange(holds_, false) && node_->shared_) node_->leave_();
}

Status Draft::commit() {
  if (status_ != Status::ok) return status_;
  if (node_ == nullptr)
    core::broken(message_.origin, "a draft was committed twice, or after it was moved from");
  if (packet_ == nullptr) {
    message_.payload = Payload(data_, bytes_);
    const Status sent = node_->send_slowly_(message_, wait_);
    if (sent == Status::ok) {
      drop_own();
      node_ = nullptr;
    }
    return sent;
  }
  if (node_->engine().membership().is_gone(message_.to)) {  // its place is gone, too
    node_->engine().drop_draft({std::exchange(packet_, nullptr), Status::ok, message_.to, message_.priority});
    let_events_go();
    return status_ = Status::unreachable;
  }
  impl::Packet& packet = *std::exchange(packet_, nullptr);
  packet.payload_bytes = static_cast<std::uint32_t>(bytes_);
  packet.origin = message_.origin;
  std::copy_n(message_.word, message_.words, packet.words);
  node_->engine().commit_draft(
      {&packet, Status::ok, message_.to, message_.priority},
      impl::Header::make(message_.handler, message_.words, impl::lines_for(bytes_), 0));
  let_events_go();
  node_ = nullptr;
  return Status::ok;
}

}  // namespace am
