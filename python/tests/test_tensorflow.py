# SPDX-License-Identifier: MIT
#
# Tensors of TensorFlow in kernels, on the CPU.
import pytest

tf = pytest.importorskip("tensorflow")


@pytest.mark.parametrize("name", "int8 int32 int64 uint8 float16 bfloat16 float32 float64".split())
def test_every_dtype(q, name):
    x = tf.cast(tf.constant([0, 1, 2]), name)
    y = q.ElementwiseKernel("T x", "T y", "y = x + x")(x)
    assert isinstance(y, tf.Tensor) and y.dtype == x.dtype
    assert tf.cast(y, "int32").numpy().tolist() == [0, 2, 4]


def test_views_and_empty(q):
    k = q.ElementwiseKernel("T x", "T y", "y = x + x")
    assert k(tf.zeros((0, 3))).shape == (0, 3)
    assert k(tf.constant(2.0)).numpy() == 4


def test_both_ways(q):
    a = q.ones(4, "float32")
    assert tf.experimental.dlpack.from_dlpack(a.__dlpack__()).numpy().tolist() == [1, 1, 1, 1]
