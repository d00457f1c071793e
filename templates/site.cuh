// SPDX-License-Identifier: MIT
//
// site: where a box of a scan or a map lies. In: the walk, and the number of a box. Out: how many
// positions it has along each dimension, and where it begins in each operand. The thing to know: where
// boxes are small, or operands many, one thread finds this of an operand for the whole block, since in
// all threads it would take most of the instructions.
#pragma once

namespace quern
{

// Where a box lies of one operand.
struct alignas(16) site {
    long long first; // bytes from the operand's array to the element that is the first along all dimensions,
    int below;       // and from there to the lowest one
    int base, shelf; // bytes of shared memory: where the lowest one waits, and the first one
    int from, to;    // what memory there is, in bytes from the lowest one, as far as a box reaches
};

// Boxes of operands that lie along OUTER dimensions outside of them, the last ones of which number the
// boxes along those inside that are cut: the bits of CUTS; and INSIDE dimensions inside, the last one
// that along which threads go.
template <int OUTER_, int INSIDE_, int CUTS_, typename W_> struct boxes {
    const W_ &walk;
    static constexpr int outer = OUTER_;
    static constexpr int cut_count = (CUTS_ & 1) + (CUTS_ >> 1 & 1) + (CUTS_ >> 2 & 1) + (CUTS_ >> 3 & 1) +
                                     (CUTS_ >> 4 & 1) + (CUTS_ >> 5 & 1);

    static __device__ __forceinline__ constexpr bool is_cut(int d)
    {
        return (CUTS_ >> d & 1) != 0;
    }
    // Cuts in front of dimension `d`.
    static __device__ __forceinline__ constexpr int cuts_before(int d)
    {
        return (d > 0 ? CUTS_ & 1 : 0) + (d > 1 ? CUTS_ >> 1 & 1 : 0) + (d > 2 ? CUTS_ >> 2 & 1 : 0) +
               (d > 3 ? CUTS_ >> 3 & 1 : 0) + (d > 4 ? CUTS_ >> 4 & 1 : 0);
    }

    // How many boxes there are along dimension `d`, which is cut; how many positions the last one has.
    __device__ __forceinline__ long long count(int d) const
    {
        return walk.extent[OUTER_ - cut_count + cuts_before(d)].value;
    }
    __device__ __forceinline__ int rest(int d) const
    {
        const int cut = cuts_before(d);
        return d == INSIDE_ - 1 ? (int)(walk.covered - (count(d) - 1) * walk.units)
               : cut == 0       ? (int)walk.head
               : cut == 1       ? (int)walk.across
                                : (int)walk.run;
    }
    __device__ __forceinline__ int most(int d) const
    {
        return d == INSIDE_ - 1 ? (int)walk.units : (int)walk.extent[OUTER_ + d].value;
    }
    // Positions of all boxes along dimension `d`, less one.
    __device__ __forceinline__ long long last(int d) const
    {
        return (d == INSIDE_ - 1 ? (long long)walk.covered
                : is_cut(d)      ? (count(d) - 1) * most(d) + rest(d)
                                 : (long long)most(d)) -
               1;
    }
};

// What the thread that finds where boxes lie knows of its operand.
template <int INSIDE_> struct finder {
    long long array, low, high; // its address; what memory there is, from there
    int operand, room;          // bytes of shared memory where its room begins
    int apart[INSIDE_];         // how far elements lie apart there, along each dimension inside

    // Begin with operand `k`, of elements of `item` bytes.
    template <typename B_> __device__ __forceinline__ void begin(const B_ &all, int k, int item)
    {
        operand = k;
        low = 0;
        high = item;
#pragma unroll
        for (int d = 0; d < B_::outer - B_::cut_count; d++) {
            reach((all.walk.extent[d].value - 1) * (long long)all.walk.stride[k][d]);
        }
#pragma unroll
        for (int d = 0; d < INSIDE_; d++) {
            reach(all.last(d) * all.walk.stride[k][B_::outer + d]);
        }
    }
    __device__ __forceinline__ void reach(long long by)
    {
        low += min(by, 0ll);
        high += max(by, 0ll);
    }

    // The box of this number, or the piece of it that begins at `start`: `here` positions.
    template <typename B_, typename I_>
    __device__ __forceinline__ void find(site &s, int *here, const B_ &all, I_ number, I_ start) const
    {
        const auto &walk = all.walk;
        int own[INSIDE_];
#pragma unroll
        for (int d = 0; d < INSIDE_; d++) {
            own[d] = all.most(d);
        }
        own[INSIDE_ - 1] = (int)min(walk.units, walk.covered - start);
        long long first = (long long)start * walk.stride[operand][B_::outer + INSIDE_ - 1];
        I_ left = number;
#pragma unroll
        for (int d = B_::outer - 1; d >= 0; d--) {
            I_ at = left;
            if (d > 0) {
                left = walk.extent[d].divide(at);
                at -= left * walk.extent[d].value;
            }
            first += (long long)at * walk.stride[operand][d];
#pragma unroll
            for (int in = 0; in < INSIDE_; in++) { // this may be the last box along it
                if (B_::is_cut(in) && d == B_::outer - B_::cut_count + B_::cuts_before(in)) {
                    own[in] = at == walk.extent[d].value - 1 ? all.rest(in) : own[in];
                }
            }
        }
        int below = 0, above = 0;
#pragma unroll
        for (int d = 0; d < INSIDE_; d++) {
            below += (own[d] - 1) * min((int)walk.stride[operand][B_::outer + d], 0);
            above += (own[d] - 1) * min(apart[d], 0);
            if (operand == 0) {
                here[d] = own[d];
            }
        }
        const long long lowest = first + below;
        s.first = first;
        s.below = below;
        s.base = room + (int)((array + lowest) & 15);
        s.shelf = s.base - above;
        s.from = (int)max(low - lowest, -(1ll << 30));
        s.to = (int)min(high - lowest, 1ll << 30);
    }
};

} // namespace quern
