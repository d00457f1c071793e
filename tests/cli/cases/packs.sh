# SPDX-License-Identifier: MIT
# Kernels are recorded, built into a pack, run from it without NVRTC and cache; packs and caches are
# turned into each other; what cannot be is refused.
. "$CASE_LIB"
export QUERN_DEVICE=soft # packs-here.sh runs one on any device
QUERN_CACHE_DIR=$PWD/cache
export QUERN_CACHE_DIR
run() { quern elementwise 'T x, T y' 'T z' 'z = x * y' x=arange:float32:5 y=3; }
sum() { quern reduce 'T x' 'T y' x 'a + b' 'y = a' 0 x=arange:float32:4x3 --axis=0 --name=total; }
bare() (
    export QUERN_NVRTC=/nonexistent QUERN_CACHE_DIR=off QUERN_PACKS="$1"
    shift
    "$@"
)
QUERN_RECORD=$PWD/KERNELS.toml
export QUERN_RECORD
run
run
sum
unset QUERN_RECORD
cat KERNELS.toml
quern cache record --output=other.toml -- quern eval 'x + 1' x=arange:int32:3
quern cache record -o other.toml -- quern eval 'x + 1' x=arange:int32:3
try quern cache record -o other.toml quern eval 'x + 1' x=arange:int32:3
try quern cache record other.toml -- quern eval 'x + 1' x=arange:int32:3
grep -c '^\[\[kernel\]\]' other.toml

build() { quern build "$@" | sed 's/, [0-9.]* [a-zA-Z]*, in .*/, ... KiB, in ... s/'; }
build KERNELS.toml --arch=soft -o app.qpack
build KERNELS.toml --arch sm_80,sm_90 --arch=compute_90 -o gpu.qpack --level=1 --jobs=1
# with other machines and other users its processes have nothing to do
QUERN_CACHE_GROUP=nobody-has-this-name QUERN_REMOTE=redis://127.0.0.1:1 build KERNELS.toml --arch=soft -o own.qpack
bare app.qpack run
bare app.qpack sum
bare gpu.qpack run 2>&1 | cut -c-60
bare "gpu.qpack:app.qpack" run
bare app.qpack quern elementwise 'T x, T y' 'T z' 'z = x * y' x=arange:float32:5 y=3 --explain | grep ^image

quern cache clear
try quern cache import gpu.qpack
try quern cache import gpu.qpack
quern cache list | awk 'NR > 1 { print $2, $3, $NF }' | sort
try quern cache export --output=all.qpack --without-source
try quern cache import all.qpack
key=$(quern cache list | awk '/total/ { print $1; exit }')
try quern cache export --output=one.qpack --key="$key"
head -c 1000 gpu.qpack >cut.qpack
try quern cache import cut.qpack
try quern cache import absent.qpack
try quern cache export
try quern cache export --output=/nonexistent/a.qpack
try quern cache record
try quern cache record -- /nonexistent/program

echo 'wrong lists:'
try quern build absent.toml --arch=soft --output=no.qpack
try quern build KERNELS.toml --output=no.qpack
try quern build KERNELS.toml --arch=soft
try quern build KERNELS.toml --arch=sm_1000 --output=no.qpack
wrong() {
    printf '%b' "$1" >wrong.toml
    try quern build wrong.toml --arch=soft --output=no.qpack
}
wrong ''
wrong 'x = 1\n'
wrong '[[kernel]\n'
wrong '[[kernel]]\nin = "T x\n'
wrong '[[kernel]]\nin = 1.5\n'
wrong '[[kernel]]\nin = "T x" "T y"\n'
wrong '[[kernel]]\nin.a = "T x"\n'
wrong '[[kernel]]\nin = {a = 1}\n'
wrong '[[kernel]]\nin = "a"\nin = "b"\n'
wrong '[[kernel]]\noperaton = ""\n'
wrong '[[kernel]]\nkind = "fold"\n'
wrong '[[kernel]]\nin = 3\n'
wrong '[[kernel]]\noptions = ["a", 3]\n'
wrong '[[kernel]]\nin = "\\q"\n'
wrong '[[kernel]]\nin = "\\e"\n'
wrong '[[kernels]]\n'
wrong '[[kernel.call]]\narguments = []\n'
wrong '[[kernel]]\n[[kernel.call]]\naxes = [0]\n'
wrong '[[kernel]]\n[[kernel.call]]\narguments = ["floot32"]\n'
wrong '[[kernel]]\n[[kernel.call]]\narguments = ["float32[3,-4]"]\n'
wrong '[[kernel]]\n[[kernel.call]]\narguments = ["float32[3,4] strides=4"]\n'
wrong '[[kernel]]\n[[kernel.call]]\narguments = ["float32[3] same=0"]\n'
wrong '[[kernel]]\n[[kernel.call]]\narguments = []\naxes = [0, 4294967296]\n'
wrong '[[kernel]]\n[[kernel.call]]\narguments = []\nblock_size = -1\n'
wrong '[[kernel]]\n[[kernel.call]]\narguments = []\nblock_size = 4294967328\n'
wrong '[[kernel]]\n[[kernel.call]]\narguments = []\nloop_size = -1\n'
array() {
    wrong "[[kernel]]\nin = \"T x, S y\"\nout = \"T z\"\noperation = \"z = x\"\n[[kernel.call]]\narguments = [$1, \"-\"]\n"
}
array '"float32[1000000000000000000]", "int32[3]"'
array '"float32", "int32[3] same=0"'
array '"float32[3] strides=1000000000000000000", "int32[3]"'
wrong '[[module]]\nname = "a.cu"\n'
wrong '[[kernel]]\nin = "T x"\nout = "T y"\noperation = "y = u"\n[[kernel.call]]\narguments = ["int32[3]", "int32[3]"]\n'
wrong '[[kernel]]\nin = "T x"\nout = "T y"\noperation = "y = x"\n[[kernel.call]]\narguments = ["int32[3]"]\n'
wrong '[[module]]\nfile = "absent.cu"\n'
ls
echo 'a module beside its list:'
mkdir place
echo 'extern "C" __global__ void two(int *x) { *x = 2; }' >place/two.cu
two() { quern raw place/two.cu --kernel two --grid 1 --block 1 zeros:int32:1:-; }
quern cache record -o place/list.toml -- quern raw place/two.cu --kernel two --grid 1 --block 1 zeros:int32:1:-
cat place/list.toml
mv place other
build other/list.toml --arch=soft -o two.qpack
mv other place
bare two.qpack two
