// Frames out of the bytes of one connection, which come in pieces of any size. Most frames stay where they were read, in memory
// that all connections share (arrivals.hpp); one that is not complete gets memory of its own, and the rest of it is read
// straight into that, or, a long payload, to where it belongs (Destinations).
#pragma once

#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "transports/frames/arrivals.hpp"
#include "transports/frames/frames.hpp"
#include "transports/tcp/socket.hpp"

namespace am::tcp {

using namespace frames;  // what travels here

class FrameReader {
 public:
  struct Result {
    Socket::Moved moved;
    std::string_view malformed =
        {};  ///< why nothing more of this connection is to be believed; empty: all is well
  };
  /// The payload of a shorter frame is copied more quickly than it is asked where that belongs.
  static constexpr std::size_t least_placed_bytes = 16 * 1024;

  /// Reads once: `source(pieces)` is as Socket::read; `place(message)` says where the payload of a message belongs, or null, as
  /// Destinations::destination; `take(frame, bytes, block)` gets each frame that is complete, where it lies (without the payload,
  /// where that lies elsewhere), and says what is wrong with it (nothing: empty).
  template <class Source, class Place, class Take>
  [[nodiscard]] Result read(Arrivals& memory, Source&& source, Place&& place, Take&& take) {
    const Arrivals::Room room = memory.room();
    std::memcpy(room.bytes.data(), beginning_.data(), begun_);
    if (placed_ && place(placed_->message) != placed_->at) keep_after_all(memory, false);
    std::array<iovec, 3> pieces{};
    std::size_t count = add_rest(pieces);
    // Behind one that is not complete only so much as to see what comes next: a long one's rest would have to be copied.
    const std::size_t most = whole_ ? std::min(peek_bytes, room.bytes.size()) : room.bytes.size();
    pieces[count++] = {room.bytes.data() + begun_, most - begun_};
    const Socket::Moved moved = source(std::span<const iovec>(pieces.data(), count));
    if (moved.outcome == Socket::Moved::Outcome::ended && moved.error == EFAULT && placed_) {
      keep_after_all(memory, true);  // no such memory: the handler is to find that out, where it writes there
      return {{Socket::Moved::Outcome::some}};
    }
    if (moved.outcome != Socket::Moved::Outcome::some) return {moved};
    std::size_t came = moved.bytes;
    if (whole_) {
      const std::size_t here = std::min(came, needed_ - have_);
      have_ += here;
      came -= here;
      if (have_ < needed_) return {moved};
      if (const std::string_view why = take_whole(take); !why.empty()) return {moved, why};
    }
    const std::span<const std::byte> bytes = room.bytes.first(begun_ + came);
    memory.filled(room, bytes.size());
    const Taken taken = take_frames(bytes, room.block, take);
    if (taken.malformed.empty()) keep(memory, taken.rest, taken.needed, place);
    return {moved, taken.malformed};
  }

 private:
  static constexpr std::size_t peek_bytes = 4096;
  struct Taken {
    std::span<const std::byte> rest;  // the beginning of a frame
    std::size_t needed = 0;           // bytes of it that are known to come
    std::string_view malformed = {};
  };
  /// A message whose payload is read to where it belongs. What stands before it in the frame, and the padding behind it, lie in
  /// whole_.
  struct Placed {
    BegunMessage message;
    std::byte* at;
    [[nodiscard]] std::size_t begin() const noexcept { return payload_at(message.frame.head.words()); }
    [[nodiscard]] std::size_t end() const noexcept { return begin() + message.payload_bytes; }
  };

  template <class Take>
  static Taken take_frames(std::span<const std::byte> bytes, const Block& block, Take& take) {
    for (Frame frame;;) {
      const Read read = read_frame(bytes, frame);
      if (read.outcome == Read::Outcome::more) return {bytes, read.bytes};
      if (read.outcome == Read::Outcome::malformed) return {{}, 0, read.why};
      if (const std::string_view why = take(frame, bytes.first(read.bytes), block); !why.empty())
        return {{}, 0, why};
      bytes = bytes.subspan(read.bytes);
    }
  }

  /// The frame that was not complete, and is now.
  template <class Take>
  std::string_view take_whole(Take& take) {
    const Block whole = std::exchange(whole_, {});
    if (!placed_) return take_frames(whole.bytes().first(needed_), whole, take).malformed;
    const Placed placed = *std::exchange(placed_, {});
    if (!is_padding(whole.bytes().subspan(placed.begin(), needed_ - placed.end()))) return wrong_padding;
    Frame frame = placed.message.frame;
    frame.payload = Payload(placed.at, placed.message.payload_bytes);
    return take(frame, whole.bytes().first(placed.begin()), whole);
  }

  template <class Place>
  void keep(Arrivals& memory, std::span<const std::byte> rest, std::size_t needed, Place& place) {
    begun_ = 0;
    if (rest.size() < beginning_.size()) {
      std::ranges::copy(rest, beginning_.begin());
      begun_ = rest.size();
      return;
    }
    needed_ = needed;
    have_ = rest.size();
    if (needed >= least_placed_bytes && keep_placed(memory, rest, place)) return;
    whole_ = memory.block(needed);
    std::memcpy(whole_.bytes().data(), rest.data(), rest.size());
  }

  /// Where what has come of a frame's payload goes to its destination. False when nobody knows of one.
  template <class Place>
  bool keep_placed(Arrivals& memory, std::span<const std::byte> rest, Place& place) {
    if (rest.size() < longest_head) return false;
    const std::optional<BegunMessage> message = read_begun_message(rest);
    std::byte* const at = message ? place(*message) : nullptr;
    if (at == nullptr) return false;
    placed_ = {*message, at};
    const std::size_t begin = placed_->begin();
    const std::size_t end = placed_->end();
    whole_ = memory.block(longest_head + frame_alignment);
    std::memcpy(whole_.bytes().data(), rest.data(), begin);
    std::memcpy(at, rest.data() + begin, std::min(have_, end) - begin);
    if (have_ > end) std::memcpy(whole_.bytes().data() + begin, rest.data() + end, have_ - end);
    return true;
  }

  /// Nothing is to be written where the payload belongs any more; what was is of use (`wanted`), or nobody's by now.
  void keep_after_all(Arrivals& memory, bool wanted) {
    const Placed placed = *std::exchange(placed_, {});
    const Block head = std::exchange(whole_, memory.block(needed_));
    const std::span<std::byte> frame = whole_.bytes();
    std::memcpy(frame.data(), head.bytes().data(), placed.begin());
    std::memset(frame.data() + placed.begin(), 0, needed_ - placed.begin());
    if (wanted)
      std::memcpy(frame.data() + placed.begin(), placed.at, std::min(have_, placed.end()) - placed.begin());
    if (have_ > placed.end())
      std::memcpy(frame.data() + placed.end(), head.bytes().data() + placed.begin(), have_ - placed.end());
  }

  /// The places of what is missing of the frame that is not complete.
  std::size_t add_rest(std::span<iovec> pieces) {
    if (!whole_) return 0;
    std::byte* const bytes = whole_.bytes().data();
    if (!placed_) {
      pieces[0] = {bytes + have_, needed_ - have_};
      return 1;
    }
    std::size_t count = 0;
    if (have_ < placed_->end())
      pieces[count++] = {placed_->at + (have_ - placed_->begin()), placed_->end() - have_};
    const std::size_t from = std::max(have_, placed_->end());
    if (from < needed_)
      pieces[count++] = {bytes + placed_->begin() + (from - placed_->end()), needed_ - from};
    return count;
  }

  std::array<std::byte, frame_alignment> beginning_{};  // of a frame whose length is not known yet
  std::size_t begun_ = 0;
  Block whole_;                   // a frame that is not complete
  std::optional<Placed> placed_;  // what of it lies elsewhere
  std::size_t have_ = 0;          // bytes of it
  std::size_t needed_ = 0;        // in all
};

}  // namespace am::tcp
