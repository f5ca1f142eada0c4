#!/bin/bash
# check_style.sh [--fix | --tidy | --tidy-changed]: clang-format and shellcheck over the whole project, check_prose.py over its
# documents, and whether the mutants' patches still have their places; --fix formats instead; --tidy adds clang-tidy, which takes a
# quarter of an hour on two cores; --tidy-changed adds it for what has changed in the working tree or in the commits of the four hours
# before HEAD.
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
python3 -B scripts/check_prose.py
for patch in tests/mutants/*.patch tests/mutants/unseen/*.patch; do
  git apply --check "$patch"
done
if [[ ${1:-} != --tidy* ]]; then
  echo "style: ${#sources[@]} files are clean"
  exit
fi

# Warnings of system headers are counted there but not shown: the count is dropped. Shadowing is g++'s business: clang
# counts more as such. Not the tests: they use std::source_location, which clang 14 does not find in libstdc++ 12.
# File by file, so that each has to include what it uses.
commands=build/tidy
cmake --preset release -B "$commands" -DCMAKE_UNITY_BUILD=OFF >/dev/null

# A changed header is read where its own source, or else the first one that includes it, is.
changed_sources() {
  local file stem since
  since=$(git log -1 --format=%ct HEAD)
  { git diff --name-only HEAD
    git log --since="$((since - 14400))" --name-only --format= HEAD; } | sort -u |
    while read -r file; do
      case $file in
        *.cpp) stem=$file ;;
        *.hpp | *.h)
          stem=${file%.*}.cpp
          [[ -e $stem ]] || stem=$(git grep -lF "${file#*/}" -- 'src/*.cpp' 'tools/*.cpp' 'benchmarks/*.cpp' | sed -n 1p || true)
          ;;
        *) continue ;;
      esac
      [[ -z $stem || ! -e $stem ]] || echo "$PWD/$stem"
    done | sort -u
}
if [[ $1 == --tidy-changed ]]; then
  changed_sources >"$commands/wanted"
else
  printf '%s\n' "${sources[@]/#/$PWD/}" >"$commands/wanted"
fi

# A file that was clean is clean: what was, by all that clang-tidy reads of it, is kept beside ccache's. Line markers name
# folders, and do not count; comments do, which may have a NOLINT.
export TIDY_COMMANDS=$commands
export TIDY_CLEAN=${XDG_CACHE_HOME:-$HOME/.cache}/libam-tidy
TIDY_RULES=$({ clang-tidy --version; cat .clang-tidy; } | sha256sum)
export TIDY_RULES
mkdir -p "$TIDY_CLEAN"
find "$TIDY_CLEAN" -type f -mtime +14 -delete

# FILE COMMAND, by which it is compiled
tidy() {
  local text known
  text=$(mktemp)
  eval "${2%% -o *} -E -C -P $1" >"$text" || return
  known=$TIDY_CLEAN/$({ echo "$TIDY_RULES"; cat "$text"; } | sha256sum | cut -d ' ' -f 1)
  rm "$text"
  [[ -e $known ]] ||
    clang-tidy -p "$TIDY_COMMANDS" --quiet --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-shadow "$1" || return
  touch "$known"
}
export -f tidy
sed -nE -e 's/\\"/"/g' -e 's/^ *"command": "(.*)",?$/\1/p' -e 's/^ *"file": "(.*)",?$/\1/p' \
  "$commands/compile_commands.json" | sed -E 'N; s/^(.*)\n(.*)$/\2\n\1/' |
  sed -nE "\#^$PWD/(src|tools|benchmarks|examples)/# { N; p }" |
  awk 'NR == FNR { wanted[$0]; next } FNR % 2 { keep = $0 in wanted } keep' "$commands/wanted" - | tr '\n' '\0' |
  xargs --null --max-args=2 --max-procs="$(nproc)" bash -c 'tidy "$@"' tidy 2>&1 |
  { grep -vE '^[0-9]+ warnings? generated\.$' || true; }
echo "style: ${#sources[@]} files are clean"
