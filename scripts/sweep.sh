#!/bin/bash
# sweep.sh [ROUNDS]: looks for tests that fail now and then. Runs every process test, and every conformance test in the
# interrupt and thread modes, ROUNDS times (40) with as many at once as there are processors; then 3/8 as often with four times
# as many, which is a load; then the dozen that race most five times as often. scripts/test.sh, which builds the tests, comes
# first.
#
# Nothing stops at a failure. The output of each round is kept in a folder, which is named at the end beside a table: test,
# runs, failures. Ctrl-C ends it with the table so far; a round takes some minutes, so a few rounds are a sweep
# too. Exit code: 0 without failures, 1 with some.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2

rounds=${1:-40}
if (($# > 1)) || ! [[ $rounds =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: scripts/sweep.sh [ROUNDS]" >&2
  exit 2
fi

all='^process:|^conformance:.*_(interrupt|thread)$'
racing='(Exclusion|RandomLoad|KilledNodes|Children|InterruptedMalloc|InterruptSignals|WatchdogOfANode|Leaving)([./]|$)'
racing+='|(CriticalSections|TimeAlone|Delivery)/.*_(interrupt|thread)$'

if ! [[ -x build/bin/tests/process ]]; then
  echo "sweep.sh: the tests are not built; scripts/test.sh, or cmake --build --preset release --target tests, does that" >&2
  exit 2
fi

mkdir -p build/sweep
folder=$(mktemp -d "build/sweep/$(date +%Y-%m-%d_%H%M)_XXX")

table() {
  local ran failed
  # Of lines like " 12/345 Test  #12: name ......***Failed    1.23 sec".
  sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) \.*(.*)$/\1 \2/p' "$folder"/*.log 2>/dev/null |
    awk '{ name = $1; $1 = "" }
      !/Skipped|Not Run|Disabled|Exception: Interrupt/ { ++runs[name]; failures[name] += !/Passed/ }
      END { for (test in runs) printf "%d %d %s\n", failures[test], runs[test], test }' |
    sort -k1,1nr -k3 >"$folder/table"
  printf '\n%8s %8s  %s\n' runs failures test
  awk '$1 > 0 { printf "%8d %8d  %s\n", $2, $1, $3 }' "$folder/table"
  ran=$(awk '{ tests += 1; runs += $2; failures += $1 } END { printf "%d tests, %d runs, %d failures", tests, runs, failures }' \
    "$folder/table")
  echo "$ran; each test in $folder/table"
  failed=$(grep -lE 'Test +#[0-9]+: [^ ]+ \.*\*\*\*(Failed|Timeout|Exception)' "$folder"/*.log)  # also of a round broken off
  [[ $ran == *" 0 failures" ]] && exit 0
  printf 'output of the rounds with failures:\n%s\n' "$failed"
  exit 1
}
trap table INT TERM

# NAME TESTS TIMES AT_ONCE: rounds of the tests that match.
sweep() {
  local name=$1 tests=$2 times=$3 at_once=$4 round log
  for ((round = 1; round <= times; ++round)); do
    printf '%s: round %d of %d (%d min so far)\n' "$name" "$round" "$times" $((SECONDS / 60))
    log=$folder/${name}_$round
    ctest --test-dir build --parallel "$at_once" --tests-regex "$tests" --exclude-regex '_night$' --no-tests=error \
      --output-on-failure >"$log.log" 2>&1 && continue
    sed -n '/^The following tests FAILED/,/^Errors/p' "$log.log" | sed '1d;$d'
  done
}

processors=$(nproc)
sweep idle "$all" "$rounds" "$processors"
sweep loaded "$all" $(((rounds * 3 + 7) / 8)) $((4 * processors))
sweep racing "$racing" $((rounds * 5)) "$processors"
table
