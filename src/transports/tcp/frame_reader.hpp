// Frames out of the bytes of one connection, which come in pieces of any size. Most frames stay where they were read, in memory
// that all connections share (arrivals.hpp); one that is not complete gets memory of its own, and the rest of it is read
// straight into that.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstring>
#include <string_view>

#include "transports/tcp/arrivals.hpp"
#include "transports/tcp/frames.hpp"
#include "transports/tcp/socket.hpp"

namespace am::tcp {

class FrameReader {
 public:
  struct Result {
    Socket::Moved moved;
    std::string_view malformed =
        {};  ///< why nothing more of this connection is to be believed; empty: all is well
  };

  /// Reads once: `source(pieces)` is as Socket::read; `take(frame, bytes, block)` gets each frame that is complete, where it
  /// lies, and says what is wrong with it (nothing: empty).
  template <class Source, class Take>
  [[nodiscard]] Result read(Arrivals& memory, Source&& source, Take&& take) {
    const Arrivals::Room room = memory.room();
    std::memcpy(room.bytes.data(), beginning_.data(), begun_);
    std::array<iovec, 2> pieces{};
    std::size_t count = 0;
    if (whole_) pieces[count++] = {whole_.bytes().data() + have_, needed_ - have_};
    // Behind one that is not complete only so much as to see what comes next: a long one's rest would have to be copied.
    const std::size_t most = whole_ ? std::min(peek_bytes, room.bytes.size()) : room.bytes.size();
    pieces[count++] = {room.bytes.data() + begun_, most - begun_};
    const Socket::Moved moved = source(std::span<const iovec>(pieces.data(), count));
    if (moved.outcome != Socket::Moved::Outcome::some) return {moved};
    std::size_t came = moved.bytes;
    if (whole_) {
      const std::size_t here = std::min(came, needed_ - have_);
      have_ += here;
      came -= here;
      if (have_ < needed_) return {moved};
      const Block whole = std::exchange(whole_, {});
      if (const Taken taken = take_frames(whole.bytes().first(needed_), whole, take);
          !taken.malformed.empty())
        return {moved, taken.malformed};
    }
    const std::span<const std::byte> bytes = room.bytes.first(begun_ + came);
    memory.filled(room, bytes.size());
    const Taken taken = take_frames(bytes, room.block, take);
    if (taken.malformed.empty()) keep(memory, taken.rest, taken.needed);
    return {moved, taken.malformed};
  }

 private:
  static constexpr std::size_t peek_bytes = 4096;
  struct Taken {
    std::span<const std::byte> rest;  // the beginning of a frame
    std::size_t needed = 0;           // bytes of it that are known to come
    std::string_view malformed = {};
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

  void keep(Arrivals& memory, std::span<const std::byte> rest, std::size_t needed) {
    begun_ = 0;
    if (rest.size() < beginning_.size()) {
      std::ranges::copy(rest, beginning_.begin());
      begun_ = rest.size();
    } else {
      whole_ = memory.block(needed);
      needed_ = needed;
      std::memcpy(whole_.bytes().data(), rest.data(), rest.size());
      have_ = rest.size();
    }
  }

  std::array<std::byte, frame_alignment> beginning_{};  // of a frame whose length is not known yet
  std::size_t begun_ = 0;
  Block whole_;             // a frame that is not complete
  std::size_t have_ = 0;    // bytes of it
  std::size_t needed_ = 0;  // in all
};

}  // namespace am::tcp
