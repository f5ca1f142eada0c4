#!/bin/bash
# pkg_config.sh LIBDIR CXX SOURCE FOLDER: builds SOURCE in FOLDER with what am.pc says, shared and static, and runs both.
set -euo pipefail
libdir=$1 cxx=$2 source=$3 folder=$4

rm -rf "$folder" && mkdir -p "$folder"
export PKG_CONFIG_PATH=$libdir/pkgconfig
# The answers of pkg-config are several words each.
# shellcheck disable=SC2046
"$cxx" -std=c++20 "$source" -o "$folder/shared" $(pkg-config --cflags --libs am)
env -u LD_LIBRARY_PATH "$folder/shared"

# With libam.so out of sight, -lam is libam.a.
mkdir "$folder/static_only" && cp "$libdir/libam.a" "$folder/static_only"
# shellcheck disable=SC2046
"$cxx" -std=c++20 "$source" -o "$folder/static" \
  $(pkg-config --define-variable=libdir="$folder/static_only" --static --cflags --libs am)
env -u LD_LIBRARY_PATH "$folder/static"
