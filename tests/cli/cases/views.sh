# SPDX-License-Identifier: MIT
. "$CASE_LIB"
for view in '' .T '[1]' '[-1]' '[:, 1]' '[1, 2]' '[::-1, ::-2]' '[1:]' '[:-1, 1:3]' '[...]' '[..., 0]' \
    '[None, 0]' '[0, None]' '[:, newaxis, 0]' '[1:1]' '[5:]' '[-100:100]' '.T.T' '.T[1]' '[::2].T[1:]' \
    '[ 1 , : : 2 ]' '[1,]' '[2:0:-1]' '[99999999999999999999:]' '[None:None:None, 0]' '[:, np.newaxis].T'; do
    echo "x$view"
    copy "x=arange:int32:3x4$view"
done
copy 'x=arange:int8:2x3x4.T[1]'
copy 'x=ones:float32:()[None]'
copy 'x=arange:float32:0[::-1]'
