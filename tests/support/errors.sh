#!/bin/bash
# errors.sh LINES EXPECTED... -- COMMAND...: COMMAND, a compiler, must fail with as many errors as there are EXPECTED, regular
# expressions that match them one by one, the first the first; and print no more than LINES lines for each.
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
for ((i = 0; i < ${#expected[@]}; ++i)); do
  [[ ${errors[i]-} =~ ${expected[i]} ]] || fail "error $((i + 1)) is not '${expected[i]}'"
done
((${#errors[@]} == ${#expected[@]})) || fail "there are ${#errors[@]} errors"
count=$(wc -l <<< "$output")
((count <= lines * ${#expected[@]})) || fail "it prints $count lines"
printf '%s\n' "${errors[@]}"
