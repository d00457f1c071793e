// SPDX-License-Identifier: MIT
//
// scan: what scans are made of: the scan of a warp, and tiles that learn from those before them
// what lies in front.
//
// The thing to know: bits never depend on who was fast. A tile's front is the front of its group of
// 32 tiles, combined with a fold of fixed shape over the group's tiles before it; the front of a
// group is always the chain, from left to right, over the values of the groups before it. A tile
// that finds the chain finished up to some group goes on from there, with the same result.
#pragma once

namespace quern
{

// A value, or nothing yet.
template <typename T_> struct front {
    slot<T_> value;
    bool has;

    __device__ __forceinline__ void begin(const T_ &v)
    {
        value.value = v;
        has = true;
    }
    template <typename F_> __device__ __forceinline__ void append(const slot<T_> &v, const F_ &scan)
    {
        value.value = has ? scan(value.value, v.value) : v.value;
        has = true;
    }
};

// The slot of another lane, 4 bytes at a time: `distance` places down, or at a place.
template <typename T_>
__device__ __forceinline__ slot<T_> shuffle(const slot<T_> &own, int place, bool up)
{
    constexpr int words = (sizeof(T_) + 3) / 4;
    unsigned word[words] = {};
    memcpy(word, &own, sizeof(T_));
#pragma unroll
    for (int k = 0; k < words; k++) {
        word[k] = up ? __shfl_up_sync(0xffffffffu, word[k], place)
                     : __shfl_sync(0xffffffffu, word[k], place);
    }
    slot<T_> other;
    memcpy(&other, word, sizeof(T_));
    return other;
}

// Scan the units of a warp. An output has `width` lanes, `at` = 0 ... width - 1, which are `apart`
// places from each other; in step j the first `count[j]` of them have a unit. `v`: in, the values
// of the units; out, what lies in front of each within the warp (of the first: anything). `total`:
// of all.
template <int P_, int R_, typename T_, typename F_>
__device__ __forceinline__ void scan_warp(slot<T_> (&v)[P_][R_], slot<T_> (&total)[R_],
                                          const int (&count)[P_], int at, int apart, int width,
                                          const F_ &scan)
{
#pragma unroll 1
    for (int distance = 1; distance < width; distance *= 2) {
#pragma unroll
        for (int k = 0; k < P_ * R_; k++) {
            slot<T_> &own = v[k / R_][k % R_];
            const slot<T_> other = shuffle(own, distance * apart, true);
            if (at >= distance && at < count[k / R_]) {
                own.value = scan(other.value, own.value);
            }
        }
    }
    const int first = threadIdx.x % 32 - at * apart;
#pragma unroll
    for (int k = 0; k < P_ * R_; k++) {
        const int j = k / R_, r = k % R_;
        const slot<T_> before = shuffle(v[j][r], apart, true);
        const slot<T_> last = shuffle(v[j][r], first + max(count[j] - 1, 0) * apart, false);
        if (j == 0) {
            v[j][r] = before;
            total[r] = last;
            continue;
        }
        v[j][r] = total[r];
        if (at > 0 && at < count[j]) {
            v[j][r].value = scan(total[r].value, before.value);
        }
        if (count[j] > 0) {
            total[r].value = scan(total[r].value, last.value);
        }
    }
}

// Scan the elements of a unit, whose first is at `at` of a row of `length`: it may hang over.
template <int L_, typename T_, typename I_, typename F_>
__device__ __forceinline__ void scan_unit(slot<T_> (&v)[L_], I_ at, I_ length, const F_ &scan)
{
#pragma unroll
    for (int l = 1; l < L_; l++) {
        if (at + l >= length) {
            v[l] = v[l - 1];
        } else if (at + l > 0) {
            v[l].value = scan(v[l - 1].value, v[l].value);
        }
    }
}

// What lies in front of this warp, into `own`, which held what lies in front of the block. `parts`:
// the values of its `count` warps, `apart` from each other. Returns the front of what comes next.
template <typename T_, typename F_>
__device__ __forceinline__ front<T_> pass_warps(front<T_> &own, const slot<T_> *parts, int apart,
                                                int count, const F_ &scan)
{
    front<T_> all = own;
#pragma unroll 1
    for (int warp = 0; warp < count; warp++) {
        if (warp == threadIdx.x / 32) {
            own = all;
        }
        all.append(parts[warp * apart], scan);
    }
    return all;
}

// The number of this block's tile, in the order in which blocks begin: those before it run.
__device__ __forceinline__ int take_tile(void *counter)
{
    __shared__ int tile;
    if (threadIdx.x == 0) {
        tile = atomicAdd((int *)counter, 1);
    }
    __syncthreads();
    return tile;
}

// Where the tiles of a launch meet: in memory that is zero before and after. Every 4 bytes of a
// value travel in one 8-byte word with what they are, so that no fence is needed: a value is there
// when all its words say so.
template <typename T_> struct board {
    static constexpr int words = (sizeof(T_) + 3) / 4;
    enum state : unsigned { nothing, aggregate, prefix };

    unsigned *counters; // tickets, groups that are done; from the fifth on: tiles done, by group
    unsigned long long *tiles;  // the value of each tile
    unsigned long long *groups; // of each group, then of all up to its end
    int splits, each, group_count, step; // groups of an output, of all; words of a tile

    // For `outputs` times `splits_` tiles of `values` values each.
    __device__ __forceinline__ board(char *memory, int outputs, int splits_, int values)
        : counters((unsigned *)memory), splits(splits_), each((splits_ + 31) / 32),
          group_count(outputs * each), step(values * words)
    {
        tiles = (unsigned long long *)(counters + 4 + (group_count + 1) / 2 * 2);
        groups = tiles + (long long)outputs * splits * step;
    }

    static __device__ __forceinline__ void write(unsigned long long *to, const slot<T_> &v,
                                                 state is)
    {
        unsigned word[words] = {};
        memcpy(word, &v, sizeof(T_));
#pragma unroll
        for (int k = 0; k < words; k++) {
            const unsigned long long both = (unsigned long long)is << 32 | word[k];
            asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to + k), "l"(both) : "memory");
        }
    }
    static __device__ __forceinline__ state read(const unsigned long long *from, slot<T_> &v)
    {
        unsigned word[words], low = prefix, high = nothing;
#pragma unroll
        for (int k = 0; k < words; k++) {
            unsigned long long both;
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                         : "=l"(both)
                         : "l"(from + k)
                         : "memory");
            word[k] = (unsigned)both;
            low = min(low, (unsigned)(both >> 32));
            high = max(high, (unsigned)(both >> 32));
        }
        memcpy(&v, word, sizeof(T_));
        return low == high ? (state)low : nothing;
    }

    // What lies in front of tile `tile` of an output, for value `value` of it, whose own is `own`.
    // `before`: in, what lies in front of the output's first element. A whole warp calls.
    template <typename F_>
    __device__ __forceinline__ void look_back(front<T_> &before, const slot<T_> &own, int output,
                                              int tile, int value, const F_ &scan) const
    {
        const int lane = threadIdx.x % 32, place = tile % 32, group = tile / 32;
        unsigned long long *const my_tile =
            tiles + (long long)(output * splits + tile) * step + value * words;
        unsigned long long *const my_group =
            groups + (long long)(output * each + group) * step + value * words;
        const bool follows = tile + 1 < splits, closes = follows && place == 31;
        if (lane == 0 && follows && !closes) {
            write(my_tile, own, aggregate);
        }
        slot<T_> v = own;
        bool ready = lane >= place;
        do {
            ready = ready || read(my_tile - (place - lane) * step, v) != nothing;
        } while (!__all_sync(0xffffffffu, ready));
#pragma unroll 1
        for (int distance = 1; distance < place; distance *= 2) {
            const slot<T_> other = shuffle_down(v, distance);
            if (lane % (2 * distance) == 0 && lane + distance < place) {
                v.value = scan(v.value, other.value);
            }
        }
        const slot<T_> inside = shuffle(v, 0, false);
        slot<T_> all = inside;
        if (closes) {
            all.value = scan(inside.value, own.value);
        }
        if (closes && lane == 0 && group > 0) {
            write(my_group, all, aggregate);
        }
        chain(before, all, my_group, min(group, 32), closes, scan);
        if (place > 0) {
            before.append(inside, scan);
        }
    }

    // The front of a group: from the nearest of the `reach` groups before it whose chain is
    // finished. When `closes`, this tile finishes the chain of its own group, whose value is `own`.
    // One instruction makes all links, whoever makes them.
    template <typename F_>
    __device__ __forceinline__ void chain(front<T_> &before, const slot<T_> &own,
                                          unsigned long long *my_group, int reach, bool closes,
                                          const F_ &scan) const
    {
        const int lane = threadIdx.x % 32;
        slot<T_> v;
        unsigned finished, known;
        do {
            const state is = lane < reach ? read(my_group - (lane + 1) * step, v) : nothing;
            finished = __ballot_sync(0xffffffffu, is == prefix);
            known = __ballot_sync(0xffffffffu, is != nothing);
        } while (reach > 0 && (finished == 0 || (~known & ((finished & -finished) - 1)) != 0));
        const int nearest = reach > 0 ? __ffs((int)finished) - 1 : 0;
        front<T_> link = before;
        if (reach > 0) {
            link.begin(shuffle(v, nearest, false).value);
            before = link;
        }
#pragma unroll 1
        for (int k = nearest - 1; k >= -(int)closes; k--) {
            const slot<T_> next = shuffle(k >= 0 ? v : own, max(k, 0), false);
            link.append(next, scan);
            if (k >= 0) {
                before = link;
            }
        }
        if (closes && lane == 0) {
            write(my_group, link.value, prefix);
        }
    }

    // True, for a whole warp, when its block is the last of `count` to count here.
    static __device__ __forceinline__ bool is_last(unsigned *counter, int count)
    {
        unsigned before = 0;
        __threadfence();
        if (threadIdx.x % 32 == 0) {
            before = atomicAdd(counter, 1u);
        }
        before = __shfl_sync(0xffffffffu, before, 0);
        __threadfence();
        return before + 1 == (unsigned)count;
    }

    // Leave: the last tile of a group makes its words zero again, and the last group all others.
    // One warp calls, when all of its block have looked back.
    __device__ __forceinline__ void leave(int output, int tile) const
    {
        const int first = tile / 32 * 32;
        int count = min(splits - first, 32);
        unsigned *done = counters + 4 + output * each + tile / 32;
        unsigned long long *used = tiles + (long long)(output * splits + first) * step;
#pragma unroll 1
        while (is_last(done, count)) {
            for (int k = threadIdx.x % 32; k < count * step; k += 32) {
                used[k] = 0;
            }
            *done = 0;
            if (done == counters + 1) {
                counters[0] = 0;
                return;
            }
            done = counters + 1;
            count = group_count;
            used = groups;
        }
    }

    // Look back for all `used` values of a tile, a warp for each: `to` receives what lies in front
    // of them. `parts`: the values of each of the tile's `warps` warps. The whole block calls.
    template <typename F_>
    __device__ __forceinline__ void fronts(slot<T_> *to, const front<T_> &first,
                                           const slot<T_> *parts, int warps, int used, int output,
                                           int tile, const F_ &scan) const
    {
#pragma unroll 1
        for (int k = threadIdx.x / 32; k < used; k += 8) {
            front<T_> before = first, own;
            own.has = false;
#pragma unroll 1
            for (int warp = 0; warp < warps; warp++) {
                own.append(parts[warp * (step / words) + k], scan);
            }
            look_back(before, own.value, output, tile, k, scan);
            if (threadIdx.x % 32 == 0) {
                to[k] = before.value;
            }
        }
        __syncthreads();
        if (threadIdx.x < 32) {
            leave(output, tile);
        }
    }
};

} // namespace quern
