// SPDX-License-Identifier: MIT
//
// parts: some columns of rows that lie at any alignment, on their way to shared memory and back.
// In: where the first of a warp's rows begins in memory, and how far apart rows are. Out: the same
// rows in shared memory, each as far behind a multiple of 16 as in memory; and back.
//
// The thing to know: rows in shared memory are as far apart as in memory but for multiples of 16,
// so each goes in words of 16 bytes, and column k of all rows is one step from that of the next.
// Results go back in the words that begin in a part's own columns. What those need of the columns
// behind, the part has as well, so that memory gets whole words but where rows begin and end. Rows
// that lie on without gaps are one run, in which only the ends of all are written in part.
#pragma once

namespace quern
{

// C columns of I bytes. The warp calls.
template <int I_, int C_> struct part {
    static constexpr int bytes = C_ * I_, words = (bytes + 15 + 15) / 16, least = bytes + 31;
    static constexpr int beside = words <= 16 ? 16 : 32, abreast = 32 / beside; // threads of a row
    typedef typename word<I_>::type element;

    // What a part has: `there` bytes of each of `rows` rows, `own` of them its own, which lie
    // `line` apart in memory and `pitch` in shared memory. `dense`: they lie on, and of the columns
    // of a lane at most the last is not there.
    const long long line;
    const int rows, there, own;
    const bool dense;
    const int pitch;

    __device__ __forceinline__ part(long long line_, int rows_, int there_, int own_)
        : line(line_), rows(rows_), there(there_), own(own_),
          dense(line_ == there_ && there_ > bytes - 32 * I_),
          pitch(dense ? there_ : least + (int)((unsigned)(line_ - least) % 16u))
    {
    }
    __device__ __forceinline__ static int lane()
    {
        return (int)threadIdx.x % 32;
    }
    __device__ __forceinline__ static void copy(char *to, const char *from, int low, int high)
    {
#pragma unroll 1
        for (int b = low + lane() * I_; b < high; b += 32 * I_) {
            *(element *)(to + b) = *(const element *)(from + b);
        }
    }
    // Begin to bring the rows. `to`: where the first one lies in shared memory. `first`, `last`:
    // beside the first or the last row there may be no memory.
    __device__ __forceinline__ void bring(char *to, const char *from, bool first, bool last) const
    {
        if (rows == 0) {
            return;
        }
        if (dense) {
            const int all = rows * there, off = (int)((size_t)from % 16);
            const int low = first && off > 0 ? 16 - off : -off;
            const int high = last ? all - (all + off) % 16 : all;
#pragma unroll 4
            for (int at = low + 16 * lane(); at < high; at += 512) {
                bring_word(to + at, from + at);
            }
            copy(to, from, 0, min(max(low, 0), all));
            copy(to, from, max(high, max(low, 0)), all);
            return;
        }
        const int begin = first, end = rows - last;
        const char *next = from + (begin + lane() / beside) * line;
        char *room = to + (begin + lane() / beside) * pitch;
#pragma unroll 2
        for (int k = begin + lane() / beside; k < end; k += abreast) {
            const int off = (int)((size_t)next % 16);
#pragma unroll
            for (int w = 0; w < words; w += beside) {
                const int at = 16 * (w + lane() % beside) - off;
                if (at < there) {
                    bring_word(room + at, next + at);
                }
            }
            next += abreast * line;
            room += abreast * pitch;
        }
        if (first) {
            copy(to, from, 0, there);
        }
        if (last && end >= begin) {
            copy(to + end * pitch, from + end * line, 0, there);
        }
    }
    // Columns that are not there repeat the last one.
    __device__ __forceinline__ void fill(char *to) const
    {
        if (dense) {
            return;
        }
#pragma unroll 1
        for (int k = 0; k < rows; k++, to += pitch) {
            const element last = *(const element *)(to + there - I_);
            for (int b = there + lane() * I_; b < bytes; b += 32 * I_) {
                *(element *)(to + b) = last;
            }
        }
    }
    // Take rows back. `begins`, `ends`: rows begin, end here, with a part of a word.
    __device__ __forceinline__ void take_back(char *to, const char *from, bool begins,
                                              bool ends) const
    {
        if (dense) {
            const int all = rows * there, past = min((int)(-(unsigned)(size_t)to % 16), all);
            const int end = past + (all - past) / 16 * 16;
#pragma unroll 2
            for (int at = past + 16 * lane(); at < end; at += 512) {
                store_word(to + at, *(const uint4 *)(from + at));
            }
            copy(to, from, 0, past);
            copy(to, from, end, all);
            return;
        }
        if (begins || ends) {
            take_rows<true>(to, from, begins, ends);
        } else {
            take_rows<false>(to, from, begins, ends);
        }
    }
    template <bool EDGES_>
    __device__ __forceinline__ void take_rows(char *to, const char *from, bool begins,
                                              bool ends) const
    {
        const int mine = lane() % beside;
        to += lane() / beside * line;
        from += lane() / beside * pitch;
#pragma unroll 2
        for (int k = lane() / beside; k < rows; k += abreast) {
            const int past = (int)(-(unsigned)(size_t)to % 16);
#pragma unroll
            for (int w = 0; w < words; w += beside) {
                const int at = past + 16 * (w + mine);
                if (at < own && (!EDGES_ || at + 16 <= there)) {
                    store_word(to + at, *(const uint4 *)(from + at));
                }
            }
            if constexpr (EDGES_) {
                if (begins && mine * I_ < min(past, there)) {
                    *(element *)(to + mine * I_) = *(const element *)(from + mine * I_);
                }
                const int tail = past + (there - past) / 16 * 16 + mine * I_;
                if (ends && there >= past && tail < there) {
                    *(element *)(to + tail) = *(const element *)(from + tail);
                }
            }
            to += abreast * line;
            from += abreast * pitch;
        }
    }
};

} // namespace quern
