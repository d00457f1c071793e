# SPDX-License-Identifier: MIT
# Source that does not compile, reported with the user's own lines.
. "$CASE_LIB"
cat >k.cu <<'END'
#include "own.h"
extern "C" __global__ void add(int *x)
{
    *x += AMOUNT + undeclared;
}
END
k() {
    try quern raw k.cu --kernel add --grid 1 --block 1 ones:int32:1:- "$@" |
        sed '/^k.cu(/,/^Comp/{/^->/!d}; /^nvrtc: /d; s/NVRTC [0-9.]*/NVRTC .../
             s,looked in: .*,looked in: ...,' # its log; CUDA's folders
}
k
mkdir headers
echo '#define AMOUNT 4' >headers/own.h
k
k --option -Iheaders
k --option -Iheaders --option -Dundeclared=1
k --options '-Iheaders -Dundeclared=2'
echo '#define AMOUNT 5' >headers/own.h
k --options '-Iheaders -Dundeclared=2'
echo '#define AMOUNT 6' >own.h
k --options '-Iheaders -Dundeclared=2'
k --option --no-such-option
quern raw k.cu --kernel add --grid 1 --block 1 ones:int32:1 --show-source 2>said | cmp - k.cu
grep -c undeclared said
: >k.cu
k
rm k.cu
k
