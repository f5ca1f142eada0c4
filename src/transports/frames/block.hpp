// Memory for what came, shared by the frames that lie in it: it is free again when the last of them was released.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace am::frames {

/// A share of a block; used by one thread.
class Block {
 public:
  static constexpr std::size_t alignment = 64;

  Block() = default;
  /// A new one. No memory ends the program: nothing here can wait for some.
  explicit Block(std::size_t bytes)
      : head_(new (::operator new (sizeof(Head) + bytes, std::align_val_t{alignment})) Head{1, bytes}) {}
  Block(const Block& other) noexcept : head_(other.head_) {
    if (head_ != nullptr) ++head_->shares;
  }
  Block(Block&& other) noexcept : head_(std::exchange(other.head_, nullptr)) {}
  Block& operator=(Block other) noexcept {
    std::swap(head_, other.head_);
    return *this;
  }
  ~Block() {
    if (head_ != nullptr && --head_->shares == 0) ::operator delete (head_, std::align_val_t{alignment});
  }

  explicit operator bool() const noexcept { return head_ != nullptr; }
  [[nodiscard]] bool operator==(const Block& other) const noexcept = default;
  [[nodiscard]] bool is_only_share() const noexcept { return head_->shares == 1; }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept {
    return {reinterpret_cast<std::byte*>(head_ + 1), head_->bytes};
  }

 private:
  struct alignas(alignment) Head {
    std::size_t shares;
    std::size_t bytes;
  };
  Head* head_ = nullptr;
};

/// Long blocks that are used again: the system takes as long to make memory as to copy into it.
class LongBlocks {
 public:
  static constexpr std::size_t least_bytes = 64 * 1024;
  static constexpr std::size_t most_kept = 4;

  /// A block of at least so many bytes; of a short one there is no more than that.
  [[nodiscard]] Block get(std::size_t bytes) {
    if (bytes < least_bytes) return Block(bytes);
    for (const Block& block : kept_) {
      if (block.is_only_share() && block.bytes().size() >= bytes) return block;
    }
    Block block(bytes);
    const auto shorter = std::ranges::find_if(kept_, [](const Block& kept) { return kept.is_only_share(); });
    if (shorter != kept_.end()) {
      *shorter = block;
    } else if (kept_.size() < most_kept) {
      kept_.push_back(block);
    }
    return block;
  }

 private:
  std::vector<Block> kept_;
};

}  // namespace am::frames
