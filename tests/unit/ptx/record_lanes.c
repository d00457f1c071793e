/* SPDX-License-Identifier: MIT
 *
 * record_lanes: runs every lane-wise form on a real GPU over the tests' operands and prints a line
 * for each, "name hash", for lanes_gpu.txt. Approximate forms are left out, since only their error
 * is defined. Run it where there is a GPU of compute capability 9.0; forms that its assembler
 * refuses are named on standard error, and so are those whose bits differ here.
 */
#include "lanes_inputs.h"
#include <stdio.h>
#include <string.h>

/* The few entry points of the driver, with its types reduced to what they are. */
static int (*init)(unsigned);
static int (*retain)(void **, int);
static int (*set_current)(void *);
static int (*load)(void **, const char *);
static int (*unload)(void *);
static int (*get_function)(void **, void *, const char *);
static int (*allocate)(unsigned long long *, size_t);
static int (*to_device)(unsigned long long, const void *, size_t);
static int (*from_device)(void *, unsigned long long, size_t);
static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     void *, void **, void **);
static int (*synchronize)(void);

static bool open_driver(void)
{
    const char *const names[] = {"libcuda.so.1", NULL};
    qn_library *cuda;
    char *why = NULL;
    if (!qn_library_open(&cuda, names, &why)) {
        fprintf(stderr, "record_lanes: no driver: %s\n", why);
        qn_free(why);
        return false;
    }
    const struct {
        const char *name;
        void *function;
    } symbols[] = {
        {"cuInit", &init},
        {"cuDevicePrimaryCtxRetain", &retain},
        {"cuCtxSetCurrent", &set_current},
        {"cuModuleLoadData", &load},
        {"cuModuleUnload", &unload},
        {"cuModuleGetFunction", &get_function},
        {"cuMemAlloc_v2", &allocate},
        {"cuMemcpyHtoD_v2", &to_device},
        {"cuMemcpyDtoH_v2", &from_device},
        {"cuLaunchKernel", &launch},
        {"cuCtxSynchronize", &synchronize},
    };
    for (size_t i = 0; i < QN_COUNT(symbols); i++) {
        void *symbol = qn_library_symbol(cuda, symbols[i].name);
        memcpy(symbols[i].function, &symbol, sizeof symbol);
    }
    return true;
}

static void load_operand(qn_text *ptx, char name, int bits)
{
    if (bits == 1) {
        qn_text_printf(ptx, "ld.global.b32 %%u, [%%x%c];\nsetp.ne.u32 %%p%c, %%u, 0;\n", name,
                       name);
    } else if (bits != 0) {
        qn_text_printf(ptx, "ld.global.b%d %%%c%d, [%%x%c];\n", bits, name, bits, name);
    }
}

static void name_operand(qn_text *ptx, char name, int bits)
{
    if (bits == 1) {
        qn_text_printf(ptx, ", %%p%c", name);
    } else if (bits != 0) {
        qn_text_printf(ptx, ", %%%c%d", name, bits);
    }
}

/* A kernel of one instruction: thread t takes operands t and stores d, q or the carry. */
static void write_kernel(qn_text *ptx, const qn_lane_form *form, const lanes_inputs *in)
{
    bool writes_carry;
    const bool uses_carry = lanes_uses_carry(form, &writes_carry);
    const bool borrow = strncmp(form->name, "sub", 3) == 0;
    qn_text_puts(ptx,
                 ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 "
                 "a, .param .u64 b, .param .u64 c, .param .u64 e, .param .u64 d)\n{\n"
                 ".reg .pred %p, %q, %pa, %pb, %pc;\n.reg .b16 %d16, %a16, %b16, %c16;\n"
                 ".reg .b32 %d32, %a32, %b32, %c32, %e32, %t, %u, %z, %w;\n"
                 ".reg .b64 %d64, %a64, %b64, %c64, %xa, %xb, %xc, %xe, %xd, %o;\n"
                 "mov.b32 %z, 0;\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 8;\n");
    for (const char *name = "abced"; *name != '\0'; name++) {
        qn_text_printf(ptx, "ld.param.u64 %%x%c, [%c];\nadd.u64 %%x%c, %%x%c, %%o;\n", *name, *name,
                       *name, *name);
    }
    load_operand(ptx, 'a', form->a_bits);
    load_operand(ptx, 'b', form->b_bits);
    load_operand(ptx, 'c', form->c_bits);
    load_operand(ptx, 'e', 32);
    if (uses_carry) {
        qn_text_puts(ptx, "and.b32 %w, %e32, 1;\n");
        qn_text_puts(ptx, borrow ? "sub.cc.u32 %u, %z, %w;\n" : "add.cc.u32 %u, %w, 0xffffffff;\n");
    }
    qn_text_printf(ptx, "%s ", form->name);
    if (form->d_bits == 1) {
        qn_text_puts(ptx, form->second ? "%p|%q" : "%p");
    } else {
        qn_text_printf(ptx, "%%d%d", form->d_bits);
    }
    name_operand(ptx, 'a', form->a_bits);
    name_operand(ptx, 'b', form->b_bits);
    name_operand(ptx, 'c', form->c_bits);
    if (form->fourth && strncmp(form->name, "lop3", 4) == 0) {
        qn_text_printf(ptx, ", %d", (int)in->e[0]);
    } else if (form->fourth) {
        qn_text_puts(ptx, ", %e32");
    }
    qn_text_puts(ptx, ";\n");
    if (writes_carry && form->d_bits == 32) {
        qn_text_printf(
            ptx, "%s.u32 %%w, %%z, %%z;\nand.b32 %%w, %%w, 1;\nst.global.b32 [%%xd+4], %%w;\n",
            borrow ? "subc" : "addc");
    }
    if (form->d_bits != 1) {
        qn_text_printf(ptx, "st.global.b%d [%%xd], %%d%d;\n", form->d_bits, form->d_bits);
    } else {
        qn_text_puts(ptx, "selp.b32 %u, 1, 0, %p;\nst.global.b32 [%xd], %u;\n");
        qn_text_puts(ptx,
                     form->second ? "selp.b32 %u, 1, 0, %q;\nst.global.b32 [%xd+4], %u;\n" : "");
    }
    qn_text_puts(ptx, "ret;\n}\n");
}

static bool record(const qn_lane_form *form, unsigned long long memory[5])
{
    static lanes_inputs in;
    static lanes_results gpu, ours;
    void *module, *function;
    qn_text ptx = {0};
    lanes_make_inputs(&in, form);
    write_kernel(&ptx, form, &in);
    const bool refused = ptx.failed || load(&module, ptx.data) != 0;
    qn_text_free(&ptx);
    if (refused) {
        fprintf(stderr, "refused: %s\n", form->name);
        return true;
    }
    const uint64_t *const operands[4] = {in.a, in.b, in.c, in.e};
    for (int i = 0; i < 4; i++) {
        to_device(memory[i], operands[i], sizeof in.a);
    }
    memset(&gpu, 0, sizeof gpu);
    to_device(memory[4], &gpu, sizeof gpu);
    void *arguments[] = {&memory[0], &memory[1], &memory[2], &memory[3], &memory[4]};
    if (get_function(&function, module, "k") != 0 ||
        launch(function, 1, 1, 1, LANES_VECTORS, 1, 1, 0, NULL, arguments, NULL) != 0 ||
        synchronize() != 0 || from_device(&gpu, memory[4], sizeof gpu) != 0) {
        fprintf(stderr, "record_lanes: cannot run %s\n", form->name);
        return false;
    }
    unload(module);
    lanes_run(&ours, form, &in, 0xffffffffu, 0);
    printf("%s %016llx\n", form->name, (unsigned long long)lanes_hash(&gpu));
    for (size_t i = 0, told = 0; i < LANES_VECTORS && told < 3; i++) {
        if (ours.d[i] != gpu.d[i]) {
            fprintf(stderr, "%s a=%llx b=%llx c=%llx e=%llx: here %llx, GPU %llx\n", form->name,
                    (unsigned long long)in.a[i], (unsigned long long)in.b[i],
                    (unsigned long long)in.c[i], (unsigned long long)in.e[i],
                    (unsigned long long)ours.d[i], (unsigned long long)gpu.d[i]);
            told++;
        }
    }
    return true;
}

int main(void)
{
    void *context;
    unsigned long long memory[5];
    size_t count;
    const qn_lane_form *forms = qn_lane_forms(&count);
    if (!open_driver() || init(0) != 0 || retain(&context, 0) != 0 || set_current(context) != 0) {
        fprintf(stderr, "record_lanes: no GPU\n");
        return 1;
    }
    for (int i = 0; i < 5; i++) {
        if (allocate(&memory[i], sizeof(lanes_results)) != 0) {
            return 1;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!strstr(forms[i].name, ".approx") && !strstr(forms[i].name, "div.full") &&
            !record(&forms[i], memory)) {
            return 1;
        }
    }
    return 0;
}
