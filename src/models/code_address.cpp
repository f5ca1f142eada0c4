#include "models/code_address.hpp"

#include <link.h>
#include <sys/mman.h>
#include <am/impl/object_identity.hpp>

#include <cstring>
#include <new>
#include <span>

namespace am::models {

namespace {

/// Calls f(object, segment) for each executable segment of each loaded object, the program's first.
template <class F>
void each_code_segment(F f) noexcept {
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* argument) {
        for (const ElfW(Phdr) & segment : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
          if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
            (*static_cast<F*>(argument))(*object, segment);
        }
        return 0;
      },
      &f);
}

CodeRange range_of(const dl_phdr_info& object, const ElfW(Phdr) & segment) noexcept {
  constexpr std::uint64_t most_offset = (std::uint64_t{1} << code_offset_bits) - 1;
  CodeRange range{.begin = object.dlpi_addr + segment.p_vaddr, .bytes = segment.p_memsz, .word = 0};
  if (segment.p_vaddr <= most_offset && segment.p_memsz <= most_offset - segment.p_vaddr)
    range.word = (std::uint64_t{impl::place_of(reinterpret_cast<const void*>(range.begin)).identity}
                  << code_offset_bits) +
                 segment.p_vaddr;
  return range;
}

/// Two objects of one identity (the same file, loaded twice) cannot be told apart: neither is meant by any word, but for the
/// program's own.
void drop_ambiguous(CodeRange* ranges, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t other = 0; other < i; ++other) {
      const bool same_place = ranges[i].word - ranges[other].word < ranges[other].bytes;
      if (ranges[i].word != 0 && ranges[other].word != 0 && same_place) {
        ranges[i].word = 0;
        if (other != 0) ranges[other].word = 0;
      }
    }
  }
}

/// Memory for a table with this many ranges, not malloc's: an interrupt may come here. Null where there is none.
struct NewTable {
  explicit NewTable(std::size_t ranges) noexcept : bytes(sizeof(CodeTable) + ranges * sizeof(CodeRange)) {
    void* const place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) return;
    table = new (place) CodeTable;
    list = new (table + 1) CodeRange[ranges];
  }
  std::size_t bytes;
  CodeTable* table = nullptr;
  CodeRange* list = nullptr;
};

/// Looks again what is loaded. The newest table; where nothing is new, the one that was there.
const CodeTable& look_again() noexcept {
  const CodeTable* before = detail::code_table.load(std::memory_order_acquire);
  std::size_t room = 0;
  std::uint64_t changes = 0;
  each_code_segment([&](const dl_phdr_info& object, const ElfW(Phdr)&) noexcept {
    ++room;
    changes = object.dlpi_adds + object.dlpi_subs;
  });
  if (changes == before->changes) return *before;
  const NewTable made(room);
  if (made.table == nullptr) return *before;
  std::size_t count = 0;
  each_code_segment([&](const dl_phdr_info& object, const ElfW(Phdr) & segment) noexcept {
    if (count < room) made.list[count++] = range_of(object, segment);
  });
  drop_ambiguous(made.list, count);
  made.table->count = count;
  made.table->changes = changes;
  if (made.list[0].word != 0) made.table->program = made.list[0];
  made.table->ranges = made.list;
  // Release: with all that it says. Where another thread, or an interrupt, was quicker, its table is as good.
  if (detail::code_table.compare_exchange_strong(before, made.table, std::memory_order_acq_rel))
    return *made.table;
  munmap(made.table, made.bytes);
  return *before;
}

const CodeRange* range_at(const CodeTable& table, std::uintptr_t address) noexcept {
  for (std::size_t i = 0; i < table.count; ++i) {
    const CodeRange& range = table.ranges[i];
    if (address - range.begin < range.bytes) return range.word != 0 ? &range : nullptr;
  }
  return nullptr;
}

const CodeRange* range_of_word(const CodeTable& table, CodeWord word) noexcept {
  for (std::size_t i = 0; i < table.count; ++i) {
    const CodeRange& range = table.ranges[i];
    if (range.word != 0 && word - range.word < range.bytes) return &range;
  }
  return nullptr;
}

}  // namespace

const CodeRange& find_program_code() noexcept {
  const CodeRange& known = program_code();
  return known.bytes != 0 ? known : look_again().program;
}

CodeWord detail::word_of_slowly(std::uintptr_t address) noexcept {
  if (address == 0) return 0;
  const CodeRange* range = range_at(*code_table.load(std::memory_order_acquire), address);
  if (range == nullptr) range = range_at(look_again(), address);
  return range != nullptr ? range->word + (address - range->begin) : 0;
}

std::uintptr_t detail::address_of_slowly(CodeWord word) noexcept {
  if (word == 0) return 0;
  const CodeRange* range = range_of_word(*code_table.load(std::memory_order_acquire), word);
  if (range == nullptr) range = range_of_word(look_again(), word);
  return range != nullptr ? range->begin + (word - range->word) : 0;
}

}  // namespace am::models
