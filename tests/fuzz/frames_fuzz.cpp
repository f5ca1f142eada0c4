// What a connection brings, as a row of frames: whatever it is, nothing is read behind its end, and a frame that is taken is the
// one that would be written.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "transports/tcp/frames.hpp"

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

struct Delete {
  void operator()(std::byte* p) const { operator delete[](p, std::align_val_t{am::tcp::frame_alignment}); }
};

void must_be_written_so(const am::tcp::Frame& frame, std::span<const std::byte> came) {
  std::vector<std::byte> again(came.size());
  must(am::tcp::write_frame(again.data(), frame) == came.size());
  must(std::memcmp(again.data(), came.data(), came.size()) == 0);
}

/// What is read of a message's head alone is what is read of the whole.
void must_begin(const am::tcp::BegunMessage& begun, const am::tcp::Frame& frame) {
  must(frame.kind == am::tcp::Frame::Kind::message && begun.frame.head.bits == frame.head.bits);
  must(begun.frame.words == frame.words && begun.frame.origin == frame.origin);
  must(begun.frame.priority == frame.priority && begun.payload_bytes == frame.payload.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::unique_ptr<std::byte, Delete> memory(new (std::align_val_t{am::tcp::frame_alignment})
                                                      std::byte[size == 0 ? 1 : size]);
  std::memcpy(memory.get(), data, size);
  std::span<const std::byte> rest(memory.get(), size);
  for (;;) {
    am::tcp::Frame frame;
    const am::tcp::Read read = am::tcp::read_frame(rest, frame);
    must((read.outcome == am::tcp::Read::Outcome::malformed) == !read.why.empty());
    if (read.outcome == am::tcp::Read::Outcome::more) must(read.bytes > rest.size());
    const std::optional<am::tcp::BegunMessage> begun =
        rest.size() < am::tcp::longest_head ? std::nullopt : am::tcp::read_begun_message(rest);
    if (read.outcome == am::tcp::Read::Outcome::malformed)
      must(!begun || rest.size() >= am::tcp::frame_bytes(begun->frame) + begun->payload_bytes);
    if (read.outcome != am::tcp::Read::Outcome::frame) return 0;
    if (begun) must_begin(*begun, frame);
    must(read.bytes <= rest.size() && read.bytes % am::tcp::frame_alignment == 0);
    must_be_written_so(frame, rest.first(read.bytes));
    rest = rest.subspan(read.bytes);
  }
}
