# SPDX-License-Identifier: MIT
#
# Two numbers by chance: pi, from points in a square, and the price of a call option, beside the
# formula of Black and Scholes. Each is one reduction, which makes its random numbers from the index
# alone, so that nothing is stored and the answer is the same on every device. Shows a preamble and
# reductions with several outputs. python examples/monte_carlo.py FOLDER writes monte_carlo.txt.

import math

import picture

import pyquern as q

RANDOM = """
// A number in (0, 1) from an index: two rounds of a 64-bit mixer.
__device__ double chance(unsigned long long k)
{
    k = (k + 1) * 0x9e3779b97f4a7c15ull;
    k = (k ^ (k >> 30)) * 0xbf58476d1ce4e5b9ull;
    k = (k ^ (k >> 27)) * 0x94d049bb133111ebull;
    k ^= k >> 31;
    return ((k >> 11) + 0.5) / 9007199254740992.0;
}
__device__ bool is_inside(unsigned long long k)
{
    double x = chance(2 * k), y = chance(2 * k + 1);
    return x * x + y * y < 1;
}
__device__ double payoff(unsigned long long k, double price, double strike, double rate,
                         double sigma)
{
    double normal = sqrt(-2 * log(chance(2 * k))) * cos(2 * M_PI * chance(2 * k + 1));
    double then = price * exp(rate - sigma * sigma / 2 + sigma * normal);
    return exp(-rate) * max(then - strike, 0.0);
}
"""

inside = q.ReductionKernel(
    "uint64 k", "uint64 n", "is_inside(k)", "a + b", "n = a", "0", "inside", preamble=RANDOM
)
option = q.ReductionKernel(
    "uint64 k, float64 price, float64 strike, float64 rate, float64 sigma",
    "float64 sum",
    "payoff(k, price, strike, rate, sigma)",
    "a + b",
    "sum = a",
    "0",
    "option",
    preamble=RANDOM,
)


def black_scholes(price, strike, rate, sigma):
    """The option's price after one year, exactly."""
    d = (math.log(price / strike) + rate + sigma * sigma / 2) / sigma
    normal = [(1 + math.erf(x / math.sqrt(2))) / 2 for x in (d, d - sigma)]
    return price * normal[0] - strike * math.exp(-rate) * normal[1]


def main(folder, most=262_144):
    terms = (100.0, 105.0, 0.03, 0.2)
    exact = black_scholes(*terms)
    lines = [f"{'samples':>9}  {'pi':>8}  {'off by':>8}  {'price':>8}  {'off by':>8}"]
    n = most // 64
    while n <= most:
        k = q.arange(n, dtype="uint64")
        pi = 4 * int(inside(k)) / n
        price = float(option(k, *terms)) / n
        lines.append(
            f"{n:9}  {pi:8.5f}  {abs(pi - math.pi):8.5f}  {price:8.4f}  {abs(price - exact):8.4f}"
        )
        n *= 4
    lines.append(f"{'exact':>9}  {math.pi:8.5f}  {'':8}  {exact:8.4f}")
    (folder / "monte_carlo.txt").write_text("\n".join(lines) + "\n")
    print(*lines, sep="\n")


if __name__ == "__main__":
    main(picture.folder())
