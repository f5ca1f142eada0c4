#include <am/impl/object_identity.hpp>

#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace am::impl {

namespace {

std::span<const ElfW(Phdr)> segments_of(const dl_phdr_info& object) noexcept {
  return {object.dlpi_phdr, object.dlpi_phnum};
}

/// FNV-1a, eight bytes at a time.
class Hash {
 public:
  // What a sanitizer has put between a program's constants is read, too.
  [[gnu::no_sanitize_address, gnu::noinline]] void add(const std::byte* bytes, std::size_t count) noexcept {
    std::size_t at = 0;
    for (; at + sizeof(std::uint64_t) <= count; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      __builtin_memcpy(&word, bytes + at, sizeof word);
      step(word);
    }
    for (; at < count; ++at) step(static_cast<std::uint64_t>(bytes[at]));
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  void step(std::uint64_t word) noexcept {
    value_ = (value_ ^ word) * 0x100000001b3;
    value_ ^= value_ >> 29;  // a product's upper bits never reach the lower ones
  }
  std::uint64_t value_ = 0xcbf29ce484222325;
};

const std::byte* start_of(const dl_phdr_info& object, const ElfW(Phdr) & segment) noexcept {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader has addresses as numbers
  return reinterpret_cast<const std::byte*>(object.dlpi_addr + segment.p_vaddr);
}

/// Adds the description of the note NT_GNU_BUILD_ID, if the segment has one.
bool add_build_id(Hash& hash, const std::byte* notes, std::size_t bytes, std::size_t alignment) noexcept {
  const auto rounded = [alignment](std::size_t n) { return (n + alignment - 1) / alignment * alignment; };
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof note);
    const std::size_t name = at + sizeof note;
    const std::size_t description = name + rounded(note.n_namesz);
    if (description > bytes || note.n_descsz > bytes - description) return false;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0) {
      hash.add(notes + description, note.n_descsz);
      return true;
    }
    at = description + rounded(note.n_descsz);
  }
  return false;
}

bool add_build_id(Hash& hash, const dl_phdr_info& object) noexcept {
  for (const ElfW(Phdr) & segment : segments_of(object)) {
    const std::size_t alignment = segment.p_align == 8 ? 8 : 4;
    if (segment.p_type == PT_NOTE &&
        add_build_id(hash, start_of(object, segment), segment.p_memsz, alignment))
      return true;
  }
  return false;
}

/// Adds what stands in the segments that may be used in exactly this way.
bool add_contents(Hash& hash, const dl_phdr_info& object, ElfW(Word) flags) noexcept {
  bool any = false;
  for (const ElfW(Phdr) & segment : segments_of(object)) {
    if (segment.p_type != PT_LOAD || segment.p_flags != flags) continue;
    hash.add(start_of(object, segment), segment.p_filesz);
    any = true;
  }
  return any;
}

bool holds(const dl_phdr_info& object, std::uintptr_t address) noexcept {
  return std::ranges::any_of(segments_of(object), [&](const ElfW(Phdr) & segment) {
    return segment.p_type == PT_LOAD && address - object.dlpi_addr - segment.p_vaddr < segment.p_memsz;
  });
}

std::uint32_t identity_of(const dl_phdr_info& object) noexcept {
  Hash hash;
  if (!add_build_id(hash, object) && !add_contents(hash, object, PF_R))
    add_contents(hash, object, PF_R | PF_X);
  const std::uint64_t value = hash.value();
  const auto bits = static_cast<std::uint32_t>((value ^ value >> 24 ^ value >> 48) & 0xffffff);
  return bits != 0 ? bits : 1;
}

}  // namespace

PlaceInObject place_of(const void* address) noexcept {
  struct Search {
    std::uintptr_t address;
    PlaceInObject found;
  } search{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* argument) {
        auto& [wanted, found] = *static_cast<Search*>(argument);
        if (!holds(*object, wanted)) return 0;
        const std::string_view path = object->dlpi_name;
        found = {identity_of(*object), wanted - object->dlpi_addr, path.substr(path.rfind('/') + 1)};
        return 1;
      },
      &search);
  return search.found;
}

}  // namespace am::impl
