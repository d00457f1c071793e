# SPDX-License-Identifier: MIT
# Ctrl-C ends an endless loop, and the command dies by it; no file is left.
export QUERN_DEVICE=soft # a kernel on a GPU cannot be stopped
timeout --foreground --preserve-status -s INT 2 quern elementwise 'float32 x' 'float32 y' \
    'y = 0; while (y >= 0) y += x' x=ones:float32:64 y=o.npy 2>said
echo "-> $?"
cat said
ls
