# SPDX-License-Identifier: MIT
# Nothing is computed.
quern elementwise 'T x' 'T y' 'y = x * 3.25' x=ones:float32:5 y=o.npy --show-source >source
grep -c 'y = x \* 3.25' source
quern elementwise 'T x' 'T y' 'y = x * 3.25' x=ones:float32:5 y=o.npy --explain >explanation
grep -c 'T=float32' explanation
ls
