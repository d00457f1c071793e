# SPDX-License-Identifier: MIT
unset QUERN_DEVICE
QUERN_DEVICE=soft quern doctor >said || cat said
for line in devices compiler cache environment trial 'the result is right' QUERN_DEVICE=soft; do
    grep -q "$line" said || echo "\"$line\" is not said"
done
# What is said can be shown to others.
QUERN_DEVICE=soft QUERN_REMOTE=redis://user:secret@127.0.0.1 QUERN_REMOTE_AUTH=user:secret QUERN_REMOTE_SIGN='quern-secret secret' \
    QUERN_REMOTE_TRUST=/etc/trusted QUERN_REMOTE_MODE=read-only quern doctor >said 2>error
sed -n '/^environment/,/^$/p' said | grep -v CACHE_DIR
grep secret said error
# Without a compiler no kernel can be tried; doctor says what to do.
export QUERN_DEVICE=soft QUERN_NVRTC="$PWD/none.so"
quern doctor >said 2>error
echo "-> $?"
cat error
grep -c -e 'NVRTC cannot be used' -e '-> install the CUDA Toolkit' said
