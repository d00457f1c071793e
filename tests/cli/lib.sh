# SPDX-License-Identifier: MIT
#
# Functions for the cases: . "$CASE_LIB"
# shellcheck shell=sh

# Run a command; print what it says on both streams and its exit status.
try() {
    "$@" 2>&1
    echo "-> $?"
}

# npy FILE HEADER [BYTES]: write an NPY file of version 1 by hand; BYTES are for printf.
npy() {
    npy_length=$(printf '%s\n' "$2" | wc -c)
    {
        printf '\223NUMPY\001\000'
        # shellcheck disable=SC2059
        printf "\\$(printf %03o $((npy_length % 256)))\\$(printf %03o $((npy_length / 256)))"
        printf '%s\n' "$2"
        # shellcheck disable=SC2059
        printf "${3:-}"
    } >"$1"
}

# copy ARGUMENT...: a kernel that copies its input, for tests of what goes in and out.
copy() {
    quern elementwise 'T x' 'T y' 'y = x' "$@"
}
