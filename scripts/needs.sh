# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# A part of ./dev: what the jobs need, asked for and installed; NVRTC, nvJitLink and CUDA's headers, found or
# fetched. In: commands, headers, libraries. Out: nothing missing, or a sentence that says what is.

# ---- what is needed ------------------------------------------------------------------------------

has_command() { command -v "$1" >/dev/null 2>&1; }
has_header() { echo "#include <$1>" | cc -E -x c - >/dev/null 2>&1; }
has_cmake() {
    has_command cmake && cmake --version |
        awk 'NR == 1 { split($3, v, "."); exit !(v[1] > 3 || (v[1] == 3 && v[2] >= 25)) }'
}

has_fuzzer() {
    echo 'int LLVMFuzzerTestOneInput(const void *d, long n) { return d && n ? 0 : 0; }' |
        clang -fsanitize=fuzzer,address -x c - -o /dev/null >/dev/null 2>&1
}

# need PACKAGE CHECK...: note a Debian package if its check fails.
missing=
need() {
    need_package=$1
    shift
    "$@" || missing="$missing $need_package"
}

need_to_build() {
    need gcc has_command cc
    need libc6-dev has_header stdlib.h
    need cmake has_cmake
    need ninja-build has_command ninja
    need libxxhash-dev has_header xxhash.h
    need libsqlite3-dev has_header sqlite3.h
}

need_to_test() {
    [ -w /dev/shm ] ||
        fail "Criterion, which the tests use, needs /dev/shm: as root, mount -t tmpfs tmpfs /dev/shm"
    need libcriterion-dev has_header criterion/criterion.h
    need libpng-dev has_header png.h
    need libsodium-dev has_header sodium.h
    need libhiredis-dev has_header hiredis/hiredis.h
    need libmpc-dev has_header mpc.h # with GMP and MPFR
    need g++ has_command c++
    need pkg-config has_command pkg-config
}

install_missing() {
    [ -n "$missing" ] || return 0
    as_root=
    [ "$(id -u)" = 0 ] || as_root=sudo
    if ! has_command apt-get; then
        fail "these are missing (names of Debian packages):$missing"
    elif [ -n "$as_root" ] && ! { has_command sudo && { sudo -n true 2>/dev/null || [ -t 0 ]; }; }; then
        fail "as root, please: apt-get install --no-install-recommends$missing"
    fi
    step packages "installing$missing" apt_install
    missing=
}

apt_install() {
    $as_root apt-get update
    # shellcheck disable=SC2086 # $missing is a list
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
}

# ---- NVRTC, nvJitLink and CUDA's headers ---------------------------------------------------------

# They are taken from where the library looks for them (docs/software-device.md). Where one is missing,
# all are fetched into build/cuda, because they must be of one release.
cuda_release='13.0.*'

# has_library NAME: true when there is one of a version that can be used.
has_library() {
    library=$1
    old_ifs=$IFS
    IFS=:
    set -f
    # shellcheck disable=SC2086 # a path list
    set -- ${LD_LIBRARY_PATH:-}
    set +f
    IFS=$old_ifs
    for folder in build/cuda/lib "$@" "${CUDA_HOME:-/nowhere}"/lib* \
        "${CUDA_PATH:-/nowhere}"/lib* "${CONDA_PREFIX:-/nowhere}/lib" \
        "${CONDA_PREFIX:-/nowhere}"/lib/python3*/site-packages/nvidia/*/lib \
        "${VIRTUAL_ENV:-/nowhere}"/lib/python3*/site-packages/nvidia/*/lib \
        /usr/local/cuda*/lib64 /usr/lib/*-linux-gnu /usr/lib64; do
        for file in "$folder/$library".so.1[2-9] "$folder/$library".so.[23][0-9]; do
            [ ! -e "$file" ] || return 0
        done
    done
    return 1
}

# has_below FILE: true when it is in one of the folders with headers.
has_below() {
    for folder in build/cuda "${CUDA_HOME:-/nowhere}" "${CUDA_HOME:-/nowhere}"/targets/*-linux \
        "${CUDA_PATH:-/nowhere}" "${CUDA_PATH:-/nowhere}"/targets/*-linux \
        "${VIRTUAL_ENV:-/nowhere}"/lib/python3*/site-packages/nvidia/* \
        "${CONDA_PREFIX:-/nowhere}"/targets/*-linux \
        "${CONDA_PREFIX:-/nowhere}"/lib/python3*/site-packages/nvidia/* /usr/local/cuda*; do
        [ ! -e "$folder/include/$1" ] && [ ! -e "$folder/include/cccl/$1" ] || return 0
    done
    return 1
}

has_nvrtc() { [ -n "${QUERN_NVRTC:-}" ] || has_library libnvrtc; } # the library judges the user's choice
has_nvjitlink() { [ -n "${QUERN_NVJITLINK:-}" ] || has_library libnvJitLink; }
has_nvcc() { has_command nvcc || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; }
has_headers() {
    has_below cooperative_groups.h && has_below crt/host_defines.h && has_below cuda/std/version
}

cuda() {
    ! has_nvrtc || ! has_headers || ! has_nvjitlink || return 0
    what="fetching NVRTC, nvJitLink and CUDA's headers, as Python packages, into build/cuda"
    what="$what (136 MB, once; 235 MB there)"
    if ! has_nvrtc; then
        need python3 has_command python3
        has_pip || need python3-venv has_module ensurepip
        need ca-certificates test -e /etc/ssl/certs/ca-certificates.crt
        install_missing
        step cuda "$what" fetch_cuda build/cuda
    elif [ ! -e build/cuda/no-more ]; then # this machine's own NVRTC will do where nothing can be fetched
        say cuda "$what"
        mkdir -p build/log build/cuda
        fetch_cuda build/cuda >build/log/cuda.txt 2>&1 || {
            say cuda "that failed (build/log/cuda.txt); what needs headers or nvJitLink will say so; ./dev clean"
            say cuda "makes the next run try again"
            : >build/cuda/no-more
        }
    fi
}

has_module() { python3 -c "import $1" >/dev/null 2>&1; }
has_pip() { has_command python3 && python3 -m pip --version >/dev/null 2>&1; }

# fetch_cuda FOLDER [PIP OPTION...]: into a folder of its own until it is complete. Joined by &&, because a
# step whose status is checked does not stop at a failure by itself.
fetch_cuda() {
    place=$1 new=$1.new python=python3
    shift
    rm -rf "$new"
    mkdir -p "$new/lib" &&
        { has_pip || { python3 -m venv "$new/venv" && python=$new/venv/bin/python3; }; } &&
        PIP_REQUIRE_VIRTUALENV=0 "$python" -m pip download --no-deps --only-binary :all: -d "$new/wheel" "$@" \
            "nvidia-cuda-nvrtc==$cuda_release" "nvidia-nvjitlink==$cuda_release" \
            "nvidia-cuda-runtime==$cuda_release" "nvidia-cuda-crt==$cuda_release" \
            "nvidia-cuda-cccl==$cuda_release" &&
        for wheel in "$new"/wheel/*.whl; do
            python3 -m zipfile -e "$wheel" "$new/unpacked" || return
        done &&
        rm -f "$new"/unpacked/nvidia/*/lib/*.alt.* &&
        mv "$new"/unpacked/nvidia/*/lib/libnvrtc* "$new"/unpacked/nvidia/*/lib/libnvJitLink* \
            "$new"/unpacked/nvidia/*/lib/libcudadevrt.a "$new/lib" &&
        mv "$new"/unpacked/nvidia/*/include "$new/include" &&
        rm -rf "$new/wheel" "$new/unpacked" "$new/venv" "$place" &&
        mv "$new" "$place" && return
    echo "NVRTC could not be fetched. With a CUDA Toolkit elsewhere, set CUDA_HOME to its folder; or" \
        "put libnvrtc.so.* and libnvrtc-builtins.so.* into $place/lib."
    return 1
}
