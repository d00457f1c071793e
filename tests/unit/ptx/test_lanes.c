/* SPDX-License-Identifier: MIT
 *
 * Lane-wise operations as a whole: every form against a GPU's recorded bits (lanes_gpu.txt, made by
 * record_lanes), the builds for the CPU levels against each other, masks, overlapping registers,
 * and finding by name. LANES_GPU is the file's path.
 */
#include "lanes_inputs.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static lanes_inputs in;
static lanes_results whole, part, other;

Test(lanes, give_the_bits_of_a_gpu)
{
    char name[64];
    unsigned long long hash;
    size_t compared = 0;
    FILE *file = fopen(LANES_GPU, "r");
    cr_assert_not_null(file, "cannot open %s", LANES_GPU);
    while (fscanf(file, "%63s %llx", name, &hash) == 2) {
        const qn_lane_form *form = qn_lane_find(name);
        cr_assert_not_null(form, "%s is not found", name);
        lanes_make_inputs(&in, form);
        lanes_run(&whole, form, &in, 0xffffffffu, 0);
        cr_expect_eq(lanes_hash(&whole), (uint64_t)hash, "%s differs from the GPU", name);
        compared++;
    }
    fclose(file);
    cr_expect_gt(compared, 3700);
}

Test(lanes, are_the_same_in_every_build)
{
    const int levels = qn_lane_level_count();
    const qn_lane_form *form;
    for (size_t i = 0; (form = qn_lane_level_form(0, i)) != NULL; i++) {
        lanes_make_inputs(&in, form);
        lanes_run(&whole, form, &in, 0xffffffffu, 0);
        for (int level = 1; level < levels; level++) {
            const qn_lane_form *same = qn_lane_level_form(level, i);
            cr_assert_str_eq(same->name, form->name);
            lanes_run(&other, same, &in, 0xffffffffu, 0);
            cr_expect_arr_eq(&whole, &other, sizeof whole, "%s: level %d", form->name, level);
        }
    }
}

Test(lanes, leave_lanes_outside_the_mask_alone)
{
    const uint32_t masks[] = {0, 1, 0x80000000u, 0x0000ffffu, 0xa5a5a5a5u, 0x7fffffffu};
    for (int level = 0; level < qn_lane_level_count(); level++) {
        const qn_lane_form *form;
        for (size_t i = 0; (form = qn_lane_level_form(level, i)) != NULL; i++) {
            bool carry;
            lanes_uses_carry(form, &carry);
            const uint64_t low = form->d_bits == 64   ? ~(uint64_t)0
                                 : carry              ? 0xffffffff
                                 : form->d_bits == 32 ? 0xffffffff
                                 : form->d_bits == 16 ? 0xffff
                                                      : 0x100000001;
            const uint64_t before = 0x5555555555555555u;
            lanes_make_inputs(&in, form);
            lanes_run(&whole, form, &in, 0xffffffffu, before);
            const uint32_t mask = masks[i % QN_COUNT(masks)];
            lanes_run(&part, form, &in, mask, before);
            for (size_t k = 0; k < LANES_VECTORS; k++) {
                const bool on = mask >> k % 32 & 1;
                const uint64_t kept = form->d_bits == 1 && !form->second ? 1 : low;
                cr_expect_eq(part.d[k] & kept, (on ? whole.d[k] : before) & kept,
                             "%s: mask %x, lane %zu", form->name, mask, k % 32);
            }
        }
    }
}

Test(lanes, may_write_over_a_source)
{
    /* d begins before, at and inside the source */
    for (int offset = 0; offset <= 256; offset += 64) {
        _Alignas(64) unsigned char frame[1024];
        int32_t expected[QN_LANES];
        uint32_t carry = 0;
        int32_t *source = (int32_t *)(void *)(frame + 256);
        int64_t *d = (int64_t *)(void *)(frame + offset + 64);
        for (int l = 0; l < QN_LANES; l++) {
            expected[l] = source[l] = l * 12345678 - 99999999;
        }
        qn_lane_find("cvt.s64.s32")->function(d, source, NULL, NULL, 0xffffffffu, &carry);
        for (int l = 0; l < QN_LANES; l++) {
            cr_expect_eq(d[l], expected[l], "offset %d, lane %d", offset, l);
        }
    }
}

Test(lanes, are_found_by_their_whole_name_only)
{
    size_t count;
    const qn_lane_form *forms = qn_lane_forms(&count);
    cr_assert_gt(count, 3000);
    for (size_t i = 0; i < count; i++) {
        const qn_lane_form *found = qn_lane_find(forms[i].name);
        cr_assert_not_null(found);
        cr_expect_eq(found->function, forms[i].function, "%s is there twice", forms[i].name);
    }
    const char *const unknown[] = {"",        "add",           "add.f3",  "add.f322",
                                   "ADD.f32", "ld.global.u32", "add..f32"};
    for (size_t i = 0; i < QN_COUNT(unknown); i++) {
        cr_expect_null(qn_lane_find(unknown[i]), "%s", unknown[i]);
    }
}

Test(lanes, resize_registers)
{
    const uint16_t source[QN_LANES] = {0x8001, 0x7fff};
    uint64_t d[QN_LANES];
    uint32_t carry = 0;
    qn_lane_resize(16, 64, true)(d, source, NULL, NULL, 0xffffffffu, &carry);
    cr_expect_eq(d[0], 0xffffffffffff8001u);
    qn_lane_resize(16, 64, false)(d, source, NULL, NULL, 0xffffffffu, &carry);
    cr_expect_eq(d[0], 0x8001u);
    cr_expect_eq(d[1], 0x7fffu);
    cr_expect_not_null(qn_lane_resize(64, 16, false));
    cr_expect_not_null(qn_lane_resize(32, 32, false));
}
