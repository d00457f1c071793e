/* SPDX-License-Identifier: MIT
 *
 * A whole call on the CUDA device, over the stand-in for the driver and with the real compiler:
 * what reaches the driver, and what a driver that fails in the middle of it leaves behind.
 */
#include "support/fake_libcuda.h"
#include "unit/cache/scratch.h"
#include "unit/engine/whole.h"

#include <dlfcn.h>

static fake_cuda *fake;
static cu_result (*context_get)(cu_context *);
static cu_result (*context_set)(cu_context);

static void find(void *to, void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    cr_assert_not_null(symbol, "%s", name);
    memcpy(to, &symbol, sizeof symbol);
}

static void open_fake(void)
{
    scratch_make();
    setenv("QUERN_CUDA", FAKE_FOLDER, 1);
    setenv("QUERN_CACHE_DIR", scratch, 1);
    setenv("QUERN_DEVICE", "cuda", 1);
    setenv("QUERN_NVRTC_CACHE", "0", 1); /* it asks the driver for things that the stand-in lacks */
    void *library = dlopen(FAKE_FOLDER "/libcuda.so.1", RTLD_NOW);
    cr_assert_not_null(library, "%s", dlerror());
    fake_cuda_get_function get;
    find(&get, library, "fake_cuda_get");
    find(&context_get, library, "cuCtxGetCurrent");
    find(&context_set, library, "cuCtxSetCurrent");
    fake = get();
    fake->also = "sum";
    fake->recorded = 3;
    whole_open();
}

static void close_fake(void)
{
    whole_close();
    cr_expect_eq(fake->allocations(), 0, "device memory is left");
    cr_expect_eq(fake->retained(0), 0, "the context is left");
    scratch_delete();
}

TestSuite(cuda, .init = open_fake, .fini = close_fake);

static quern_kernel *sum_kernel(void)
{
    quern_kernel *k;
    quern_kernel_options o = QUERN_KERNEL_OPTIONS_INIT;
    o.name = "sum";
    OK(quern_elementwise(&k, engine, "T x, T y", "T z", "z = x + y", &o));
    return k;
}

Test(cuda, a_call_reaches_the_driver)
{
    cu_context mine = fake->primary(1), now;
    context_set(mine);
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(4), (float[]){1, 2, 3, 4}), *z = NULL;
    quern_kernel *k = sum_kernel();
    OK(quern_call(k, x, x, &z));
    cr_expect_eq(fake->calls("cuLaunchKernel"), 1);
    cr_expect(fake->cubin, "native code is asked for and loaded");
    cr_expect_eq(fake->launch_context, fake->primary(0));
    cr_expect_eq(fake->parameters[0], (uint64_t)(uintptr_t)quern_array_pointer(x));
    cr_expect_eq(fake->parameters[1], (uint64_t)(uintptr_t)quern_array_pointer(x));
    cr_expect_eq(fake->parameters[2], (uint64_t)(uintptr_t)quern_array_pointer(z));
    cr_expect_eq(fake->last_grid[0], 1);
    context_get(&now);
    cr_expect_eq(now, mine, "the program's context is put back");
    quern_explanation *e;
    quern_value values[3] = {quern_value_array(x), quern_value_array(x), quern_value_array(z)};
    OK(quern_explain(&e, k, values, 3, NULL));
    cr_expect_str_eq(e->target, "sm_90");
    cr_expect_str_eq(e->ptx, "");
    cr_expect_eq(e->registers, 16);
    OK(quern_call(k, x, x, z));
    cr_expect_eq(fake->calls("cuModuleLoadDataEx"), 1, "the second call uses the first's module");
    context_get(&now);
    cr_expect_eq(now, mine);
    quern_explanation_release(e);
    quern_array_release(x);
    quern_array_release(z);
    quern_kernel_release(k);
    context_set(NULL);
}

/* ---- modules -------------------------------------------------------------------------------- */

static const char saxpy[] =
    "extern \"C\" __global__ void saxpy(float a, const float *x, const float *y, float *z, int n)\n"
    "{ int i = threadIdx.x; if (i < n) z[i] = a * x[i] + y[i]; }\n";

Test(cuda, a_module_reaches_the_driver)
{
    quern_module *module;
    quern_function *f;
    float numbers[4] = {1, 2, 3, 4};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(4), numbers);
    quern_array *z = array_of(QUERN_FLOAT32, SHAPE(4), numbers);
    OK(quern_module_new(&module, engine, saxpy, NULL));
    cr_expect(fake->cubin, "native code is asked for and loaded");
    OK(quern_module_function(&f, module, "saxpy"));
    quern_launch_options launch = {.size = sizeof launch,
                                   .grid = {2, 0, 3},
                                   .block = {4},
                                   .shared_bytes = 100000,
                                   .cluster = {2},
                                   .cooperative = 1,
                                   .overlap = 1,
                                   .priority = -3};
    OK(quern_function_call(f, &launch, 2.0f, x, x, z, 4));
    EXPECT(z, float, 3, 6, 9, 12);
    static const uint32_t grid[3] = {2, 1, 3}, block[3] = {4, 1, 1}, cluster[3] = {2, 1, 1};
    cr_expect_arr_eq(fake->last_grid, grid, sizeof grid);
    cr_expect_arr_eq(fake->last_block, block, sizeof block);
    cr_expect_arr_eq(fake->last_cluster, cluster, sizeof cluster);
    cr_expect_eq(fake->last_shared, 100000u);
    cr_expect_eq(fake->last_cooperative, 1u);
    cr_expect_eq(fake->last_overlap, 1u);
    cr_expect_eq(fake->last_priority, -3);
    FAILS(QUERN_ERROR_TYPE, quern_function_call(f, &launch, 2.0, x, x, z, 4));
    FAILS(QUERN_ERROR_ARGUMENT_COUNT, quern_function_call(f, &launch, 2.0f, x, x, z));
    cr_expect_eq(fake->calls("cuLaunchKernelEx"), 1, "what does not fit is never launched");

    quern_array *table;
    OK(quern_module_global(&table, module, "table", QUERN_FLOAT32, 0, NULL));
    quern_module_release(module);
    quern_function_release(f);
    cr_expect_eq(fake->calls("cuModuleUnload"), 0, "a global is in use");
    int waits = fake->calls("cuCtxSynchronize");
    quern_array_release(table);
    cr_expect_eq(fake->calls("cuModuleUnload"), 1);
    cr_expect_gt(fake->calls("cuCtxSynchronize"), waits, "queued work may still use it");
    quern_array_release(x);
    quern_array_release(z);
}

Test(cuda, names_of_a_module)
{
    quern_module *module;
    quern_function *f;
    quern_array *a;
    OK(quern_module_new(&module, engine, saxpy, NULL));
    FAILS(QUERN_ERROR_NAME, quern_module_function(&f, module, "saxpi"));
    SAYS("did you mean 'saxpy'? It has: saxpy");
    FAILS(QUERN_ERROR_NAME, quern_module_global(&a, module, "tabel", QUERN_INT8, 0, NULL));
    SAYS("no global 'tabel'; it has: none");
    fake->fail("cuFuncGetParamInfo", CU_UNKNOWN, 1);
    FAILS(QUERN_ERROR_DRIVER, quern_module_function(&f, module, "saxpy"));
    cr_expect_null(f);
    quern_module_release(module);
}

/* ---- failures of the driver ----------------------------------------------------------------- */

/* Each function of the driver that a first call may reach, failing once. A known module that does
 * not load is compiled again, which the caller need not know. */
static const struct {
    const char *name;
    bool survived;
} fragile[] = {
    {"cuMemAllocFromPoolAsync", false}, {"cuMemcpyHtoDAsync_v2", false},
    {"cuModuleLoadDataEx", true},       {"cuModuleGetFunction", false},
    {"cuLaunchKernel", false},          {"cuMemcpyDtoHAsync_v2", false},
};

static quern_status whole_life(void)
{
    quern_array *x = NULL, *z = NULL;
    float host[4] = {1, 2, 3, 4};
    quern_kernel *k = sum_kernel();
    quern_status status = quern_array_from(&x, engine, QUERN_FLOAT32, SHAPE(4), host);
    if (status == QUERN_OK) {
        status = quern_call(k, x, x, &z);
        cr_expect_eq(status == QUERN_OK, z != NULL);
    }
    if (status == QUERN_OK) {
        status = quern_array_read(z, host, sizeof host);
    }
    if (status != QUERN_OK) {
        cr_expect_gt(strlen(quern_last_error()->message), 10);
    }
    quern_array_release(x);
    quern_array_release(z);
    quern_kernel_release(k);
    return status;
}

Test(cuda, driver_fails_once)
{
    for (size_t k = 0; k < sizeof fragile / sizeof *fragile; k++) {
        whole_close(); /* a new engine, so that its module is loaded again */
        whole_open();
        const char *name = fragile[k].name;
        int before = fake->calls(name);
        fake->fail(name, CU_UNKNOWN, 1);
        quern_status status = whole_life();
        cr_expect_gt(fake->calls(name), before, "%s was not called", name);
        cr_expect_eq(status == QUERN_OK, fragile[k].survived, "%s: %s", name,
                     quern_status_text(status));
        cr_expect_eq(whole_life(), QUERN_OK, "after %s failed: %s", name, quern_last_error_text());
        cr_expect_eq(fake->allocations(), 0, "%s", name);
    }
}
