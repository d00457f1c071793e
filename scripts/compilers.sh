# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # jobs is set in dev
#
# A part of ./dev: other compilers, and 64-bit ARM. In: what is installed. Out: builds in build/compilers/NAME and
# build/aarch64.

# Every compiler that is found, from those that Quern supports on: gcc 11, clang 14.
job_compilers() {
    need_to_build
    need_to_test
    install_missing
    if [ $# = 0 ]; then
        for version in $(seq 11 30); do
            ! has_command "gcc-$version" || set -- "$@" "gcc-$version"
            [ "$version" -lt 14 ] || ! has_command "clang-$version" || set -- "$@" "clang-$version"
        done
    fi
    [ $# -gt 0 ] || fail "no gcc-11, clang-14 or later was found: apt-get install clang-14, for example"
    for compiler in "$@"; do
        has_command "$compiler" || fail "no such compiler: $compiler"
        folder=build/compilers/$compiler
        step "configure-$compiler" "$folder" cmake -G Ninja -S . -B "$folder" -DCMAKE_C_COMPILER="$compiler" \
            -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo -DQUERN_BENCH=ON
        step "build-$compiler" "library and command, $jobs at a time" \
            ninja -C "$folder" -j"$jobs" lib/libquern.so bin/quern
        step "read-$compiler" "all other programs, only read" only_read "$folder"
    done
}

# only_read FOLDER: parse everything else that the build would compile, except files that include what the
# build makes.
only_read() {
    sed -n 's/^ *"command": "\(.*\)",*$/\1/p' "$1/compile_commands.json" |
        grep -E -- " -c $PWD/(tests|samples|bench)/" | grep -vE "/tests/(documents/|fault/fault_every)" |
        sed 's/\\\(.\)/\1/g; s/ -o [^ ]*//; s/$/ -fsyntax-only/' |
        (cd "$1" && xargs -d '\n' -n 1 -P "$jobs" sh -c)
}

# Debian's packages for 64-bit ARM, unpacked into a folder: nothing on this machine changes. apt gets
# places of its own, and finds by itself what else they need.
fetch_root() {
    apt=$PWD/build/aarch64/apt root=$PWD/build/aarch64/root
    rm -rf "$apt" "$root.new" "$root"
    mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$root.new" && : >"$apt/status" &&
        cat >"$apt/apt.conf" <<END &&
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Debug::NoLocking "true";
END
        APT_CONFIG=$apt/apt.conf apt-get update &&
        APT_CONFIG=$apt/apt.conf apt-get install -y --download-only libc6-dev libsqlite3-dev \
            libxxhash-dev libpng-dev libstdc++6 &&
        for package in "$apt"/cache/archives/*.deb; do
            dpkg-deb -x "$package" "$root.new" || return
        done &&
        find "$root.new" -type l -lname '/*' | while read -r link; do # into the folder
            ln -sfn "$root$(readlink "$link")" "$link" || return
        done &&
        rm -rf "$apt" && mv "$root.new" "$root"
}

job_aarch64() {
    need_to_build
    need gcc-aarch64-linux-gnu has_command aarch64-linux-gnu-gcc
    need g++-aarch64-linux-gnu has_command aarch64-linux-gnu-g++
    need qemu-user-static has_qemu
    need python3 has_command python3
    has_pip || need python3-venv has_module ensurepip
    install_missing
    mkdir -p build/aarch64
    [ -e build/aarch64/root ] || {
        has_command apt-get || fail "the libraries for 64-bit ARM come from Debian's packages, and apt is not here"
        step aarch64-root "Debian's libraries for 64-bit ARM, into build/aarch64/root (20 MB)" fetch_root
    }
    [ -e build/aarch64/cuda ] ||
        step aarch64-cuda "NVRTC for 64-bit ARM, into build/aarch64/cuda" fetch_cuda build/aarch64/cuda \
            --platform manylinux_2_17_aarch64 --platform manylinux2014_aarch64
    build aarch64 build/aarch64
    [ $# -gt 0 ] || set -- -R '^(sample|differential)|^unit.test_(lanes|ptx)'
    check aarch64 build/aarch64 "$@"
}

has_qemu() { has_command qemu-aarch64-static || has_command qemu-aarch64; }
