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

constexpr int scan_warps = 8; // of a block

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

// The result of an element whose mapped value is `v`. `before`: in, what lies in front of it; out,
// of the next one.
template <bool EXCLUSIVE_, typename T_, typename F_>
__device__ __forceinline__ slot<T_> next_value(front<T_> &before, const T_ &v, const F_ &scan)
{
    slot<T_> own;
    own.value = v;
    const slot<T_> here = before.value;
    before.append(own, scan);
    return EXCLUSIVE_ ? here : before.value;
}

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

// The number of the thread's warp in its block. One lane tells the others, so that the compiler knows
// that they agree on it, and on loops that end by it: otherwise it adds code to each exchange for
// lanes that might have parted.
__device__ __forceinline__ int own_warp()
{
    return __shfl_sync(~0u, (int)threadIdx.x / 32, 0);
}

// Scan the values of the lanes `low` ... `high` - 1 of a warp, in N_ rounds, each by itself.
template <int N_, typename T_, typename F_>
__device__ __forceinline__ void scan_lanes(slot<T_> (&own)[N_], int low, int high, const F_ &scan)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
#pragma unroll
        for (int k = 0; k < N_; k++) {
            const slot<T_> other = shuffle(own[k], distance, true);
            if (lane - distance >= low && lane < high) {
                own[k].value = scan(other.value, own[k].value);
            }
        }
    }
}

// Scan the units of a warp. An output has `width` lanes, `at` = 0 ... width - 1, which are `apart`
// places from each other; of its units, `width` in each round, the first `count` are there. `v`:
// in, the values of the units; out, what lies in front of each within the warp (of the first:
// anything). `total`: of all.
template <int P_, int R_, typename T_, typename F_>
__device__ __forceinline__ void scan_warp(slot<T_> (&v)[P_][R_], slot<T_> (&total)[R_], int count,
                                          int at, int apart, int width, const F_ &scan)
{
#pragma unroll 1
    for (int distance = 1; distance < width; distance *= 2) {
#pragma unroll
        for (int k = 0; k < P_ * R_; k++) {
            slot<T_> &own = v[k / R_][k % R_];
            const slot<T_> other = shuffle(own, distance * apart, true);
            if (at >= distance && at + k / R_ * width < count) {
                own.value = scan(other.value, own.value);
            }
        }
    }
    const int first = threadIdx.x % 32 - at * apart;
#pragma unroll
    for (int k = 0; k < P_ * R_; k++) {
        const int j = k / R_, r = k % R_, left = count - j * width;
        const slot<T_> before = shuffle(v[j][r], apart, true);
        const slot<T_> last =
            shuffle(v[j][r], first + (min(max(left, 1), width) - 1) * apart, false);
        if (j == 0) {
            v[j][r] = before;
            total[r] = last;
            continue;
        }
        v[j][r] = total[r];
        if (at > 0 && at < left) {
            v[j][r].value = scan(total[r].value, before.value);
        }
        if (left > 0) {
            total[r].value = scan(total[r].value, last.value);
        }
    }
}

// Scan the elements of a unit, whose first is at `at` of a row of `length`: it may hang over.
template <int L_, typename T_, typename I_, typename F_>
__device__ __forceinline__ void scan_unit(slot<T_> (&v)[L_], I_ at, I_ length, const F_ &scan)
{
    if (at >= 0 && at + L_ <= length) {
#pragma unroll
        for (int l = 1; l < L_; l++) {
            v[l].value = scan(v[l - 1].value, v[l].value);
        }
        return;
    }
#pragma unroll
    for (int l = 1; l < L_; l++) {
        if (at + l >= length) {
            v[l] = v[l - 1];
        } else if (at + l > 0) {
            v[l].value = scan(v[l - 1].value, v[l].value);
        }
    }
}

// Where a value of a warp's stripe waits: a gap after every 32 keeps lanes in different banks.
__device__ constexpr int spread_place(int place)
{
    return place + place / 32;
}

// Put the values of a lane where all lanes of the warp can read them.
template <typename T_, int L_>
__device__ __forceinline__ void spread_out(slot<T_> *to, const slot<T_> (&v)[L_])
{
    const int first = threadIdx.x % 32 * L_;
#pragma unroll
    for (int l = 0; l < L_; l++) {
        to[spread_place(first) + l] = v[l];
    }
}

// Ask for `bytes` of memory from `from` on, which a later tile reads; N_ threads have a part each. The
// bytes come to the cache that all processors share, so the later tile keeps its room for less time
// while it waits for them, and others get it sooner. On an H200, of a copy's speed, without and with
// it: running maxima of 2^28 uint8 0.77 and 0.82, of 40,082,131 float32 0.80 and 0.85.
template <int N_ = 32> __device__ __forceinline__ void ask_ahead(const char *from, int bytes)
{
#pragma unroll 1
    for (int at = threadIdx.x % N_ * 128; at < bytes; at += N_ * 128) {
        asm volatile("prefetch.global.L2 [%0];" ::"l"(from + at));
    }
}

// True when `bytes` of each thread fit shared memory besides `others` of the block.
__device__ constexpr bool can_park(int bytes, int others)
{
    return 32 * scan_warps * (bytes + 3) + others <= 48 * 1024 - 64;
}

// The values of a thread's P_ units. With PARK_ they wait in shared memory, so that the registers
// are free for more blocks, which read while this one looks back.
template <typename T_, int P_, int L_, bool PARK_> struct shelf {
    static constexpr int size = L_ * sizeof(T_), width = size % 16 == 0  ? 16
                                                         : size % 8 == 0 ? 8
                                                                         : 4;
    static constexpr int words = (size + width - 1) / width, threads = 32 * scan_warps;
    struct alignas(width) word {
        unsigned parts[width / 4];
    };
    slot<T_> own[PARK_ ? 1 : P_][L_];
    word *parked;

    __device__ __forceinline__ shelf()
    {
        __shared__ word memory[PARK_ ? P_ * words * threads : 1];
        parked = memory + threadIdx.x;
    }
    __device__ __forceinline__ void put(int j, const slot<T_> (&v)[L_])
    {
        if constexpr (PARK_) {
            word copy[words];
            memcpy(copy, v, size);
#pragma unroll
            for (int k = 0; k < words; k++) {
                parked[(j * words + k) * threads] = copy[k];
            }
        } else {
            memcpy(own[j], v, size);
        }
    }
    __device__ __forceinline__ void get(int j, slot<T_> (&v)[L_]) const
    {
        if constexpr (PARK_) {
            word copy[words];
#pragma unroll
            for (int k = 0; k < words; k++) {
                copy[k] = parked[(j * words + k) * threads];
            }
            memcpy(v, copy, size);
        } else {
            memcpy(v, own[j], size);
        }
    }
};

// Make the values of the warps `first` ... `end` - 1, `apart` from each other, what lies in front
// of each. `all`: in, what lies in front of `first`; out, of `end`.
template <typename T_, typename F_>
__device__ __forceinline__ void pass_warps(slot<T_> &all, slot<T_> *parts, int apart, int first,
                                           int end, const F_ &scan)
{
#pragma unroll 1
    for (int warp = first; warp < end; warp++) {
        const slot<T_> own = parts[warp * apart];
        parts[warp * apart] = all;
        all.value = scan(all.value, own.value);
    }
}

// The same for `used` of the `values` of each warp of a block that goes along whole outputs.
// `fronts`: what lies in front of the block, once it has `begun`; before that it is `first`. The
// whole block calls.
template <typename T_, typename F_>
__device__ __forceinline__ void pass_block(slot<T_> *fronts, const front<T_> &first, bool begun,
                                           slot<T_> *parts, int values, int used, int count,
                                           const F_ &scan)
{
    __syncthreads();
    const bool has = begun || first.has;
#pragma unroll 1
    for (int k = threadIdx.x; k < used; k += 32 * scan_warps) {
        slot<T_> all = has ? first.value : parts[k];
        if (begun) {
            all = fronts[k];
        }
        pass_warps(all, parts + k, values, has ? 0 : 1, count, scan);
        fronts[k] = all;
    }
    __syncthreads();
}

// The ticket of a block: the low half is its number, the high half counts launches. Blocks begin in
// the order of their numbers: CUDA promises no order, but GPUs keep this one, and CUB's scans
// (agent_scan.cuh) count on it, too. So those before a block run, and none waits for the answer of an
// atomic operation before it reads: on an H200, sums of 2^28 float32 by runs went at 0.75 of a copy's
// speed by tickets taken in turn, at 0.82 so.
__device__ __forceinline__ unsigned long long own_ticket(const void *counter)
{
    unsigned long long both;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(both) : "l"(counter) : "memory");
    return (both >> 32 << 32) + blockIdx.x;
}
// Give it back, at any time after that: the last of `count` blocks ends the launch.
__device__ __forceinline__ void return_ticket(void *counter, int count)
{
    if (threadIdx.x == 0) {
        const unsigned returned = (unsigned)atomicAdd((unsigned long long *)counter, 1ull);
        if (returned + 1 == (unsigned)count) {
            atomicAdd((unsigned long long *)counter, (1ull << 32) - count);
        }
    }
}

// Values of adjacent outputs that travel together, in 16 bytes or alone.
template <typename T_, int R_> struct flock {
    __device__ static constexpr int fitting()
    {
        int count = R_;
        while (count > 1 && count * sizeof(T_) > 16) {
            count /= 2;
        }
        return count;
    }
    static constexpr int count = fitting();
    slot<T_> of[count];
};

// Where the tiles of a launch meet. Every 4 bytes of a flock travel in one 8-byte word with the
// number of the launch and what they are, so that no fence is needed, and nothing to be cleared: a
// flock is there when all its words say so. The values of a tile come in tracks of R_. Those of a
// group have a line of memory to themselves: all tiles that are under way ask for them again and
// again, and one line answers slowly. On an H200 sums of 2^28 float32 by runs went at 0.817 of a
// copy's speed with groups side by side, at 0.839 so.
template <typename T_, int R_> struct board {
    typedef flock<T_, R_> values_type;
    typedef slot<values_type> flock_slot;
    static constexpr int count = values_type::count, words = (sizeof(values_type) + 3) / 4;
    static constexpr int line_words = 16; // of a line of memory
    enum state : unsigned { nothing, aggregate, prefix };

    unsigned long long *tiles;  // the values of each tile
    unsigned long long *groups; // of each group, then of all up to its end
    unsigned launch;            // what its states begin at
    int splits, each;           // tiles and groups of an output
    int step, group_step;       // words of a tile; from one group to the next

    // For `outputs` times `splits_` tiles of `values` values each, in memory behind the tickets.
    __device__ __forceinline__ board(void *memory, unsigned long long ticket, int outputs,
                                     int splits_, int values)
        : tiles((unsigned long long *)memory + 2), launch((unsigned)(ticket >> 32) * 2),
          splits(splits_), each((splits_ + 31) / 32), step(values / count * words),
          group_step((step + line_words - 1) / line_words * line_words)
    {
        groups = tiles + (long long)outputs * splits * step;
    }

    __device__ __forceinline__ void write(unsigned long long *to, const flock_slot &v,
                                          state is) const
    {
        unsigned word[words] = {};
        memcpy(word, &v, sizeof v);
#pragma unroll
        for (int k = 0; k < words; k++) {
            const unsigned long long both = (unsigned long long)(launch + is) << 32 | word[k];
            asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to + k), "l"(both) : "memory");
        }
    }
    // Of long flocks the first word comes alone, so that a warp that waits asks for little.
    __device__ __forceinline__ state read(const unsigned long long *from, flock_slot &v) const
    {
        unsigned word[words], low = prefix, high = nothing;
#pragma unroll
        for (int k = 0; k < words; k++) {
            if (words > 2 && k == 1 && high == nothing) {
                return nothing;
            }
            unsigned long long both;
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                         : "=l"(both)
                         : "l"(from + k)
                         : "memory");
            const unsigned is = (unsigned)(both >> 32) - launch;
            word[k] = (unsigned)both;
            low = min(low, is);
            high = max(high, is);
        }
        memcpy(&v, word, sizeof v);
        return low == high ? (state)low : nothing;
    }

    // What lies in front of tile `tile` of an output, for the values from `value` on, whose own are
    // `own`. `before`: in, what lies in front of the output's first element. A whole warp calls.
    // The tiles of the same group and the groups before are asked in turn, whichever answer first:
    // lane k asks tile k of the group, and the group k places before this one.
    template <typename F_>
    __device__ __forceinline__ void look_back(front<values_type> &before, const flock_slot &own,
                                              int output, int tile, int value, const F_ &scan) const
    {
        const int lane = threadIdx.x % 32, place = tile % 32, group = tile / 32;
        unsigned long long *const my_tile =
            tiles + (long long)(output * splits + tile) * step + value / count * words;
        unsigned long long *const my_group =
            groups + (long long)(output * each + group) * group_step + value / count * words;
        const bool follows = tile + 1 < splits, closes = follows && place == 31;
        if (lane == 0 && follows && !closes) {
            write(my_tile, own, aggregate);
        }
        flock_slot v = own, other; // of tiles from the group's first to the lane's; of a group
        bool ready = lane >= place, folded = false;
        state is = lane > 0 ? nothing : group > 0 ? aggregate : prefix;
        unsigned finished = 0, known;
        do {
            ready = ready || read(my_tile - (place - lane) * step, v) != nothing;
            if (lane > 0 && lane <= group && (is == nothing || finished == 0)) {
                is = read(my_group - lane * group_step, other);
            }
            finished = __ballot_sync(0xffffffffu, is == prefix);
            known = __ballot_sync(0xffffffffu, is != nothing);
            if (!folded && __all_sync(0xffffffffu, ready)) {
                folded = true;
#pragma unroll 1
                for (int distance = 1; distance <= place; distance *= 2) {
                    const flock_slot left = shuffle(v, distance, true);
                    if (lane >= distance && lane <= place) {
                        v.value = scan(left.value, v.value);
                    }
                }
                if (closes && lane == 31 && group > 0) {
                    write(my_group, v, aggregate);
                }
            }
        } while (!folded || finished == 0 || (~known & ~finished & (finished - 1)) != 0);
        // The chain, from the nearest group whose own is finished. One instruction makes all links
        // of a value, whoever makes them.
        const int nearest = __ffs((int)finished) - 1;
        front<values_type> link = before;
        link.has = before.has && nearest == 0;
#pragma unroll 1
        for (int k = nearest; k >= 1 - (int)closes; k--) {
            if (k == 0) {
                before = link;
            }
            link.append(shuffle(k > 0 ? other : v, k > 0 ? k : 31, false), scan);
        }
        if (closes && lane == 0) {
            write(my_group, link.value, prefix);
        }
        before = closes ? before : link;
        if (place > 0) {
            before.append(shuffle(v, place - 1, false), scan);
        }
    }

    // Look back for all `used` values of a tile, a warp for `count` of them: `to` receives what
    // lies in front of them. `parts`: of each warp a row of `values` values: in, its own; out, of
    // all but the first, what lies in front of it within the tile. `warps`: how many have any, as
    // the first warp knows. The whole block calls.
    template <typename F_>
    __device__ __forceinline__ void fronts(slot<T_> *to, const front<T_> &first, slot<T_> *parts,
                                           int values, int used, int output, int tile,
                                           const F_ &scan, int warps) const
    {
        const auto scan_all = [&](const values_type &a, const values_type &b) {
            values_type all;
#pragma unroll
            for (int c = 0; c < count; c++) {
                all.of[c].value = scan(a.of[c].value, b.of[c].value);
            }
            return all;
        };
        const int lane = threadIdx.x % 32;
        __syncthreads();
#pragma unroll 1
        for (int k = threadIdx.x / 32 * count; k < used; k += scan_warps * count) {
            slot<T_> passed;
            if (lane < count) {
                passed = parts[k + lane];
                pass_warps(passed, parts + k + lane, values, 1, warps, scan);
            }
            front<values_type> before;
            flock_slot own;
            before.has = first.has;
#pragma unroll
            for (int c = 0; c < count; c++) {
                before.value.value.of[c] = first.value;
                own.value.of[c] = shuffle(passed, c, false);
            }
            look_back(before, own, output, tile, k, scan_all);
            if (lane == 0) {
#pragma unroll
                for (int c = 0; c < count; c++) {
                    to[k + c] = before.value.value.of[c];
                }
            }
        }
        __syncthreads();
    }
};

// board::fronts() of a launch: `outputs` times `splits` tiles, which meet in `memory`. A function, so
// that a kernel without tiles, which names it in a branch that is not compiled, makes no board.
template <int R_, typename T_, typename F_>
__device__ __forceinline__ void tile_fronts(void *memory, unsigned long long ticket, int outputs,
                                            int splits, slot<T_> *to, const front<T_> &first,
                                            slot<T_> *parts, int values, int used, int output,
                                            int tile, const F_ &scan, int warps = scan_warps)
{
    const board<T_, R_> all(memory, ticket, outputs, splits, values);
    all.fronts(to, first, parts, values, used, output, tile, scan, warps);
}

} // namespace quern
