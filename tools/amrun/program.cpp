#include "amrun/program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "amrun/fault.hpp"
#include "core/settings/setting_value.hpp"

namespace amrun {
namespace {

enum class File { program, absent, folder, forbidden, not_executable };

File look_at(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return errno == EACCES ? File::forbidden : File::absent;
  if (S_ISDIR(info.st_mode)) return File::folder;
  return eaccess(path.c_str(), X_OK) == 0 ? File::program : File::not_executable;
}

Fault refusal(const std::string& path, File found) {
  const std::string shown = am::core::in_quotes(path);
  switch (found) {
    case File::folder:
      return {cannot_execute, shown + " is a folder, not a program"};
    case File::forbidden:
      return {cannot_execute, shown + " may not be looked at: permission denied"};
    case File::not_executable:
      return {cannot_execute, shown + " is not executable (chmod +x makes it so)"};
    default:
      return {not_found, shown + " is not there"};
  }
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    const File found = look_at(name);
    if (found != File::program) throw refusal(name, found);
    return name;
  }
  const char* path = std::getenv("PATH");
  std::string_view folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  std::string refused;
  for (bool more = !name.empty(); more;) {
    const std::size_t end = folders.find(':');
    more = end != std::string_view::npos;
    const std::string_view folder = folders.substr(0, end);
    std::string candidate(folder.empty() ? "." : folder);  // as shells have it
    candidate.append("/").append(name);
    const File found = look_at(candidate);
    if (found == File::program) return candidate;
    if (found == File::not_executable && refused.empty()) refused = candidate;
    if (more) folders.remove_prefix(end + 1);
  }
  if (!refused.empty()) throw refusal(refused, File::not_executable);
  std::string line = am::core::in_quotes(name) + " is not found in PATH";
  if (!name.empty() && look_at("./" + name) == File::program) line += " (./" + name + " is here)";
  throw Fault(not_found, line);
}

}  // namespace amrun
