# cmake --install: headers, the libraries, the tools, the examples, the CMake package (am::am and am::am_static; with COMPONENTS machines
# am::machines and am::machines_static, too) and am.pc.
# Everything is found relative to the installed files themselves, so the tree may be moved afterwards.
include(CMakePackageConfigHelpers)

set(am_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/am)

install(DIRECTORY include/am DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp PATTERN *.h)
install(TARGETS am_static am_shared EXPORT am_targets)
install(EXPORT am_targets NAMESPACE am:: FILE am_targets.cmake DESTINATION ${am_package_dir})
if(AM_MACHINES)
  install(TARGETS am_machines_static am_machines_shared EXPORT am_machines_targets)
  install(EXPORT am_machines_targets NAMESPACE am:: FILE am_machines_targets.cmake DESTINATION ${am_package_dir})
endif()
foreach(tool amrun aminfo ambench amsim)
  if(TARGET ${tool})
    install(TARGETS ${tool})
    install(FILES tools/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${tool})
  endif()
endforeach()
include(AmManPages)
if(AM_MODELS)
  install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/am)  # a project of its own there
endif()

write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/am-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/am-config.cmake ${PROJECT_BINARY_DIR}/package/am-config-version.cmake
  DESTINATION ${am_package_dir})

set(am_pc_cflags "")
if(AM_CHECKED)
  set(am_pc_cflags " -DAM_CHECKED=1")
endif()
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE am_pc_libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
  OUTPUT_VARIABLE am_pc_prefix)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
  OUTPUT_VARIABLE am_pc_includedir)
configure_file(cmake/am.pc.in package/am.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/am.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
