#include "amrun/paths.hpp"

#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "amrun/environment.hpp"
#include "amrun/fault.hpp"

namespace amrun {
namespace {

namespace fs = std::filesystem;

bool is_same(const std::string& path, const fs::path& other) {
  std::error_code error;
  return path.starts_with('/') && fs::equivalent(path, other, error) && !error;
}

void add(std::vector<std::string>& paths, const std::string& path) {
  if (paths.empty() || paths.back() != path) paths.push_back(path);
}

// This folder, as the shell calls it, and as the kernel does.
std::vector<std::string> this_folder() {
  std::vector<std::string> names;
  const char* const pwd = std::getenv("PWD");
  if (pwd != nullptr && is_same(pwd, ".")) names.emplace_back(pwd);
  std::error_code error;
  const std::string real = fs::current_path(error);
  if (!error) add(names, real);
  if (names.empty()) throw Fault(failed, "cannot tell in which folder this is: " + error.message());
  return names;
}

}  // namespace

std::vector<std::string> folders_to_start_in(const std::string& wanted) {
  if (wanted.empty()) return this_folder();
  if (wanted.starts_with('/')) return {wanted};
  std::vector<std::string> folders;
  for (const std::string& folder : this_folder()) folders.push_back(folder + "/" + wanted);
  return folders;
}

void go_to(const std::vector<std::string>& folders) {
  int error = ENOENT;
  for (const std::string& folder : folders) {
    if (chdir(folder.c_str()) == 0) return set_variable("PWD=" + folder);
    if (folder == folders.front()) error = errno;
  }
  throw Fault(failed, "cannot go to the folder " + (folders.empty() ? "" : folders.front()) + ": " +
                          std::strerror(error));
}

std::vector<std::string> own_paths() {
  std::vector<std::string> paths;
  const std::string real = fs::read_symlink("/proc/self/exe");
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives pointers so
  const auto* const called = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (called != nullptr) {
    const std::string name = called;
    for (const std::string& folder : this_folder()) {
      const std::string path = name.starts_with('/') ? name : folder + "/" + name;
      if (is_same(path, real)) add(paths, path);
    }
  }
  add(paths, real);
  return paths;
}

}  // namespace amrun
