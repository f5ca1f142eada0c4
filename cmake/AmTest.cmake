# How files of GoogleTest cases become a program, and its suites become ctest's tests.

# Starts of threads by a test file, of nodes too. ThreadSanitizer finds nothing in other files; and unit tests that want a job, and no
# thread besides, find no race that conformance tests, whose nodes are threads, would not.
set(am_starts_threads "#include (<thread>|<am/am.hpp>|<am/start.hpp>|\"support/(job|am2|am2_job).hpp\")")
set(am_starts_threads_unit "#include (<thread>|\"unit/transports/tcp/meeting.hpp\")")

# am_add_test_program(<kind> <name> SOURCES <file>... [ALONE <file>...] [LIBRARIES <library>...] [STATIC] [OBJECTS <file>...])
#
# Makes one program of all SOURCES, and when ctest starts, a test of each of its suites (AmDiscover.cmake), with <kind> as its
# label. Target tests_<kind> builds it. ALONE names sources that a unity build leaves out, OBJECTS what is linked besides.
# The program takes libam from its shared library, which is linked once, or with STATIC from the archive.
#
# Where there are several, each source keeps what it defines in a namespace of its own, named as the file, since a unity build
# reads many at once.
# ThreadSanitizer's build has only those sources that start threads.
function(am_add_test_program kind name)
  cmake_parse_arguments(PARSE_ARGV 2 with "STATIC" "" "SOURCES;ALONE;LIBRARIES;OBJECTS")
  set(sources "")
  set(stems "")
  list(LENGTH with_SOURCES count)
  set(starts_threads "${am_starts_threads}")
  if(kind STREQUAL "unit")
    set(starts_threads "${am_starts_threads_unit}")
  endif()
  set(single FALSE)
  if(count EQUAL 1)
    set(single TRUE)
  endif()
  foreach(source ${with_SOURCES})
    cmake_path(GET source STEM stem)
    file(STRINGS ${source} own REGEX "^namespace ([a-z0-9_:]+::)?([a-z0-9_]+_)?${stem} {$")
    list(TRANSFORM own REPLACE "^namespace .*::" "namespace ")
    file(STRINGS ${source} threads REGEX "${starts_threads}")
    if(NOT own AND single)
      set(own ${stem})
    elseif(NOT own)
      message(FATAL_ERROR "${source} has no namespace ${stem}")
    elseif("${own}" IN_LIST stems)
      message(FATAL_ERROR "${source}: another file of ${name} has a namespace of the same name: put the folder's before it")
    endif()
    list(APPEND stems "${own}")
    if(threads OR NOT AM_SANITIZE STREQUAL "thread")
      list(APPEND sources ${source})
    endif()
  endforeach()
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources} ${with_OBJECTS})
  am_compile_as_test(${name})
  am_unite(${name} SIZE 10 SOURCES ${sources} ALONE ${with_ALONE})
  set(form shared)
  if(with_STATIC)
    set(form static)
  endif()
  target_link_libraries(${name} PRIVATE test_support_${form} ${with_LIBRARIES} GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES LINK_DEPENDS_NO_SHARED ON
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/tests)
  add_dependencies(tests_${kind} ${name})
  # What ctest reads when it starts: a program that hangs then does not hang the build.
  set(include ${CMAKE_CURRENT_BINARY_DIR}/${name}_tests.cmake)
  file(GENERATE OUTPUT ${include} CONTENT "include(\"${PROJECT_SOURCE_DIR}/cmake/AmDiscover.cmake\")
am_discover(${kind} \"$<TARGET_FILE:${name}>\")
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
endfunction()
