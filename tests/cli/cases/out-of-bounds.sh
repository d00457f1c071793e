# SPDX-License-Identifier: MIT
# Where it happened is told, in the user's own words; nothing is written.
[ "$QUERN_DEVICE" != "${QUERN_DEVICE#soft}" ] || {
    echo 'needs the software device' >&2
    exit 77
}
quern elementwise 'raw float32 x, int32 k' 'float32 y' 'y = x[k * 1000000]' x=ones:float32:4 \
    k=arange:int32:4 y=o.npy 2>said
echo "-> $?"
grep -c 'in no allocation' said
grep -c '^ *y = x.k \* 1000000.$' said
ls
