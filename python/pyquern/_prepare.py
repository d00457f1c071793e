# SPDX-License-Identifier: MIT
#
# Compiling ahead, several kernels at once. In: calls. Out: what they need is compiled. The thing to
# know: the compiler works without the GIL, so that threads of Python are enough. quern_prepare()
# does this for C; here each call keeps its own exception, and Ctrl-C ends what has not begun.
"""Compiling ahead."""

import functools
import os

from ._core import ElementwiseKernel, ReductionKernel, ScanKernel
from ._raw import RawKernel, RawModule

_KERNELS = ElementwiseKernel | ReductionKernel | ScanKernel


def _task(call):
    """What compiles for a call, to be called without arguments."""
    if isinstance(call, tuple) and call and isinstance(call[0], _KERNELS):
        call = functools.partial(*call)
    if isinstance(call, functools.partial) and isinstance(call.func, _KERNELS):
        return functools.partial(call.func.prepare, *call.args, **call.keywords)
    if isinstance(call, RawKernel | RawModule):
        return call.compile
    raise TypeError(
        "a call to prepare is a tuple of a kernel and its arguments, a functools.partial of a "
        f"kernel, a RawKernel or a RawModule, not {call!r}"
    )


def _raise_first(errors):
    """`errors`: by place in the list."""
    if errors:
        (_, first), *others = sorted(errors.items())
        for place, error in others:
            first.add_note(f"call {place} cannot be prepared either: {error}")
        raise first


def prepare(calls, *, threads=None, progress=None):
    """Compile what several calls will need, side by side, before the first of them; nothing is
    launched. What is made stays with the kernels and in the cache.

    A call is a tuple of a kernel and its arguments, or a functools.partial of a kernel, which may
    have keywords; an array may be told by a pair (dtype, shape). A RawKernel or RawModule stands
    for itself.

    `threads`: how many compile at once (None: one for each processor). `progress(done, total)` is
    called here whenever one is done. One that fails keeps no other from being made: the first
    error of the list is raised, with a note for each of the others.

    >>> import functools, pyquern
    >>> scale = pyquern.ElementwiseKernel("T x", "T y", "y = 2 * x", "scale")
    >>> total = pyquern.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    >>> rows = ("float32", (100, 50))
    >>> pyquern.prepare([(scale, rows), functools.partial(total, rows, axis=1)])
    """
    from concurrent import futures  # which takes a while, and few programs need

    tasks = [_task(call) for call in calls]
    workers = threads or len(os.sched_getaffinity(0))
    errors = {}
    with futures.ThreadPoolExecutor(workers, "pyquern-prepare") as pool:
        places = {pool.submit(task): place for place, task in enumerate(tasks)}
        try:
            for done, future in enumerate(futures.as_completed(places), 1):
                error = future.exception()
                if error is not None:
                    errors[places[future]] = error
                if progress:
                    progress(done, len(tasks))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    _raise_first(errors)
