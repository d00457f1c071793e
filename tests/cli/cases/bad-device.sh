# SPDX-License-Identifier: MIT
. "$CASE_LIB"
try copy x=ones:int8:1 --device frob | grep -c frob
try copy x=ones:int8:1 --device cuda:99 | tail -n 1
QUERN_DEVICE=frob
export QUERN_DEVICE
try copy x=ones:int8:1 | tail -n 1
copy x=ones:int8:1 --device soft
