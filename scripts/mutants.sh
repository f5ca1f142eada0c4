#!/bin/bash
# mutants.sh [NAME...]: puts one fault after the other into libam, and says which tests see it. Each tests/mutants/NAME.patch is a
# fault of one or two lines, with one line of context, so that it outlives changes beside it, and three lines before the diff:
#
#   What: what is wrong       Build: release, asan or tsan, in which it is seen       Suites: whose tests see it
#
# Works in a tree of its own, build/mutants/tree, of what is committed, so that no fault gets into this one. Patches are taken from here.
# A fault that no test sees stands in tests/mutants/unseen, and is tried by its name alone: unseen/NAME.
# Ends with "N seen, N not seen, N broken", and with exit code 0 if all were seen.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

here=$PWD
tree=$here/build/mutants/tree
log=$here/build/mutants/log
configure=(-DAM_WERROR=ON -DCMAKE_UNITY_BUILD=ON)
seen=0 unseen=0 broken=0

# The target that holds the tests of a source file.
program_of() {
  local room=${1#tests/unit/}
  room=${room#emulated_hw/}
  case $1 in
    *_model_test.cpp) echo models ;;
    tests/unit/*) echo "unit_${room%%/*}" ;;
    tests/conformance/models/*) echo conformance_models ;;
    tests/conformance/*) echo conformance ;;
    *) if grep -q 'process/own_malloc.hpp' "$1"; then echo "process_$(basename "$1" .cpp)"; else echo process; fi ;;
  esac
}

# BUILD SUITE...: the targets that hold these suites. Processes, which start other programs, need all of them.
targets_of() {
  local folders=(tests/unit tests/conformance) suites source
  [[ $1 != release ]] || folders+=(tests/process)
  suites=$(IFS='|' && echo "${*:2}")
  grep -rlE --include='*_test.cpp' "^(TYPED_)?TEST(_F|_P)?\( *($suites) *," "${folders[@]}" | sort | while read -r source; do
    program_of "$source"
    [[ $source != tests/process/* ]] || echo all
  done
}

# What stands behind NAME: in a patch.
field() {
  sed -n "s/^$1: //p;/^--- /q" "$2"
}

prepare_tree() {
  mkdir -p "${tree%/*}"
  if [[ $(git -C "$tree" rev-parse HEAD 2>/dev/null) == $(git rev-parse HEAD) && -e $tree/.git ]]; then
    git -C "$tree" checkout --quiet -- .  # a run that was broken off leaves its fault
    return
  fi
  rm -rf "$tree"
  git worktree prune
  git worktree add --quiet --detach "$tree" HEAD
}

# Configures a preset, as scripts/test.sh does.
prepare_build() {
  (cd "$tree" && . scripts/ccache.sh && cmake --preset "$1" "${configure[@]}") >>"$log" 2>&1
}

# BUILD TARGET...
build() {
  (cd "$tree" && . scripts/ccache.sh && cmake --build --preset "$1" --target "${@:2}") >>"$log" 2>&1
}

# BUILD SUITE...: runs their tests until one fails, and names those that have, or says "none" where there was none to run. One that
# hangs fails when its own time limit is over.
failing_tests() {
  local suites text before=()
  suites=$(IFS='|' && echo "${*:2}")
  # g++ 12's ThreadSanitizer does not start under the wide address randomisation of newer kernels.
  if [[ $1 == tsan ]] && setarch "$(uname -m)" --addr-no-randomize true 2>/dev/null; then
    before=(setarch "$(uname -m)" --addr-no-randomize)
  fi
  text=$(cd "$tree" && "${before[@]}" ctest --preset "$1" --tests-regex "[:/]($suites)([./]|\$)" \
    --exclude-regex '_night$' --parallel "$(nproc)" --stop-on-failure 2>&1) || true
  echo "$text" >>"$log"
  if grep -q 'No tests were found' <<<"$text"; then
    echo none
  else
    sed -nE '/^The following tests FAILED:/,$ s/^[[:space:]]+[0-9]+ - ([^ ]+) \(.*/\1/p' <<<"$text" | paste -sd ' '
  fi
}

# NAME: one row.
try() {
  local patch=$here/tests/mutants/$1.patch what build result targets
  local -a suites
  echo "=== $1" >>"$log"
  what=$(field What "$patch") build=$(field Build "$patch")
  read -ra suites < <(field Suites "$patch")
  mapfile -t targets < <(cd "$tree" && targets_of "$build" "${suites[@]}")
  if ! git -C "$tree" apply "$patch" >>"$log" 2>&1; then
    result="ERROR: does not apply"
  elif ! build "$build" "${targets[@]}"; then
    result="ERROR: does not compile"
  else
    result=$(failing_tests "$build" "${suites[@]}")
    case $result in
      "") result="NOT SEEN" ;;
      none) result="ERROR: has no tests" ;;
      *) result="seen by $result" ;;
    esac
  fi
  git -C "$tree" checkout --quiet -- .
  case $result in
    ERROR*) ((++broken)) ;;
    NOT*) ((++unseen)) ;;
    *) ((++seen)) ;;
  esac
  printf '%s | %s | %s\n' "$1" "$what" "$result"
}

names=("$@")
if (($# == 0)); then
  mapfile -t names < <(cd tests/mutants && printf '%s\n' *.patch | sed 's/\.patch$//')
fi
for name in "${names[@]}"; do
  [[ -e tests/mutants/$name.patch ]] || { echo "mutants.sh: there is no tests/mutants/$name.patch" >&2; exit 2; }
done
prepare_tree
: >"$log"
while read -r preset; do
  prepare_build "$preset" || { echo "mutants.sh: $preset cannot be configured: see $log" >&2; exit 2; }
done < <(for name in "${names[@]}"; do field Build "tests/mutants/$name.patch"; done | sort -u)
for name in "${names[@]}"; do
  try "$name"
done
echo "$seen seen, $unseen not seen, $broken broken"
((unseen + broken == 0))
