// CMMD's modes of files. Each node has descriptors of its own here, so the modes in which nodes do not wait for each other are what
// happens anyway. What all nodes write together in CMMD_sync_bc is written once: the descriptors of all nodes but 0 lead nowhere. What
// all read together each reads for itself, from its own descriptor. In CMMD_sync_seq standard output is a stream of this library's,
// whose writes are collectives: node 0 writes what all have given, by node. Streams and descriptors that the program opened have no
// such place to step in, and the mode is refused.
//
// Descriptors belong to a process: for nodes that are processes.
#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/cmam/control_network.hpp"

namespace am::models::cmam {

namespace {

int refused(int error) {
  errno = error;
  return -1;
}

// -- descriptors ------------------------------------------------------------------------------------------------------------------

struct Descriptor {
  CMMD_file_mode_t mode = CMMD_local;
  int original = -1;  ///< where it led, while it leads nowhere
};
using Descriptors = std::unordered_map<int, Descriptor>;
Descriptors& descriptors() {
  static Descriptors all;
  return all;
}

bool leads_nowhere(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
}

void lead_back(int number, Descriptor& descriptor) {
  if (descriptor.original < 0) return;
  if (leads_nowhere(number)) dup2(descriptor.original, number);  // else the program has closed it
  close(descriptor.original);
  descriptor.original = -1;
}

/// 0, or -1.
int lead_nowhere(int number, Descriptor& descriptor) {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return -1;
  descriptor.original = fcntl(number, F_DUPFD_CLOEXEC, 0);
  const bool done = descriptor.original >= 0 && dup2(nowhere, number) >= 0;
  close(nowhere);
  return done ? 0 : -1;
}

int set_mode(int number, CMMD_file_mode_t mode) {
  State& caller = state();
  only_in_the_computation(caller, "CMMD_set_io_mode");
  const int flags = fcntl(number, F_GETFL);
  struct stat status {};
  if (flags < 0 || fstat(number, &status) != 0) return -1;
  if (mode < CMMD_local || mode > CMMD_sync_bc) return refused(EINVAL);
  Descriptor& descriptor = descriptors()[number];
  lead_back(number, descriptor);
  descriptor.mode = mode;
  if (mode != CMMD_sync_bc) return 0;
  const int access = flags & O_ACCMODE;
  const bool is_file = S_ISREG(status.st_mode);
  if (is_file && access == O_RDONLY) return 0;
  if (number == STDIN_FILENO || access == O_RDONLY || (is_file && access == O_RDWR)) return refused(EINVAL);
  return caller.node().id() == 0 ? 0 : lead_nowhere(number, descriptor);
}

// -- standard output, in order ----------------------------------------------------------------------------------------------------

std::FILE* original_output = nullptr;  // while stdout is this library's
constexpr std::size_t output_buffer = std::size_t{64} << 10;

/// Node 0 writes what all nodes give in this round. Whether all are about to leave.
bool write_in_order(std::string_view text, bool leaves) {
  const Together all("a write to standard output in the mode CMMD_sync_seq");
  Node& node = all.node();
  struct Share {
    std::uint64_t bytes;
    std::uint64_t leaves;
  };
  const std::vector<Share> parts = all_gather(node, Share{text.size(), leaves ? 1U : 0U});
  std::uint64_t most = 0;
  bool all_leave = true;
  for (const Share& part : parts) {
    most = std::max(most, part.bytes);
    all_leave = all_leave && part.leaves != 0;
  }
  if (most == 0) return all_leave;
  std::vector<std::byte> texts(node.size() * most);
  if (!text.empty()) std::memcpy(texts.data() + node.id() * most, text.data(), text.size());
  impl::all_gather_bytes(node, texts, most);
  if (node.id() != 0) return all_leave;
  for (NodeId of = 0; of < node.size(); ++of)
    std::fwrite(texts.data() + of * most, 1, parts[of].bytes, original_output);
  std::fflush(original_output);
  return all_leave;
}

#ifdef __GLIBC__
/// Nodes may have written in different numbers of rounds: they meet at the end.
void write_in_no_order() {
  if (original_output == nullptr) return;
  std::fflush(stdout);
  while (!write_in_order({}, true)) {
  }
  std::FILE* const ours = std::exchange(stdout, original_output);
  original_output = nullptr;
  std::fclose(ours);
}

ssize_t write_for_the_stream(void* /*cookie*/, const char* text, std::size_t bytes) {
  write_in_order({text, bytes}, false);
  return static_cast<ssize_t>(bytes);
}

int write_output_in_order() {
  if (original_output != nullptr) return 0;
  std::fflush(stdout);
  std::FILE* const ours =
      fopencookie(nullptr, "w", {.read = {}, .write = write_for_the_stream, .seek = {}, .close = {}});
  if (ours == nullptr) return -1;
  std::setvbuf(ours, nullptr, _IOFBF, output_buffer);
  original_output = std::exchange(stdout, ours);
  static const int registered = std::atexit(write_in_no_order);
  return registered;
}
#else
void write_in_no_order() {}
int write_output_in_order() { return refused(EINVAL); }
#endif

bool is_output(const std::FILE* file) {
  return file == stdout || (original_output != nullptr && file == original_output);
}

}  // namespace

}  // namespace am::models::cmam

using namespace am::models::cmam;

int CMMD_set_io_mode(int descriptor, CMMD_file_mode_t mode) { return set_mode(descriptor, mode); }
int CMMD_fset_io_mode(FILE* file, CMMD_file_mode_t mode) {
  if (file == nullptr) return refused(EINVAL);
  if (!is_output(file)) {
    std::fflush(file);
    return set_mode(fileno(file), mode);
  }
  if (mode != CMMD_sync_seq) {
    write_in_no_order();
    std::fflush(stdout);
    return set_mode(STDOUT_FILENO, mode);
  }
  if (set_mode(STDOUT_FILENO, CMMD_independent) != 0) return -1;
  return write_output_in_order();
}
CMMD_file_mode_t CMMD_get_io_mode(int descriptor) {
  const auto found = descriptors().find(descriptor);
  return found != descriptors().end() ? found->second.mode : CMMD_local;
}
CMMD_file_mode_t CMMD_fget_io_mode(FILE* file) {
  if (is_output(file)) return original_output != nullptr ? CMMD_sync_seq : CMMD_get_io_mode(STDOUT_FILENO);
  return CMMD_get_io_mode(fileno(file));
}
