#!/bin/bash
# install_packages.sh PACKAGE...: installs those of the named Debian packages that are missing, and says which.
# Needs root or sudo only when something is missing.
set -euo pipefail

missing=()
for package in "$@"; do
  state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $state == installed ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "missing Debian packages, and neither root nor sudo here; as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "installing missing Debian packages: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  # sudo clears the environment, so the setting goes behind it.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get --quiet "$@" </dev/null >"$log" 2>&1 || {
    cat "$log" >&2
    echo "apt-get $1 failed" >&2
    exit 1
  }
}
apt update
apt install --yes --no-install-recommends "${missing[@]}"
