#include "transports/ofi/redirect.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace am::ofi {

// NOLINTBEGIN(performance-no-int-to-ptr): the loader's tables hold addresses as numbers

namespace {

/// What a library calls in others, and where it keeps their addresses.
class Imports {
 public:
  explicit Imports(const link_map& library) : base_(library.l_addr) {
    for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) take(*entry);
  }

  /// Where the address of that function lies; null: it does not call it, or its tables are none that this knows.
  [[nodiscard]] void** place_of(std::string_view name) const noexcept {
    if (symbols_ == nullptr || names_ == nullptr || !has_addends_) return nullptr;
    for (const Table& table : {calls_, data_}) {
      for (const ElfW(Rela) & one : std::span(table.first, table.bytes / sizeof(ElfW(Rela)))) {
        const auto symbol = static_cast<std::size_t>(one.r_info >> (sizeof(void*) == 8 ? 32 : 8));
        if (symbol != 0 && names_ + symbols_[symbol].st_name == name)
          return reinterpret_cast<void**>(base_ + one.r_offset);
      }
    }
    return nullptr;
  }

 private:
  struct Table {
    const ElfW(Rela) * first = nullptr;
    std::size_t bytes = 0;
  };
  void take(const ElfW(Dyn) & entry) {
    // The C library makes addresses of these where it may write there.
    const ElfW(Addr) at = entry.d_un.d_ptr < base_ ? base_ + entry.d_un.d_ptr : entry.d_un.d_ptr;
    switch (entry.d_tag) {
      case DT_SYMTAB:
        symbols_ = reinterpret_cast<const ElfW(Sym)*>(at);
        break;
      case DT_STRTAB:
        names_ = reinterpret_cast<const char*>(at);
        break;
      case DT_JMPREL:
        calls_.first = reinterpret_cast<const ElfW(Rela)*>(at);
        break;
      case DT_PLTRELSZ:
        calls_.bytes = entry.d_un.d_val;
        break;
      case DT_PLTREL:
        has_addends_ = entry.d_un.d_val == DT_RELA;
        break;
      case DT_RELA:
        data_.first = reinterpret_cast<const ElfW(Rela)*>(at);
        break;
      case DT_RELASZ:
        data_.bytes = entry.d_un.d_val;
        break;
      default:
        break;
    }
  }

  const ElfW(Addr) base_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  bool has_addends_ = true;
  Table calls_;
  Table data_;  // where calls go by plain pointers (-fno-plt)
};

/// What the linker has made read-only behind itself.
struct ReadOnly {
  ElfW(Addr) base;
  ElfW(Addr) begin = 0;
  ElfW(Addr) end = 0;

  static int look(dl_phdr_info* info, std::size_t /*bytes*/, void* found) {
    auto& self = *static_cast<ReadOnly*>(found);
    if (info->dlpi_addr != self.base) return 0;
    for (const ElfW(Phdr) & part : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
      if (part.p_type != PT_GNU_RELRO) continue;
      self.begin = info->dlpi_addr + part.p_vaddr;
      self.end = self.begin + part.p_memsz;
    }
    return 1;
  }
};

bool write(void** place, void* address, const ReadOnly& read_only) noexcept {
  const auto at = reinterpret_cast<ElfW(Addr)>(place);
  const bool is_read_only = read_only.begin <= at && at < read_only.end;
  const auto page = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
  auto* const begin = reinterpret_cast<void*>(at / page * page);
  if (is_read_only && mprotect(begin, page, PROT_READ | PROT_WRITE) != 0) return false;
  std::atomic_ref(*place).store(address, std::memory_order_release);
  if (is_read_only) static_cast<void>(mprotect(begin, page, PROT_READ));
  return true;
}

}  // namespace

bool redirect(const void* function_of_library, std::span<const Redirection> all) noexcept {
  Dl_info about{};
  link_map* library = nullptr;
  if (dladdr1(function_of_library, &about, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) == 0 ||
      library == nullptr)
    return false;
  const Imports imports(*library);
  std::vector<void**> places;
  for (const Redirection& one : all) {
    places.push_back(imports.place_of(one.name));
    if (places.back() == nullptr) return false;
  }
  ReadOnly read_only{library->l_addr};
  dl_iterate_phdr(&ReadOnly::look, &read_only);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!write(places[i], all[i].to, read_only)) return false;
  }
  return true;
}

// NOLINTEND(performance-no-int-to-ptr)

}  // namespace am::ofi
