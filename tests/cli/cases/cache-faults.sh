# SPDX-License-Identifier: MIT
# A cache that cannot be used is reported, and the kernel still runs.
. "$CASE_LIB"
mkdir cache
QUERN_CACHE_DIR=$PWD/cache
export QUERN_CACHE_DIR
path=$(quern cache path)
echo 'this is not a database' >"$path"
copy x=arange:int32:3 2>/dev/null
QUERN_CACHE_DIR=/proc/nowhere
copy x=arange:int32:3 2>/dev/null
QUERN_CACHE_DIR=/dev/null
copy x=arange:int32:3 2>/dev/null
echo '-- a full disk: what is there is used, and can be cleared'
# Ignored from the start: a sanitizer writes before the command can see to that.
QUERN_CACHE_DIR=$PWD/full
copy x=arange:int32:3
(trap '' XFSZ; ulimit -f 0 && copy x=arange:int32:3 && quern cache stats | grep -e ^entries -e ^faults && quern cache clear) 2>&1 |
    sed "s|$PWD/||" | cat
quern cache list
echo '-- a home that is not there is not made'
unset QUERN_CACHE_DIR XDG_CACHE_HOME
# A driver makes such a folder for a cache of its own, on a GPU and when NVRTC asks for that cache.
(HOME=$PWD/nowhere QUERN_DEVICE=soft QUERN_NVRTC_CACHE=0 && export HOME QUERN_DEVICE QUERN_NVRTC_CACHE &&
    copy x=arange:int32:3 && quern cache path) 2>&1 | sed "s|$PWD/||"
ls -d nowhere 2>&1
mkdir home
HOME=$PWD/home quern cache path | sed "s|$PWD/||"
QUERN_CACHE_DIR=off
export QUERN_CACHE_DIR
copy x=arange:int32:3
