#include "host/late_library.hpp"

#include <am/error.hpp>

#include <dlfcn.h>

#include <string>

namespace am::host {

LateLibrary::LateLibrary(const char* name, Errors errors)
    : name_(name), errors_(errors), library_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
  if (library_ != nullptr) return;
  const char* why = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps one for each thread
  throw Error(errors.what, why == nullptr ? name : why, errors.when_missing);
}

void* LateLibrary::address_of(const char* function_name) const {
  void* const address = dlsym(library_, function_name);
  if (address == nullptr) {
    throw Error(errors_.what, std::string(name_) + " has no function " + function_name, errors_.when_too_old);
  }
  return address;
}

}  // namespace am::host
