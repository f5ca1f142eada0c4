#!/bin/bash
# guide_test.sh SOURCE BUILD FOLDER CXX CC [FLAG...]: the pages of docs/guide keep their word.
#   - each block in C or C++ that has a main is compiled, and runs as `<!-- run: ... {} -->` before it says (amrun -n 2 {})
#   - what it prints is what the next block of text says, in any order
#   - links lead to files; the messages that troubleshooting.md explains stand in the sources
# FOLDER is made anew.
set -euo pipefail
export source=$1 build=$2 folder=$3 cxx=$4 cc=$5 flags="${*:6}"
cd "$source/docs/guide"

fail() {
  echo "guide_test: $*" >&2
  exit 1
}

# name.cpp or name.c, name.run, name.expected for each program
extract() {
  awk -v folder="$folder" '
    FNR == 1 { page = FILENAME; sub(/\.md$/, "", page); n = 0 }
    /^<!-- run: / { run = substr($0, 11, length($0) - 14) }
    /^```/ && !inside { inside = 1; language = substr($0, 4); text = ""; next }
    /^```/ {
      inside = 0
      if (language == "text" && program != "") {
        printf "%s", text > (program ".expected")
        program = ""
      } else if (language ~ /^(cpp|c)$/ && text ~ /\nint main\(/) {
        program = folder "/" page "_" ++n
        printf "%s", text > (program "." language)
        print (run == "" ? "amrun -n 2 {}" : run) > (program ".run")
        run = ""
      }
      next
    }
    inside { text = text $0 "\n" }' ./*.md
}

# shellcheck disable=SC2086  # flags are several words
compile() {  # name.cpp or name.c; with am/am.hpp, which was compiled once for all
  local program=${1%.*} libraries="-L$build/lib -Wl,-rpath,$build/lib -Wl,--as-needed -lam_machines -lam"
  if [[ $1 == *.cpp ]]; then
    "$cxx" -std=c++20 -O0 $flags "-I$source/include" -include "$folder/all.hpp" "$1" $libraries -o "$program"
  else
    "$cc" $flags "-I$source/include" -c "$1" -o "$program.o" && "$cxx" "$program.o" $libraries -o "$program"
  fi || { echo "guide_test: $1 does not compile" >&2; return 255; }
}
export -f compile

rm -rf "$folder"
mkdir -p "$folder"
extract
echo '#include <am/am.hpp>' > "$folder/all.hpp"
# shellcheck disable=SC2086
"$cxx" -std=c++20 -O0 $flags "-I$source/include" "$folder/all.hpp" -o "$folder/all.hpp.gch"
find "$folder" -maxdepth 1 -name '*.c' -o -maxdepth 1 -name '*.cpp' | sort | xargs -P 2 -I {} bash -c 'compile {}' ||
  fail "not all programs compile"

unset "${!OMPI_@}" "${!AM_@}"
export PATH=$build/bin:$PATH
for run in "$folder"/*.run; do
  program=${run%.run}
  echo "${program##*/}: $(< "$run")"
  [ -e "$program.expected" ] || fail "nothing says what ${program##*/} prints"
  command=$(< "$run")
  bash -c "${command//\{\}/$program}" < /dev/null > "$program.output" 2> "$program.errors" ||
    fail "${program##*/} exits with $?: $(cat "$program.errors")"
  diff <(sort "$program.expected") <(sort "$program.output") || fail "${program##*/} prints something else"
done

grep -oE '\[[^]]+\]\([^) #:]+[)#]' ./*.md | sed -E 's/:\[.*\]\(/ /; s/[)#]$//' | while read -r page path; do
  [ -e "$path" ] || fail "$page leads to $path, which is not there"
done

find "$source/include" "$source/src" "$source/tools" -name '*.[ch]pp' -print0 | xargs -0 cat |
  perl -0pe 's/"\s*\n\s*"//g' > "$folder/strings"
# shellcheck disable=SC2016  # `words` is how the page writes them
awk -F '|' '/^\| [^|]*`/ { print $2 }' troubleshooting.md | grep -oE '`[^`]+`' | tr -d '`' | sed 's/ *\.\.\. */\n/g' |
  while read -r words; do
    grep -qF -- "$words" "$folder/strings" || fail "no message says \"$words\""
  done
echo "All as it says"
