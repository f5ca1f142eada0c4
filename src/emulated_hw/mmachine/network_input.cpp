#include "emulated_hw/mmachine/network_input.hpp"

namespace am::mmachine {

namespace {

constexpr unsigned words_of_header = 3;  // HandlerIP, count, NID
constexpr unsigned words_of_misled = 4;  // the same and DestAddr

}  // namespace

bool NetworkInput::has_room() const noexcept {
  const Position& oldest = before_ ? *before_ : now_;
  if (at_ == 0 && come_ - oldest.read == queue_messages) return false;
  const std::uint64_t free = queue_words - (end_ - oldest.begin);
  return free >= (at_ <= 1 ? words_of_header : 1u);
}

void NetworkInput::take(const Flit& flit) noexcept {
  const unsigned at = at_++;
  const bool whole = flit.is_whole();
  if (!whole) ++parity_faults_;
  if (at == 0) {
    header_ = Header::of(flit.word.bits);
    misled_ = !whole;
  } else if (at == 1) {
    const unsigned size = misled_ ? words_of_misled : words_of_misled + header_.argcount;
    sizes_[come_++ % queue_messages] = static_cast<std::uint8_t>(size);
    put(whole && !misled_ ? flit.word : fault(), false);
    put({header_.argcount, false}, false);
    put({nid_of(header_.sender), false}, false);
  } else if (at == 2 || !misled_) {
    put(whole ? flit.word : fault(), flit.tail || misled_);
  }
  if (flit.tail) at_ = 0;
}

Word NetworkInput::fault() const noexcept {
  return errval_of({.count = parity_faults_,
                    .priority = static_cast<std::uint8_t>(index(priority_)),
                    .ordered = header_.ordered,
                    .argument_count = header_.argcount,
                    .sender = header_.sender});
}

Word NetworkInput::head() noexcept {
  before_ = now_;
  const Word word = queue_[now_.next % queue_words].word;
  now_.begin = now_.next + 1;
  now_.next += sizes_[now_.read++ % queue_messages];
  now_.ended = false;
  return word;
}

Word NetworkInput::body() noexcept {
  before_ = now_;
  if (now_.ended) return past_the_tail();
  const Place& place = queue_[now_.begin++ % queue_words];
  now_.ended = place.tail;
  return place.word;
}

void NetworkInput::undo() noexcept {
  if (before_) now_ = *before_;
  before_.reset();
}

}  // namespace am::mmachine
