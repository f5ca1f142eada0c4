#include "transports/ofi/letter_box.hpp"

#include <am/error.hpp>

#include <algorithm>

namespace am::ofi {

namespace {
// When the last one is used up, libfabric 1.17's net leaves a letter of each connection where it is; and whenever it is given a buffer it
// goes on with one of these connections, no more. So many, where two of 256 KiB would do: or a peer's letter would lie there until
// others send more. (Of more than 16 connections that wait at once that is so still.)
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
      wanted_(many_ ? large_buffers : std::min(small_buffers, endpoint.info().rx_attr->size)),
      most_(many_ ? most_large_buffers : most_small_buffers) {
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

void LetterBox::provide(frames::Arrivals& arrivals) {
  if (provided_ == wanted_) return;
  for (std::size_t i = 0; i < buffers_.size() && provided_ < wanted_; ++i) {
    Buffer& buffer = *buffers_[i];
    if (!buffer.is_provided && buffer.block.is_only_share() && !provide(buffer)) return;
  }
  while (provided_ < wanted_ && buffers_.size() < most_) {
    if (!provide(add())) return;
  }
  if (provided_ != 0) return;
  for (std::size_t i = 0; i < buffers_.size() && provided_ < wanted_; ++i) {
    Buffer& buffer = *buffers_[i];
    if (buffer.is_provided) continue;
    arrivals.empty(buffer.block);
    if (buffer.block.is_only_share() && !provide(buffer)) return;
  }
}

}  // namespace am::ofi
