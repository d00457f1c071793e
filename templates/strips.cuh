// SPDX-License-Identifier: MIT
//
// strips: what scans of strips of columns are made of: the sums of a block's strips, and the sums
// that tiles leave for those behind them.
//
// The thing to know: a block waits only for blocks with earlier tickets, which began before it.
// Which sums are folded, and in what order, follows from the place of a tile alone, so bits never
// depend on who was fast.
#pragma once

namespace quern
{

constexpr int strip_threads = 256; // of a block
constexpr int strip_pieces = 16;   // in which the strips of a column are folded, at most

// a / b for 0 <= a < 2^20, b > 0, in six instructions where the division of integers takes twenty.
// The approximation is off by two units in the last place at most (CUDA C++ Programming Guide,
// table of intrinsic functions), less than the half that is added.
__device__ __forceinline__ int quotient(int a, int b)
{
    return (int)__fdividef((float)a + 0.5f, (float)b);
}

// The same for numbers that are known in advance, if S says so.
template <int S_> __device__ __forceinline__ int share(int a, int b)
{
    return S_ > 0 ? a / b : quotient(a, b);
}

// The sums of a block's strips in shared memory, of `columns` columns. A column's strips are folded
// in pieces, `each` strips by one thread, then the pieces by another. `parts`: of each strip a row;
// in, its sum; out, what lies in front of it within its piece. `pieces`: what lies in front of each
// piece. `all`: of each column the sum. S: threads of a strip, if that is known; else 0.
template <typename T_, int L_, int S_> struct strip_sums {
    slot<T_> *parts, *pieces, *all;
    int columns, each, piece, column; // the thread's own

    __device__ __forceinline__ strip_sums(void *memory, int strips, int beside)
        : parts((slot<T_> *)memory), pieces(parts + L_ * strip_threads),
          all(pieces + strip_threads), columns(L_ * beside)
    {
        const int most =
            min(min(share<S_>(strip_threads, columns), (strips + 3) / 4), strip_pieces);
        each = share<S_>(strips + most - 1, most);
        piece = share<S_>(threadIdx.x, columns);
        column = (int)threadIdx.x - piece * columns;
    }
    // Make the `count` values that are `apart` from each other what lies in front of each but the
    // first, and return the sum.
    template <typename F_>
    __device__ __forceinline__ static slot<T_> pass(slot<T_> *from, int apart, int count,
                                                    const F_ &scan)
    {
        slot<T_> sum;
#pragma unroll 1
        for (int k = 0; k < count; k += 4) {
            slot<T_> v[4];
#pragma unroll
            for (int q = 0; q < 4; q++) {
                v[q] = from[min(k + q, count - 1) * apart];
            }
#pragma unroll
            for (int q = 0; q < 4; q++) {
                if (k + q < count) {
                    from[(k + q) * apart] = sum;
                    sum.value = k + q == 0 ? v[q].value : scan(sum.value, v[q].value);
                }
            }
        }
        return sum;
    }
    // For the strips 0 ... `there` - 1, of which the thread's own has the sums `own` if it `has`
    // one. True in the first thread of each column, whose sum is `total`. The whole block calls,
    // and waits before it asks for what others have found.
    template <typename F_>
    __device__ __forceinline__ bool find(slot<T_> &total, const slot<T_> (&own)[L_], bool has,
                                         int strip, int side, int beside, int there,
                                         const F_ &scan) const
    {
        __syncthreads();
        if (has) {
#pragma unroll
            for (int l = 0; l < L_; l++) {
                parts[strip * columns + l * beside + side] = own[l];
            }
        }
        __syncthreads();
        const int first = piece * each;
        if (first < there) {
            pieces[piece * columns + column] =
                pass(parts + first * columns + column, columns, min(each, there - first), scan);
        }
        __syncthreads();
        if (piece == 0) {
            total = pass(pieces + column, columns, share<S_>(there + each - 1, each), scan);
            all[column] = total;
        }
        return piece == 0;
    }
    // What lies in front of strip `strip` > 0 within the tile, for the thread's columns.
    template <typename F_>
    __device__ __forceinline__ void in_front(slot<T_> (&v)[L_], int strip, int side, int beside,
                                             const F_ &scan) const
    {
        const int mine = share<S_>(strip, each);
#pragma unroll
        for (int l = 0; l < L_; l++) {
            const int k = l * beside + side;
            if (mine == 0) {
                v[l] = parts[strip * columns + k];
            } else {
                v[l] = pieces[mine * columns + k];
                if (strip > mine * each) {
                    v[l].value = scan(v[l].value, parts[strip * columns + k].value);
                }
            }
        }
    }
};

// Where the tiles of a launch leave their sums. Every 4 bytes of a value travel in one 8-byte word
// with the number of the launch, as on quern::board: a value is there when all its words say so.
// For each tile its sum, for each bunch of 1 << B tiles that follow each other theirs, and for each
// bundle of 1 << B bunches theirs.
template <typename T_, int L_, int B_, int S_> struct ledger {
    static constexpr int words = (sizeof(T_) + 3) / 4, bunch = 1 << B_;
    typedef unsigned long long word_type;

    word_type *tiles, *bunches, *bundles;
    unsigned launch;             // what words of this launch say
    int groups, columns, beside; // blocks side by side; columns of a block, threads of a strip

    // For `splits` tiles of each of `groups_`, which lie side by side.
    __device__ __forceinline__ ledger(void *memory, unsigned long long ticket, int splits,
                                      int groups_, int beside_)
        : tiles((word_type *)memory + 2), launch((unsigned)(ticket >> 32) * 2 + 1), groups(groups_),
          columns(L_ * beside_), beside(beside_)
    {
        bunches = at(tiles, splits, 0);
        bundles = at(bunches, (splits + bunch - 1) >> B_, 0);
    }
    // The sums of the tile (bunch, bundle) at `place` of a group.
    __device__ __forceinline__ word_type *at(word_type *first, int place, int group) const
    {
        return first + ((long long)place * groups + group) * (words * columns);
    }
    __device__ __forceinline__ void write(word_type *to, const slot<T_> &v) const
    {
        unsigned word[words] = {};
        memcpy(word, &v, sizeof(T_));
#pragma unroll
        for (int k = 0; k < words; k++) {
            const word_type both = (word_type)launch << 32 | word[k];
            asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to + k * columns), "l"(both)
                         : "memory");
        }
    }
    // The sums of a thread's columns. False: not there yet.
    __device__ __forceinline__ bool read(const word_type *from, slot<T_> (&v)[L_]) const
    {
        bool there = true;
#pragma unroll
        for (int l = 0; l < L_; l++) {
            unsigned word[words];
#pragma unroll
            for (int k = 0; k < words; k++) {
                word_type both;
                asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                             : "=l"(both)
                             : "l"(from + (k * columns + l * beside))
                             : "memory");
                there &= (unsigned)(both >> 32) == launch;
                word[k] = (unsigned)both;
            }
            memcpy(&v[l], word, sizeof(T_));
        }
        return there;
    }
    // Sums of a group that follow each other: of the first bundles, of `bunches` bunches from
    // `bunch_at` on, of tiles from `tile_at` on, `count` in all.
    struct list {
        int bundles, bunch_at, bunches, tile_at, count;
    };
    __device__ __forceinline__ const word_type *sum(const list &l, int k, int group) const
    {
        const int in_bunches = k - l.bundles, in_tiles = in_bunches - l.bunches;
        return in_bunches < 0 ? at(bundles, k, group)
               : in_tiles < 0 ? at(bunches, l.bunch_at + in_bunches, group)
                              : at(tiles, l.tile_at + in_tiles, group);
    }
    // Fold the sums `from` ... `end` - 1 of a list, M under way at once.
    template <int M_, typename F_>
    __device__ __forceinline__ void gather(slot<T_> (&own)[L_], int side, int group, const list &l,
                                           int from, int end, const F_ &scan) const
    {
#pragma unroll 1
        for (int j = from; j < end; j += M_) {
            slot<T_> v[M_][L_];
            bool there;
            do {
                there = true;
#pragma unroll
                for (int q = 0; q < M_; q++) {
                    there &= read(sum(l, min(j + q, end - 1), group) + side, v[q]);
                }
            } while (!there);
#pragma unroll
            for (int q = 0; q < M_; q++) {
                if (j + q < end) {
#pragma unroll
                    for (int l = 0; l < L_; l++) {
                        own[l].value =
                            j + q == from ? v[q][l].value : scan(own[l].value, v[q][l].value);
                    }
                }
            }
        }
    }

    // Find the fold of a list: each strip of threads reads some that follow each other. As
    // strip_sums::find().
    template <typename F_>
    __device__ __forceinline__ bool find(const strip_sums<T_, L_, S_> &sums, slot<T_> &total,
                                         int strip, int strips, int side, int group, const list &l,
                                         const F_ &scan) const
    {
        constexpr int many = L_ * words < 8 ? 8 / (L_ * words) : 1;
        const int each = share<S_>(l.count + strips - 1, strips), from = strip * each;
        const int end = min(from + each, l.count);
        slot<T_> own[L_];
        if (each > 2) {
            gather<many>(own, side, group, l, from, end, scan);
        } else {
            gather<1>(own, side, group, l, from, end, scan);
        }
        return sums.find(total, own, from < end, strip, side, beside,
                         share<S_>(l.count + each - 1, each), scan);
    }
};

} // namespace quern
