# Read by ctest when it starts: which tests a program of GoogleTest cases is.
#
# A test is a suite, or a suite on a cell (tests/support/cells.hpp): a process for each case would cost more than most cases do.
# Its output names the case that runs, so that of a hang or a crash is known, too.
# What is for a night (scripts/test.sh --all) is a test with a name that ends in "_night": such a cell, or the cases of that name in a suite.

# am_discover(<kind> <program>): adds the tests <kind>:<suite>, <kind>:<suite>_night, and <kind>:<instantiation>/<suite>/<cell>.
function(am_discover kind program)
  get_filename_component(name "${program}" NAME)
  if(NOT EXISTS "${program}")
    am_add_suite("${kind}" "${kind}:${name}_is_not_built" "${program}" "*")
    return()
  endif()
  execute_process(COMMAND "${program}" --gtest_list_tests TIMEOUT 60 RESULT_VARIABLE status OUTPUT_VARIABLE listing)
  if(NOT status EQUAL 0)
    am_add_suite("${kind}" "${kind}:${name}_lists_no_tests" "${program}" "*")
    return()
  endif()
  # Brackets and semicolons in printed parameters would make other lists of the lines.
  string(REGEX REPLACE "  # [^\n]*" "" listing "${listing}")
  string(REPLACE "\n" ";" lines "${listing}")
  set(known "")
  foreach(line ${lines})
    if(line MATCHES "^([^ ].*)\\.$")
      set(suite "${CMAKE_MATCH_1}")
    elseif(line MATCHES "^  [^ ]")
      string(STRIP "${line}" case)
      set(test "${kind}:${suite}")
      set(filter "${suite}.*-*_night:*_night/*")
      # A named parameter is a cell; numbers are rows of a table.
      if(case MATCHES "/([^/]*[^0-9/][^/]*)$")
        set(test "${kind}:${suite}/${CMAKE_MATCH_1}")
        set(filter "${suite}.*/${CMAKE_MATCH_1}")
      elseif(case MATCHES "_night(/[0-9]+)?$")
        string(APPEND test "_night")
        set(filter "${suite}.*_night:${suite}.*_night/*")
      endif()
      list(FIND known "${test}" at)
      if(at EQUAL -1)
        list(APPEND known "${test}")
        am_add_suite("${kind}" "${test}" "${program}" "${filter}")
      endif()
    endif()
  endforeach()
endfunction()

function(am_add_suite kind test program filter)
  add_test("${test}" "${program}" "--gtest_filter=${filter}")
  set(seconds 300)
  if(test MATCHES "_night$")
    set(seconds 1800)
  endif()
  set_tests_properties("${test}" PROPERTIES LABELS "${kind}" TIMEOUT ${seconds})
endfunction()
