# SPDX-License-Identifier: MIT
. "$CASE_LIB"
QUERN_CACHE_DIR=$PWD/cache
export QUERN_CACHE_DIR
path=$(quern cache path)
echo "${path#"$PWD/"}"
quern cache list
copy x=ones:float32:2 --name=first
quern elementwise 'T x' 'T y' 'y = x + 1' x=ones:float32:2 --name=second
quern cache stats | grep entries
quern cache list | awk '{ print $NF }' | LC_ALL=C sort
key=$(quern cache list | awk '/first/ { print $1 }')
quern cache show "$key" | grep -e '^name' -e 'y = x'
try quern cache show ffff0000ffff
quern cache clear
quern cache list
QUERN_CACHE_DIR=off
try quern cache path
try quern cache stats
