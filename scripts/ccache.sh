# Sourced by the scripts that build, from the project's root: builds go through ccache where it is, and find there what
# another clone built.
# shellcheck shell=bash
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_C_COMPILER_LAUNCHER=ccache
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
  export CCACHE_COMMENTS=1
fi
