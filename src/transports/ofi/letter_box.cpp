#include "transports/ofi/letter_box.hpp"

#include <am/error.hpp>

#include <algorithm>

namespace am::ofi {

namespace {
constexpr std::size_t large_buffer_bytes = 32 * 1024;
constexpr std::size_t large_buffers = 16;
constexpr std::size_t most_large_buffers = 32;
constexpr std::size_t small_buffers = 64;
constexpr std::size_t most_small_buffers = 256;
}  // namespace

LetterBox::LetterBox(Endpoint& endpoint, std::size_t letter_room)
    : endpoint_(endpoint),
      many_(endpoint.has(FI_MULTI_RECV)),
      buffer_bytes_(many_ ? large_buffer_bytes : letter_room),
      usual_(many_ ? large_buffers : std::min(small_buffers, endpoint.info().rx_attr->size)),
      others_(many_ ? most_large_buffers - large_buffers : most_small_buffers - small_buffers),
      wanted_(usual_) {
  if (many_) endpoint.end_buffers_below(letter_room);
  while (provided_ < wanted_ && provide(add())) {
  }
  if (provided_ == 0 && !refused_) {
    throw Error("open a network over libfabric (" + provider_of(endpoint.info()) + ")",
                "it takes no receive buffer", "");
  }
}

LetterBox::Buffer& LetterBox::add() {
  buffers_.push_back(std::make_unique<Buffer>());
  Buffer& buffer = *buffers_.back();
  buffer.kind = Operation::Kind::receive;
  buffer.block = frames::Block(buffer_bytes_);
  buffer.registration = endpoint_.registration(buffer.block.bytes(), Endpoint::Use::own);
  return buffer;
}

bool LetterBox::provide(Buffer& buffer) noexcept {
  const int result = endpoint_.receive(buffer.block.bytes().first(buffer_bytes_),
                                       buffer.registration.descriptor, many_, buffer);
  refused_ = result == -FI_EAGAIN;
  failure_ = refused_ ? 0 : result;
  if (result != 0) return false;
  buffer.is_provided = true;
  ++provided_;
  return true;
}

LetterBox::Came LetterBox::came(const Endpoint::Done& done) {
  auto& buffer = static_cast<Buffer&>(*done.operation);
  // libfabric is done with a buffer for many letters when it says so, with the last of them or alone; and after a letter that was too
  // long for it, without a word (ofi_rxm): else a few of these, a stranger's, would leave the node without buffers.
  const bool is_over = !many_ || done.error != 0 || (done.flags & FI_MULTI_RECV) != 0;
  if (is_over && buffer.is_provided) {
    buffer.is_provided = false;
    --provided_;
    const auto at = std::ranges::find(buffers_, &buffer, &std::unique_ptr<Buffer>::get);
    std::rotate(at, at + 1, buffers_.end());
  }
  if (done.error != 0 || (done.flags & FI_RECV) == 0 || done.bytes == 0) return {};
  std::byte* const at = many_ ? done.at : buffer.block.bytes().data();
  return {{at, done.bytes}, buffer.block};
}

/// That it has used up all shows in provided_, when it has told of all.
void LetterBox::provide(frames::Arrivals& arrivals, bool told_all, std::size_t peers) {
  if (many_ && (provided_ == 0 || !told_all)) wanted_ = std::max(usual_, peers);
  if (provided_ < wanted_) provide_free_ones(arrivals);
  if (told_all && provided_ >= wanted_) wanted_ = usual_;
  if (buffers_.size() > wanted_ + others_) drop(buffers_.size() - wanted_ - others_);
}

/// So many of those that are free, if there are.
void LetterBox::drop(std::size_t count) noexcept {
  std::erase_if(buffers_, [&](const std::unique_ptr<Buffer>& one) {
    return count != 0 && !one->is_provided && one->block.is_only_share() && count-- != 0;
  });
}

void LetterBox::provide_free_ones(frames::Arrivals& arrivals) {
  for (std::size_t i = 0; i < buffers_.size() && provided_ < wanted_; ++i) {
    Buffer& buffer = *buffers_[i];
    if (!buffer.is_provided && buffer.block.is_only_share() && !provide(buffer)) return;
  }
  while (provided_ < wanted_ && buffers_.size() < wanted_ + others_) {
    if (!provide(add())) return;
  }
  if (provided_ != 0 && wanted_ == usual_) return;
  for (std::size_t i = 0; i < buffers_.size() && provided_ < wanted_; ++i) {
    Buffer& buffer = *buffers_[i];
    if (buffer.is_provided) continue;
    arrivals.empty(buffer.block);
    if (buffer.block.is_only_share() && !provide(buffer)) return;
  }
}

}  // namespace am::ofi
