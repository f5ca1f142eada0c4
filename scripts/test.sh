#!/bin/bash
# test.sh: sets libam up and runs every test: all of them in release, the unit and conformance suites again under
# AddressSanitizer with UBSan and under ThreadSanitizer, then the style check. Stops at the first step that fails.
# Ends with ctest's summary of each run and the sum: "N passed, N failed".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

logs=$(mktemp -d)
doing=
finished=no

step() {
  doing=$1
  printf '\n=== %s (%d min %02d s so far)\n\n' "$1" $((SECONDS / 60)) $((SECONDS % 60))
}

# The last word, also when a step failed: what ctest said in each run, and the sum.
summary() {
  local passed=0 failed=0 skipped=0 log bad total unrun last=$doing
  step "summary"
  for log in "$logs"/*; do
    [[ -e $log ]] || continue
    echo "${log##*_}:"
    if grep -E '^[0-9]+% tests passed, ' "$log"; then
      read -r bad total < <(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+)$/\1 \2/p' "$log")
      unrun=$(grep -cE '^[[:space:]]+[0-9]+ - .* \((Skipped|Disabled)\)' "$log" || true)
      failed=$((failed + bad))
      skipped=$((skipped + unrun))
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

# Two nodes of a test may share a core, tests do not depend on time: as many at once as there are cores.
run_suite() {
  local preset=$1 number
  shift
  number=$(find "$logs" -type f | wc -l)
  step "$preset: tests"
  "$@" ctest --preset "$preset" --parallel "$(nproc)" 2>&1 | tee "$logs/${number}_$preset"
}

sanitized_suite() {
  local preset=$1
  shift
  step "$preset: build"
  cmake --preset "$preset" -DAM_WERROR=ON
  cmake --build --preset "$preset"
  run_suite "$preset" "$@"
}

step "set-up and release build"
scripts/install_packages.sh clang-format clang-tidy shellcheck util-linux
scripts/setup.sh -DAM_WERROR=ON
run_suite release

if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
sanitized_suite asan

# g++ 12's ThreadSanitizer does not start under the wide address randomisation of newer kernels.
fixed_addresses=(setarch "$(uname -m)" --addr-no-randomize)
"${fixed_addresses[@]}" true 2>/dev/null || fixed_addresses=()
sanitized_suite tsan "${fixed_addresses[@]}"

step "style"
scripts/check_style.sh --tidy

finished=yes
