#include "transports/ofi/letter_box.hpp"

#include <am/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace am::ofi {

namespace {
/// Whatever it is called in that version.
bool is_net(const Endpoint& endpoint) {
  const std::string provider = provider_of(endpoint.info());
  return endpoint.has(FI_MULTI_RECV) && (provider == "net" || provider == "tcp");
}
}  // namespace

LetterBox::Sizes LetterBox::sizes_for(const Endpoint& endpoint, bool is_net, std::size_t letter_room) {
  if (is_net) return {.bytes = 32 * 1024, .usual = 16, .others = 16};
  // Two may hold what is lent, one for each priority.
  if (endpoint.has(FI_MULTI_RECV)) return {.bytes = 256 * 1024, .usual = 2, .others = 2};
  constexpr std::size_t most = 256;
  const std::size_t usual = std::min<std::size_t>(64, endpoint.info().rx_attr->size);
  return {.bytes = letter_room, .usual = usual, .others = most - usual};
}

LetterBox::LetterBox(Endpoint& endpoint, std::size_t letter_room)
    : endpoint_(endpoint),
      many_(endpoint.has(FI_MULTI_RECV)),
      is_net_(is_net(endpoint)),
      ends_early_(many_ && ends_buffers_early(endpoint.info())),
      sizes_(sizes_for(endpoint, is_net_, letter_room)),
      wanted_(sizes_.usual) {
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
  buffer.block = frames::Block(sizes_.bytes);
  buffer.registration = endpoint_.registration(buffer.block.bytes(), Endpoint::Use::own);
  return buffer;
}

bool LetterBox::provide(Buffer& buffer) noexcept {
  const int result = endpoint_.receive(buffer.block.bytes().first(sizes_.bytes),
                                       buffer.registration.descriptor, many_, buffer);
  refused_ = result == -FI_EAGAIN;
  failure_ = refused_ ? 0 : result;
  if (result != 0) return false;
  buffer.is_provided = true;
  buffer.came = 0;
  buffer.reached = 0;
  ++provided_;
  if (owed_ != 0) --owed_;
  return true;
}

LetterBox::Came LetterBox::came(const Endpoint::Done& done) {
  auto& buffer = static_cast<Buffer&>(*done.operation);
  const bool has_text = done.error == 0 && (done.flags & FI_RECV) != 0 && done.bytes != 0;
  std::byte* const begin = buffer.block.bytes().data();
  std::byte* const at = many_ && has_text ? done.at : begin;
  if (has_text) {
    buffer.came += done.bytes;
    buffer.reached = std::max(buffer.reached, static_cast<std::size_t>(at - begin) + done.bytes);
  }
  ended(buffer, done);
  if (!has_text) return {};
  return {{at, done.bytes}, buffer.block};
}

/// Whether libfabric is done with it. With a buffer for many letters it is when it says so, with the last of them or alone; and after a
/// letter that was too long for it, without a word: else a few of these, a stranger's, would leave the node without buffers.
void LetterBox::ended(Buffer& buffer, const Endpoint::Done& done) {
  if (ends_early_) return ended_early(buffer, done);
  if (buffer.is_provided && (!many_ || done.error != 0 || (done.flags & FI_MULTI_RECV) != 0)) is_back(buffer);
}

/// What was too long for the rest of the buffer, ofi_rxm tells where that would have begun.
void LetterBox::ended_early(Buffer& buffer, const Endpoint::Done& done) {
  const bool is_too_long = done.error == FI_ETRUNC && !is_net_ && done.at != nullptr;
  if (done.error != 0 && !is_too_long) {
    if (buffer.is_provided || buffer.is_settling) retire(buffer);
  } else if (buffer.is_provided && is_too_long) {
    settle(buffer, static_cast<std::size_t>(done.at - buffer.block.bytes().data()));
  } else if (buffer.is_provided && (done.flags & FI_MULTI_RECV) != 0) {
    settle(buffer, buffer.reached);
  }
  if (buffer.is_settling && buffer.came == buffer.end) {
    buffer.is_settling = false;
    --settling_;
  }
}

void LetterBox::settle(Buffer& buffer, std::size_t end) {
  is_back(buffer);
  buffer.end = end;
  buffer.is_settling = true;
  ++settling_;
}

void LetterBox::is_back(Buffer& buffer) {
  if (std::exchange(buffer.is_provided, false)) --provided_;
  const auto at = std::ranges::find(buffers_, &buffer, &std::unique_ptr<Buffer>::get);
  std::rotate(at, at + 1, buffers_.end());
}

void LetterBox::retire(Buffer& buffer) {
  if (std::exchange(buffer.is_settling, false)) --settling_;
  is_back(buffer);
  retired_.push_back(std::move(buffers_.back()));
  buffers_.pop_back();
}

/// Of the buffers that net has by our count, each peer may hide one that is used up. So it may have had none where there are no more
/// than peers; and where there are twice as many, so many came after it had none.
void LetterBox::provide(frames::Arrivals& arrivals, bool told_all, std::size_t peers) {
  if (is_net_) {
    if (told_all && provided_ >= 2 * peers) {
      owed_ = 0;
    } else if (!told_all || provided_ <= peers) {
      owed_ = peers;
    }
    wanted_ = std::max(sizes_.usual + peers, told_all ? provided_ + owed_ : 0);
  }
  if (provided_ < wanted_) provide_free_ones(arrivals);
}

void LetterBox::provide_free_ones(frames::Arrivals& arrivals) {
  for (std::size_t i = 0; i < buffers_.size() && provided_ < wanted_; ++i) {
    Buffer& buffer = *buffers_[i];
    if (!buffer.is_provided && !buffer.is_settling && buffer.block.is_only_share() && !provide(buffer))
      return;
  }
  while (provided_ < wanted_ && buffers_.size() - settling_ < wanted_ + sizes_.others) {
    if (!provide(add())) return;
  }
  for (std::size_t i = 0; i < buffers_.size() && (provided_ == 0 || owed_ != 0); ++i) {
    Buffer& buffer = *buffers_[i];
    if (buffer.is_provided || buffer.is_settling) continue;
    arrivals.empty(buffer.block);
    if (buffer.block.is_only_share() && !provide(buffer)) return;
  }
}

}  // namespace am::ofi
