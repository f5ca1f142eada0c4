// What a node has still to write to one connection: frames, in order, gathered so that one call writes many.
//
// Bounded by whoever puts frames here: messages by credits, the rest by their kinds.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <vector>

#include "transports/frames/block.hpp"
#include "transports/tcp/socket.hpp"

namespace am::tcp {

using namespace frames;  // what travels here

class OutQueue {
 public:
  /// Room at the end for a short frame of so many bytes, a multiple of 16; it is to be filled before anything is written.
  [[nodiscard]] std::byte* add(std::size_t bytes);
  /// A frame that lies in a block of its own, from there to there.
  void add(Block block, std::size_t begin, std::size_t end);

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool empty() const noexcept { return bytes_ == 0; }
  /// The next bytes, as many pieces as there is room for.
  [[nodiscard]] std::span<const iovec> front(std::span<iovec> pieces) const noexcept;
  /// So many of these were written.
  void written(std::size_t bytes) noexcept;
  /// Takes out what there is room for, as Socket::read does.
  [[nodiscard]] Socket::Moved read(std::span<const iovec> to) noexcept;
  /// All of another queue's, behind these.
  void add(OutQueue&& other);
  void clear() noexcept;

 private:
  struct Part {
    Block block;
    std::size_t begin;
    std::size_t end;
    bool open;  // short frames may still come behind `end`
  };
  static constexpr std::size_t part_bytes = 4096;  // of short frames; kept when all is written

  std::vector<Part> parts_;
  std::size_t first_ = 0;  // parts before this were written
  std::size_t bytes_ = 0;
};

}  // namespace am::tcp
