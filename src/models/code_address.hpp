// Code addresses as words of messages. The old interfaces name a handler by its address, which on their machines was the same on
// every node. Here nodes are processes whose objects (the program, its shared libraries) lie elsewhere in each: so what travels is
// the object and the offset in it, in one word, 24 bits that tell the object and 40 bits of offset.
//
// An object is known by its build id, or by what stands in its read-only memory where it has none: so another program, or another
// build of it, does not answer to the same word (but for one in 16 million). A word means something where an object of that
// identity has executable memory at that offset: in the program itself a subtraction and a compare, to the word and back; in
// its libraries a look through the list of them. The list is made at first use, and again when something is not found (dlopen).
//
// Only what is handed to word_of is translated: a code address that travels as a word of data is the program's own matter, and
// right where all nodes have the program at the same place (linked with -no-pie, no library's functions) or are threads of one process.
//
// Any thread, any handler: nothing here takes a lock or allocates by malloc. Objects that were used are not to be unloaded.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace am::models {

/// A function as it travels. 0 is none.
using CodeWord = std::uint64_t;
/// A function of whatever type, as C writes it.
using Code = void (*)();

inline constexpr unsigned code_offset_bits = 40;

/// A stretch of executable memory in this process.
struct CodeRange {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  CodeWord word = 0;  ///< that of its first byte; 0 where another object here has the same identity

  [[nodiscard]] bool has(Code function) const noexcept {
    return reinterpret_cast<std::uintptr_t>(function) - begin < bytes;
  }
  [[nodiscard]] bool has(CodeWord function) const noexcept { return function - word < bytes; }
  /// Of a function that it has.
  [[nodiscard]] CodeWord word_of(Code function) const noexcept {
    return reinterpret_cast<std::uintptr_t>(function) - begin + word;
  }
  [[nodiscard]] Code code_of(CodeWord function) const noexcept {
    return reinterpret_cast<Code>(function - word + begin);
  }
};

/// The executable memory of this process as it was found once; the program's own first. Never changed and never taken away.
struct CodeTable {
  std::size_t count = 0;
  std::uint64_t changes = 0;  ///< objects that had been loaded, and unloaded, since the process began
  CodeRange program{};        ///< empty before the first look
  const CodeRange* ranges = &program;
};

namespace detail {
inline constinit CodeTable nothing_found_yet{};
inline constinit std::atomic<const CodeTable*> code_table = &nothing_found_yet;
CodeWord word_of_slowly(std::uintptr_t address) noexcept;
std::uintptr_t address_of_slowly(CodeWord word) noexcept;
}  // namespace detail

/// The program's own code, as the last look found it: for who keeps it at hand, as it stays what it is.
[[nodiscard]] inline const CodeRange& program_code() noexcept {
  // Acquire, of where the table was published: what it says is there.
  return detail::code_table.load(std::memory_order_acquire)->program;
}
/// The same, after a look where there was none yet. Empty where the program's code has no words.
[[nodiscard]] const CodeRange& find_program_code() noexcept;

/// The word for a function, or 0 where it lies in no object's executable memory (null, data, code made while the program runs).
[[nodiscard]] inline CodeWord word_of(Code function) noexcept {
  const CodeRange& program = program_code();
  return program.has(function) ? program.word_of(function)
                               : detail::word_of_slowly(reinterpret_cast<std::uintptr_t>(function));
}
/// The function that a word means in this process, or null where it means none.
[[nodiscard]] inline Code code_of(CodeWord word) noexcept {
  const CodeRange& program = program_code();
  return program.has(word) ? program.code_of(word) : reinterpret_cast<Code>(detail::address_of_slowly(word));
}

}  // namespace am::models
