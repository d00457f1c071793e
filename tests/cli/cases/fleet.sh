# SPDX-License-Identifier: MIT
# Two machines share kernels over a redis-server: the one signs and writes, the other believes and reads.
. "$CASE_LIB"
command -v redis-server >/dev/null || { echo 'redis-server is not installed' >&2 && exit 77; }
ldconfig -p 2>/dev/null | grep -q libhiredis || { echo 'hiredis is not installed' >&2 && exit 77; }
ldconfig -p 2>/dev/null | grep -q libsodium || { echo 'libsodium is not installed' >&2 && exit 77; }
server=
trap '[ -z "$server" ] || kill $server' EXIT
: >server.log
for try in 1 2 3 4 5; do
    port=$((20000 + ($$ * 5 + try) % 20000))
    redis-server --port $port --bind 127.0.0.1 --save '' --dir "$PWD" >server.log &
    server=$!
    for wait in 1 2 3 4 5 6 7 8 9 10; do
        grep -q 'Ready to accept' server.log || sleep 0.1
    done
    kill -0 $server 2>/dev/null && break
    server=
done
[ -n "$server" ] || { echo 'redis-server does not start' >&2 && exit 77; }
QUERN_REMOTE=redis://127.0.0.1:$port
QUERN_REMOTE_TIMEOUT=5000 # a machine that runs tests is busy
export QUERN_REMOTE QUERN_REMOTE_TIMEOUT
increment() { QUERN_LOG=debug quern elementwise 'T x' 'T y' 'y = x + 1' x=ones:float32:2 --name=increment 2>log; }
origin() { sed -n 's/.*bytes, was //p' log; }

echo '-- nobody is believed unasked'
QUERN_CACHE_DIR=$PWD/unasked increment
grep -o 'who is believed?' log
origin
echo '-- keys'
try quern cache keys writer.key | sed 's/[0-9a-f]\{64\}/HEX/'
quern cache keys writer.key >trust
chmod 644 writer.key
try quern cache keys writer.key | sed 's/(.*)/(...)/'
chmod 600 writer.key
echo '-- the writer'
export QUERN_REMOTE_SIGN=$PWD/writer.key
export QUERN_CACHE_DIR=$PWD/writer
increment
origin
quern elementwise 'T x' 'T y' 'y = x + 2' x=ones:float32:2 --name=second
quern cache push 2>/dev/null | sed 's/^[0-9a-f]\{32\}/KEY/' | sort
quern cache push 2>&1 >list
echo '-- a reader'
unset QUERN_REMOTE_SIGN
export QUERN_REMOTE_TRUST=$PWD/trust
export QUERN_CACHE_DIR=$PWD/reader
increment
origin
try quern cache push
quern cache pull list
quern cache pull list
mkdir elsewhere
(cd elsewhere && quern cache verify --recompile 100%)
(cd elsewhere && quern cache verify --recompile 0.0001%)
echo '-- another reader, who believes somebody else'
quern cache keys other.key >other
QUERN_REMOTE_TRUST=$PWD/other QUERN_CACHE_DIR=$PWD/other-cache increment
grep -o 'that QUERN_REMOTE_TRUST does not have' log
origin
echo '-- recipes alone'
QUERN_REMOTE_MODE=recipes try quern cache push
unset QUERN_REMOTE_TRUST
QUERN_REMOTE_MODE=recipes QUERN_CACHE_DIR=$PWD/recipes try quern cache pull list
QUERN_REMOTE_MODE=recipes QUERN_CACHE_DIR=$PWD/recipes quern prewarm - <list
export QUERN_REMOTE_TRUST=$PWD/trust
echo '-- lists'
echo 'e3ac 1' >short
try quern prewarm short
echo '# nothing' | quern prewarm -
echo 0123456789abcdef0123456789abcdef | try quern prewarm -
try quern prewarm /no/such/list
echo '-- calls'
QUERN_RECORD=$PWD/KERNELS.toml increment
for number in 3 4 5; do
    QUERN_RECORD=$PWD/KERNELS.toml quern elementwise 'T x' 'T y' "y = x + $number" x=ones:float32:2 >/dev/null
done
QUERN_REMOTE=off QUERN_CACHE_DIR=$PWD/alone quern prewarm KERNELS.toml --jobs=2
QUERN_REMOTE=off QUERN_CACHE_DIR=$PWD/alone quern prewarm KERNELS.toml
QUERN_REMOTE=off QUERN_CACHE_DIR=$PWD/alone increment
origin
QUERN_CACHE_DIR=$PWD/both quern prewarm KERNELS.toml --jobs=1
QUERN_CACHE_DIR=$PWD/both quern prewarm KERNELS.toml
printf '[[kernel]]\nin = "T x"\nout = "T y"\noperation = "y = nonsense"\n' >>KERNELS.toml
printf '[[kernel.call]]\narguments = ["float32[2]", "-"]\n' >>KERNELS.toml
QUERN_CACHE_DIR=$PWD/both try quern prewarm KERNELS.toml
QUERN_CACHE_DIR=off try quern prewarm KERNELS.toml
QUERN_REMOTE=ftp://localhost QUERN_CACHE_DIR=$PWD/both try quern prewarm list --jobs=2
try quern prewarm absent.toml
try quern prewarm list another
echo '-- what is not there'
QUERN_REMOTE=off try quern cache push
QUERN_REMOTE=redis://me:secret@localhost QUERN_REMOTE_MODE=open try quern cache push
QUERN_REMOTE=ftp://localhost QUERN_REMOTE_MODE=open try quern cache push 2>/dev/null | grep -v '^quern: warning'
