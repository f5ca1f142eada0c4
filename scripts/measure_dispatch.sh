#!/bin/bash
# measure_dispatch.sh [repetitions]: runs `ambench dispatch` (11 repetitions, some minutes) and puts its tables into
# docs/dispatch.md. What the text around them says of single figures is left to who runs it. The machine should do nothing else.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

page=docs/dispatch.md
tables=$(mktemp)
trap 'rm -f "$tables"' EXIT
build/bin/ambench dispatch --reps "${1:-11}" --markdown >"$tables"
sed -i -e "/^<!-- tables of ambench dispatch.*: begin -->$/,/^<!-- tables: end -->$/ {
  /begin -->$/ {
    r $tables
    b
  }
  /end -->$/ b
  d
}" "$page"
