# SPDX-License-Identifier: MIT
# One line on standard error; what is saved and printed is of the first run.
quern elementwise 'T x' 'T y' 'y += x' x=ones:int32:1024 y=zeros:int32:1024:y.npy --time
quern elementwise 'T x' 'T y' 'y = x' 'x=y.npy[:3]' --time
