// SPDX-License-Identifier: MIT
//
// packed: what scans of rows that lie on in memory, and of columns that take turns there, are made
// of besides runs of memory: the room of a run, and what lies in front of a lane's share of its
// row. In: the sum of each lane's share. Out: a front with all before it. All threads of the block
// call, those without elements too.
#pragma once

namespace quern
{

// Bytes of shared memory for a run of so many that may begin anywhere in 128, as fold_packed.c has
// it.
template <int GAP_> __device__ __forceinline__ int packed_room(int bytes)
{
    const int gaps = GAP_ > 0 ? ((bytes + 128) / (GAP_ > 0 ? GAP_ : 1) + 1) * 16 : 0;
    return (bytes + 128 + gaps + 127) / 128 * 128;
}

// A lane that has the share at place `at` of its row, elements if it `has` any, the last of the row
// if it `ends`.
struct share {
    int at;
    bool has, ends;
};

// Lanes of a row are `width` neighbours, a power of two; of several warps, if BROAD_, whose values
// meet in `totals`, one for each warp of the block.
template <bool BROAD_, typename T_, typename F_>
__device__ __forceinline__ void join_neighbours(front<T_> &front, slot<T_> sum, const share &own,
                                                int width, slot<T_> *totals, const F_ &scan)
{
    const int lane = BROAD_ ? own.at % 32 : own.at, lanes = BROAD_ ? 32 : width;
#pragma unroll 1
    for (int distance = 1; distance < lanes; distance *= 2) {
        const slot<T_> other = shuffle(sum, distance, true);
        if (lane >= distance && own.has) {
            sum.value = scan(other.value, sum.value);
        }
    }
    const slot<T_> before = shuffle(sum, 1, true);
    if constexpr (BROAD_) {
        const int warp = threadIdx.x / 32;
        if (own.has && (lane == 31 || own.ends)) {
            totals[warp] = sum;
        }
        __syncthreads();
#pragma unroll 1
        for (int other = warp - own.at / 32; other < warp && own.has; other++) {
            front.append(totals[other], scan);
        }
    }
    if (lane > 0 && own.has) {
        front.append(before, scan);
    }
}

// Lanes of a row are `width` threads, each `apart` from the next; `totals` has room for all
// threads.
template <typename T_, typename F_>
__device__ __forceinline__ void join_strewn(front<T_> &front, slot<T_> sum, const share &own,
                                            int width, int apart, slot<T_> *totals, const F_ &scan)
{
    slot<T_> *const mine = totals + threadIdx.x;
    if (own.has) {
        *mine = sum;
    }
#pragma unroll 1
    for (int distance = 1; distance < width; distance *= 2) {
        const bool joins = own.at >= distance && own.has;
        slot<T_> other;
        __syncthreads();
        if (joins) {
            other = mine[-distance * apart];
        }
        __syncthreads();
        if (joins) {
            sum.value = scan(other.value, sum.value);
            *mine = sum;
        }
    }
    __syncthreads();
    if (own.at > 0 && own.has) {
        front.append(mine[-apart], scan);
    }
}

} // namespace quern
