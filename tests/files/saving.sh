#!/bin/sh
# SPDX-License-Identifier: MIT
#
# saving.sh QUERN ATTRIBUTE: what saving does to what is already there. A table: each row prepares a
# target, saves an array to it and says what must have become of it; all rows run as a user without
# privileges and, where this is root, as root too. A row that cannot be run is named with the reason,
# and counted. ATTRIBUTE is attribute.c, built.
set -u
quern=$1
attribute=$2
work=$(mktemp -d) || exit 1
memory=
mounted=
clean() {
    [ -z "$mounted" ] || umount "$mounted"
    [ -z "$memory" ] || rm -rf "$memory"
    chmod -R u+rwx "$work" && rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM
chmod 755 "$work"
QUERN_DEVICE=soft
export QUERN_DEVICE
rows=0 failed=0 left_out=0

# ---- who saves -----------------------------------------------------------------------------------

# Everything that the other user needs is copied: the build may be in a folder that they cannot read.
mkdir "$work/bin" "$work/lib"
cp "$quern" "$work/bin/quern"
cp "$(dirname "$quern")"/../lib/libquern.so* "$work/lib/" 2>/dev/null
cp "$attribute" "$work/bin/attribute"
chmod -R a+rX "$work"
PATH=$work/bin:$PATH
nobody=65534
me=$(id -u)

as() { # as USER COMMAND...
    as_user=$1
    shift
    QUERN_CACHE_DIR=$work/cache.$as_user
    export QUERN_CACHE_DIR
    if [ "$as_user" = "$me" ]; then
        "$@"
    else
        setpriv --reuid="$as_user" --regid="$as_user" --clear-groups "$@"
    fi
}

save() { quern elementwise 'T x' 'T y' 'y = x' x=arange:int8:5 "$@"; }

users=$me
if [ "$me" = 0 ] && command -v setpriv >/dev/null && setpriv --reuid=$nobody --clear-groups true; then
    users="0 $nobody"
elif [ "$me" = 0 ]; then
    echo "LEFT OUT: every row of a user without privileges: setpriv does not work here"
    left_out=$((left_out + 1))
else
    echo "LEFT OUT: every row of root, for this is user $me"
    left_out=$((left_out + 1))
fi

# The kernels are compiled once, by whichever user can, and are then in both caches.
QUERN_CACHE_DIR=$work/cache.$me
export QUERN_CACHE_DIR
save y="$work/new.npy" || exit 1
quern elementwise 'T x' 'T y' 'y = x + 1' x=arange:int8:5 y="$work/next.npy" || exit 1
quern elementwise 'T x' 'T a, T b' 'a = b = x' x=arange:int8:5 a="$work/a.npy" b="$work/b.npy" || exit 1
quern elementwise 'T x' 'T y' 'y = 2' x=zeros:int8:7 y="$work/old.npy" || exit 1
chmod 644 "$work"/*.npy
if [ "$users" != "$me" ]; then
    cp -R "$work/cache.0" "$work/cache.$nobody"
    chown -R $nobody:$nobody "$work/cache.$nobody"
fi

# ---- rows ----------------------------------------------------------------------------------------

wrong() {
    echo "WRONG $row (user $user): $*"
    bad=1
}

give() { [ "$me" != 0 ] || chown -R "$1:$1" "$2"; } # give USER FILE

# row NAME: in a folder of its own, which belongs to the user
row() {
    row=$1 bad=0
    rows=$((rows + 1))
    cd "$work" || exit 1
    rm -rf "$work/at"
    mkdir "$work/at"
    give "$user" "$work/at"
    cd "$work/at" || exit 1
}

# old FILE [MODE [OWNER]]: a file that is there before
old() {
    cp "$work/old.npy" "$1"
    give "${3:-$user}" "$1"
    chmod "${2:-644}" "$1"
}

# saves STATUS PATTERN ARGUMENT...: save as the user; what is said fits the shell pattern
saves() {
    wanted=$1 pattern=$2
    shift 2
    said=$(as "$user" quern elementwise 'T x' 'T y' 'y = x' x=arange:int8:5 "$@" 2>&1)
    status=$?
    [ $status = "$wanted" ] || wrong "status $status, not $wanted: $said"
    # shellcheck disable=SC2254 # a pattern
    case $said in
    $pattern) ;;
    *) wrong "it said: $said" ;;
    esac
}

holds() { cmp -s "$2" "$work/$1.npy" || wrong "$2 does not hold the $1 array"; }
mode() { [ "$(stat -c %a "$2")" = "$1" ] || wrong "mode $(stat -c %a "$2") of $2, not $1"; }
owner() { [ "$(stat -c %u "$2")" = "$1" ] || wrong "owner $(stat -c %u "$2") of $2, not $1"; }
inode() { stat -c %i "$1"; }
link() { [ "$(readlink "$2")" = "$1" ] || wrong "$2 is not the link to $1 any more"; }

end() {
    # shellcheck disable=SC2012 # names are ours
    rest=$(find "$work/at" -name '.quern*' | head -n 1)
    [ -z "$rest" ] || wrong "left behind: $rest"
    failed=$((failed + bad))
}

without() { # without REASON: the row that has just begun cannot be run
    echo "LEFT OUT: $row (user $user): $*"
    rows=$((rows - 1)) left_out=$((left_out + 1))
}

told='quern: "*" is written in place, because *'

files_of_the_user() {
    row "new file"
    umask 027
    saves 0 '' y=o.npy
    umask 022
    holds new o.npy
    mode 640 o.npy
    end
    for mode in 644 640 600 666 664 755 6755 200 222; do
        row "file of mode $mode"
        old o.npy "$mode"
        before=$(inode o.npy)
        saves 0 '' y=o.npy
        mode $mode o.npy
        owner "$user" o.npy
        [ "$before" != "$(inode o.npy)" ] || wrong "it was not renamed into place"
        chmod 644 o.npy
        holds new o.npy
        end
    done
    for mode in 444 400 0 555; do
        row "read-only file, mode $mode"
        old o.npy "$mode"
        if [ "$user" = 0 ]; then
            saves 0 '' y=o.npy
        else
            saves 1 'quern: error: y: cannot write "o.npy": Permission denied' y=o.npy
        fi
        mode $mode o.npy
        chmod 644 o.npy
        if [ "$user" = 0 ]; then holds new o.npy; else holds old o.npy; fi
        end
    done
    row "name of 255 bytes"
    name=$(printf '%0251d.npy' 0)
    saves 0 '' y="$name"
    holds new "$name"
    saves 1 '*File name too long*' y="0$name"
    end
    row "odd names"
    for name in ' ' 'a b' 'c,d' 'e=f' '-g' 'h:i' "$(printf '\377')" 'j]' '[k'; do
        saves 0 '' y="$name.npy"
        holds new "./$name.npy"
    done
    end
}

links() {
    row "symbolic link"
    old t.npy 640
    ln -s t.npy l.npy
    saves 0 '' y=l.npy
    link t.npy l.npy
    holds new t.npy
    mode 640 t.npy
    end
    row "chain of links through folders"
    mkdir -p d/e
    old d/e/t.npy
    ln -s e/t.npy d/one.npy
    ln -s "$PWD/d/one.npy" d/two.npy
    ln -s d/two.npy l.npy
    give "$user" d
    saves 0 '' y=l.npy
    link e/t.npy d/one.npy
    link d/two.npy l.npy
    holds new d/e/t.npy
    end
    row "link to nothing"
    mkdir d
    give "$user" d
    ln -s d/t.npy l.npy
    saves 0 '' y=l.npy
    link d/t.npy l.npy
    holds new d/t.npy
    end
    row "link into a folder that is not there"
    ln -s d/t.npy l.npy
    saves 1 '*No such file or directory' y=l.npy
    end
    row "links in a circle"
    ln -s b.npy a.npy
    ln -s a.npy b.npy
    saves 1 '*Too many levels of symbolic links' y=a.npy
    end
    row "hard link"
    old o.npy 640
    ln o.npy p.npy
    # shellcheck disable=SC2154
    saves 0 "$told" y=o.npy
    holds new p.npy
    mode 640 o.npy
    [ "$(inode o.npy)" = "$(inode p.npy)" ] || wrong "the link is broken"
    end
    row "hard link, quiet"
    old o.npy
    ln o.npy p.npy
    saves 0 '' y=o.npy --quiet
    holds new p.npy
    end
    row "link to another file system"
    if [ -n "$memory" ]; then
        old "$memory/t.npy" 640
        ln -s "$memory/t.npy" l.npy
        saves 0 '' y=l.npy
        link "$memory/t.npy" l.npy
        holds new "$memory/t.npy"
        mode 640 "$memory/t.npy"
        end
    else
        without "/dev/shm is not another file system that can be written"
    fi
}

streams() {
    row "FIFO"
    mkfifo f.npy
    give "$user" f.npy
    timeout 60 cat f.npy >got &
    saves 0 '' y=f.npy
    wait $!
    holds new got
    [ -p f.npy ] || wrong "the FIFO is gone"
    end
    row "device"
    ln -s /dev/null n.npy
    saves 0 '' y=n.npy
    [ -c /dev/null ] || wrong "/dev/null is gone"
    end
    row "device that is full"
    ln -s /dev/full n.npy
    saves 1 'quern: error: cannot write "n.npy": No space left on device' y=n.npy
    end
    row "folder as the target"
    mkdir o.npy
    saves 1 'quern: error: y: cannot write "o.npy": it is a folder' y=o.npy
    ln -s o.npy l.npy
    saves 1 '*it is a folder' y=l.npy
    saves 1 '*Not a directory' y="$work/old.npy/o.npy"
    saves 1 '*No such file or directory' y=missing/o.npy
    end
}

folders() {
    row "file in a folder that cannot be written"
    mkdir d
    old d/o.npy 640
    chmod 555 d
    give "$user" d
    if [ "$user" = 0 ]; then saves 0 '' y=d/o.npy; else saves 0 "$told" y=d/o.npy; fi
    mode 640 d/o.npy
    holds new d/o.npy
    if [ "$user" != 0 ]; then
        saves 1 '*"d/p.npy": Permission denied' y=d/p.npy
    fi
    chmod 755 d
    end
    row "limit of the size of a file"
    old o.npy
    old h.npy
    ln h.npy i.npy
    for name in o h; do
        said=$(ulimit -f 1 && as "$user" quern elementwise 'T x' 'T y' 'y = x' x=arange:int8:9000 \
            y=$name.npy 2>&1)
        case $said in
        *"cannot write \"$name.npy\": File too large; its old contents remain") ;;
        *) wrong "it said: $said" ;;
        esac
        holds old $name.npy
    done
    end
    row "full disk"
    if [ "$me" = 0 ] && mkdir full && mount -t tmpfs -o size=64k none full 2>/dev/null; then
        mounted=$PWD/full
        chmod 777 full
        old full/o.npy
        old full/h.npy
        ln full/h.npy full/i.npy
        for name in o h; do
            said=$(as "$user" quern elementwise 'T x' 'T y' 'y = x' x=arange:int8:200000 \
                y=full/$name.npy 2>&1)
            case $said in
            *": No space left on device; its old contents remain") ;;
            *) wrong "it said: $said" ;;
            esac
            holds old full/$name.npy
        done
        cd "$work" && umount "$mounted" && mounted=
        end
    else
        without "no file system can be mounted here"
    fi
}

inputs_too() {
    for kind in name link hard; do
        row "output that is also the input, by $kind"
        as "$user" cp "$work/new.npy" x.npy
        case $kind in
        name) y=x.npy ;;
        link) ln -s x.npy y.npy && y=y.npy ;;
        hard) ln x.npy y.npy && y=y.npy ;;
        esac
        as "$user" quern elementwise 'T x' 'T y' 'y = x + 1' x=x.npy y="$y" --quiet || wrong "status $?"
        holds next x.npy
        end
    done
    row "two outputs to one file"
    old o.npy
    mkdir d
    ln -s o.npy l.npy
    ln o.npy h.npy
    ln -s missing.npy m.npy
    ln -s ../missing.npy d/m.npy
    for pair in 'o.npy o.npy' 'o.npy ./o.npy' 'o.npy d/../o.npy' 'o.npy l.npy' 'o.npy h.npy' \
        'new.npy ./new.npy' 'd/../new.npy new.npy' 'm.npy missing.npy' 'm.npy d/m.npy' \
        "new.npy $PWD/new.npy"; do
        said=$(as "$user" quern elementwise 'T x' 'T a, T b' 'a = b = x' x=arange:int8:5 \
            a="${pair% *}" b="${pair#* }" 2>&1) && wrong "$pair: accepted"
        case $said in
        *"a and b would both be saved to "*) ;;
        *) wrong "$pair: it said: $said" ;;
        esac
        holds old o.npy
    done
    as "$user" quern elementwise 'T x' 'T a, T b' 'a = b = x' x=arange:int8:5 \
        a=/dev/null b=/dev/null 2>/dev/null || as "$user" true
    end
}

attributes() {
    row "extended attributes"
    old o.npy 640
    attribute set o.npy user.note 6869 2>/dev/null
    status=$?
    if [ $status = 0 ]; then
        saves 0 '' y=o.npy
        holds new o.npy
        mode 640 o.npy
        [ "$(attribute get o.npy user.note)" = 6869 ] || wrong "user.note is gone"
        end
    else
        without "this file system has none"
    fi
    # user::rw- user:1:r-- group::r-- mask::rw- other::---
    acl=020000000100060000000000020004000100000004000400ffffffff10000600ffffffff20000000ffffffff
    acl=$(echo $acl | sed 's/^0200000001000600[0-9a-f]\{8\}/0200000001000600ffffffff/')
    row "access list"
    old o.npy 640
    if attribute set o.npy system.posix_acl_access "$acl" 2>/dev/null; then
        before=$(attribute get o.npy system.posix_acl_access)
        saves 0 '' y=o.npy
        holds new o.npy
        [ "$(attribute get o.npy system.posix_acl_access)" = "$before" ] || wrong "the list differs"
        end
    else
        without "this file system has none"
    fi
    row "file without the access list that its folder would give"
    if attribute set . system.posix_acl_default "$acl" 2>/dev/null; then
        old o.npy 640
        cp "$work/old.npy" p.npy # has it
        attribute set o.npy system.posix_acl_access \
            0200000001000600ffffffff04000400ffffffff20000000ffffffff
        saves 0 '' y=o.npy
        mode 640 o.npy
        [ "$(attribute get o.npy system.posix_acl_access)" = none ] || wrong "it has got a list"
        end
    else
        without "this file system has none"
    fi
}

files_of_others() { # rows that root alone can prepare
    row "file of another user that all may write"
    old o.npy 666 7
    if [ "$user" = 0 ]; then saves 0 '' y=o.npy; else saves 0 "$told" y=o.npy; fi
    owner 7 o.npy
    mode 666 o.npy
    holds new o.npy
    end
    row "file of another user"
    old o.npy 644 7
    if [ "$user" = 0 ]; then
        saves 0 '' y=o.npy
        owner 7 o.npy
        holds new o.npy
    else
        saves 1 '*Permission denied' y=o.npy
        holds old o.npy
    fi
    end
    row "file of another user in a folder where each removes his own"
    mkdir d
    chmod 1777 d
    old d/o.npy 666 7
    if [ "$user" = 0 ]; then saves 0 '' y=d/o.npy; else saves 0 "$told" y=d/o.npy; fi
    owner 7 d/o.npy
    holds new d/o.npy
    end
    row "own file in a folder of another user"
    mkdir d
    chmod 755 d
    chown 7 d
    old d/o.npy 604
    if [ "$user" = 0 ]; then saves 0 '' y=d/o.npy; else saves 0 "$told" y=d/o.npy; fi
    mode 604 d/o.npy
    holds new d/o.npy
    end
    row "new file in a folder that gives its group"
    mkdir d
    chown "$user:7" d
    chmod 2755 d
    saves 0 '' y=d/o.npy
    [ "$(stat -c %g d/o.npy)" = 7 ] || wrong "group $(stat -c %g d/o.npy)"
    end
    row "file of another group in a folder that gives its group"
    mkdir d
    chown "$user:7" d
    chmod 2755 d
    old d/o.npy 660
    saves 0 '' y=d/o.npy
    [ "$(stat -c %g d/o.npy)" = "$user" ] || wrong "group $(stat -c %g d/o.npy)"
    mode 660 d/o.npy
    end
}

if [ -d /dev/shm ] && [ -w /dev/shm ] && [ "$(stat -c %d /dev/shm)" != "$(stat -c %d "$work")" ]; then
    memory=$(mktemp -d /dev/shm/quern.XXXXXX)
    chmod 777 "$memory"
fi
for user in $users; do
    files_of_the_user
    links
    streams
    folders
    inputs_too
    attributes
    if [ "$me" = 0 ]; then
        files_of_others
    else
        row="files of other users"
        rows=$((rows + 1))
        without "only root can make them"
    fi
    [ -z "$memory" ] || rm -f "$memory"/*
done
echo "$rows rows as user ${users# }, $failed wrong, $left_out left out"
[ "$failed" = 0 ]
