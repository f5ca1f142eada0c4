// The memory that the nodes of one host share, by two objects that stand for two processes.
#include "host/memory.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <am/error.hpp>
#include <fstream>

#include "support/check.hpp"

namespace am::host::memory_test {

using namespace testing;

std::shared_ptr<Memory> another(const Memory& memory) {
  return Memory::open(fcntl(memory.fd(), F_DUPFD_CLOEXEC, 3));
}

/// Nobody can make the memory of the others end before its end, by which they would end, too.
TEST(HostMemory, NobodyChangesItsSize) {
  const std::shared_ptr<Memory> memory = Memory::create(2);
  if ((fcntl(memory->fd(), F_GET_SEALS) & F_SEAL_SHRINK) == 0)
    GTEST_SKIP() << "a file without a name: no memfd here";
  struct stat info {};
  ASSERT_EQ(fstat(memory->fd(), &info), 0);
  for (const off_t size : {off_t{0}, off_t{4096}, info.st_size - 1, info.st_size + 1})
    EXPECT_NE(ftruncate(memory->fd(), size), 0) << size;
  EXPECT_NE(fcntl(memory->fd(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  memory->board().card(1).pid = 1;
  EXPECT_TRUE(memory->commit_node(1, max_handlers)) << "pages within it come as ever";
}

/// What the kernel says of the mapping that begins there, as "rd wr sh mr mw".
std::string flags_of(const void* mapped) {
  std::ostringstream begin;
  begin << std::hex << reinterpret_cast<std::uintptr_t>(mapped) << '-';
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  while (std::getline(maps, line) && !line.starts_with(begin.str())) {
  }
  while (std::getline(maps, line) && !line.starts_with("VmFlags: ")) {
  }
  return line;
}

TEST(HostMemory, OnlyANodesOwnSegmentIsInItsCoreDumps) {
  const std::shared_ptr<Memory> memory = Memory::create(2);
  for (const NodeId node : {0u, 1u}) memory->board().card(node).segment_bytes = page_bytes;
  memory->board().card(0).pid = getpid();
  EXPECT_THAT(flags_of(memory->map_user(0).data()), Not(HasSubstr(" dd")));
  EXPECT_THAT(flags_of(memory->map_user(1).data()), HasSubstr(" dd"));
  EXPECT_THAT(flags_of(memory->map_region(0, page_bytes)), HasSubstr(" dd"));
}

/// What a node says on its card later, on purpose or not, leads nobody beyond what it has mapped.
TEST(HostMemory, AUserSegmentStaysAsLargeAsItWasWhenItWasMapped) {
  const std::shared_ptr<Memory> memory = Memory::create(2);
  std::uint64_t& size = memory->board().card(1).segment_bytes;
  EXPECT_TRUE(memory->map_user(1).empty()) << "it has none yet";
  size = 8192;
  const std::span<std::byte> mapped = memory->map_user(1);
  EXPECT_EQ(mapped.size(), 8192u);
  size = ~std::uint64_t{0};
  EXPECT_EQ(memory->map_user(1).size(), 8192u);
  EXPECT_EQ(memory->map_user(1).data(), mapped.data());
}

TEST(HostMemory, OpensNothingElse) {
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  EXPECT_THAT(test::error_of([&] { Memory::open(file); }), HasSubstr("no memory of a libam job"));
  close(file);
  const std::shared_ptr<Memory> memory = Memory::create(2);
  ++memory->board().job().version;
  EXPECT_THROW(another(*memory), Error);
  --memory->board().job().version;
  memory->board().job().nodes = max_nodes + 1;
  EXPECT_THROW(another(*memory), Error);
  memory->board().job().nodes = 3;
  EXPECT_THROW(another(*memory), Error) << "its size is that of two";
  memory->board().job().nodes = 2;
  EXPECT_NO_THROW(another(*memory));
}

}  // namespace am::host::memory_test
