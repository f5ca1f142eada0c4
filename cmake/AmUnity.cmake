# Unity builds: where CMAKE_UNITY_BUILD is on, as in the presets, a compiler reads some files of one folder at once, and the
# headers that they share once. That halves the time of a build. Each file includes what it uses all the same: clang-tidy and
# scripts/test.sh --all compile the files one by one.

# Compiles SOURCES of TARGET folder by folder, at most SIZE files at once, and those in ALONE one by one.
function(am_unite target)
  cmake_parse_arguments(PARSE_ARGV 1 with "" "SIZE" "SOURCES;ALONE")
  foreach(source ${with_SOURCES})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR group "${count_${folder}} / ${with_SIZE}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
  if(with_ALONE)
    set_source_files_properties(${with_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  am_mistrust_warnings(${target})
endfunction()

# g++ 12 sees overflows in strings of the standard library that are none, the more of them the more it reads at once; and it takes
# the coroutines of the files that it reads at once for those of a header.
function(am_mistrust_warnings target)
  if(CMAKE_UNITY_BUILD)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-restrict -Wno-subobject-linkage
      -Wno-stringop-overflow -Wno-stringop-overread>)
  endif()
endfunction()
