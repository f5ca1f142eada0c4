// What a connection brings, as a row of frames: whatever it is, nothing is read behind its end, and a frame that is taken is the
// one that would be written.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "transports/frames/frames.hpp"

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

struct Delete {
  void operator()(std::byte* p) const { operator delete[](p, std::align_val_t{am::frames::frame_alignment}); }
};

void must_be_written_so(const am::frames::Frame& frame, std::span<const std::byte> came) {
  std::vector<std::byte> again(came.size());
  must(am::frames::write_frame(again.data(), frame) == came.size());
  must(std::memcmp(again.data(), came.data(), came.size()) == 0);
}

/// What is read of a message's head alone is what is read of the whole.
void must_begin(const am::frames::BegunMessage& begun, const am::frames::Frame& frame) {
  must(frame.kind == am::frames::Frame::Kind::message && begun.frame.head.bits == frame.head.bits);
  must(begun.frame.words == frame.words && begun.frame.origin == frame.origin);
  must(begun.frame.priority == frame.priority && begun.payload_bytes == frame.payload.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::unique_ptr<std::byte, Delete> memory(new (std::align_val_t{am::frames::frame_alignment})
                                                      std::byte[size == 0 ? 1 : size]);
  std::memcpy(memory.get(), data, size);
  std::span<const std::byte> rest(memory.get(), size);
  for (;;) {
    am::frames::Frame frame;
    const am::frames::Read read = am::frames::read_frame(rest, frame);
    must((read.outcome == am::frames::Read::Outcome::malformed) == !read.why.empty());
    if (read.outcome == am::frames::Read::Outcome::more) must(read.bytes > rest.size());
    const std::optional<am::frames::BegunMessage> begun =
        rest.size() < am::frames::longest_head ? std::nullopt : am::frames::read_begun_message(rest);
    if (read.outcome == am::frames::Read::Outcome::malformed)
      must(!begun || rest.size() >= am::frames::frame_bytes(begun->frame) + begun->payload_bytes);
    if (read.outcome != am::frames::Read::Outcome::frame) return 0;
    if (begun) must_begin(*begun, frame);
    must(read.bytes <= rest.size() && read.bytes % am::frames::frame_alignment == 0);
    must_be_written_so(frame, rest.first(read.bytes));
    rest = rest.subspan(read.bytes);
  }
}
