# Precompiled headers: what nearly every file includes is read once per kind of target, not once per file, which is half of
# the time of a build. Of the standard library and libam's interface, and of no header inside: a change there would build
# everything anew, and its names would be known where nobody included them.
#
# Each file includes what it uses all the same: clang-tidy, and scripts/test.sh --all, compile without this.
set(am_precompiled_headers <algorithm> <atomic> <charconv> <deque> <fstream> <functional> <map> <memory_resource> <optional>
  <sstream> <thread> <unordered_map> <am/am.hpp>)

# TARGET has precompiled headers of its own: those above, and further ones.
function(am_precompile target)
  target_precompile_headers(${target} PRIVATE ${am_precompiled_headers} ${ARGN})
  am_mistrust_warnings(${target})
endfunction()

# TARGET takes the headers of another one, which was made by am_add_precompiled.
function(am_precompiled_by other target)
  target_precompile_headers(${target} REUSE_FROM ${other})
  am_mistrust_warnings(${target})
endfunction()

# Makes a target of which others take the precompiled headers. They are programs; LIBRARIES are what they link all.
function(am_add_precompiled target)
  cmake_parse_arguments(PARSE_ARGV 1 with "" "" "LIBRARIES;HEADERS")
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
  target_link_libraries(${target} PRIVATE am_internal ${with_LIBRARIES})
  am_precompile(${target} ${with_HEADERS})
endfunction()

# g++ 12 sees overflows in strings of the standard library that are none, and says so where that was precompiled.
function(am_mistrust_warnings target)
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-restrict
      -Wno-stringop-overflow -Wno-stringop-overread>)
  endif()
endfunction()

am_add_precompiled(am_precompiled)
