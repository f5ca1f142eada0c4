// CMMD's modes of files (<am/cmmd.h>), by what stands in a file and on standard output afterwards. Descriptors are a process's: nodes
// are processes.
#include <am/cmmd.h>
#include <fcntl.h>
#include <am/am.hpp>

#include "support/cmam.hpp"

namespace cmmd_io_modes_test {

using namespace test;
using CmmdIoModes = test::OnCmam<
    test::OnSubstrates<test::Suite{.threads = false, .faults = false, .about = test::About::node}>>;

/// A file without a name, which all nodes write to.
class Scratch : test::Pinned {
 public:
  Scratch() : file_(std::tmpfile()) {}
  ~Scratch() { std::fclose(file_); }

  /// Opened anew: its place in the file is its own.
  [[nodiscard]] int open(int flags) const {
    const std::string name = "/proc/self/fd/" + std::to_string(fileno(file_));
    return ::open(name.c_str(), flags | O_CLOEXEC);  // NOLINT(cppcoreguidelines-pro-type-vararg)
  }
  [[nodiscard]] std::string text() const {
    std::string text(1 << 20, 0);
    text.resize(static_cast<std::size_t>(pread(fileno(file_), text.data(), text.size(), 0)));
    return text;
  }

 private:
  std::FILE* file_;
};

/// Standard output, to a scratch file as long as this lives.
class OutputTo : test::Pinned {
 public:
  explicit OutputTo(const Scratch& scratch) : before_(dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    const int there = scratch.open(O_WRONLY | O_APPEND);
    dup2(there, STDOUT_FILENO);
    close(there);
  }
  ~OutputTo() {
    std::fflush(stdout);
    dup2(before_, STDOUT_FILENO);
    close(before_);
  }

 private:
  int before_;
};

TEST_P(CmmdIoModes, WhatAllWriteTogetherIsThereOnce) {
  const Scratch scratch;
  run_cmam(3, [&] {
    const int file = scratch.open(O_WRONLY | O_APPEND);
    check_equal(CMMD_get_io_mode(file), CMMD_local, "each its own");
    check_equal(CMMD_set_io_mode(file, CMMD_sync_bc), 0, "set");
    check_equal(CMMD_get_io_mode(file), CMMD_sync_bc, "set");
    check_equal(write(file, "all\n", 4), ssize_t{4}, "written, or so it seems");
    CMMD_sync_with_nodes();
    check_equal(CMMD_set_io_mode(file, CMMD_independent), 0, "back");
    check_equal(write(file, "+\n", 2), ssize_t{2}, "written");
    close(file);
  });
  check_equal(scratch.text(), "all\n+\n+\n+\n", "once, and then three times");
}

TEST_P(CmmdIoModes, WhatAllReadTogetherEachHas) {
  const Scratch scratch;
  const int writes = scratch.open(O_WRONLY);
  check_equal(write(writes, "abcdef", 6), ssize_t{6}, "written");
  close(writes);
  run_cmam(2, [&] {
    const int file = scratch.open(O_RDONLY);
    check_equal(CMMD_set_io_mode(file, CMMD_sync_bc), 0, "set");
    for (const std::string& part : {std::string("abc"), std::string("def")}) {
      std::array<char, 3> read_part{};
      check_equal(read(file, read_part.data(), 3), ssize_t{3}, "read");
      check_equal(std::string(read_part.data(), 3), part, "by each");
    }
    close(file);
  });
}

TEST_P(CmmdIoModes, StandardOutputByNodes) {
  const Scratch scratch;
  run_cmam(3, [&] {
    const OutputTo there(scratch);
    check_equal(CMMD_fset_io_mode(stdout, CMMD_sync_seq), 0, "set");
    check_equal(CMMD_fget_io_mode(stdout), CMMD_sync_seq, "set");
    for (int round = 0; round < 3; ++round) {
      std::printf("%d of %d\n", me(), round);
      std::fflush(stdout);
    }
    if (me() == 1) std::printf("end\n");  // written when the mode changes
    check_equal(CMMD_fset_io_mode(stdout, CMMD_sync_bc), 0, "set");
    std::printf("together\n");
    check_equal(CMMD_fset_io_mode(stdout, CMMD_independent), 0, "back");
    CMMD_sync_with_nodes();
    std::printf("+\n");
  });
  check_equal(
      scratch.text(),
      "0 of 0\n1 of 0\n2 of 0\n0 of 1\n1 of 1\n2 of 1\n0 of 2\n1 of 2\n2 of 2\nend\ntogether\n+\n+\n+\n",
      "in the order of the nodes");
}

/// One node writes more than others, in several rounds.
TEST_P(CmmdIoModes, NodesMayWriteUnequally) {
  const Scratch scratch;
  constexpr std::size_t much = 200'000;
  run_cmam(2, [&] {
    const OutputTo there(scratch);
    check_equal(CMMD_fset_io_mode(stdout, CMMD_sync_seq), 0, "set");
    std::fputs(std::string(me() == 1 ? much : 3, me() == 1 ? 'b' : 'a').c_str(), stdout);
    check_equal(CMMD_fset_io_mode(stdout, CMMD_local), 0, "back");
  });
  const std::string text = scratch.text();
  check_equal(text.size(), much + 3, "all");
  check_equal(std::count(text.begin(), text.end(), 'a'), std::ptrdiff_t{3}, "of both");
}

TEST_P(CmmdIoModes, WhatIsRefused) {
  const Scratch scratch;
  run_cmam(1, [&] {
    const int file = scratch.open(O_RDWR);
    check(CMMD_set_io_mode(file, CMMD_sync_bc) == -1 && errno == EINVAL, "reads and writes at once");
    check(CMMD_set_io_mode(file, CMMD_sync_seq) == -1 && errno == EINVAL, "in order");
    close(file);
    check(CMMD_set_io_mode(file, CMMD_local) == -1 && errno == EBADF, "none");
  });
}
INSTANTIATE_TEST_SUITE_P(Models, CmmdIoModes, test::cells_of<CmmdIoModes>(), test::name_of);

}  // namespace cmmd_io_modes_test
