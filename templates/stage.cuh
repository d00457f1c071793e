// SPDX-License-Identifier: MIT
//
// stage: tiles of a scan that wait in shared memory, between the order in which memory is read and
// written and the order in which values are combined.
//
// The thing to know: a tile has some outputs side by side, and of each some positions in a row. The
// block goes over it as memory lies, along the outputs or along the positions. Then a thread takes
// a piece of one output, in registers, or a whole output.
#pragma once

namespace quern
{

constexpr int stage_threads = 32 * scan_warps;

// The elements of a tile that a thread takes, `stage_threads` apart: from `first` on, the thread's
// number. Unless LINE_, also where they are, along rows of `width` places each. PACED_: the block takes
// whole rows at a time, and leaves the threads that are left over idle, so that each thread stays at one
// place of its rows; with fewer instructions for an element than where rows end anywhere.
template <bool LINE_, bool PACED_ = false> struct tour {
    static constexpr bool paced = PACED_ && !LINE_;
    int element, row, place, width, down, on;

    __device__ __forceinline__ tour(int width_, int first) : element(first), row(0), width(width_)
    {
        if constexpr (!LINE_) {
            row = element / width;
            place = element - row * width;
            down = stage_threads / width;
            on = stage_threads - down * width;
            if (paced && row >= down) {
                element = 1 << 30; // past the end of any tile
            }
        }
    }
    __device__ __forceinline__ void next()
    {
        if constexpr (paced) {
            element += stage_threads - on;
            row += down;
            return;
        }
        element += stage_threads;
        if constexpr (!LINE_) {
            place += on;
            row += down;
            if (place >= width) {
                place -= width;
                row++;
            }
        }
    }
};

// A tile in shared memory: `length` elements of each output, of which `inner` lie side by side for
// each position. A gap after every 128 bytes has the threads of a warp meet in different banks.
template <typename T_> struct stage {
    static constexpr int shift = sizeof(T_) <= 4 ? 5 : sizeof(T_) <= 8 ? 4 : 3;
    slot<T_> *memory;
    int length, inner;

    __device__ static constexpr int room(int elements)
    {
        return (elements + (elements >> shift)) * (int)sizeof(T_);
    }
    __device__ __forceinline__ slot<T_> &operator[](int element) const
    {
        return memory[element + (element >> shift)];
    }
    // Of the elements that a thread takes: `stage_threads` apart.
    __device__ __forceinline__ slot<T_> &taken(int step) const
    {
        static_assert(stage_threads % (1 << shift) == 0, "gaps of a step are gaps of each thread");
        slot<T_> *const own = &(*this)[threadIdx.x];
        return own[step * (stage_threads + (stage_threads >> shift))];
    }
    template <bool ROWS_> __device__ __forceinline__ int element(int output, int position) const
    {
        if constexpr (ROWS_) {
            return output * length + position;
        }
        const int outer = output / inner;
        return (outer * length + position) * inner + output - outer * inner;
    }
};

// Scan N_ elements of an output, `apart` places apart from `at` on. `all`: what lies in front of them, and
// then of those behind.
template <int N_, bool EXCLUSIVE_, typename T_, typename F_>
__device__ __forceinline__ void scan_some(const stage<T_> &tile, int at, int apart, slot<T_> &all,
                                          const F_ &scan)
{
    slot<T_> values[N_];
#pragma unroll
    for (int k = 0; k < N_; k++) {
        values[k] = tile[at + k * apart];
    }
#pragma unroll
    for (int k = 0; k < N_; k++) {
        const slot<T_> before = all;
        all.value = scan(all.value, values[k].value);
        values[k] = EXCLUSIVE_ ? before : all;
    }
#pragma unroll
    for (int k = 0; k < N_; k++) {
        tile[at + k * apart] = values[k];
    }
}

// Scan a whole output. `first`: what lies in front of it.
template <bool ROWS_, bool EXCLUSIVE_, typename T_, typename F_>
__device__ __forceinline__ void scan_output(const stage<T_> &tile, int output,
                                            const front<T_> &first, const F_ &scan)
{
    const int apart = ROWS_ ? 1 : tile.inner;
    int at = tile.template element<ROWS_>(output, 0), k = 0;
    slot<T_> all;
    if (first.has) {
        all = first.value;
    } else {
        all = tile[at];
        at += apart;
        k = 1;
    }
    // Several come at once: each waits for shared memory, and results might change what comes next.
    // Not so of 16 bytes: scans of 11 complex128 went at 0.94 of a copy's speed on an H200, at 0.99 one by one.
    constexpr int batch = sizeof(T_) <= 8 ? 4 : 1;
#pragma unroll 1
    for (; k + batch <= tile.length; k += batch) {
        scan_some<batch, EXCLUSIVE_>(tile, at, apart, all, scan);
        at += batch * apart;
    }
#pragma unroll 1
    for (; k < tile.length; k++) {
        scan_some<1, EXCLUSIVE_>(tile, at, apart, all, scan);
        at += apart;
    }
}

// What lies in front of a tile, for each of its `used` outputs, up to R_ of which look back
// together: `values`, in, their own values; out, what lies in front. The block calls, between
// barriers.
template <int R_, typename T_, typename F_>
__device__ __forceinline__ void look_back_all(void *memory, unsigned long long ticket, int outputs,
                                              int splits, slot<T_> *values, int most, int used,
                                              const front<T_> &first, int output, int tile,
                                              const F_ &scan)
{
    typedef board<T_, R_> board_type;
    typedef typename board_type::values_type values_type;
    constexpr int count = board_type::count;
    const board_type all(memory, ticket, outputs, splits, (most + count - 1) / count * count);
    const auto scan_all = [&](const values_type &a, const values_type &b) {
        values_type c;
#pragma unroll
        for (int k = 0; k < count; k++) {
            c.of[k].value = scan(a.of[k].value, b.of[k].value);
        }
        return c;
    };
#pragma unroll 1
    for (int k = threadIdx.x / 32 * count; k < used; k += scan_warps * count) {
        front<values_type> before;
        slot<values_type> own;
        before.has = first.has;
#pragma unroll
        for (int c = 0; c < count; c++) {
            before.value.value.of[c] = first.value;
            own.value.of[c] = values[min(k + c, used - 1)]; // the last stands in for what is not
        }
        all.look_back(before, own, output, tile, k, scan_all);
        __syncwarp();
        if (threadIdx.x % 32 == 0) {
#pragma unroll
            for (int c = 0; c < count; c++) {
                if (k + c < used) {
                    values[k + c] = before.value.value.of[c];
                }
            }
        }
    }
}

// Scan a tile, in which an output has `each` threads of S_ positions. `before(values, used)`: makes
// the values of outputs what lies in front of them. `first`: what lies in front of an output;
// `begun`: the tile is not the first of its outputs. The block calls.
//
// While they take elements, neighbouring threads have neighbouring elements, so of columns (not
// ROWS_) `beside` threads in a row have different outputs. While values meet, the threads of an
// output are neighbours. What lies past the end of an output takes part with the values of any
// elements: it comes after all that count.
template <int S_, bool LONE_, bool ROWS_, bool TILES_, bool EXCLUSIVE_, typename T_, typename B_,
          typename F_>
__device__ __forceinline__ void scan_stage(const stage<T_> &tile, int outputs, int beside, int each,
                                           const front<T_> &first, bool begun, const B_ &before,
                                           const F_ &scan)
{
    constexpr int kept = scan_warps + ((int)TILES_ + (int)!ROWS_) * stage_threads;
    __shared__ alignas(T_) char room[kept * sizeof(T_)];
    slot<T_> *const tails = (slot<T_> *)room, *const totals = tails + scan_warps,
                    *const parts = totals + (TILES_ ? stage_threads : 0);
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const int scanned = thread / each, place = thread - scanned * each;
    const int at = ROWS_ ? place : thread / beside;
    const int output = ROWS_ ? scanned : thread - at * beside;
    const bool live = output < outputs && at < each;
    const int begin = live ? tile.template element<ROWS_>(output, at * S_) : 0;
    const int apart = ROWS_ ? 1 : tile.inner;
    slot<T_> own[S_], sum;
    // With one output, the elements of a thread have no gap between them.
    static_assert((1 << stage<T_>::shift) % S_ == 0);
    const auto mine = [&](int k) -> slot<T_> & {
        return LONE_ ? (&tile[begin])[k] : tile[begin + k * apart];
    };
    __syncthreads();
#pragma unroll
    for (int k = 0; k < S_; k++) {
        own[k] = mine(k);
    }
#pragma unroll
    for (int k = 1; k < S_; k++) {
        own[k].value = scan(own[k - 1].value, own[k].value);
    }
    sum = own[S_ - 1];
    const bool there = scanned < outputs;
    if constexpr (!ROWS_) {
        if (live) {
            parts[output * each + at] = sum;
        }
        __syncthreads();
        if (there) {
            sum = parts[thread];
        }
    }
    // Along the threads of the output in this warp, then of those before it.
#pragma unroll 1
    for (int distance = 1; distance < 32 && distance < each; distance *= 2) {
        const slot<T_> other = shuffle(sum, distance, true);
        if (there && lane >= distance && place >= distance) {
            sum.value = scan(other.value, sum.value);
        }
    }
    const slot<T_> left = shuffle(sum, 1, true);
    if (lane == 31 && there) {
        tails[warp] = sum;
    }
    __syncthreads();
    front<T_> passed; // of the tile, in front of this thread
    passed.has = false;
    if (there) {
#pragma unroll 1
        for (int k = (thread - place) / 32; k < warp; k++) {
            passed.append(tails[k], scan);
        }
        if constexpr (TILES_) {
            if (place == each - 1) {
                front<T_> total = passed;
                total.append(sum, scan);
                totals[scanned] = total.value;
            }
        }
        if (lane > 0 && place > 0) {
            passed.append(left, scan);
        }
    }
    if constexpr (!ROWS_) {
        if (passed.has) {
            parts[thread] = passed.value;
        }
    }
    if constexpr (TILES_ || !ROWS_) {
        __syncthreads();
    }
    front<T_> all = first;
    if constexpr (TILES_) {
        before(totals, outputs);
        __syncthreads();
        if (live && (first.has || begun)) {
            all.value = totals[output];
            all.has = true;
        }
    }
    if (live && at > 0) {
        all.append(ROWS_ ? passed.value : parts[output * each + at], scan);
    }
#pragma unroll
    for (int k = S_ - 1; k >= 0; k--) {
        if constexpr (EXCLUSIVE_) {
            own[k] = all.value;
            if (k > 0) {
                own[k].value = scan(all.value.value, own[k - 1].value);
            }
        } else if (all.has) {
            own[k].value = scan(all.value.value, own[k].value);
        }
    }
    if (live) {
#pragma unroll
        for (int k = 0; k < S_; k++) {
            if (LONE_ || at * S_ + k < tile.length) {
                mine(k) = own[k];
            }
        }
    }
    __syncthreads();
}

} // namespace quern
