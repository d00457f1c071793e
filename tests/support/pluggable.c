/* SPDX-License-Identifier: MIT
 *
 * A library with an allocator as PyTorch's pluggable ones and RMM have it: two functions, found by
 * their names. It checks that each piece comes back with the numbers it was asked with, and tells a
 * test how many are out.
 */
#include <stddef.h>
#include <stdlib.h>

enum { PIECES = 64 };

void *allocate(size_t bytes, int device, void *stream);
void deallocate(void *pointer, size_t bytes, int device, void *stream);
void *crooked(size_t bytes, int device, void *stream);
void *empty(size_t bytes, int device, void *stream);
int pluggable_live(void);
int pluggable_wrong(void);
int pluggable_device(void);

static struct {
    void *pointer, *stream;
    size_t bytes;
    int device;
} out[PIECES];
static int wrong, last_device = -1;

static void *give(void *pointer, size_t bytes, int device, void *stream)
{
    last_device = device;
    for (int k = 0; k < PIECES; k++) {
        if (!out[k].pointer) {
            out[k].pointer = pointer;
            out[k].bytes = bytes;
            out[k].device = device;
            out[k].stream = stream;
            return pointer;
        }
    }
    abort();
}

void *allocate(size_t bytes, int device, void *stream)
{
    return give(aligned_alloc(256, (bytes + 255) / 256 * 256), bytes, device, stream);
}

/* As malloc() would. */
void *crooked(size_t bytes, int device, void *stream)
{
    return (char *)give(aligned_alloc(256, (bytes + 16 + 255) / 256 * 256), bytes, device, stream) +
           16;
}

void *empty(size_t bytes, int device, void *stream)
{
    (void)bytes, (void)device, (void)stream;
    return NULL;
}

void deallocate(void *pointer, size_t bytes, int device, void *stream)
{
    for (int k = 0; k < PIECES; k++) {
        if (out[k].pointer &&
            ((char *)pointer == out[k].pointer || (char *)pointer == (char *)out[k].pointer + 16)) {
            wrong += out[k].bytes != bytes || out[k].device != device || out[k].stream != stream;
            free(out[k].pointer);
            out[k].pointer = NULL;
            return;
        }
    }
    wrong++;
}

int pluggable_live(void)
{
    int live = 0;
    for (int k = 0; k < PIECES; k++) {
        live += out[k].pointer != NULL;
    }
    return live;
}

int pluggable_wrong(void)
{
    return wrong;
}

int pluggable_device(void)
{
    return last_device;
}
