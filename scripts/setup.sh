#!/bin/bash
# setup.sh [CMAKE-ARGUMENT...]: installs missing Debian packages, then configures and builds the release in build/: the
# libraries, tools, examples and ambench. Tests are built by scripts/test.sh.
# Arguments go to cmake's configure step, for example -DAM_WERROR=ON.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(
  g++ cmake ninja-build pkg-config           # build
  libpmix-dev                                # library: joining a job that mpirun or srun started
  libssl-dev                                 # library: what nodes of several hosts prove to each other
  libfabric-dev                              # library: the networks that clusters have
  libhwloc-dev nlohmann-json3-dev            # tools and measurements
  openmpi-bin libopenmpi-dev                 # a neighbour to compare with; mpirun in tests
  ucx-utils libucx-dev                       # the other neighbour
  libboost-dev                               # a queue to compare with
  gnuplot-nox                                # plots of ambench and amsim
  help2man                                   # man pages of the tools
  libgtest-dev libgmock-dev python3 strace   # tests
  iproute2                                   # tests: hosts that are network namespaces
  spin                                       # tests: models of protocols without a lock
  ccache                                     # what has been compiled once is not compiled again
)
scripts/install_packages.sh "${packages[@]}"

. scripts/ccache.sh
cmake --preset release "$@"
cmake --build --preset release
