#include "models/symbol_name.hpp"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <span>

namespace am::models {

namespace {

/// A file, read only; empty where it cannot be had.
class MappedFile {
 public:
  explicit MappedFile(const char* path) noexcept {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat facts {};
    if (fstat(file, &facts) == 0 && facts.st_size > 0) {
      void* const place =
          mmap(nullptr, static_cast<std::size_t>(facts.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (place != MAP_FAILED)
        bytes_ = {static_cast<const char*>(place), static_cast<std::size_t>(facts.st_size)};
    }
    close(file);
  }
  ~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// `count` values from this byte on; none where the file has not so many there.
  template <class T>
  [[nodiscard]] std::span<const T> values(std::uint64_t at, std::uint64_t count) const noexcept {
    if (at > bytes_.size() || at % alignof(T) != 0 || count > (bytes_.size() - at) / sizeof(T)) return {};
    return {reinterpret_cast<const T*>(bytes_.data() + at), static_cast<std::size_t>(count)};
  }
  /// The text that begins at this byte; empty where it does not end in the file.
  [[nodiscard]] const char* text(std::uint64_t at) const noexcept {
    if (at >= bytes_.size() || std::memchr(bytes_.data() + at, 0, bytes_.size() - at) == nullptr) return "";
    return bytes_.data() + at;
  }

 private:
  std::span<const char> bytes_;
};

/// The symbol that covers this place, of the table of names for a linker, else of that for the dynamic one.
const char* symbol_at(const MappedFile& file, std::uintptr_t offset) noexcept {
  const auto head = file.values<ElfW(Ehdr)>(0, 1);
  if (head.empty() || std::memcmp(head[0].e_ident, ELFMAG, SELFMAG) != 0) return nullptr;
  const auto sections = file.values<ElfW(Shdr)>(head[0].e_shoff, head[0].e_shnum);
  for (const std::uint32_t wanted : {std::uint32_t{SHT_SYMTAB}, std::uint32_t{SHT_DYNSYM}}) {
    for (const ElfW(Shdr) & section : sections) {
      if (section.sh_type != wanted || section.sh_link >= sections.size()) continue;
      for (const ElfW(Sym) & symbol :
           file.values<ElfW(Sym)>(section.sh_offset, section.sh_size / sizeof(ElfW(Sym)))) {
        const unsigned type = symbol.st_info & 0xfU;
        if (symbol.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_OBJECT) &&
            offset - symbol.st_value < symbol.st_size)
          return file.text(sections[section.sh_link].sh_offset + symbol.st_name);
      }
    }
  }
  return nullptr;
}

struct Found {
  std::uintptr_t address;
  const char* path = nullptr;  // empty: the program itself
  std::uintptr_t offset = 0;
};

int look_into(dl_phdr_info* object, std::size_t /*bytes*/, void* argument) noexcept {
  auto& found = *static_cast<Found*>(argument);
  for (const ElfW(Phdr) & segment : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    if (segment.p_type != PT_LOAD || found.address - object->dlpi_addr - segment.p_vaddr >= segment.p_memsz)
      continue;
    found.path = object->dlpi_name;
    found.offset = found.address - object->dlpi_addr;
    return 1;
  }
  return 0;
}

}  // namespace

SymbolName::SymbolName(std::uintptr_t address) noexcept {
  Found found{.address = address};
  dl_iterate_phdr(&look_into, &found);
  if (found.path == nullptr) {
    std::snprintf(text_, sizeof text_, "%#lx, which is in no program or library",
                  static_cast<unsigned long>(address));
    return;
  }
  char own[192] = "";
  const char* shown = found.path;
  if (*found.path == '\0') {
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    shown = length > 0 ? own : "the program";
  }
  const MappedFile file(*found.path == '\0' ? "/proc/self/exe" : found.path);
  const auto offset = static_cast<unsigned long>(found.offset);
  const char* const name = symbol_at(file, found.offset);
  if (name != nullptr && *name != '\0') {
    std::snprintf(text_, sizeof text_, "%.100s (%s, offset %#lx)", name, shown, offset);
  } else {
    std::snprintf(text_, sizeof text_, "offset %#lx of %s", offset, shown);
  }
}

}  // namespace am::models
