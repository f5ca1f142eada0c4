// What the first node of a job tells the others by way of the launcher: where to fetch the job's memory, and
// the proof that they may. A plain value; its text is what travels.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace am::core {

/// Where to come and what to show there. Whoever of the same user has it gets the job's memory.
struct Invitation {
  std::array<std::byte, 16> name{};
  std::array<std::byte, 32> key{};

  /// Random. Throws am::Error when the kernel has no random bytes.
  static Invitation make();
  /// Nothing, if that is not what `text` wrote.
  static std::optional<Invitation> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string socket_name() const;
};

}  // namespace am::core
