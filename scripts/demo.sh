#!/bin/bash
# demo.sh: sets libam up, then shows it: a program on a real file, a simulation, and a latency table with neighbours.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh

heading() { printf '\n=== %s\n\n' "$1"; }

heading "word_count: 4 processes count the words of the GNU GPL in a hash table spread over them"
build/bin/amrun -n 4 build/bin/examples/word_count /usr/share/common-licenses/GPL-3

heading "life: Conway's game on a torus split over 4 processes"
build/bin/amrun -n 4 build/bin/examples/life

heading "ambench pingpong: half round trip of short messages, beside the limit of this machine, Open MPI and UCX"
build/bin/ambench pingpong --compare
