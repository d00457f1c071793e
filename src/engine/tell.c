/* SPDX-License-Identifier: MIT
 *
 * tell: what an engine does, for QUERN_LOG=debug and log functions: what it opened, where images
 * come from, what is launched. In: facts. Out: one line each. The thing to know: there are many
 * launches, so they are reported, even to log functions, only if the environment variable QUERN_LOG
 * is "debug".
 */
#include "engine/engine_internal.h"
#include <string.h>

void qn_tell_opened(quern_engine *engine, const quern_device_info *info)
{
    const char *path = qn_store_path(engine->store), *problem = qn_store_problem(engine->store);
    qn_log(&engine->home.logger, QN_DEBUG, "opened %s, %s, which takes code for %s; cache: %s%s",
           info->id, info->name, info->target, path[0] != '\0' ? path : "none, ",
           path[0] != '\0' ? "" : problem);
}

void qn_tell_image(quern_engine *engine, const char *name, const qn_module *module,
                   const qn_image *image)
{
    static const char *const origins[] = {
        [QN_FROM_MEMORY] = "made earlier by this process",
        [QN_FROM_PACK] = "found in a pack",
        [QN_FROM_CACHE] = "found in the cache",
        [QN_FROM_REMOTE] = "found in the remote store",
        [QN_COMPILED] = "made now",
    };
    qn_log(&engine->home.logger, QN_DEBUG, "%s: image %s for %s, %zu bytes, was %s", name,
           module->hex, module->target, image->size, origins[module->origin]);
}

void qn_tell_compiled(quern_engine *engine, const char *name, const qn_image *image)
{
    qn_compiler_identity compiler;
    int major, minor;
    (void)qn_compiler_find(&compiler, NULL);
    qn_compiler_version(&major, &minor);
    qn_log(&engine->home.logger, QN_DEBUG, "%s: compiled in %.1f ms by NVRTC %d.%d, %s", name,
           image->compile_ms, major, minor, compiler.path);
    qn_str said = qn_str_of(image->said ? image->said : "");
    while (said.length > 0 && said.data[said.length - 1] == '\n') {
        said.length--;
    }
    if (said.length > 0) {
        qn_log(&engine->home.logger, QN_DEBUG, "%s: the compiler said:\n%.*s", name,
               (int)said.length, said.data);
    }
}

void qn_tell_launch(quern_engine *engine, const char *name, const quern_launch_config *config)
{
    const uint32_t *grid = config->grid, *block = config->block;
    qn_log(&engine->home.logger, QN_DEBUG,
           "%s: launch with grid %u,%u,%u, block %u,%u,%u, %u bytes of dynamic shared memory", name,
           grid[0], grid[1], grid[2], block[0], block[1], block[2], config->shared_bytes);
}
