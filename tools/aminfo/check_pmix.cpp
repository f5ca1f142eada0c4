// PMIx joins nodes that mpirun, prterun or srun starts. The library is loaded when a program starts, if it is
// there.
#include <dlfcn.h>
#include <unistd.h>

#include <string>

#include "aminfo/doctor.hpp"
#include "core/settings/settings.hpp"

namespace aminfo {

Finding check_pmix() {
  const std::string subject = "PMIx";
  constexpr const char* library = "libpmix.so.2";
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);  // never closed: aminfo ends soon after
  if (handle == nullptr) {
    const bool needed = am::core::read_launcher_environment(environ).pmix;
    return {needed ? Level::fail : Level::warn, subject,
            std::string(library) +
                " is not here: nodes started by mpirun or srun cannot join (amrun does without)",
            "apt-get install libpmix2"};
  }
  using Version = const char* (*)();
  const auto version = reinterpret_cast<Version>(dlsym(handle, "PMIx_Get_version"));
  if (version == nullptr) {
    return {Level::warn, subject, std::string(library) + " has no PMIx_Get_version",
            "apt-get install --reinstall libpmix2"};
  }
  const std::string text = version();  // "OpenPMIx 4.2.2 (PMIx Standard: 4.1, ...)"
  return {Level::ok, subject, text.substr(0, text.find(" (")) + " can be loaded", ""};
}

}  // namespace aminfo
