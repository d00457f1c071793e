/* SPDX-License-Identifier: MIT
 *
 * The condition code from every kind of writer to every kind of reader, and across a branch.
 */
extern "C" __global__ void k(const unsigned *x, unsigned *o)
{
    int t = threadIdx.x;
    unsigned a = x[t], b = x[t + 64], c = x[t + 128], *p = o + t * 8;
    unsigned r, s;
    asm volatile("add.cc.u32 %0,%2,%3; subc.u32 %1,%4,%2;"
                 : "=r"(r), "=r"(s)
                 : "r"(a), "r"(b), "r"(c));
    p[0] = r ^ s;
    asm volatile("sub.cc.u32 %0,%2,%3; addc.u32 %1,%4,%2;"
                 : "=r"(r), "=r"(s)
                 : "r"(a), "r"(b), "r"(c));
    p[1] = r ^ s;
    asm volatile("mad.lo.cc.u32 %0,%2,%3,%4; subc.cc.u32 %1,%4,%2; madc.hi.u32 %0,%0,%1,%3;"
                 : "=&r"(r), "=&r"(s)
                 : "r"(a), "r"(b), "r"(c));
    p[2] = r ^ s;
    asm volatile("sub.cc.u32 %0,%2,%3; madc.lo.cc.u32 %1,%4,%2,%3; addc.u32 %0,%0,%1;"
                 : "=&r"(r), "=&r"(s)
                 : "r"(a), "r"(b), "r"(c));
    p[3] = r ^ s;
    unsigned long long d = (unsigned long long)a << 32 | b, e = (unsigned long long)c << 32 | a, f,
                       g;
    asm volatile("sub.cc.u64 %0,%2,%3; addc.u64 %1,%3,%2;" : "=&l"(f), "=&l"(g) : "l"(d), "l"(e));
    p[4] = (unsigned)((f ^ g) >> 32) ^ (unsigned)(f ^ g);
    asm volatile("add.cc.s64 %0,%2,%3; subc.s64 %1,%3,%2;" : "=&l"(f), "=&l"(g) : "l"(d), "l"(e));
    p[5] = (unsigned)((f ^ g) >> 32) ^ (unsigned)(f ^ g);
    asm volatile("{.reg .pred q; setp.lt.u32 q,%2,%3; sub.cc.u32 %0,%2,%3; @q add.cc.u32 %0,%4,%4; "
                 "subc.u32 %1,%3,%4;}"
                 : "=&r"(r), "=&r"(s)
                 : "r"(a), "r"(b), "r"(c));
    p[6] = r ^ s;
    p[7] = a;
}
