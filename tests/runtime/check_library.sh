#!/bin/sh
# The shared library links nothing of the compiler, and shows exactly the functions of axon.h, each in the version that
# had it first: those of AXON_0.1 are listed in data/symbols-0.1.txt, and stay.
# usage: check_library.sh LIBRARY HEADER
set -eu
library=$1 header=$2 listed=$(dirname "$0")/data/symbols-0.1.txt
allowed='^lib(c|m|dl|pthread|stdc\+\+|gcc_s|z|asan|ubsan|tsan)\.so|^ld-linux'
needed=$(objdump -p "$library" | awk '/NEEDED/ { print $2 }' | grep -Ev "$allowed" || true)
if [ -n "$needed" ]; then echo "unexpected dependency: $needed"; exit 1; fi
if nm -C "$library" | grep -E 'llvm::|z3::|Z3_' | head -3 | grep .; then
  echo "the compiler is in the runtime"
  exit 1
fi

# same WHAT LIST LIST: the lists have the same lines.
same() {
  [ "$2" = "$3" ] && return
  echo "$1 differ:"
  printf '%s\n%s\n' "$2" "$3" | sort | uniq -u
  exit 1
}
shown=$(nm -D --defined-only --with-symbol-versions "$library" | awk '$2 == "T" { print $3 }' | LC_ALL=C sort)
declared=$(tr '\n' ' ' < "$header" | sed 's|/\*|\n&|g; s|\*/|&\n|g' | grep -v '^/\*' | tr '\n' ' ' |
           grep -oE 'AXON_API [^;]*' | grep -oE 'axon_[a-z_]+\(' | tr -d '(' | LC_ALL=C sort)
same "functions shown and functions declared" "$(echo "$shown" | sed 's/@.*//')" "$declared"
if echo "$shown" | grep -v '@@AXON_'; then echo "these have no version: see runtime/host/exports.map"; exit 1; fi
same "functions of AXON_0.1 and tests/runtime/data/symbols-0.1.txt" \
     "$(echo "$shown" | sed -n 's/@@AXON_0\.1$//p')" "$(grep -v '^#' "$listed" | LC_ALL=C sort)"
soname=$(objdump -p "$library" | awk '/SONAME/ { print $2 }')
same "names of the library" "$soname" "libaxon_runtime.so.$(sed -n 's/^#define AXON_VERSION_MAJOR //p' "$header")"
