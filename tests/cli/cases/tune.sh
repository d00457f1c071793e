# SPDX-License-Identifier: MIT
# What is measured is kept, and found by later processes; it changes no answer.
. "$CASE_LIB"
QUERN_CACHE_DIR=$PWD/cache
export QUERN_CACHE_DIR
tuned() { quern "$@" --explain | sed -n 's/^tuned: *//p'; }

tuned elementwise 'T x' 'T y' 'y = x * x * x' x=arange:int32:200x5
tuned elementwise 'T x' 'T y' 'y = x * x * x' x=arange:int32:200x5 --tune
quern tune elementwise 'T x' 'T y' 'y = x * x * x' x=arange:int32:200x5 >measured
sed -n '1p; 2s/ *[0-9.]* us.*by rule.*/ TIME by rule/p' measured
grep -c 'kept$' measured
sed -n '$s/:.*,/: ...,/; $s/; not all was tried//; $s/[0-9.]* times/N times/p' measured
tuned elementwise 'T x' 'T y' 'y = x * x * x' x=arange:int32:200x5 --tune | sed 's/.*, //'
# of the same powers of two, and of others
tuned elementwise 'T x' 'T y' 'y = x * x * x' x=arange:int32:190x5 --tune | sed 's/.*, //'
tuned elementwise 'T x' 'T y' 'y = x * x * x' x=arange:int32:2000x5 --tune
# measured by the call itself, on copies: the output is computed once
quern elementwise 'T x' 'T y' 'y += x' x=arange:int32:5 y=ones:int32:5:- --tune
tuned elementwise 'T x' 'T y' 'y += x' x=arange:int32:5 y=ones:int32:5:- --tune=50 | sed 's/.*, //'
quern reduce 'T x' 'T y' x 'a + b' 'y = a' 0 x=arange:int32:100x100 --axis=1 --tune --quiet y=sum.npy
quern reduce 'T x' 'T y' x 'a + b' 'y = a' 0 x=arange:int32:100x100 --axis=1 --quiet y=again.npy
cmp sum.npy again.npy && echo the same
quern tune eval 'x * 2' x=arange:int32:5 --quiet
quern cache clear >cleared
tuned elementwise 'T x' 'T y' 'y = x * x * x' x=arange:int32:200x5 --tune
# without a cache it is measured each time
QUERN_CACHE_DIR=off tuned elementwise 'T x' 'T y' 'y = x * x * x' x=arange:int32:200x5 --tune
QUERN_CACHE_DIR=off quern elementwise 'T x' 'T y' 'y = x' x=arange:int32:3 --tune

try quern tune
try quern tune scan 'T x' 'T y' x 'a + b' 'y = a' 0 x=arange:int32:5
try quern tune reduces
try quern tune elementwise 'T x' 'T y' 'y = x'
try quern tune elementwise 'T x' 'T y' 'y = z' x=arange:int32:5
try quern scan 'T x' 'T y' x 'a + b' 'y = a' 0 x=arange:int32:5 --tune
for option in --show-source --show-ptx --explain --time; do
    try quern tune elementwise 'T x' 'T y' 'y = x' x=arange:int32:5 $option
done
try copy x=arange:int32:3 --tune=0
try copy x=arange:int32:3 --tune=soon
