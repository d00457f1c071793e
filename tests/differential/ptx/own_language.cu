/* SPDX-License-Identifier: MIT
 *
 * The language: objects on the heap with virtual functions, a table of functions, recursion of two
 * kinds.
 */
struct shape {
    int side;
    __device__ shape(int side) : side(side)
    {
    }
    __device__ virtual ~shape()
    {
    }
    __device__ virtual int area(int more) const = 0;
};
struct square : shape {
    __device__ square(int side) : shape(side)
    {
    }
    __device__ int area(int more) const override
    {
        return side * side + more;
    }
};
struct row : shape {
    int count;
    __device__ row(int side, int count) : shape(side), count(count)
    {
    }
    __device__ int area(int more) const override
    {
        return side * count - more;
    }
};

__device__ int twice(int x)
{
    return 2 * x;
}
__device__ int plus_three(int x)
{
    return x + 3;
}
__device__ int (*const functions[])(int) = {twice, plus_three};

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void k(const int *x, int *areas, int *called, int *recursive)
{
    const int t = threadIdx.x, v = x[t] & 15;
    shape *s = t & 1 ? (shape *)new square(v) : (shape *)new row(v, t);
    int *squares = new int[v + 1];
    for (int i = 0; i <= v; i++) {
        squares[i] = i * i;
    }
    areas[t] = s->area(v) + squares[v];
    delete s;
    delete[] squares;
    called[t] = functions[v & 1](v);
    recursive[t] = fibonacci(v & 7) + ackermann(2, v & 3);
}
