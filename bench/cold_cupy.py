#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cold compilation by CuPy: the first call of an ElementwiseKernel, or of a ReductionKernel, whose source is
new, in a warm process.

The peer of bench_compile_cold: the same operations, every source new, NVRTC's own cache off, the cache on
disk in an empty folder. Needs a GPU and CuPy. usage: cold_cupy.py [RUNS]
"""
import json
import os
import statistics
import sys
import tempfile
import time


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    with tempfile.TemporaryDirectory() as folder:
        os.environ['CUPY_CACHE_DIR'] = folder
        import cupy
        x = cupy.ones(1000000, dtype='float32')
        z = cupy.empty_like(x)
        def elementwise(run):
            cupy.ElementwiseKernel('T x, T y', 'T z', f'z = 2.0f * x + y + {run}.0f',
                                   options=('--no-cache',))(x, x, z)

        def reduction(run):
            cupy.ReductionKernel('T x', 'T y', f'x * {run}.0f', 'a + b', 'y = a', '0',
                                 options=('--no-cache',))(x)

        for name, case, call, count in (
                ('cupy.ElementwiseKernel', '2x+y float32 to sm_90', elementwise, runs),
                ('cupy.ReductionKernel', 'sum float32 to sm_90', reduction, max(3, runs // 5))):
            times = []
            for run in range(count + 1):
                begin = time.perf_counter()
                call(run)
                cupy.cuda.Device().synchronize()
                times.append((time.perf_counter() - begin) * 1e3)
            for what, value in (('first in the process', times[0]),
                                (case, statistics.median(times[1:]))):
                print(json.dumps({'bench': 'cold compile', 'peer': name, 'case': what,
                                  'metric': 'ms', 'value': round(value, 4)}))


if __name__ == '__main__':
    main()
