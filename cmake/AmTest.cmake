# How a GoogleTest file becomes a program and its cases become ctest's.
include(GoogleTest)

am_add_precompiled(am_precompiled_test LIBRARIES GTest::gmock HEADERS <gmock/gmock.h> <gtest/gtest.h>)

# Every <path>_test.cpp below the calling folder becomes the program <kind>_<path>_test; each of its cases is a ctest test
# with the label <kind>. Target tests_<kind> builds them all, target tests every kind. PRECOMPILED names the target whose
# headers they take, OBJECTS what each of the programs contains.
#
# Those that start threads have the label <kind>_threads, and target tests_<kind>_threads builds them alone: for
# ThreadSanitizer, which finds nothing in the others and makes model checks twenty times as slow.
function(am_add_test_folder kind)
  cmake_parse_arguments(PARSE_ARGV 1 with "" PRECOMPILED OBJECTS)
  add_custom_target(tests_${kind})
  add_custom_target(tests_${kind}_threads)
  add_dependencies(tests tests_${kind})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *_test.cpp)
  foreach(source ${sources})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE name)
    cmake_path(REMOVE_EXTENSION name)
    string(REPLACE "/" "_" name ${kind}_${name})
    add_executable(${name} ${source} ${with_OBJECTS})
    target_link_libraries(${name} PRIVATE test_support GTest::gmock GTest::gtest_main)
    am_precompiled_by(${with_PRECOMPILED} ${name})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/tests)
    add_dependencies(tests_${kind} ${name})
    set(label ${kind})
    file(STRINGS ${source} threads REGEX
      "#include (<thread>|<am/am.hpp>|<am/start.hpp>|\"support/(job|am2|am2_job).hpp\"|\"unit/transports/tcp/meeting.hpp\")")
    if(threads)
      string(APPEND label _threads)
      add_dependencies(tests_${kind}_threads ${name})
    endif()
    # Discovered when ctest runs, not when the program is linked: a program that hangs does not hang the build.
    gtest_discover_tests(${name} NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
      TEST_PREFIX ${kind}: PROPERTIES LABELS ${label} TIMEOUT 240)
  endforeach()
endfunction()
