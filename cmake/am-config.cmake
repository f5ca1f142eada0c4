# find_package(am): the shared library is am::am, the static one am::am_static.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/am_targets.cmake)
