#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Make forms.txt: for every lane-wise form the least architecture, of 75 and 90, whose assembler
# takes it; "-" where ptxas refuses it for both. Usage: forms.sh DIFFERENTIAL PTXAS < NAMES > forms.txt
set -eu
differential=$1 ptxas=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/left"
: >"$work/forms"
for arch in 75 90; do
  cp "$work/left" "$work/try"
  : >"$work/refused"
  while [ -s "$work/try" ]; do
    "$differential" --forms-text $arch <"$work/try" >"$work/f.ptx"
    "$ptxas" -O0 -arch=sm_$arch "$work/f.ptx" -o /dev/null 2>"$work/errors" && break
    # lines with errors -> numbers of kernels -> names
    sed -n 's/^ptxas .*, line \([0-9]*\); error.*/\1/p' "$work/errors" | sort -un >"$work/lines"
    [ -s "$work/lines" ] || { cat "$work/errors" >&2; exit 1; }
    awk 'NR == FNR { bad[$1]; next } /^.visible .entry/ { k++ } FNR in bad { print k }' \
      "$work/lines" "$work/f.ptx" | sort -un >"$work/kernels"
    awk 'NR == FNR { bad[$1]; next } FNR in bad' "$work/kernels" "$work/try" >>"$work/refused"
    awk 'NR == FNR { bad[$1]; next } !(FNR in bad)' "$work/kernels" "$work/try" >"$work/next"
    mv "$work/next" "$work/try"
  done
  sed "s/^/$arch /" "$work/try" >>"$work/forms"
  cp "$work/refused" "$work/left"
done
cat "$work/forms"
sed 's/^/- /' "$work/left"
