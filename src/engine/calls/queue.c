/* SPDX-License-Identifier: MIT
 *
 * queue: the last step of a call. In: a function, its parameters, a grid. Out: queued work. The
 * thing to know: a launch that failed may have left its counters in the workspace, which is then
 * not used again.
 */
#include "engine/workspace.h"

typedef struct arguments {
    const quern_kernel *kernel;
    quern_array *const *arrays;
} arguments;

static void argument(const void *context, uint32_t index, qn_str *name, const quern_array **array)
{
    const arguments *of = context;
    const qn_signature *s = &of->kernel->signature;
    if (index < s->count) {
        *name = s->parameters[index].name;
        *array = of->arrays[index];
    }
}

quern_status qn_call_queue(const quern_kernel *kernel, quern_array *const *arrays, void *function,
                           const quern_launch_config *config, void **parameters,
                           qn_workspace *workspace)
{
    quern_engine *engine = kernel->engine;
    if (engine->tells_launches) {
        qn_tell_launch(engine, kernel->name, config);
    }
    const quern_status status =
        engine->home.methods->launch(engine->home.device, function, config, parameters);
    if (status == QUERN_OK) {
        qn_workspace_put(workspace);
        return QUERN_OK;
    }
    qn_workspace_free(workspace);
    qn_explain_failure(
        &(qn_failure){kernel->texts, QN_TEXTS, argument, &(arguments){kernel, arrays}});
    return status;
}
