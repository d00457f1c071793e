// SPDX-License-Identifier: MIT
//
// runs: what scans along rows are made of whose lanes each take elements that lie on, a run. A
// warp's elements come to shared memory and go from there in words of 16 bytes, which neighbouring
// lanes take in turn; in between, a lane takes those of its own run.
//
// The thing to know: a tile waits in shared memory until it knows what lies in front of it, so its
// registers are few and its bytes many: what limits scans is how much memory all blocks together
// hold while they wait for each other, not what they do.
#pragma once

namespace quern
{

// What a warp has in shared memory: E_ elements of S_ bytes for each lane, in words of 16 bytes. An
// odd number of them for each lane, if need be with a gap, has lanes meet in different banks.
template <int S_, int E_> struct lot {
    static constexpr int own = S_ * E_, gap = own / 16 % 2 == 0 ? 16 : 0;
    static constexpr int pace = own + gap, bytes = 32 * pace;
    static constexpr int turns = own / 16; // of a warp that takes word by word
    static_assert(own % 16 == 0, "runs are of whole words");

    // Where byte `at` of the warp's lies.
    __device__ __forceinline__ static int place(int at)
    {
        return at + at / own * gap;
    }

    // Begin to bring the warp's words in, from memory that is aligned to them.
    __device__ __forceinline__ static void bring(char *to, const char *from)
    {
#pragma unroll
        for (int k = 0; k < turns; k++) {
            const int at = 512 * k + threadIdx.x % 32 * 16;
            bring_word(to + place(at), from + at);
        }
    }

    // The same from memory at any alignment, of which the words at both ends may be read whole.
    __device__ __forceinline__ static void bring_off(char *to, const char *from)
    {
        const int off = (int)((size_t)from % 16);
        const uint4 *const first = (const uint4 *)(from - off) + threadIdx.x % 32;
#pragma unroll
        for (int k = 0; k < turns; k++) {
            const uint4 both[2] = {first[32 * k], first[32 * k + 1]};
            *(uint4 *)(to + place(512 * k + threadIdx.x % 32 * 16)) = spliced(both, off);
        }
    }
    __device__ __forceinline__ static uint4 spliced(const uint4 (&both)[2], int off)
    {
        unsigned part[8], word[4];
        memcpy(part, both, sizeof part);
        splice<S_>(word, part, off);
        return make_uint4(word[0], word[1], word[2], word[3]);
    }

    // The same of narrow elements that lie backwards from `from` on.
    __device__ __forceinline__ static void bring_back(char *to, const char *from)
    {
        const char *const first = from - (32 * own - S_);
        const int off = (int)((size_t)first % 16), lane = threadIdx.x % 32;
        const uint4 *const words = (const uint4 *)(first - off) + lane;
#pragma unroll
        for (int k = 0; k < turns; k++) {
            const uint4 both[2] = {words[32 * k], words[32 * k + 1]};
            *(uint4 *)(to + place(32 * own - 16 - (512 * k + lane * 16))) =
                turn(spliced(both, off));
        }
    }

    // The same of bytes `low` ... `high` - 1 of the warp's alone: what no word has comes by elements.
    __device__ __forceinline__ static void bring_part(char *to, const char *from, int low, int high)
    {
        typedef typename word<S_>::type type;
#pragma unroll 1
        for (int at = anew((int)threadIdx.x % 32) * 16; at < 32 * own; at += 512) {
            if (at >= low && at + 16 <= high) {
                bring_word(to + place(at), from + at);
                continue;
            }
#pragma unroll 1
            for (int k = max(at, low); k < min(at + 16, high); k += S_) {
                *(type *)(to + place(k)) = *(const type *)(from + k);
            }
        }
    }

    // The elements `low` ... `high` - 1 of the warp one by one, neighbours by neighbours, of which a
    // lane has T_ under way.
    template <int T_, typename F_>
    __device__ __forceinline__ static void put_each(char *to, int low, int high, const F_ &get)
    {
        typedef decltype(get(0)) type;
#pragma unroll 1
        for (int first = anew((int)threadIdx.x % 32); first < 32 * E_; first += 32 * T_) {
            slot<type> v[T_];
#pragma unroll
            for (int k = 0; k < T_; k++) {
                if (first + 32 * k >= low && first + 32 * k < high) {
                    v[k].value = get(first + 32 * k);
                }
            }
#pragma unroll
            for (int k = 0; k < T_; k++) {
                if (first + 32 * k >= low && first + 32 * k < high) {
                    *(type *)(to + place((first + 32 * k) * S_)) = v[k].value;
                }
            }
        }
    }

    // Elements of a lane, which lie on from `from` or `to`, in parts as wide as they are aligned.
    template <int N_> struct parts {
        static constexpr int size = N_ * S_ % 16 == 0 ? 16 : S_ * (N_ & -N_);
        static constexpr int count = N_ * S_ / size;
        typedef typename word<size>::type type;
    };
    template <typename T_, int N_>
    __device__ __forceinline__ static void take(T_ (&v)[N_], const char *from)
    {
        typename parts<N_>::type part[parts<N_>::count];
#pragma unroll
        for (int j = 0; j < parts<N_>::count; j++) {
            part[j] = ((const typename parts<N_>::type *)from)[j];
        }
        memcpy(v, part, sizeof part);
    }
    template <typename T_, int N_>
    __device__ __forceinline__ static void keep(char *to, const T_ (&v)[N_])
    {
        typename parts<N_>::type part[parts<N_>::count];
        memcpy(part, v, sizeof part);
#pragma unroll
        for (int j = 0; j < parts<N_>::count; j++) {
            ((typename parts<N_>::type *)to)[j] = part[j];
        }
    }

    // To memory, which is aligned to words. What the lanes have is `apart` bytes from each other.
    __device__ __forceinline__ static void give(const char *from, char *to, int apart)
    {
#pragma unroll
        for (int k = 0; k < turns; k++) {
            const int at = 512 * k + threadIdx.x % 32 * 16;
            const uint4 word = *(const uint4 *)(from + place(at));
            store_word(to + (apart == own ? at : at / own * apart + at % own), word);
        }
    }
    // The same of words between bytes `low` and `high` of memory alone.
    __device__ __forceinline__ static void give_part(const char *from, char *to, int apart, int low,
                                                     int high)
    {
#pragma unroll 1
        for (int at = anew((int)threadIdx.x % 32) * 16; at < 32 * own; at += 512) {
            const int there = apart == own ? at : at / own * apart + at % own;
            if (there >= low && there < high) {
                store_word(to + there, *(const uint4 *)(from + place(at)));
            }
        }
    }
    // The word that lies at byte `at` of the warp's, which may be off the alignment by `off` bytes.
    __device__ __forceinline__ static uint4 word_at(const char *from, int at, int off)
    {
        unsigned part[5];
#pragma unroll
        for (int j = 0; j < 5; j++) {
            // an aligned word has no part beyond its last
            const int on = j < 4 ? 4 * j : off != 0 ? 16 : 12;
            part[j] = *(const unsigned *)(from + place(at - off + on));
        }
        return make_uint4(
            __funnelshift_r(part[0], part[1], 8 * off), __funnelshift_r(part[1], part[2], 8 * off),
            __funnelshift_r(part[2], part[3], 8 * off), __funnelshift_r(part[3], part[4], 8 * off));
    }
    // A word with its elements the other way around.
    __device__ __forceinline__ static uint4 turn(uint4 v)
    {
        constexpr int order = S_ == 1 ? 0x0123 : S_ == 2 ? 0x1032 : 0x3210;
        return make_uint4(__byte_perm(v.w, 0, order), __byte_perm(v.z, 0, order),
                          __byte_perm(v.y, 0, order), __byte_perm(v.x, 0, order));
    }
    // To memory from `to` on, or (BACK_) down, where narrow elements lie side by side in any way:
    // in words but for both ends, which have what belongs to other warps, too.
    template <bool BACK_>
    __device__ __forceinline__ static void give_narrow(const char *from, char *to)
    {
        static_assert(S_ <= 4);
        constexpr int all = 32 * own;
        typedef typename word<S_>::type type;
        char *const first = BACK_ ? to - (all - S_) : to;
        const int off = (int)((size_t)first % 16), lane = threadIdx.x % 32;
#pragma unroll 2
        for (int at = 16 * (1 + lane) - off; at <= all - 16; at += 512) {
            const int there = BACK_ ? all - 16 - at : at;
            const uint4 v = word_at(from, there, there & 3);
            store_word(first + at, BACK_ ? turn(v) : v);
        }
        if (lane < 16 / S_) {
            const int at = lane * S_ < 16 - off ? lane * S_ : all - 16 + lane * S_;
            *(type *)(first + at) = *(const type *)(from + place(BACK_ ? all - S_ - at : at));
        }
    }
    // One by one: `set` receives the lane that has an element, which of its own it is, and where.
    template <typename F_>
    __device__ __forceinline__ static void give_each(const char *from, const F_ &set)
    {
        static_assert(E_ % 4 == 0, "four elements of a lane are under way");
#pragma unroll 1
        for (int first = anew((int)threadIdx.x % 32); first < 32 * E_; first += 32 * 4) {
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const int on = first + 32 * k;
                set(on / E_, on % E_, from + place(on * S_));
            }
        }
    }
};

} // namespace quern
