# SPDX-License-Identifier: MIT
# One line on standard error; what is saved and printed is of the first run.
quern elementwise 'T x' 'T y' 'y += x' x=ones:int32:1024 y=zeros:int32:1024:y.npy --time
quern elementwise 'T x' 'T y' 'y = x' 'x=y.npy[:3]' --time
# A first run that takes long says how many fit at a time; there are never more than 1000 of them.
quern elementwise '' 'raw int32 n' 'long long t = clock64(); while (n[0] == 1 && clock64() - t < 30000000); n[0]++' \
    n=zeros:int32:1 --size=1 --time 2>&1 | sed 's/.* runs=\(1000\|[0-9]\{1,3\}\)$/at most 1000 runs/'
