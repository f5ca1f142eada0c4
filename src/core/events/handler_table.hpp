// The program's handlers in one order on all nodes. Handlers enrol themselves before main (am/handler.hpp); when the
// first node of a process joins a job they are numbered by name. Those of one name (in unnamed namespaces of two files, or in two
// libraries) are numbered by where they lie: whatever order files were linked and libraries opened in. Nodes of one program
// therefore agree without a word; the fingerprint shows when they are not one program.
#pragma once

#include <am/handler.hpp>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace am::core {

/// The function in a HandlerEntry's name as a person would write it, without the compiler's wrapping.
[[nodiscard]] std::string_view function_name(std::string_view entry_name) noexcept;

class HandlerTable {
 public:
  /// The table of this process; numbers the handlers on first use. Thread-safe.
  static const HandlerTable& of_this_program();

  /// What dispatch needs of a handler, in one place.
  struct Row {
    impl::Thunk run;
    Priority priority;
    bool internal;  ///< libam's own: no matter whether active messages are enabled
  };
  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] std::span<const Row> rows() const noexcept { return rows_; }
  [[nodiscard]] bool is_internal(std::size_t id) const noexcept {
    return id < rows_.size() && rows_[id].internal;
  }
  /// A hash of all names and signatures in order, and of the places of those that have their name in common.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }
  /// A hash of a handler's name and parameters.
  [[nodiscard]] std::uint64_t signature(std::size_t id) const noexcept;
  /// The function's name for people; "?" for a number that no handler has.
  [[nodiscard]] std::string_view name(std::size_t id) const noexcept;
  /// Whether another handler has the same name and signature.
  [[nodiscard]] bool shares_its_name(std::size_t id) const noexcept;

 private:
  HandlerTable();

  std::vector<Row> rows_;
  std::vector<std::string_view> names_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace am::core
