# SPDX-License-Identifier: MIT
# Generators with numbers, methods of views, and what is wrong with them, at its place.
. "$CASE_LIB"
for value in full:float32:2x3:2.5.T full:bool:2:true 'full:complex64:():1-2j' linspace:float64:0:1:5 \
    linspace:int32:0:10:4 eye:int8:3 eye:float32:2x3 arange:float64:0:1:0.25 arange:int16:10:0:-3 \
    'arange:int64:6.reshape(2, -1)' 'arange:int64:2x3.transpose(1, 0).ravel()' \
    'arange:float64:4.astype(complex64).imag' 'arange:int32:2x2.astype(np.float16)[1]' \
    "ones:float32:2.view('u4')" 'arange:int8:2x1x2.squeeze().T' 'arange:int8:1x2x3.mT.swapaxes(0, 2)'; do
    copy "x=$value"
done
copy x=arange:float64:2x3 y=x.npy
copy 'x=x.npy.T.astype(int32).reshape(3, 2)'
quern elementwise 'T x' 'T y' 'y = x' x=7 'y=x.npy.astype(int64).reshape(3, 2)' || true
quern elementwise 'T x' 'T y' 'y += x' x=1.0 'y=x.npy.reshape(3, 2)[::2]:y.npy'
copy x=y.npy
echo '-- wrong'
for value in full:float32:3 full:float32:3: full:int8:3:200 full:int8:3:x full:float32:3x:1 full:float:2 \
    linspace:float64:0 linspace:float64:0:1 linspace:float64:0:1: linspace:float64:0:1:-3 \
    linspace:uint8:0:256:5 linspace:float64:zero:1:5 linspace:float32:0:1j:3 linspace:float64:0:1:5x5 \
    linspace:float64:0:1:9223372036854775807 eye:float32: eye:float32:-1 eye:float32:3x3x3 \
    eye:float64:4294967296 arange:int32:0:10:0 arange:uint8:0:300 arange:float64:0:inf \
    arange:float64:0:1:1e-300 arange:bool:0:2 arange:int8:0:1.5 zeros:float32:-3 \
    zeros:float32:1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1 \
    'arange:int8:6.reshap(2, 3)' 'arange:int8:6.reshape' 'arange:int8:6.reshape()' \
    'arange:int8:6.reshape(4, -1)' 'arange:int8:6.reshape(-1, -1)' 'arange:int8:6.reshape(2, x)' \
    'arange:int8:6.reshape(2, 3' 'arange:int8:6.reshape(-2, 3)' 'arange:int8:6.transpose(1)' \
    'arange:int8:2x3.transpose(0, 0)' 'arange:int8:2x3.swapaxes(0)' 'arange:int8:2x3.swapaxes(0, 2)' \
    'arange:int8:2x3.swapaxes(0, 1, 2)' 'arange:int8:6.astype(flaot32)' 'arange:int8:6.astype(float)' \
    'arange:int8:6.astype()' 'arange:int8:6.astype(int8' 'arange:int8:6.view(int32)' \
    'arange:int8:2x4.T.view(int16)' 'arange:int8:6.mT' 'arange:int8:2x3.squeeze(0)' \
    'arange:int8:6.ravel(1)' 'x.npy.reshap(3, 2)' 'x.npy.sum()' x.npy.shape; do
    try copy "x=$value"
done
echo '-- outputs are views'
for view in '.astype(int8)' '.flatten()' '.T.reshape(6)' '.imag' '.copy()' '.T[::2].ravel()'; do
    try quern elementwise 'T x' 'U y' 'y = x' x=1 "y=x.npy$view:y.npy"
done
