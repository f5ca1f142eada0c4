// What a killed process leaves behind does not keep a later one, which the system has given the same number, from its network. Memory is
// there when it is registered.
#include "transports/ofi/endpoint.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "unit/transports/ofi/nodes.hpp"

namespace am::ofi {
namespace endpoint_test {

Endpoint open_shm() {
  Wish wish;
  wish.provider = "shm";
  return Endpoint(system_library(), choose(system_library(), wish));
}

/// "fi_shm://PID:UID:0": its last part is the name of a file, its last number the endpoint's own.
struct Name {
  std::string before;
  int number;
  [[nodiscard]] std::filesystem::path file() const { return "/dev/shm/" + before + std::to_string(number); }
};
Name name_of(const Endpoint& endpoint) {
  const auto* const text = reinterpret_cast<const char*>(endpoint.address().data());
  std::string whole(text, strnlen(text, endpoint.address().size()));
  whole.erase(0, whole.rfind('/') + 1);
  const std::size_t number = whole.rfind(':') + 1;
  return {whole.substr(0, number), std::stoi(whole.substr(number))};
}

TEST(Endpoints, PassOverNamesThatAKilledProcessHasLeftBehind) {
  if (!is_there("shm")) GTEST_SKIP() << "this system has no shm";
  std::vector<Name> left;
  {
    const Endpoint first = open_shm();
    const Name name = name_of(first);
    ASSERT_TRUE(std::filesystem::exists(name.file())) << name.file();
    for (int next = 1; next <= 3; ++next) {
      left.push_back({name.before, name.number + next});
      std::filesystem::copy_file(name.file(), left.back().file());
    }
  }
  {
    const Endpoint later = open_shm();
    EXPECT_EQ(name_of(later).before, left.back().before);
    EXPECT_EQ(name_of(later).number, left.back().number + 1);
  }
  for (const Name& name : left) EXPECT_FALSE(std::filesystem::exists(name.file())) << "it is cleared away";
}

/// Wherever it begins and ends in its first and its last page, and what it holds stays.
TEST(Endpoints, PutMemoryBehindEachByteThatTheyRegister) {
  const test::FakeFabric fabric(std::vector{test::FakeProvider{.mr_mode = FI_MR_ALLOCATED}});
  {
    Endpoint endpoint(fabric.library(), choose(fabric.library(), {.provider = {}, .interfaces = {}}));
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (const std::size_t begin : {std::size_t{0}, std::size_t{1}, page - 1}) {
      for (const std::size_t bytes :
           {std::size_t{1}, std::size_t{2}, page, page + 1, 2 * page - 1, 2 * page}) {
        void* const fresh =
            mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(fresh, MAP_FAILED);
        const auto memory = std::span(static_cast<std::byte*>(fresh), 3 * page).subspan(begin, bytes);
        static_cast<void>(endpoint.registration(memory, Endpoint::Use::read));
        EXPECT_EQ(fabric.complaints(), std::vector<std::string>{}) << bytes << " bytes from " << begin;
        std::ranges::fill(memory, std::byte{7});
        static_cast<void>(endpoint.registration(memory, Endpoint::Use::read));
        EXPECT_TRUE(std::ranges::all_of(memory, [](std::byte byte) { return byte == std::byte{7}; }));
        munmap(fresh, 3 * page);
      }
    }
  }
  EXPECT_EQ(fabric.open_objects(), 0u);
}

}  // namespace endpoint_test
}  // namespace am::ofi
