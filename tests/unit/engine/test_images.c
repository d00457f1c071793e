/* SPDX-License-Identifier: MIT
 *
 * The images of a process: found again, by key and compiler, until there are too many.
 */
#include "engine/engine_internal.h"
#include <criterion/criterion.h>
#include <string.h>

TestSuite(images, .init = qn_images_enter, .fini = qn_images_leave);

static qn_key key_of(uint64_t number)
{
    return (qn_key){.hash = {number * 7, number}};
}

static void put(uint64_t number, const char *compiler, size_t size)
{
    qn_key key = key_of(number);
    char *data = qn_calloc(1, size + 1);
    memset(data, (int)(number % 100), size);
    char *name = (char[]){"_Z1fv"};
    qn_images_put(&key, compiler,
                  &(qn_image){.kind = QN_IMAGE_PTX,
                              .data = data,
                              .size = size,
                              .lowered = &name,
                              .lowered_count = 1});
    qn_free(data);
}

static bool has(uint64_t number, const char *compiler, size_t size)
{
    qn_key key = key_of(number);
    qn_image image;
    if (!qn_images_get(&key, compiler, &image)) {
        return false;
    }
    cr_expect_eq(image.kind, QN_IMAGE_PTX);
    cr_expect_eq(image.size, size);
    cr_expect_eq(image.data[size - 1], (char)(number % 100));
    cr_expect_eq(image.data[size], '\0');
    cr_expect_eq(image.lowered_count, 1u);
    cr_expect_str_eq(image.lowered[0], "_Z1fv");
    qn_image_free(&image);
    return true;
}

Test(images, are_found_again)
{
    put(1, "a", 10);
    put(1, "b", 20);
    put(257, "a", 30); /* of the same bucket */
    put(1, "a", 40);   /* known already */
    cr_expect(has(1, "a", 10));
    cr_expect(has(1, "b", 20));
    cr_expect(has(257, "a", 30));
    cr_expect_not(has(2, "a", 10));
    cr_expect_not(has(1, "c", 10));
}

Test(images, the_oldest_are_forgotten)
{
    enum { MIB = 1 << 20, COUNT = 100 };
    for (uint64_t k = 0; k < COUNT; k++) {
        put(k, "a", MIB);
    }
    for (uint64_t k = 0; k < COUNT; k++) {
        cr_expect_eq(has(k, "a", MIB), k >= COUNT - 64, "image %d", (int)k);
    }
    put(COUNT, "a", 100 * MIB); /* larger than all may be: kept alone */
    cr_expect(has(COUNT, "a", 100 * MIB));
    cr_expect_not(has(COUNT - 1, "a", MIB));
    put(COUNT + 1, "a", MIB);
    cr_expect_not(has(COUNT, "a", 100 * MIB));
    cr_expect(has(COUNT + 1, "a", MIB));
}
