#!/bin/bash
# check_style.sh [--fix | --tidy]: clang-format and shellcheck over the whole project; --fix formats instead; --tidy adds
# clang-tidy, which takes some minutes on two cores and reads the compile commands of build/ (scripts/setup.sh
# comes first).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Old programs are as they were found.
mapfile -t sources < <(find include src tools benchmarks examples tests -path '*/old_programs' -prune -o \
  \( -name '*.[hc]pp' -o -name '*.[hc]' \) -print | sort)
if [[ ${1:-} == --fix ]]; then
  exec clang-format -i "${sources[@]}"
fi
clang-format --dry-run -Werror "${sources[@]}"

shellcheck scripts/*.sh tests/*/*.sh .ci/run
if [[ ${1:-} != --tidy ]]; then
  echo "style: ${#sources[@]} files are clean"
  exit
fi

# Warnings of system headers are counted there but not shown: the count is dropped. Shadowing is g++'s business: clang
# counts more as such. Not the tests: they use std::source_location, which clang 14 does not find in libstdc++ 12.
# Without precompiled headers, so that each file has to include what it uses.
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
sed -E 's/ -Winvalid-pch -include [^ ]+//' build/compile_commands.json >"$commands/compile_commands.json"
mapfile -t compiled < <(sed -nE 's/^ *"file": "(.*)",?$/\1/p' build/compile_commands.json |
  grep -E "^$PWD/(src|tools|benchmarks|examples)/" | sort -u)
printf '%s\0' "${compiled[@]}" |
  xargs --null --max-args=1 --max-procs="$(nproc)" clang-tidy -p "$commands" --quiet \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-shadow 2>&1 |
  { grep -vE '^[0-9]+ warnings? generated\.$' || true; }
echo "style: ${#sources[@]} files are clean"
