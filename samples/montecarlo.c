/* SPDX-License-Identifier: MIT
 *
 * Pi by throwing darts, with a random number generator of our own. It is written once: the host
 * calls it, and the kernel includes it from a header that exists only in memory, so both count
 * exactly the same hits.
 */
#include "sample.h"

#define POINTS (1 << 20)

/* Whether point k, made of two 31-bit numbers, lies within the circle: an exact sum of squares. */
#define GENERATOR(function)                                                                        \
    function unsigned long long mix(unsigned long long z)                                          \
    {                                                                                              \
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;                                               \
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;                                               \
        return z ^ (z >> 31);                                                                      \
    }                                                                                              \
    function int is_hit(unsigned long long k)                                                      \
    {                                                                                              \
        unsigned long long r = mix((k + 1) * 0x9e3779b97f4a7c15ull);                               \
        unsigned long long x = r >> 33, y = r & 0x7fffffffull;                                     \
        return x * x + y * y < 1ull << 62;                                                         \
    }

#define TEXT(...)     #__VA_ARGS__
#define EXPANDED(...) TEXT(__VA_ARGS__)

GENERATOR(static)

static const char source[] =
    "#include \"generator.h\"\n"
    "\n"
    "extern \"C\" __global__ void throw_darts(unsigned long long points, unsigned *hits)\n"
    "{\n"
    "    unsigned long long step = gridDim.x * blockDim.x;\n"
    "    unsigned own = 0;\n"
    "    unsigned long long k = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    for (; k < points; k += step) {\n"
    "        own += is_hit(k);\n"
    "    }\n"
    "    atomicAdd(hits, own);\n"
    "}\n";

static uint32_t host_hits(void)
{
    uint32_t hits = 0;
    for (unsigned long long k = 0; k < POINTS; k++) {
        hits += (uint32_t)is_hit(k);
    }
    return hits;
}

int main(void)
{
    uint32_t hits;
    quern_engine *engine;
    quern_module *module;
    quern_function *throw_darts;
    quern_array *count;
    const quern_header header = {"generator.h", EXPANDED(GENERATOR(__device__))};
    quern_module_options options = QUERN_MODULE_OPTIONS_INIT;
    options.headers = &header;
    options.header_count = 1;

    must(quern_open(&engine, NULL));
    must(quern_module_new(&module, engine, source, &options));
    must(quern_module_function(&throw_darts, module, "throw_darts"));
    must(quern_array_new(&count, engine, QUERN_UINT32, 0, NULL));
    must(quern_array_fill(count, &(uint32_t){0}, sizeof(uint32_t)));
    must(quern_function_call(throw_darts, &QUERN_GRID(64, 128), (uint64_t)POINTS, count));
    must(quern_array_read(count, &hits, sizeof hits));
    must_be_near(hits, host_hits(), 0);
    printf("%u of %d darts hit: pi is about %.4f\n", hits, POINTS, 4.0 * hits / POINTS);

    quern_array_release(count);
    quern_function_release(throw_darts);
    quern_module_release(module);
    quern_close(engine);
    return 0;
}
