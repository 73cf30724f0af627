#!/bin/sh
# Neither the story program nor the runtime loads a compiler or a solver, directly or through another library.
# usage: check_dependencies.sh FILE...
set -eu
for file in "$@"; do
  loaded=$(ldd "$file")
  if printf '%s\n' "$loaded" | grep -iE 'llvm|clang|lld|z3|libpython'; then
    echo "$file loads what only the compiler needs"
    exit 1
  fi
  printf '%s\n' "$loaded" | grep -q 'libc\.so' || { echo "ldd tells nothing about $file"; exit 1; }
done
