/* SPDX-License-Identifier: MIT
 *
 * dlpack_exchange: the functions of DLPack's table that need no language: memory and the stream of
 * a device, from the engine that the program has chosen for it. In: a device in DLPack's numbers.
 * Out: a tensor, or a stream's handle. The thing to know: an engine is looked up under a lock and
 * held while it works, so another may take its place at any time.
 */
#include "array/dlpack.h"

#include <string.h>

/* The engines in use: one for each place. */
static struct {
    pthread_mutex_t lock;
    QN_LIST(qn_home *) homes; /* retained */
} used = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_at(const qn_home *home, int32_t type, int32_t number)
{
    int32_t own_type, own_number;
    home->methods->place(home->device, &own_type, &own_number);
    return own_type == type && own_number == number;
}

/* ---- choosing ---------------------------------------------------------------------------------
 */

/* Put `home` where one of its device is, or behind them all; *old is to be released. */
static bool put_locked(qn_home **old, qn_home *home)
{
    int32_t type, number;
    home->methods->place(home->device, &type, &number);
    for (uint32_t k = 0; k < used.homes.count; k++) {
        if (is_at(used.homes.items[k], type, number)) {
            *old = used.homes.items[k];
            used.homes.items[k] = home;
            return true;
        }
    }
    if (!QN_ROOM(used.homes)) {
        return false;
    }
    used.homes.items[used.homes.count++] = home;
    return true;
}

/* Let all go, with the lock free: a release may close a device. */
static void forget_all(void)
{
    pthread_mutex_lock(&used.lock);
    qn_home **homes = used.homes.items;
    const uint32_t count = used.homes.count;
    memset(&used.homes, 0, sizeof used.homes);
    pthread_mutex_unlock(&used.lock);
    for (uint32_t k = 0; k < count; k++) {
        qn_home_release(homes[k]);
    }
    qn_free(homes);
}

quern_status quern_dlpack_use(quern_engine *engine)
{
    qn_error_reset();
    if (!engine) {
        forget_all();
        return QUERN_OK;
    }
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    qn_home *home = qn_home_of(engine), *old = NULL;
    int32_t type, number;
    QN_TRY(qn_memory_place(&type, &number, home, QUERN_MEMORY_DEVICE));
    qn_home_retain(home);
    pthread_mutex_lock(&used.lock);
    const bool put = put_locked(&old, home);
    pthread_mutex_unlock(&used.lock);
    if (old) {
        qn_home_release(old);
    }
    if (!put) {
        qn_home_release(home);
        return qn_fail_memory("noting the engine");
    }
    return QUERN_OK;
}

/* The home in use for a place, retained. */
static quern_status find(qn_home **out, int32_t type, int32_t number)
{
    *out = NULL;
    pthread_mutex_lock(&used.lock);
    for (uint32_t k = 0; k < used.homes.count && !*out; k++) {
        if (is_at(used.homes.items[k], type, number)) {
            *out = used.homes.items[k];
            qn_home_retain(*out);
        }
    }
    pthread_mutex_unlock(&used.lock);
    return *out ? QUERN_OK
                : qn_fail(QUERN_ERROR_NO_DEVICE,
                          "no engine is in use for device %d of DLPack's kind %d: choose one with "
                          "quern_dlpack_use()",
                          number, type);
}

/* ---- the functions ----------------------------------------------------------------------------
 */

static quern_status allocate(quern_dl_managed_versioned **out, const quern_dl_tensor *prototype)
{
    quern_dtype dtype;
    qn_home *home;
    QN_CHECK_OUT(out);
    QN_CHECK_NOT_NULL(prototype);
    QN_TRY(qn_dtype_from_dl(&dtype, prototype->dtype));
    QN_TRY(find(&home, (int32_t)prototype->device.device_type, prototype->device.device_id));
    quern_array *array;
    quern_status status =
        qn_array_new_on(&array, home, dtype, prototype->ndim, prototype->shape, NULL);
    if (status == QUERN_OK) {
        status = qn_array_to_dlpack(out, array, 0);
        quern_array_release(array);
    }
    qn_home_release(home);
    return status;
}

/* What Python calls a failure. */
static const char *kind_of(quern_status status)
{
    switch (status) {
    case QUERN_ERROR_OUT_OF_MEMORY:
    case QUERN_ERROR_DEVICE_MEMORY:
        return "MemoryError";
    case QUERN_ERROR_INVALID_ARGUMENT:
        return "ValueError";
    case QUERN_ERROR_NOT_SUPPORTED:
    case QUERN_ERROR_NO_DEVICE:
        return "BufferError";
    default:
        return "RuntimeError";
    }
}

int quern_dlpack_allocate(quern_dl_tensor *prototype, quern_dl_managed_versioned **out,
                          void *error_ctx,
                          void (*SetError)(void *error_ctx, const char *kind, const char *message))
{
    qn_error_reset();
    const quern_status status = allocate(out, prototype);
    if (status != QUERN_OK && SetError) {
        SetError(error_ctx, kind_of(status), quern_last_error()->message);
    }
    return status == QUERN_OK ? 0 : -1;
}

int quern_dlpack_current_stream(quern_dl_device_type device_type, int32_t device_id,
                                void **out_current_stream)
{
    qn_error_reset();
    qn_home *home;
    if (!out_current_stream) {
        qn_null_refuse(__func__, "out_current_stream");
        return -1;
    }
    *out_current_stream = NULL;
    if (find(&home, (int32_t)device_type, device_id) != QUERN_OK) {
        return -1;
    }
    *out_current_stream = home->stream;
    qn_home_release(home);
    return 0;
}
