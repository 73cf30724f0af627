#!/bin/sh
# The shared library links nothing of the compiler, and shows exactly the functions of axon.h.
# usage: check_library.sh LIBRARY HEADER
set -eu
library=$1 header=$2
allowed='^lib(c|m|dl|pthread|stdc\+\+|gcc_s|z|asan|ubsan|tsan)\.so|^ld-linux'
needed=$(objdump -p "$library" | awk '/NEEDED/ { print $2 }' | grep -Ev "$allowed" || true)
if [ -n "$needed" ]; then echo "unexpected dependency: $needed"; exit 1; fi
if nm -C "$library" | grep -E 'llvm::|z3::|Z3_' | head -3 | grep .; then
  echo "the compiler is in the runtime"
  exit 1
fi
shown=$(nm -D --defined-only "$library" | awk '$2 == "T" { print $3 }' | sort)
declared=$(tr '\n' ' ' < "$header" | grep -oE 'AXON_API [^;]*' | grep -oE 'axon_[a-z_]+\(' | tr -d '(' | sort)
if [ "$shown" != "$declared" ]; then
  echo "functions shown and functions declared differ:"
  printf '%s\n%s\n' "$shown" "$declared" | sort | uniq -u
  exit 1
fi
