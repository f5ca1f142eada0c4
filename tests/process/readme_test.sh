#!/bin/bash
# readme_test.sh SOURCE BUILD FOLDER CXX: does what README.md and docs/porting.md tell a reader to do, with their words.
#   - its first program: installed, compiled and run by its commands; the tree that BUILD is installed into is ours
#   - the commands of "Starting jobs" on one machine, with that program as ./app
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

# The n-th block of a language, of that file.
block() {
  awk -v wanted="$2" -v fence="\`\`\`$1" '$0 == fence { inside = ++n == wanted; next } /^```/ { inside = 0 } inside' "$3"
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
ln -s "$cxx" "$folder/tools/c++"
ln -s "$build" "$folder/here/build"
ln -s "$source/examples" "$source/scripts" "$folder/here"
export PATH=$folder/tools:$folder/tree/bin:$PATH
unset "${!OMPI_@}" LD_LIBRARY_PATH  # a reader has none of them
cd "$folder/here"

echo "The first program"
block cpp 1 "$readme" > first.cpp
mapfile -t commands < <(sed -n '/^## A first program/,/^## /p' "$readme" | grep -E '^(cmake|c\+\+|amrun) ' | sed 's/ *#.*//')
[ ${#commands[@]} = 3 ] || fail "not three commands for the first program: ${commands[*]}"
bash -c "${commands[0]} --prefix $folder/tree" > "$folder/install.log" || fail "cannot install: see $folder/install.log"
pkgconfig=$(find "$folder/tree" -name pkgconfig)
PKG_CONFIG_PATH=$pkgconfig bash -c "${commands[1]}" || fail "does not compile"
expect_first_program 4 bash -c "${commands[2]}"
expect_first_program 1 ./first

echo "Programs on their way, of docs/porting.md"
# N, of its blocks in C; the folder of the old headers; what each of three nodes prints
old_program() {
  local flags
  block c "$1" "$source/docs/porting.md" > "old_$1.c"
  flags=$(PKG_CONFIG_PATH=$pkgconfig pkg-config --cflags am)
  # shellcheck disable=SC2086  # flags are several words
  "${CC:-cc}" -std=gnu89 "-I$folder/tree/include/am/$2" $flags -c "old_$1.c" || fail "its block $1 in C does not compile"
  # shellcheck disable=SC2046
  c++ "old_$1.o" $(PKG_CONFIG_PATH=$pkgconfig pkg-config --libs am) -o "old_$1" || fail "its block $1 in C does not link"
  amrun -n 3 "./old_$1" | sort > "$folder/output" || fail "its block $1 in C fails"
  printf 'node %d: %d\n' 0 "$3" 1 "$3" 2 "$3" | diff - "$folder/output" || fail "its block $1 in C prints something else"
}
old_program 2 compat 5
old_program 3 compat/gam 3
old_program 4 compat/am2 3

echo "Starting jobs"
cp first app
rows=$(sed -n '/^## Starting jobs/,/^## How/s/^| `\([^`]*app\)` |.*/\1/p' "$readme")
[ "$(wc -l <<< "$rows")" -ge 3 ] || fail "the table of commands is not where it was"
while read -r row; do
  echo "  $row"
  case $row in
    mpirun*)
      command -v mpirun > /dev/null || { echo "    left out: mpirun is not installed"; continue; }
      if [ "$EUID" = 0 ]; then
        grep -q 'from root it wants `--allow-run-as-root`' "$readme" || fail "what root adds to mpirun is not said"
        row="mpirun --allow-run-as-root ${row#mpirun}"
      fi
      ;;
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
done < <(sed -nE 's/^\| `([a-z0-9_]+)\.cpp` \|.*/\1/p' "$source/examples/README.md")
build/bin/aminfo > "$folder/settings"
while read -r setting; do
  grep -q "$setting" "$folder/settings" || fail "aminfo knows no $setting"
done < <(found 'AM_[A-Z_]+')
echo "All as it says"
