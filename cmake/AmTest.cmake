# How a GoogleTest file becomes a program and its cases become ctest's.
include(GoogleTest)

# Every <path>_test.cpp below the calling folder becomes the program <kind>_<path>_test; each of its cases is a ctest test
# with the label <kind>. Target tests_<kind> builds them all. AM_BIN_DIR is where amrun and the examples are. Further
# arguments are sources that each of the programs contains.
function(am_add_test_folder kind)
  add_custom_target(tests_${kind})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *_test.cpp)
  foreach(source ${sources})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE name)
    cmake_path(REMOVE_EXTENSION name)
    string(REPLACE "/" "_" name ${kind}_${name})
    add_executable(${name} ${source} ${ARGN})
    target_link_libraries(${name} PRIVATE am_internal GTest::gmock GTest::gtest_main)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_compile_definitions(${name} PRIVATE AM_BIN_DIR="${PROJECT_BINARY_DIR}/bin")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/tests)
    add_dependencies(tests_${kind} ${name})
    # Discovered when ctest runs, not when the program is linked: a program that hangs does not hang the build.
    gtest_discover_tests(${name} NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
      TEST_PREFIX ${kind}: PROPERTIES LABELS ${kind} TIMEOUT 240)
  endforeach()
endfunction()
