#!/bin/bash
# errors.sh LINES EXPECTED... -- COMMAND...: COMMAND, a compiler, must fail with one error for each EXPECTED, a regular expression
# that matches it, in any order. It must print no more than LINES lines for each.
set -uo pipefail
lines=$1
shift
expected=()
while [[ $1 != -- ]]; do
  expected+=("$1")
  shift
done
shift

fail() {
  printf 'errors.sh: %s\n%s\n' "$*" "$output"
  exit 1
}

export LC_ALL=C
output=$("$@" 2>&1) && fail "it compiles"
# A linker says only "undefined reference".
mapfile -t errors < <(grep -E '(error: |undefined reference)' <<< "$output")
for pattern in "${expected[@]}"; do
  found=
  for i in "${!errors[@]}"; do
    [[ ${errors[i]} =~ $pattern ]] || continue
    found=${errors[i]}
    unset "errors[i]"
    break
  done
  [[ -n $found ]] || fail "no error more is '$pattern'"
done
((${#errors[@]} == 0)) || fail "more than were expected: ${errors[*]}"
count=$(wc -l <<< "$output")
((count <= lines * ${#expected[@]})) || fail "it prints $count lines"
