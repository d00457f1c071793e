/* SPDX-License-Identifier: MIT
 *
 * What a PTX text uses and defines nowhere: found by name before anything runs. What the device
 * itself provides, and what nobody uses, is not reported.
 */
#include "ptx/ptx.h"

#include <criterion/criterion.h>
#include <string.h>

#define HEAD ".version 9.0\n.target sm_75\n.address_size 64\n"

Test(ptx_undefined, is_found_by_name)
{
    static const struct {
        const char *text, *name; /* NULL: all is defined */
    } cases[] = {
        {HEAD ".extern .global .u32 x; .visible .entry k() { .reg .b32 r; ld.global.u32 r, [x]; }",
         "variable 'x'"},
        {HEAD ".extern .global .u32 x; .visible .global .u64 p = x; .visible .entry k() { ret; }",
         "variable 'x'"},
        {HEAD ".extern .global .u32 x; .visible .entry k() { ret; }", NULL},
        {HEAD ".extern .global .u32 x; .visible .global .u32 x = 4;\n"
              ".visible .entry k() { .reg .b32 r; ld.global.u32 r, [x]; }",
         NULL},
        {HEAD ".extern .func f; .visible .entry k() { call.uni f; ret; }", "function 'f'"},
        {HEAD ".extern .func f; .visible .entry k() { .reg .b64 r; mov.u64 r, f; ret; }",
         "function 'f'"},
        {HEAD ".extern .func f; .visible .entry k() { ret; }", NULL},
        {HEAD ".func f; .visible .entry k() { call.uni f; ret; } .func f { ret; }", NULL},
        {HEAD ".extern .func free(.param .b64 p); .visible .entry k() { .param .b64 p;\n"
              "call.uni free, (p); ret; }",
         NULL},
        {HEAD ".extern .func cudaDeviceSynchronize; .visible .entry k() { call.uni "
              "cudaDeviceSynchronize; ret; }",
         NULL},
        {HEAD ".extern .shared .align 16 .b8 s[]; .visible .entry k() { .reg .b32 r;\n"
              "ld.shared.u32 r, [s]; }",
         NULL},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        qn_ptx_module *module;
        cr_assert_eq(qn_ptx_read(&module, cases[k].text, strlen(cases[k].text)), QUERN_OK,
                     "%zu: %s", k, quern_last_error()->message);
        const quern_status status = qn_ptx_check_defined(module);
        cr_expect_eq(status, cases[k].name ? QUERN_ERROR_LINK : QUERN_OK, "case %zu", k);
        cr_expect(!cases[k].name || strstr(quern_last_error()->message, cases[k].name),
                  "case %zu: %s", k, quern_last_error()->message);
        qn_ptx_free(module);
    }
}
