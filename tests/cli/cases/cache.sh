# SPDX-License-Identifier: MIT
. "$CASE_LIB"
export QUERN_DEVICE=soft # images for a GPU have other sizes
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
echo '-- why something was compiled, and what all processes did'
copy x=ones:float32:2 --name=first # the same: found
QUERN_LOG=debug quern elementwise 'T x' 'T y' 'y = x + 2' x=ones:float32:2 --name=second 2>&1 |
    sed -n 's/([0-9a-f]*)/(KEY)/; s/.*is compiled, because //p'
quern cache stats | grep -e ^compiled -e ^hits -e ^faults | sed 's/ in [0-9.]* s/ in .../; s/saved [0-9.]* s/saved .../'
echo '-- JSON'
quern cache stats --json | grep -e '"entries"' -e '"compiled_changed"' -e '^[{}]'
quern cache list --json | grep -c -e '"key": "[0-9a-f]*",' -e '"kind": "[a-z]*",'
quern cache show --json "$key" | grep -e '"name"' -e 'source.*y = x'  | sed 's/"source".*y = x.*/SOURCE/'
echo '-- verified and pruned'
quern cache verify
try quern cache prune --to=little
quern cache prune --unused=1 | sed 's/left, .*/left/'
quern cache prune --to=24K | sed 's/left, .*/left/'
quern cache clear
quern cache list
QUERN_CACHE_DIR=off
try quern cache path
try quern cache stats
