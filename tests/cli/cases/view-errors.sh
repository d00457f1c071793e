# SPDX-License-Identifier: MIT
. "$CASE_LIB"
a=arange:int32:3x4
for view in '[]' '[' '[0' '[1;2]' '[a]' '[1.5]' '[[0,1]]' '[True]' '[::0]' '[0,0,0]' '[3]' '[-4]' \
    '[:,4]' '[...,...]' '[0][4]' '.T[4]' '.T.t' '[..., -5, None]' '["name"]' '[0 1]' '[::1:2]' \
    '[None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None]' \
    '[99999999999999999999]' '.swapaxes(())' '.swapaxes((0, 1))' '.squeeze(())' '.transpose(())' \
    '.transpose((1, 0),)' '.ravel(1)' '.ravel(())' '.reshape((3, -1,' '.reshape(())'; do
    try copy "x=$a$view"
done
