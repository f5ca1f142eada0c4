#!/bin/bash
# readme_test.sh SOURCE BUILD FOLDER CXX: does what README.md tells a reader to do, with the words of README.md.
#   - its first program, compiled by its command against a tree that BUILD was installed into, run by its command
#   - the commands of "Starting jobs", with that program as ./app
#   - what it names is there: paths, links, build/bin/...
# FOLDER is made anew.
# shellcheck disable=SC2016  # `word` is how README.md writes it, not a command
set -euo pipefail
source=$1 build=$2 folder=$3 cxx=$4
readme=$source/README.md

fail() {
  echo "readme_test: $*" >&2
  exit 1
}

# The n-th block of a language.
block() {
  awk -v wanted="$2" -v fence="\`\`\`$1" '$0 == fence { inside = ++n == wanted; next } /^```/ { inside = 0 } inside' "$readme"
}

# What the first program prints on n nodes, in any order.
expect_first_program() {
  local n=$1 id
  shift
  "$@" < /dev/null > "$folder/output" || fail "'$*' exits with $?"
  for ((id = 0; id < n; ++id)); do echo "node $id of $n: node $(((id + 1) % n)) says 49"; done > "$folder/expected"
  sort -V "$folder/output" | diff "$folder/expected" - || fail "'$*' prints something else"
}

rm -rf "$folder"
mkdir -p "$folder/tools" "$folder/here"
cmake --install "$build" --prefix "$folder/tree" > "$folder/install.log" || fail "cannot install: see $folder/install.log"
libdir=$(dirname "$(find "$folder/tree" -name pkgconfig)")
ln -s "$cxx" "$folder/tools/c++"
ln -s "$build" "$folder/here/build"
ln -s "$source/examples" "$source/scripts" "$folder/here"
export PATH=$folder/tools:$folder/tree/bin:$PATH PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir
# Open MPI asks before it runs as root or with more processes than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
cd "$folder/here"

echo "The first program"
block cpp 1 > first.cpp
commands=$(grep -E '^(c\+\+|amrun) ' "$readme") || fail "no commands for the first program"
[ "$(wc -l <<< "$commands")" = 2 ] || fail "not two commands for the first program: $commands"
bash -c "$(head -1 <<< "$commands")" || fail "does not compile"
expect_first_program 4 bash -c "$(tail -1 <<< "$commands")"
expect_first_program 1 ./first

echo "Starting jobs"
cp first app
rows=$(sed -n '/^## Starting jobs/,/^## /s/^| `\([^`]*app\)` |.*/\1/p' "$readme")
[ "$(wc -l <<< "$rows")" -ge 3 ] || fail "the table of commands is not where it was"
while read -r row; do
  echo "  $row"
  case $row in
    mpirun*) command -v mpirun > /dev/null || { echo "    left out: mpirun is not installed"; continue; } ;;
  esac
  nodes=$(sed -n 's/.*-n \([0-9]*\).*/\1/p' <<< "$row")
  expect_first_program "${nodes:-1}" bash -c "$row"
done <<< "$rows"
build/bin/aminfo > /dev/null || fail "build/bin/aminfo fails"
AM_VERBOSE=1 AM_STATS=1 ./app > "$folder/output" 2>&1
[ "$(grep -c '^am: node 0 of 1' "$folder/output")" = 2 ] || fail "AM_VERBOSE=1 AM_STATS=1 print nothing"

echo "What it names"
found() { grep -oE "$1" "$readme" | tr -d '`()' | sort -u; }
while read -r path; do  # in whichever folder the build is
  [ -x "$path" ] || fail "$path is not there"
done < <(found 'build/bin/[a-z_/]*[a-z_]')
while read -r path; do
  [ -e "$source/$path" ] || fail "$path is not there"
done < <(found '[`(](include|src|tools|benchmarks|examples|tests|docs|scripts|\.ci)(/[A-Za-z0-9_./-]*)?[`)]'
         found '^scripts/[a-z]+\.sh')
while read -r name; do
  [ -x "build/bin/examples/$name" ] || fail "the example $name is not there"
done < <(sed -n '/^| `examples` |/s/^[^|]*|[^|]*|//p' "$readme" | grep -oE '[a-z_]+')
build/bin/aminfo > "$folder/settings"
while read -r setting; do
  grep -q "$setting" "$folder/settings" || fail "aminfo knows no $setting"
done < <(found 'AM_[A-Z_]+')
echo "All as it says"
