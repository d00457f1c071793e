/* SPDX-License-Identifier: MIT
 *
 * texture_argument: textures and surfaces as arguments. In: a value that is one. Out: where the
 * number is that the kernel takes, and the object held by a graph that records the launch.
 */
#include "engine/textures/textures.h"

static quern_status check(const void *object, qn_object_type type, const qn_home *own,
                          const qn_home *home, const char *what)
{
    if (!object) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "the %s is NULL", what);
    }
    if (!own) {
        return qn_object_refuse("quern_function_call_n", what, object, type);
    }
    if (own == home) {
        return QUERN_OK;
    }
    qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "the %s belongs to another engine than the function",
            what);
    qn_tell_places(own, home, "function");
    return QUERN_ERROR_INVALID_ARGUMENT;
}

quern_status qn_texture_take(const void **number, const quern_value *value, const qn_home *home)
{
    const bool texture = value->kind == QUERN_VALUE_TEXTURE;
    const qn_object_type type = texture ? QN_OBJECT_TEXTURE : QN_OBJECT_SURFACE;
    const qn_texel_object *t =
        texture ? (const void *)value->as.texture : (const void *)value->as.surface;
    QN_TRY(check(t, type, qn_object_is(t, type) ? t->home : NULL, home,
                 texture ? "texture" : "surface"));
    *number = &t->handle;
    return QUERN_OK;
}

static void drop_texture(void *texture)
{
    quern_texture_release(texture);
}

static void drop_surface(void *surface)
{
    quern_surface_release(surface);
}

quern_status qn_texture_keep(const quern_value *value, quern_stream *stream)
{
    const bool texture = value->kind == QUERN_VALUE_TEXTURE;
    void *object = texture ? (void *)quern_texture_retain(value->as.texture)
                           : (void *)quern_surface_retain(value->as.surface);
    void (*const release)(void *) = texture ? drop_texture : drop_surface;
    const quern_status status = qn_capture_keep(stream, object, release);
    if (status != QUERN_OK) {
        release(object);
    }
    return status;
}
