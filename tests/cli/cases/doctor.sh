# SPDX-License-Identifier: MIT
unset QUERN_DEVICE
QUERN_DEVICE=soft quern doctor >said || cat said
for line in devices compiler cache environment trial 'the result is right' QUERN_DEVICE=soft; do
    grep -q "$line" said || echo "\"$line\" is not said"
done
