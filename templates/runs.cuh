// SPDX-License-Identifier: MIT
//
// runs: what scans along rows are made of whose lanes each take elements that lie on, a run. A
// warp's elements come to shared memory and go from there in words of 16 bytes, which neighbouring
// lanes take in turn; in between, a lane takes those of its own run.
//
// The thing to know: others wait for the value of a tile, so a block takes a ticket only when it
// will wait for nothing before it has published. Where tiles are read again, it publishes the value
// of its next tile first, and comes back to the one before when the values of all tiles in front of
// that have long been there: so no block waits with loads that it could have made.
#pragma once

namespace quern
{

// What a warp has in shared memory: E_ elements of S_ bytes for each lane. A gap behind each run
// has lanes meet in different banks.
template <int S_, int E_> struct lot {
    static constexpr int own = S_ * E_, grain = S_ < 4 ? 4 : S_;
    static constexpr int gap = own >= 16 && own / grain % 2 == 0 ? grain : 0;
    static constexpr int pace = own + gap, bytes = 32 * pace;
    static constexpr int words = 2 * own, turns = (words + 31) / 32;
    static constexpr int together = E_ < 8 ? E_ : 8; // elements of a lane under way, one by one
    typedef typename word<grain>::type part;
    static_assert(own <= 512, "a turn is of whole runs");

    // Where byte `at` of the warp's lies.
    __device__ __forceinline__ static int place(int at)
    {
        return at + at / own * gap;
    }
    // The same for the word of this lane in turn `turn`.
    __device__ __forceinline__ static int place_of(int turn)
    {
        return turn * (512 + 512 / own * gap) + place(threadIdx.x % 32 * 16);
    }
    __device__ __forceinline__ static bool there(int turn)
    {
        return 32 * turn + 32 <= words || 32 * turn + threadIdx.x % 32 < words;
    }

    // Words on their way from memory, which is aligned to them: one of N_ parts of all.
    template <int N_> struct cargo {
        static constexpr int each = (turns + N_ - 1) / N_;
        uint4 word[each];

        __device__ __forceinline__ static bool has(int turn)
        {
            return turns % N_ == 0 && words % 32 == 0 ? true : turn < turns && there(turn);
        }
        __device__ __forceinline__ void load(const void *from, int part)
        {
#pragma unroll
            for (int k = 0; k < each; k++) {
                if (has(part * each + k)) {
                    word[k] = ((const uint4 *)from)[32 * (part * each + k) + threadIdx.x % 32];
                }
            }
        }
        __device__ __forceinline__ void put(char *to, int part) const
        {
#pragma unroll
            for (int k = 0; k < each; k++) {
                if (has(part * each + k)) {
                    char *const at = to + place_of(part * each) + place_of(k) - place_of(0);
#pragma unroll
                    for (int j = 0; j < 16 / grain; j++) {
                        ((lot::part *)at)[j] = ((const lot::part *)&word[k])[j];
                    }
                }
            }
        }
    };

    // The elements `low` ... `high` - 1 of the warp one by one, neighbours by neighbours.
    template <typename F_>
    __device__ __forceinline__ static void put_each(char *to, int low, int high, const F_ &get)
    {
        typedef decltype(get(0)) type;
#pragma unroll 1
        for (int first = anew((int)threadIdx.x % 32); first < 32 * E_; first += 32 * together) {
            slot<type> v[together];
#pragma unroll
            for (int k = 0; k < together; k++) {
                if (first + 32 * k >= low && first + 32 * k < high) {
                    v[k].value = get(first + 32 * k);
                }
            }
#pragma unroll
            for (int k = 0; k < together; k++) {
                if (first + 32 * k >= low && first + 32 * k < high) {
                    *(type *)(to + place((first + 32 * k) * S_)) = v[k].value;
                }
            }
        }
    }

    // Elements of a lane, which lie on from `to`.
    template <typename T_, int P_>
    __device__ __forceinline__ static void keep(char *to, const T_ (&v)[P_])
    {
        alignas(16) part parts[P_ * S_ / grain];
        memcpy(parts, v, sizeof parts);
#pragma unroll
        for (int j = 0; j < P_ * S_ / grain; j++) {
            ((part *)to)[j] = parts[j];
        }
    }

    // To memory, which is aligned to words. What the lanes have is `apart` bytes from each other.
    __device__ __forceinline__ static void give(const char *from, char *to, int apart)
    {
        const int at = threadIdx.x % 32 * 16;
#pragma unroll
        for (int k = 0; k < turns; k++) {
            if (there(k)) {
                uint4 word;
#pragma unroll
                for (int j = 0; j < 16 / grain; j++) {
                    ((part *)&word)[j] = ((const part *)(from + place_of(k)))[j];
                }
                store_word(to + (512 / own * k + at / own) * apart + at % own, word);
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

// Take a ticket of a launch, the low half of the counter. In two steps, since the answer takes a
// while: the block that has the last of `count` ends the launch, which the high half counts.
__device__ __forceinline__ void note_ticket(void *counter, unsigned ticket, int count)
{
    if (ticket + 1 == (unsigned)count) {
        atomicAdd((unsigned long long *)counter, (1ull << 32) - count);
    }
}
__device__ __forceinline__ unsigned ask_ticket(void *counter)
{
    return atomicAdd((unsigned *)counter, 1u);
}
// The first of a block, with the number of the launch above it.
__device__ __forceinline__ unsigned long long first_ticket(void *counter, int count)
{
    const unsigned long long ticket = atomicAdd((unsigned long long *)counter, 1ull);
    note_ticket(counter, (unsigned)ticket, count);
    return ticket;
}

// Scan the values of the lanes `low` ... `high` - 1 of a warp.
template <typename T_, typename F_>
__device__ __forceinline__ void scan_lanes(slot<T_> &own, int low, int high, const F_ &scan)
{
    const int lane = threadIdx.x % 32;
#pragma unroll 1
    for (int distance = 1; distance < 32; distance *= 2) {
        const slot<T_> other = shuffle(own, distance, true);
        if (lane - distance >= low && lane < high) {
            own.value = scan(other.value, own.value);
        }
    }
}

// A board for scans by runs, whose tiles have one value each.
template <typename T_> struct run_board : board<T_, 1> {
    typedef board<T_, 1> base;
    typedef typename base::flock_slot flock_slot;
    typedef typename base::values_type values_type;

    using base::base;

    template <typename F_> struct all {
        const F_ &scan;
        __device__ __forceinline__ values_type operator()(const values_type &a,
                                                          const values_type &b) const
        {
            values_type c;
            c.of[0].value = scan(a.of[0].value, b.of[0].value);
            return c;
        }
    };

    // Give the value of a tile, `own` in lane 0. The last tile of a group waits for the others of
    // it, and gives what lies in front of the next group. A whole warp calls.
    template <typename F_>
    __device__ __forceinline__ void publish(const front<T_> &first, const slot<T_> &own, int output,
                                            int tile, const F_ &scan) const
    {
        if (tile + 1 == this->splits) {
            return;
        }
        front<values_type> before;
        flock_slot value;
        value.value.of[0] = shuffle(own, 0, false);
        if (tile % 32 == 31) {
            before.has = first.has;
            before.value.value.of[0] = first.value;
            this->look_back(before, value, output, tile, 0, all<F_>{scan});
        } else if (threadIdx.x % 32 == 0) {
            this->write(this->tiles + (long long)(output * this->splits + tile) * this->step, value,
                        base::aggregate);
        }
    }

    // What the lanes of a warp ask for a tile: lane k tile k of its group, the last one the group
    // before.
    struct question {
        const unsigned long long *from;
        flock_slot v;
        bool ready;
    };
    // Ask, and do not wait for all.
    __device__ __forceinline__ void ask(question &q, int output, int tile) const
    {
        const int lane = threadIdx.x % 32, place = tile % 32, group = tile / 32;
        q.from = lane == 31
                     ? this->groups + (long long)(output * this->each + group - 1) * this->step
                     : this->tiles +
                           (long long)(output * this->splits + tile - place + lane) * this->step;
        q.ready = lane == 31 ? group == 0 : lane >= place;
        ask_again(q);
    }
    __device__ __forceinline__ void ask_again(question &q) const
    {
        if (!q.ready) {
            q.ready = this->read(q.from, q.v) ==
                      (threadIdx.x % 32 == 31 ? base::prefix : base::aggregate);
        }
    }
    // What lies in front of the tile. `before`: in, what lies in front of its output's first
    // element. A whole warp calls.
    template <typename F_>
    __device__ __forceinline__ void look(front<T_> &before, question &q, int tile,
                                         const F_ &scan) const
    {
        const int lane = threadIdx.x % 32, place = tile % 32;
        while (!__all_sync(0xffffffffu, q.ready)) {
            ask_again(q);
        }
#pragma unroll 1
        for (int distance = 1; distance < place; distance *= 2) {
            const flock_slot left = shuffle(q.v, distance, true);
            if (lane >= distance && lane < place) {
                q.v.value.of[0].value = scan(left.value.of[0].value, q.v.value.of[0].value);
            }
        }
        if (tile >= 32) {
            before.begin(shuffle(q.v, 31, false).value.of[0].value);
        }
        if (place > 0) {
            before.append(shuffle(q.v, place - 1, false).value.of[0], scan);
        }
    }
};

} // namespace quern
