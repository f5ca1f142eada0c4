#include <am/draft.hpp>
#include <am/error.hpp>
#include <memory>
#include <memory_resource>
#include <string>
#include <utility>

#include "core/node/engine.hpp"
#include "core/node/unknown_node.hpp"
#include "core/reports/fatal.hpp"
#include "transports/payload_room.hpp"

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
  if (bytes > core::largest_payload() && !nobody) {
    status_ = Status::too_big;
    return;
  }
  const Transport::Slot slot = engine.claim_draft(message, bytes, wait);
  status_ = slot.status;
  if (status_ == Status::too_big) {
    own_ = own_bytes(engine, bytes);
    if (own_ == nullptr) return;
    status_ = Status::ok;
    data_ = own_.get();
  }
  if (slot.status != Status::ok) return;
  packet_ = slot.packet;
  lane_ = slot.lane;
  mark_ = slot.mark;
  data_ = slot.payload;
  if (packet_ != nullptr) hold_off_events();
}

Draft::Draft(Draft&& other) noexcept
    : node_(std::exchange(other.node_, nullptr)),
      message_(other.message_),
      bytes_(other.bytes_),
      wait_(other.wait_),
      status_(other.status_),
      packet_(std::exchange(other.packet_, nullptr)),
      holds_(std::exchange(other.holds_, false)),
      lane_(other.lane_),
      mark_(std::exchange(other.mark_, 0)),
      own_(std::move(other.own_)),
      data_(std::exchange(other.data_, nullptr)) {}

namespace {

Transport::Slot slot_of(const impl::OutMessage& message, impl::Packet* packet, std::byte* payload,
                        std::size_t bytes, std::uint64_t mark, std::uint32_t lane) noexcept {
  return {packet, Status::ok, message.to, message.priority, payload, bytes, mark, lane};
}

}  // namespace

/// What was not sent goes back to where it came from.
void Draft::drop() noexcept {
  const Transport::Slot slot = slot_of(message_, packet_, data_, bytes_, mark_, lane_);
  if (packet_ != nullptr) {
    node_->engine().sender().drop(slot);
    packet_ = nullptr;
  } else if (mark_ != 0) {
    const impl::Hold hold(*node_);
    node_->engine().network().payload_room(slot.to)->give_back(slot);
  } else if (own_ != nullptr) {
    const impl::Hold hold(*node_);  // event memory belongs to whoever is in the node
    own_.reset();
  }
  mark_ = 0;
  let_events_go();
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
  message_.payload = Payload(data_, bytes_);
  if (packet_ == nullptr) return commit_long();
  core::Engine& engine = node_->engine();
  if (engine.membership().is_gone(message_.to)) {  // its place is gone, too
    drop();
    return status_ = Status::unreachable;
  }
  engine.commit_draft(
      slot_of(message_, std::exchange(packet_, nullptr), data_, bytes_, std::exchange(mark_, 0), lane_),
      message_);
  let_events_go();
  node_ = nullptr;
  return Status::ok;
}

Status Draft::commit_long() {
  if (own_ != nullptr) {
    const Status sent = node_->send_slowly_(message_, wait_);
    if (sent != Status::ok) return sent;
    drop();
  } else {
    const impl::Hold hold(*node_);
    const Status sent =
        node_->engine().commit_lent(slot_of(message_, nullptr, data_, bytes_, mark_, lane_), message_, wait_);
    if (sent != Status::ok) return sent;
    mark_ = 0;
  }
  node_ = nullptr;
  return Status::ok;
}

}  // namespace am
