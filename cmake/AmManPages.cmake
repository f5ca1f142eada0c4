# Man pages of the tools, made of what they say to --help and --version, and installed; where help2man is.
find_program(AM_HELP2MAN help2man)
mark_as_advanced(AM_HELP2MAN)
if(NOT AM_HELP2MAN)
  return()
endif()

# TOOL NAME: its page, with the line that `man -k` shows.
function(am_add_man_page tool name)
  if(NOT TARGET ${tool})
    return()
  endif()
  set(page ${PROJECT_BINARY_DIR}/man/${tool}.1)
  add_custom_command(OUTPUT ${page} DEPENDS ${tool}
    COMMAND ${AM_HELP2MAN} --no-info --section=1 --name=${name} --output=${page} $<TARGET_FILE:${tool}> VERBATIM)
  add_custom_target(man_${tool} ALL DEPENDS ${page})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endfunction()

file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man)
am_add_man_page(amrun "start a job of libam on this machine or on several")
am_add_man_page(aminfo "settings of libam, and whether this machine is fit for it")
am_add_man_page(ambench "measure libam on this machine")
am_add_man_page(amsim "simulate networks and machines cycle by cycle")
