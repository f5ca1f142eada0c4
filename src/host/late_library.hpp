// A shared library that this process does without until it needs it: libam links none, so that programs start fast, and also
// where it is missing. Never closed again: such libraries leave threads and exit handlers behind.
#pragma once

namespace am::host {

class LateLibrary {
 public:
  /// What an am::Error says when there is no such library, or one that is too old.
  struct Errors {
    const char* what;
    const char* when_missing;  ///< what to do then
    const char* when_too_old;
  };

  /// Opens it. Throws am::Error. `errors` are literals.
  LateLibrary(const char* name, Errors errors);

  /// Throws am::Error where the library has no such function.
  template <class Function>
  void find(const char* function_name, Function& function) const {
    function = reinterpret_cast<Function>(address_of(function_name));
  }

 private:
  [[nodiscard]] void* address_of(const char* function_name) const;

  const char* name_;
  Errors errors_;
  void* library_;
};

}  // namespace am::host
