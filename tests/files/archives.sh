#!/bin/sh
# SPDX-License-Identifier: MIT
#
# archives.sh QUERN [STEP]: members of .npz archives: stored and deflated, read and written, and
# archives that are damaged: every STEP-th byte is changed, and the archive cut short there. Each must
# give the right array or one message, never another array. NumPy is asked as well, if it is installed.
set -u
quern=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
step=${2:-3}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work" || exit 1
QUERN_DEVICE=soft
export QUERN_DEVICE
cases=0 failed=0

copy() { "$quern" elementwise 'T x' 'T y' 'y = x' "$@"; }
wrong() {
    echo "WRONG $*"
    failed=$((failed + 1))
}

# expect WHAT TEXT COMMAND...: the command succeeds and says the text
expect() {
    cases=$((cases + 1))
    what=$1 text=$2
    shift 2
    said=$("$@" 2>&1)
    status=$?
    [ "$status: $said" = "0: $text" ] || wrong "$what: status $status: $said"
}

# refuse WHAT PATTERN COMMAND...: it fails with a message that fits the shell pattern
refuse() {
    cases=$((cases + 1))
    what=$1 pattern=$2
    shift 2
    said=$("$@" 2>&1)
    status=$?
    [ $status = 1 ] || wrong "$what: status $status"
    # shellcheck disable=SC2254 # a pattern
    case $said in
    $pattern) ;;
    *) wrong "$what: $said" ;;
    esac
}

# ---- archives by hand: gzip deflates, and knows the checksum --------------------------------------

le() { # le BYTES NUMBER: little-endian
    le_number=$2
    le_count=$1
    while [ "$le_count" -gt 0 ]; do
        # shellcheck disable=SC2059
        printf "\\$(printf %03o $((le_number & 255)))"
        le_number=$((le_number >> 8))
        le_count=$((le_count - 1))
    done
}
size() { wc -c <"$1"; }

# header KIND NAME METHOD FLAGS FILE DATA OFFSET: a local header or an entry of the directory
header() {
    if [ "$1" = local ]; then printf 'PK\003\004'; else printf 'PK\001\002\024\003'; fi
    le 2 20
    le 2 "$4"
    le 2 "$3"
    le 4 0
    gzip -nc "$5" | tail -c 8 | head -c 4
    le 4 "$(size "$6")"
    le 4 "$(size "$5")"
    le 2 ${#2}
    le 2 0
    [ "$1" = local ] || le 10 0
    [ "$1" = local ] || le 4 "$7"
    printf %s "$2"
}

# zip ARCHIVE METHOD [FLAGS]: the arrays a.npy and b.npy
zip() {
    : >"$1"
    : >directory
    for member in a.npy b.npy; do
        cp $member data
        [ "$2" = 0 ] || gzip -nc $member | tail -c +11 | head -c -8 >data
        offset=$(size "$1")
        header local $member "$2" "${3:-0}" $member data 0 >>"$1"
        cat data >>"$1"
        header entry $member "$2" "${3:-0}" $member data "$offset" >>directory
    done
    offset=$(size "$1")
    cat directory >>"$1"
    { printf 'PK\005\006' && le 4 0 && le 2 2 && le 2 2 && le 4 "$(size directory)" && le 4 "$offset" && le 2 0; } >>"$1"
}

copy x=arange:int16:2x3 y=a.npy
copy x=ones:float64:2 y=b.npy
a='[[0 1 2]
 [3 4 5]]'
zip stored.npz 0
zip deflated.npz 8
zip encrypted.npz 0 1
zip bzip2.npz 12
for archive in stored deflated; do
    expect "$archive a" "$a" copy "x=$archive.npz[a]"
    expect "$archive a.npy" "$a" copy "x=$archive.npz[a.npy]"
    expect "$archive 'b'" "[1. 1.]" copy "x=$archive.npz['b']"
    expect "$archive view" "[5 2]" copy "x=$archive.npz[a][::-1].T[2]"
    expect "$archive through a pipe" "$a" sh -c "cat $archive.npz | '$quern' elementwise 'T x' 'T y' 'y = x' 'x=-.npz[a]'"
    cat "$quern" $archive.npz >behind.npz
    expect "$archive behind a program" "$a" copy 'x=behind.npz[a]'
    refuse "$archive c" '*the archive holds no "c"; it holds a, b' copy "x=$archive.npz[c]"
    refuse "$archive" '*say which array of the archive is meant, as in x.npz?a?; it holds a, b' copy x=$archive.npz
done
refuse encrypted '*"a.npy" is encrypted' copy 'x=encrypted.npz[a]'
refuse bzip2 '*"a.npy" is compressed by method 12*' copy 'x=bzip2.npz[a]'
cp a.npy no.npz
refuse "an NPY file" '*this is not an archive of numpy.savez' copy 'x=no.npz[a]'
expect "an NPY file of that name" "$a" copy x=no.npz
refuse "no member" '*the name of an array*' copy 'x=stored.npz[]'
refuse "not closed" '*the name of an array*' copy 'x=stored.npz[a'

# ---- writing ---------------------------------------------------------------------------------------

both() { "$quern" elementwise 'T x' 'T p, T q' 'p = x; q = 2 * x' x=a.npy "$@"; }
twice='[[ 0  2  4]
 [ 6  8 10]]'
expect "two members" "" both p=o.npz q=o.npz
expect "the first" "$a" copy 'x=o.npz[p]'
expect "the second" "$twice" copy 'x=o.npz[q]'
expect "one more, by another spelling" "" both 'p=./o.npz[r]' 'q=o.npz[s]'
expect "it is there" "$twice" copy 'x=o.npz[s]'
expect "the old one stays" "$twice" copy 'x=o.npz[q]'
expect "one is replaced" "" copy x=b.npy 'y=o.npz[q]'
expect "by the new one" "[1. 1.]" copy 'x=o.npz[q]'
refuse "which are there" '*it holds p, r, s, q' copy 'x=o.npz[none]'
refuse "one member twice" '*would both be saved to "o.npz" as p*' both 'p=o.npz[p]' 'q=o.npz[p]'
expect "deflated ones are kept" "" copy x=b.npy 'y=deflated.npz[c]'
expect "as they were" "$a" copy 'x=deflated.npz[a]'
expect "with the new one" "[1. 1.]" copy 'x=deflated.npz[c]'
expect "a member from itself" "" copy 'x=o.npz[r]' 'y=o.npz[p]'
expect "through a pipe" "$a" sh -c "'$quern' elementwise 'T x' 'T y' 'y = x' x=a.npy y=-.npz |
    '$quern' elementwise 'T x' 'T y' 'y = x' x=-"
echo text >text.npz
refuse "what is no archive" '*what is there would be lost*' copy x=a.npy y=text.npz
[ "$(cat text.npz)" = text ] || wrong "text.npz was changed"

# ---- damage ----------------------------------------------------------------------------------------

# check WHAT: bad.npz gives the array, or one message
check() {
    cases=$((cases + 1))
    said=$(timeout 10 "$quern" elementwise 'T x' 'T y' 'y = x' 'x=bad.npz[a]' 2>&1)
    status=$?
    case "$status:$said" in
    "0:$a" | "1:quern: error: x: "*) ;;
    *) wrong "$1: status $status: $said" ;;
    esac
}
zip stored.npz 0
zip deflated.npz 8
for archive in stored deflated; do
    bytes=$(size $archive.npz)
    at=0
    while [ "$at" -lt "$bytes" ]; do
        byte=$(tail -c +$((at + 1)) $archive.npz | head -c 1 | od -An -tu1)
        {
            head -c $at $archive.npz
            le 1 $((byte ^ (1 << (at % 8))))
            tail -c +$((at + 2)) $archive.npz
        } >bad.npz
        check "$archive, byte $at changed"
        if [ $((at % 5)) = 0 ]; then
            head -c $at $archive.npz >bad.npz
            check "$archive, cut at $at"
        fi
        at=$((at + step))
    done
done

# ---- NumPy -----------------------------------------------------------------------------------------

python=${QUERN_TEST_PYTHON:-python3}
if "$python" -c 'import numpy' 2>/dev/null; then
    "$python" - <<'END' || wrong "NumPy could not write"
import numpy as np
rng = np.random.default_rng(1)
arrays = {f"k{i}": rng.integers(0, 100, (i, 7)).astype(t) for i, t in enumerate("bhilBHILfdFD?")}
arrays["scalar"] = np.array(3.5)
arrays["fortran"] = np.asfortranarray(rng.random((30, 40)))
arrays["big"] = np.arange(300000, dtype="i4") % 1000
np.savez("n.npz", **arrays)
np.savez_compressed("c.npz", **arrays)
END
    for archive in n c; do
        for member in k0 k1 k2 k3 k4 k5 k6 k7 k8 k9 k10 k11 k12 scalar fortran big; do
            expect "NumPy's $archive.npz[$member]" "" copy "x=$archive.npz[$member]" "y=m.npz[$member]"
        done
        expect "NumPy reads it" "" "$python" -c "
import numpy as np
with np.load('$archive.npz') as n, np.load('m.npz') as m:
    assert sorted(n.files) == sorted(m.files), m.files
    for k in n.files:
        assert n[k].dtype == m[k].dtype and np.array_equal(n[k], m[k]), k"
        rm -f m.npz
    done
    expect "NumPy's checks find nothing" "" "$python" -c "
import zipfile
for name in ('o.npz', 'deflated.npz'):
    assert zipfile.ZipFile(name).testzip() is None"
else
    echo "LEFT OUT: what needs NumPy: $python has none (QUERN_TEST_PYTHON names another)"
fi
echo "$cases cases, $failed wrong"
[ "$failed" = 0 ]
