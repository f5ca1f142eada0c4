#!/bin/bash
# test.sh [--all]: sets libam up and runs the default suite: unit and conformance tests under AddressSanitizer with UBSan, those
# that start threads under ThreadSanitizer, and all but the unit tests in release; then the style check. Stops at the first
# step that fails. Where conformance tests run, of all networks and modes, is the rule in tests/support/cells.hpp. --all runs
# what that leaves to the extended suite, and the unit tests in release; it compiles files one by one, and tidies all.
# Ends with the minutes per step, the slowest tests, what failing ones have said, ctest's summary of each run and the sum:
# "N passed, N failed".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

by_day=(--exclude-regex '_night$')
configure=(-DAM_WERROR=ON -DCMAKE_UNITY_BUILD=ON)
release_kinds=(--label-exclude '^unit$')
release_targets=(tests_conformance tests_process tests_model tests_fuzz)
style=--tidy-changed
case "$*" in
  "") ;;
  --all)
    by_day=() configure=(-DAM_WERROR=ON -DCMAKE_UNITY_BUILD=OFF) release_kinds=() release_targets=(tests) style=--tidy
    ;;
  *) echo "usage: scripts/test.sh [--all]" >&2; exit 2 ;;
esac

logs=$(mktemp -d)
steps=()  # "SECONDS NAME" of those that are over
doing=
since=0
finished=no

step() {
  [[ -z $doing ]] || steps+=("$((SECONDS - since)) $doing")
  doing=$1 since=$SECONDS
  printf '\n=== %s (%d min %02d s so far)\n\n' "$1" $((SECONDS / 60)) $((SECONDS % 60))
}

minutes_per_step() {
  echo "Minutes per step:"
  printf '%s\n' "${steps[@]}" | awk '{ seconds = $1; $1 = ""; printf "%6.1f %s\n", seconds / 60, $0 }'
}

# Of lines like " 12/345 Test  #12: name ......   Passed    1.23 sec", in the logs of all runs.
slowest_tests() {
  local log
  echo "The slowest tests, in seconds:"
  for log in "$logs"/*; do
    [[ -e $log ]] || continue
    sed -nE "s/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) \.* *[^0-9]*([0-9.]+) sec *\$/\2 ${log##*_} \1/p" "$log"
  done | sort -rn | sed -n '1,20p' | awk '{ printf "%8.1f  %s %s\n", $1, $2, $3 }'
}

# The end of what each of them has printed, which ctest shows behind the line of its result: their seeds too.
failing_tests() {
  awk '
    function show(  i) {
      if (!failing) return
      for (i = 1; i <= count; ++i) if (i == 1 || i > count - 40) print substr(lines[i], 1, 500)
      failing = count = 0
    }
    /^ *(Start +[0-9]+:|[0-9]+\/[0-9]+ Test +#)/ { show() }
    /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: .*\*\*\*/ && !/\*\*\*(Skipped|Not Run \(Disabled\))/ { failing = 1 }
    /^[0-9]+% tests passed, / { show() }
    failing { lines[++count] = $0 }
    END { show() }
  ' "$1"
}

# PRESET: the cases that its last run skipped. A test is a whole suite, so ctest does not count them.
skipped_cases() {
  local folder=build
  [[ $1 == release ]] || folder=build/$1
  sed -nE 's/^\[  SKIPPED \] ([^ ]+) \([0-9]+ ms\)$/  skipped: \1/p' "$folder/Testing/Temporary/LastTest.log" | sort
}

# The last word, also when a step failed: times, what ctest said in each run, and the sum.
summary() {
  local passed=0 failed=0 skipped=0 log bad total unrun cases last=$doing
  step "summary"
  minutes_per_step
  slowest_tests
  for log in "$logs"/*; do
    [[ -e $log ]] || continue
    echo "${log##*_}:"
    failing_tests "$log"
    if grep -E '^[0-9]+% tests passed, ' "$log"; then
      read -r bad total < <(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+)$/\1 \2/p' "$log")
      unrun=$(grep -cE '^[[:space:]]+[0-9]+ - .* \((Skipped|Disabled)\)' "$log" || true)
      cases=$(skipped_cases "${log##*_}")
      [[ -z $cases ]] || echo "$cases"
      failed=$((failed + bad))
      skipped=$((skipped + unrun + $(grep -c . <<<"$cases" || true)))
      passed=$((passed + total - bad - unrun))
    else
      echo "ctest did not finish"
    fi
  done
  rm -rf "$logs"
  [[ $finished == yes ]] || printf '\nstopped, a step failed: %s\n' "$last"
  printf '\n%d passed, %d failed' "$passed" "$failed"
  if ((skipped)); then
    printf ', %d skipped' "$skipped"
  fi
  echo
}
trap summary EXIT

# Two nodes of a test may share a core, tests do not depend on time: one more at once than there are cores, since some sleep (libfabric
# does while it is opened).
run_suite() {
  local preset=$1 number
  shift
  number=$(find "$logs" -type f | wc -l)
  step "$preset: tests"
  local fixed=()
  [[ $preset == tsan ]] && fixed=("${fixed_addresses[@]}")
  "${fixed[@]}" ctest --preset "$preset" --parallel "$(($(nproc) + 1))" "${by_day[@]}" "$@" 2>&1 | tee "$logs/${number}_$preset"
}

sanitized_suite() {
  local preset=$1
  step "$preset: build"
  cmake --preset "$preset" "${configure[@]}"
  cmake --build --preset "$preset"
  run_suite "$preset"
}

# g++ 12's ThreadSanitizer does not start under the wide address randomisation of newer kernels.
fixed_addresses=(setarch "$(uname -m)" --addr-no-randomize)
"${fixed_addresses[@]}" true 2>/dev/null || fixed_addresses=()

step "packages, and release: build"
packages=(
  clang-format clang-tidy shellcheck util-linux clang libclang-rt-dev
  slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge  # jobs of srun, which tests/process/slurm.sh runs
  chromium                                                     # opens the pages of tests/process/trace_page_test.cpp
)
scripts/install_packages.sh "${packages[@]}"
scripts/setup.sh "${configure[@]}"
step "release: build of the tests"
. scripts/ccache.sh
cmake --build --preset release --target all "${release_targets[@]}"
ctest --preset release --show-only --label-regex '^fuzz$' | grep 'fuzz:'  # fails where clang has no libFuzzer
run_suite release "${release_kinds[@]}"
sanitized_suite asan
sanitized_suite tsan

step "style"
scripts/check_style.sh "$style"

finished=yes
