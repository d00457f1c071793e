#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A pack of 100 kernels for three architectures: 60 elementwise, 30 reductions and 10 scans, drawn from
# five dtypes. In: the command quern, jobs. Out: seconds and bytes, with sources and without, as JSON lines.
#
#   bench/pack.sh build/bin/quern [JOBS]
set -eu
quern=$(realpath "$1")
jobs=${2:-$(nproc)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export QUERN_CACHE_DIR=off QUERN_NVRTC_CACHE=0

awk 'BEGIN {
    split("float32 float64 float16 int32 int8", types)
    for (k = 0; k < 100; k++) {
        type = types[k % 5 + 1]
        print "[[kernel]]\nname = \"kernel_" k "\"\nin = \"T x\"\nout = \"T y\""
        if (k < 60) {
            print "operation = \"y = x * x + " k "\""
        } else if (k < 90) {
            print "kind = \"reduction\"\nmap = \"x + " k "\"\nreduce = \"a + b\"\npost = \"y = a\"\nidentity = \"0\""
        } else {
            print "kind = \"scan\"\nmap = \"x + " k "\"\nscan = \"a + b\"\npost = \"y = a\""
        }
        shape = k >= 60 && k < 90 ? "[]" : "[100000]"
        print "[[kernel.call]]\narguments = [\"" type "[100000]\", \"" type shape "\"]"
    }
}' >KERNELS.toml

for sources in with without; do
    option=
    [ $sources = with ] || option=--without-source
    began=$(date +%s%N)
    # shellcheck disable=SC2086 # no word where there is no option
    "$quern" build KERNELS.toml --arch=sm_80,sm_90,compute_90 --jobs="$jobs" $option -o app.qpack >told 2>&1 ||
        { cat told && exit 1; }
    ended=$(date +%s%N)
    case=$(sed -n 's/^app.qpack: \([0-9]*\) compiled kernels.*/\1 images of 100 kernels/p' told)
    for pair in "s $(awk "BEGIN { print ($ended - $began) / 1e9 }")" "bytes $(stat -c %s app.qpack)" "jobs $jobs"; do
        printf '{"bench": "pack", "peer": "quern", "case": "%s, %s sources", "metric": "%s", "value": %s}\n' \
            "$case" $sources "${pair% *}" "${pair#* }"
    done
done
