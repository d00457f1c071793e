# SPDX-License-Identifier: MIT
# A cache that cannot be used is told of, and the kernel still runs.
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
QUERN_CACHE_DIR=off
copy x=arange:int32:3
