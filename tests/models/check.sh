#!/bin/bash
# check.sh SPIN CC FOLDER MODEL holds|fails [-DNAME=VALUE...]: spin searches all states of MODEL, and no check in it fails, or one
# does: a model with a mistake in it that finds nothing would not find one in the code either. What spin writes goes to FOLDER. When
# a check fails that should hold, the end of the way there is printed.
set -euo pipefail
spin=$1 cc=$2 folder=$3 model=$4 expected=$5
shift 5

fail() {
  printf 'check.sh: %s: %s\n' "$(basename "$model") $*" "$problem"
  exit 1
}

# The same search finds the same: one that passed in this folder is not made again.
key=$({ "$spin" -V; "$cc" --version; cat "$0" "$model"; echo "$expected $*"; } | sha256sum)
if [[ -e $folder/passed && $(<"$folder/passed") == "$key" ]]; then
  echo "passed before, and nothing has changed"
  exit
fi

rm -rf "$folder"
mkdir -p "$folder"
cp "$model" "$folder/model.pml"
cd "$folder"
problem="spin or $cc cannot make a search of it"
"$spin" "$@" -a model.pml >log 2>&1 || { cat log; fail "$@"; }
# Each state is kept, so nothing is taken for seen that was not. 1000: MiB. A mistake is found sooner than gcc has optimised the search.
optimise=-O2
[[ $expected == holds ]] || optimise=-O0
"$cc" -w $optimise -DSAFETY -DCOLLAPSE -DMEMLIM=1000 -o pan pan.c >log 2>&1 || { cat log; fail "$@"; }
./pan -m100000 >log 2>&1 || true

if grep -qE 'max search depth too small|Search not completed|reached -DMEMLIM' log && ! grep -q 'errors: 1$' log; then
  cat log
  problem="not all states were searched"
  fail "$@"
fi
case "$expected $(grep -oE 'errors: [0-9]+$' log)" in
  "holds errors: 0" | "fails errors: 1") 
    grep -E '^pan:1|states, stored$|^pan: elapsed' log
    echo "$key" >passed
    ;;
  "fails errors: 0")
    cat log
    problem="finds nothing wrong, and there is a mistake in it"
    fail "$@"
    ;;
  "holds errors: 1")
    "$spin" "$@" -t -p -g -l model.pml 2>&1 | tail -n 200
    grep '^pan:1' log
    problem="a check fails; above, the last steps until then (all: spin $* -t -p -g -l model.pml, in $folder)"
    fail "$@"
    ;;
  *)
    cat log
    problem="the search did not end"
    fail "$@"
    ;;
esac
