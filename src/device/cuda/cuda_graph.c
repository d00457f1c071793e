/* SPDX-License-Identifier: MIT
 *
 * Captures and graphs of the GPU: the driver's. In: a stream. Out: an instantiated graph. The thing
 * to know: captures are relaxed, so that this thread and others may allocate, load modules and wait
 * for other streams meanwhile; no memory is allocated or freed in the order of a stream that is
 * being captured, which would make it the graph's. What else ends a capture the engine refuses.
 * Captures that others have begun may be stricter: CUDA_IN_RELAXED.
 */
#include "device/cuda/cuda_device.h"

quern_status qn_cuda_capture_begin(quern_device *quern, void *stream)
{
    cuda_device *device = cuda_of(quern);
    cu_result result;
    CUDA_IN(device, result, qn_cuda.capture_begin(stream, CU_CAPTURE_RELAXED));
    return result == CU_SUCCESS ? QUERN_OK : qn_cuda_fail(result, "capturing a stream");
}

/* What was recorded as something that can be launched; NULL: forget it. */
static cu_result end_capture(cu_stream stream, cu_graph_exec *exec)
{
    cu_graph graph = NULL;
    cu_result result = qn_cuda.capture_end(stream, &graph);
    if (result == CU_SUCCESS && exec) {
        result = qn_cuda.graph_instantiate(exec, graph, 0);
    }
    if (graph) {
        (void)qn_cuda.graph_free(graph);
    }
    return result;
}

quern_status qn_cuda_capture_end(quern_device *quern, void *stream, void **graph)
{
    cuda_device *device = cuda_of(quern);
    cu_graph_exec exec = NULL;
    cu_result result;
    CUDA_IN(device, result, end_capture(stream, graph ? &exec : NULL));
    if (graph) {
        *graph = result == CU_SUCCESS ? exec : NULL;
    }
    return result == CU_SUCCESS ? QUERN_OK : qn_cuda_fail(result, "making a graph of a capture");
}

/* ---- captures of others --------------------------------------------------------------------- */

atomic_bool qn_cuda_others;

quern_status qn_cuda_capture_seen(quern_device *quern, void *stream, uint64_t *capture)
{
    unsigned state = CU_CAPTURE_NONE;
    uint64_t number = 0;
    cu_result result;
    CUDA_IN(cuda_of(quern), result,
            qn_cuda.capture_info(stream, &state, &number, NULL, NULL, NULL));
    *capture = 0;
    if (result == CU_STREAM_CAPTURE_IMPLICIT ||
        (result == CU_SUCCESS && state == CU_CAPTURE_BROKEN)) {
        *capture = UINT64_MAX;
    } else if (result == CU_SUCCESS && state == CU_CAPTURE_ACTIVE) {
        *capture = number;
    }
    if (*capture != 0) {
        atomic_store_explicit(&qn_cuda_others, true, memory_order_relaxed);
    }
    return QUERN_OK; /* another failure is that of the next call, too */
}

/* The graph, and all that is instantiated from it, hold the object. */
static cu_result hold(cu_stream stream, void (*gone)(void *object), void *object)
{
    unsigned state = CU_CAPTURE_NONE;
    cu_graph graph = NULL;
    cu_object held = NULL;
    cu_result result = qn_cuda.capture_info(stream, &state, NULL, &graph, NULL, NULL);
    if (result == CU_SUCCESS && state != CU_CAPTURE_ACTIVE) {
        return CU_STREAM_CAPTURE_INVALIDATED;
    }
    if (result == CU_SUCCESS) {
        result = qn_cuda.object_new(&held, object, gone, 1, CU_OBJECT_NO_SYNC);
    }
    /* one that the graph does not take stays: to release it would say that the graph is gone */
    return result == CU_SUCCESS ? qn_cuda.graph_hold(graph, held, 1, CU_OBJECT_MOVE) : result;
}

quern_status qn_cuda_capture_tell(quern_device *quern, void *stream, void (*gone)(void *object),
                                  void *object)
{
    cu_result result;
    CUDA_IN(cuda_of(quern), result, hold(stream, gone, object));
    return result == CU_SUCCESS ? QUERN_OK
                                : qn_cuda_fail(result, "letting a graph hold what it uses");
}

/* ---- graphs --------------------------------------------------------------------------------- */

quern_status qn_cuda_graph_launch(quern_device *quern, void *graph, void *stream)
{
    cu_result result;
    CUDA_IN(cuda_of(quern), result, qn_cuda.graph_launch(graph, stream));
    return result == CU_SUCCESS ? QUERN_OK : qn_cuda_fail(result, "launching a graph");
}

void qn_cuda_graph_free(quern_device *quern, void *graph)
{
    cu_result result;
    if (graph) {
        CUDA_IN(cuda_of(quern), result, qn_cuda.graph_exec_free(graph));
        (void)result; /* an earlier kernel's failure, which the call that waited has reported */
    }
}
