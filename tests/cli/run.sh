#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs the tests of the command. usage: run.sh [--update] QUERN [CASE...]
#
# A case is cases/NAME.sh, run by sh in an empty folder with `quern` on its path; lib.sh has functions
# for it. What it prints is compared exactly with NAME.stdout, or line by line with the shell patterns
# in NAME.stdout.glob, where a line "..." matches any number of lines at the end. The same goes for
# standard error. A missing file means that nothing is printed. NAME.exit is the exit status
# expected (0 when it is missing); a case that ends with 77 is skipped. --update writes the exact
# files again: look at the difference before you keep it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
update=no
if [ "${1:-}" = --update ]; then
    update=yes
    shift
fi
if [ $# -lt 1 ] || [ ! -x "$1" ]; then
    echo "usage: run.sh [--update] QUERN [CASE...]" >&2
    exit 2
fi
quern=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift

work=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir "$work/bin"
ln -s "$quern" "$work/bin/quern"
PATH=$work/bin:$PATH
CASE_LIB=$here/lib.sh
: "${QUERN_DEVICE:=soft}" "${QUERN_CACHE_DIR:=$work/cache}"
LC_ALL=C # the order in which ls and sort print
unset QUERN_LOG
export PATH CASE_LIB QUERN_DEVICE QUERN_CACHE_DIR LC_ALL

# matches GLOB-FILE TEXT-FILE
matches() {
    exec 3<"$1" 4<"$2"
    while IFS= read -r pattern <&3; do
        [ "$pattern" = ... ] && return 0
        IFS= read -r line <&4 || return 1
        # shellcheck disable=SC2254
        case $line in
        $pattern) ;;
        *) return 1 ;;
        esac
    done
    ! IFS= read -r line <&4
}

# compare CASE STREAM: the output of a case with what is expected of it
compare() {
    expected=$here/cases/$1.$2
    if [ -f "$expected.glob" ]; then
        matches "$expected.glob" "$work/$2" && return 0
        expected=$expected.glob
    elif [ $update = yes ]; then
        if [ -s "$work/$2" ]; then cp "$work/$2" "$expected"; else rm -f "$expected"; fi
        return 0
    fi
    [ -f "$expected" ] || expected=/dev/null
    diff -u "$expected" "$work/$2" >"$work/diff" && return 0
    echo "FAIL $1: $2"
    cat "$work/diff"
    return 1
}

run_case() {
    rm -rf "$work/folder"
    mkdir "$work/folder"
    status=0
    (cd "$work/folder" && exec sh "$here/cases/$1.sh") \
        >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
    if [ $status = 77 ]; then
        echo "SKIP $1: $(cat "$work/stderr")"
        skipped=$((skipped + 1))
        return
    fi
    wanted=0
    [ -f "$here/cases/$1.exit" ] && wanted=$(cat "$here/cases/$1.exit")
    good=yes
    compare "$1" stdout || good=no
    compare "$1" stderr || good=no
    if [ $status != "$wanted" ]; then
        echo "FAIL $1: exit status $status, expected $wanted"
        good=no
    fi
    if [ $good = yes ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

passed=0 failed=0 skipped=0
if [ $# = 0 ]; then
    for file in "$here"/cases/*.sh; do
        set -- "$@" "$(basename "$file" .sh)"
    done
fi
for name; do
    run_case "$name"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] || exit 1
[ $passed -gt 0 ] || exit 77
