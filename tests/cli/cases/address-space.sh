# SPDX-License-Identifier: MIT
# An allocation beyond the limit of the process names that limit. ASan needs more itself.
. "$CASE_LIB"
case $(LC_ALL=C grep -c -e __asan_init -e __tsan_init "$(command -v quern)") in
0) ;;
*)
    echo "this build has a sanitizer, whose shadow memory needs more than any limit that is of use here" >&2
    exit 77
    ;;
esac
export QUERN_DEVICE=soft
copy x=ones:float64:4 --quiet # loads NVRTC, which needs room
ulimit -v 2000000
copy x=ones:float64:4x1000x50000 2>&1 --quiet | sed 's/[0-9]* of this machine.s [0-9]* are free/SOME are free/'
try copy "x=zeros:int8:150000000.astype(complex128)"
