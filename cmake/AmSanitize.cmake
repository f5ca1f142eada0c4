# AM_SANITIZE: everything in the build is compiled with a sanitizer.
set(AM_SANITIZE "" CACHE STRING "address (with UndefinedBehaviorSanitizer), thread, or empty: no sanitizer")
set_property(CACHE AM_SANITIZE PROPERTY STRINGS "" address thread)

if(AM_SANITIZE STREQUAL "address")
  add_compile_options(-fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
elseif(AM_SANITIZE STREQUAL "thread")
  add_compile_options(-fno-omit-frame-pointer -fsanitize=thread)
  add_link_options(-fsanitize=thread)
elseif(AM_SANITIZE)
  message(FATAL_ERROR "AM_SANITIZE is ${AM_SANITIZE}: give it address, thread, or nothing")
endif()

# How TARGET, which is a test, is compiled: fast. The library keeps its own options. UBSan doubles the time of a compilation and
# examines the library alone; AddressSanitizer examines both, and tests by calls, which compile faster than checks in line.
function(am_compile_as_test target)
  if(AM_SANITIZE STREQUAL "address")
    target_compile_options(${target} PRIVATE -O0 -fno-sanitize=undefined
      "SHELL:--param asan-instrumentation-with-call-threshold=0")
  elseif(AM_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  elseif(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()
