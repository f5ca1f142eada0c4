// A spliced stream whose values this node has to pass on itself: one that comes or goes by messages. It moves what there is when values
// come, or when the other end takes some again.
//
// Used in the node's computation, in posts.
#pragma once

#include <algorithm>
#include <am/impl/stream_ends.hpp>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace am::core {

class StreamRelay {
 public:
  StreamRelay(std::unique_ptr<impl::StreamReader> in, std::unique_ptr<impl::StreamWriter> out,
              std::size_t value_bytes)
      : in_(std::move(in)),
        out_(std::move(out)),
        value_bytes_(value_bytes),
        values_(buffer_bytes(value_bytes)) {}

  [[nodiscard]] impl::StreamReader& in() noexcept { return *in_; }
  [[nodiscard]] impl::StreamWriter& out() noexcept { return *out_; }
  enum class Outcome { goes_on, waits_for_values, waits_for_room, over };
  /// Passes on what goes without waiting; goes_on: there is more, for the next poll.
  Outcome run();
  /// Values and marks so far.
  [[nodiscard]] std::uint64_t passed() const noexcept { return passed_; }
  /// Asks the reader of `out` to say when there is room again, once more to be tried after that; false: nobody will say so.
  [[nodiscard]] bool is_told_of_room() noexcept;
  /// The same of the writer of `in`; false: it was asked before.
  [[nodiscard]] bool is_told_of_values() noexcept;

 private:
  static std::size_t buffer_bytes(std::size_t value_bytes) noexcept {
    return std::max<std::size_t>(65536 / value_bytes, 1) * value_bytes;
  }
  [[nodiscard]] StreamStatus pass_on_values(int& buffers);

  std::unique_ptr<impl::StreamReader> in_;
  std::unique_ptr<impl::StreamWriter> out_;
  const std::size_t value_bytes_;
  std::vector<std::byte> values_;
  std::size_t first_ = 0;  // that is not passed on, and how many
  std::size_t count_ = 0;
  std::uint64_t passed_ = 0;
  StreamStatus next_ = StreamStatus::again;  // what `in` has in place of a value
};

}  // namespace am::core
