# SPDX-License-Identifier: MIT
. "$CASE_LIB"
one() {
    try quern elementwise "$1" 'float32 y' 'y = 1' x=ones:float32:2 --quiet
}
one 'float31 x'
one 'float32'
one 'float32 x,'
one 'float32 x, float32 x'
one 'float32 i'
one 'float32 _x'
one 'raw raw T x'
one 'T x; T y'
one ','
try quern elementwise 'T x' 'U y' 'y = x' x=ones:float32:2
