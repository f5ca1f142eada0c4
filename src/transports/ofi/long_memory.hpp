// Registered memory for long payloads: on their way out, where their receivers read them; and as they come in, where they are read
// to. Used again: to register memory costs more than to copy into it.
//
// Bounded by the credits of the links, like all that is under way, to at most four times the bytes of the payloads: credits count
// those, memory comes in blocks of three sizes. What is free is kept up to a few blocks of each size; all of it, where
// registrations live as long as the endpoint.
//
// Used by whoever is in the node.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "transports/frames/block.hpp"
#include "transports/frames/frames.hpp"
#include "transports/ofi/endpoint.hpp"

namespace am::ofi {

class LongMemory {
 public:
  /// A share of a block, and how the network names it.
  struct Part {
    frames::Block block;
    void* descriptor = nullptr;
    std::uint64_t address = 0;
    std::uint64_t key = 0;

    [[nodiscard]] std::byte* payload() const noexcept { return block.bytes().data(); }
    [[nodiscard]] std::span<std::byte> head() const noexcept {
      return block.bytes().last(frames::longest_head);
    }
  };

  explicit LongMemory(Endpoint& endpoint) : endpoint_(endpoint) {}

  /// For a payload of so many bytes, at most frames::frame_payload_bytes, and behind it for what its message says. It is free
  /// again when the last share is gone. No memory, or none that may be registered, ends the program: nothing here can wait for some.
  [[nodiscard]] Part get(std::size_t bytes);

 private:
  struct Registered {
    frames::Block block;
    Registration registration;
  };
  static constexpr std::array<std::size_t, 3> sizes = {64 * 1024, 256 * 1024,
                                                       frames::frame_payload_bytes};  // of payloads
  static constexpr std::array<std::size_t, 3> most_kept = {16, 4, 4};                 // of each

  Endpoint& endpoint_;
  std::array<std::vector<Registered>, sizes.size()> blocks_;
};

}  // namespace am::ofi
