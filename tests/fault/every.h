/* SPDX-License-Identifier: MIT
 *
 * What every function of the headers is called with: for each type of a parameter a good argument,
 * and bad ones, as macros that the generated list names.
 *
 *     GOOD_type, BADS_type, BAD_type(k)   a good argument, how many bad ones there are, and each
 *     GOOD_function_parameter             a good one where that of the type is not
 *     ANY_function_parameter              the bad ones that are fine here, a bit for each
 */
#ifndef EVERY_H
#define EVERY_H

#include <limits.h>
#include <quern/device.h>
#include <quern/interop.h>

/* ---- what there is, made by fault_every.c ---------------------------------------------------- */

extern quern_engine *engine;
extern quern_array *x, *none, *another_none; /* int32: of 2 x 3 elements; of none */
extern quern_array *records;                 /* of fields "a" */
extern quern_kernel *kernel;                 /* "T x, int32 s" -> "T z" */
extern quern_bound *bound;
extern quern_module *module;
extern quern_function *function; /* of one parameter, an address */
extern quern_stream *stream, *others_stream;
extern quern_event *event, *others_event;
extern quern_array *others_array, *others_none;
extern quern_explanation *explanation;
extern quern_tuning *tuning; /* of none of elements */
extern quern_graph *graph;
extern quern_array *texels;          /* of an engine whose device has textures: 8 x 8 elements */
extern quern_cuda_array *cuda_array; /* of the same engine and shape, for surfaces too */
extern quern_texture *texture;
extern quern_surface *surface;
extern char path[], pack[]; /* a source, and a pack */

extern quern_engine *made_engine;
extern quern_array *made_array;
extern quern_kernel *made_kernel;
extern quern_bound *made_bound;
extern quern_module *made_module;
extern quern_function *made_function;
extern quern_stream *made_stream;
extern quern_event *made_event;
extern quern_explanation *made_explanation;
extern quern_tuning *made_tuning;
extern quern_graph *made_graph;
extern quern_cuda_array *made_cuda_array;
extern quern_texture *made_texture;
extern quern_surface *made_surface;

extern const char ptx[];
extern const int64_t shape[2];
extern int32_t host[6];
extern quern_value good_values[3], good_arguments[1];
extern quern_device_methods methods; /* of the software device */
extern struct every_dead {
    uint32_t word;
} dead;

quern_engine *opened(void);
quern_stream *fresh(int captured); /* a stream that nothing else uses */
const quern_value *bad_values(int k);
const quern_options *bad_options(int k);
const quern_call_options *bad_call(int k);
const quern_launch_options *bad_launch(int k);
quern_preparation *preparation(int k); /* -1: a good one */
const quern_prepare_options *bad_prepare(int k);
const quern_kernel_options *bad_kernel(int k);
const quern_reduction_options *bad_reduction(int k);
const quern_scan_options *bad_scan(int k);
const quern_expression_options *bad_expression(int k);
const quern_module_options *bad_module(int k);
quern_dl_managed_versioned *good_tensor(void); /* a new one each */
quern_dl_managed *good_legacy(void);
quern_dl_tensor *good_dltensor(void);
const quern_array_interface *good_interface(void);
quern_dl_tensor *bad_dltensor(int k);
quern_dl_managed_versioned *bad_tensor(int k);
quern_dl_managed *bad_legacy(int k);
const quern_array_interface *bad_interface(int k);
quern_dl_managed_versioned **made_tensor(void); /* deletes the one before */
quern_dl_managed **made_legacy(void);
const quern_stream_options *bad_stream(int k);
void make_textures(void);
void release_textures(void);
const quern_cuda_array_options *bad_cuda_array(int k);
const quern_texture_options *bad_texture(int k);
const quern_record *good_record(void);
const quern_record *bad_record(int k);
int visit(void *context, const quern_cache_entry *entry);
extern const quern_remote_methods no_remote;
const char *cached_key(void); /* of an entry of the cache */
const char *key_path(void);   /* of a signing key */
void released(void *context);
void told(void *context, const char *kind, const char *message);

/* ---- objects: NULL, of another kind, freed, of another engine -------------------------------- */

#define OTHERS 8
#define BAD_OBJECT(type, k, other, wrong)                                                          \
    ((k) == 0   ? NULL                                                                             \
     : (k) == 1 ? (type *)(void *)(wrong)                                                          \
     : (k) == 2 ? (type *)(void *)&dead                                                            \
                : (other))

#define GOOD_quern_engine_p             engine
#define BADS_quern_engine_p             3
#define BAD_quern_engine_p(k)           BAD_OBJECT(quern_engine, k, NULL, x)
#define GOOD_quern_array_p              x
#define BADS_quern_array_p              4
#define BAD_quern_array_p(k)            BAD_OBJECT(quern_array, k, others_array, engine)
#define GOOD_const_quern_array_p        x
#define BADS_const_quern_array_p        4
#define BAD_const_quern_array_p(k)      BAD_quern_array_p(k)
#define GOOD_quern_kernel_p             kernel
#define BADS_quern_kernel_p             3
#define BAD_quern_kernel_p(k)           BAD_OBJECT(quern_kernel, k, NULL, x)
#define GOOD_quern_bound_p              bound
#define BADS_quern_bound_p              3
#define BAD_quern_bound_p(k)            BAD_OBJECT(quern_bound, k, NULL, x)
#define GOOD_quern_module_p             module
#define BADS_quern_module_p             3
#define BAD_quern_module_p(k)           BAD_OBJECT(quern_module, k, NULL, x)
#define GOOD_const_quern_module_p       module
#define BADS_const_quern_module_p       3
#define BAD_const_quern_module_p(k)     BAD_quern_module_p(k)
#define GOOD_quern_function_p           function
#define BADS_quern_function_p           3
#define BAD_quern_function_p(k)         BAD_OBJECT(quern_function, k, NULL, x)
#define GOOD_const_quern_function_p     function
#define BADS_const_quern_function_p     3
#define BAD_const_quern_function_p(k)   BAD_quern_function_p(k)
#define GOOD_quern_stream_p             stream
#define BADS_quern_stream_p             4
#define BAD_quern_stream_p(k)           BAD_OBJECT(quern_stream, k, others_stream, x)
#define GOOD_const_quern_stream_p       stream
#define BADS_const_quern_stream_p       4
#define BAD_const_quern_stream_p(k)     BAD_quern_stream_p(k)
#define GOOD_quern_event_p              event
#define BADS_quern_event_p              4
#define BAD_quern_event_p(k)            BAD_OBJECT(quern_event, k, others_event, x)
#define GOOD_quern_graph_p              graph
#define BADS_quern_graph_p              3
#define BAD_quern_graph_p(k)            BAD_OBJECT(quern_graph, k, NULL, x)
#define GOOD_quern_cuda_array_p         cuda_array
#define BADS_quern_cuda_array_p         3
#define BAD_quern_cuda_array_p(k)       BAD_OBJECT(quern_cuda_array, k, NULL, x)
#define GOOD_const_quern_cuda_array_p   cuda_array
#define BADS_const_quern_cuda_array_p   3
#define BAD_const_quern_cuda_array_p(k) BAD_quern_cuda_array_p(k)
#define GOOD_quern_texture_p            texture
#define BADS_quern_texture_p            3
#define BAD_quern_texture_p(k)          BAD_OBJECT(quern_texture, k, NULL, x)
#define GOOD_const_quern_texture_p      texture
#define BADS_const_quern_texture_p      3
#define BAD_const_quern_texture_p(k)    BAD_quern_texture_p(k)
#define GOOD_quern_surface_p            surface
#define BADS_quern_surface_p            3
#define BAD_quern_surface_p(k)          BAD_OBJECT(quern_surface, k, NULL, x)
#define GOOD_const_quern_surface_p      surface
#define BADS_const_quern_surface_p      3
#define BAD_const_quern_surface_p(k)    BAD_quern_surface_p(k)
#define GOOD_quern_tuning_p             tuning
#define BADS_quern_tuning_p             1
#define BAD_quern_tuning_p(k)           NULL
#define GOOD_quern_explanation_p        explanation
#define BADS_quern_explanation_p        1
#define BAD_quern_explanation_p(k)      NULL

/* ---- outputs: NULL -------------------------------------------------------------------------- */

#define GOOD_quern_engine_pp   (quern_close(made_engine), made_engine = NULL, &made_engine)
#define BADS_quern_engine_pp   1
#define BAD_quern_engine_pp(k) NULL
#define GOOD_quern_array_pp    (quern_array_release(made_array), made_array = NULL, &made_array)
#define BADS_quern_array_pp    1
#define BAD_quern_array_pp(k)  NULL
#define GOOD_quern_kernel_pp   (quern_kernel_release(made_kernel), made_kernel = NULL, &made_kernel)
#define BADS_quern_kernel_pp   1
#define BAD_quern_kernel_pp(k) NULL
#define GOOD_quern_bound_pp    (quern_bound_release(made_bound), made_bound = NULL, &made_bound)
#define BADS_quern_bound_pp    1
#define BAD_quern_bound_pp(k)  NULL
#define GOOD_quern_module_pp   (quern_module_release(made_module), made_module = NULL, &made_module)
#define BADS_quern_module_pp   1
#define BAD_quern_module_pp(k) NULL
#define GOOD_quern_function_pp                                                                     \
    (quern_function_release(made_function), made_function = NULL, &made_function)
#define BADS_quern_function_pp   1
#define BAD_quern_function_pp(k) NULL
#define GOOD_quern_stream_pp     (quern_stream_release(made_stream), made_stream = NULL, &made_stream)
#define BADS_quern_stream_pp     1
#define BAD_quern_stream_pp(k)   NULL
#define GOOD_quern_event_pp      (quern_event_release(made_event), made_event = NULL, &made_event)
#define BADS_quern_event_pp      1
#define BAD_quern_event_pp(k)    NULL
#define GOOD_quern_graph_pp      (quern_graph_release(made_graph), made_graph = NULL, &made_graph)
#define BADS_quern_graph_pp      1
#define BAD_quern_graph_pp(k)    NULL
#define GOOD_quern_cuda_array_pp                                                                   \
    (quern_cuda_array_release(made_cuda_array), made_cuda_array = NULL, &made_cuda_array)
#define BADS_quern_cuda_array_pp   1
#define BAD_quern_cuda_array_pp(k) NULL
#define GOOD_quern_texture_pp                                                                      \
    (quern_texture_release(made_texture), made_texture = NULL, &made_texture)
#define BADS_quern_texture_pp   1
#define BAD_quern_texture_pp(k) NULL
#define GOOD_quern_surface_pp                                                                      \
    (quern_surface_release(made_surface), made_surface = NULL, &made_surface)
#define BADS_quern_surface_pp   1
#define BAD_quern_surface_pp(k) NULL
#define GOOD_quern_tuning_pp    (quern_tuning_release(made_tuning), made_tuning = NULL, &made_tuning)
#define BADS_quern_tuning_pp    1
#define BAD_quern_tuning_pp(k)  NULL
#define GOOD_quern_explanation_pp                                                                  \
    (quern_explanation_release(made_explanation), made_explanation = NULL, &made_explanation)
#define BADS_quern_explanation_pp   1
#define BAD_quern_explanation_pp(k) NULL
#define GOOD_const_char_pp          (&(const char *){NULL})
#define BADS_const_char_pp          1
#define BAD_const_char_pp(k)        NULL
#define GOOD_quern_dtype_p          (&(quern_dtype){QUERN_DTYPE_NONE})
#define BADS_quern_dtype_p          1
#define BAD_quern_dtype_p(k)        NULL
#define GOOD_double_p               (&(double){0})
#define BADS_double_p               1
#define BAD_double_p(k)             NULL
#define GOOD_int_p                  (&(int){0})
#define BADS_int_p                  1
#define BAD_int_p(k)                NULL
#define GOOD_size_t_p               (&(size_t){0})
#define BADS_size_t_p               1
#define BAD_size_t_p(k)             NULL
#define GOOD_uint32_t_p             (&(uint32_t){0})
#define BADS_uint32_t_p             1
#define BAD_uint32_t_p(k)           NULL
#define GOOD_uint64_t_p             (&(uint64_t){0})
#define BADS_uint64_t_p             1
#define BAD_uint64_t_p(k)           NULL
/* ... and structures: of an impossible size */
#define FILLED(type, k)               ((k) == 0 ? NULL : &(type){.size = (k) == 1 ? 0 : UINT32_MAX})
#define GOOD_quern_array_info_p       (&(quern_array_info)QUERN_ARRAY_INFO_INIT)
#define BADS_quern_array_info_p       3
#define BAD_quern_array_info_p(k)     FILLED(quern_array_info, k)
#define GOOD_quern_cache_stats_p      (&(quern_cache_stats)QUERN_CACHE_STATS_INIT)
#define BADS_quern_cache_stats_p      3
#define BAD_quern_cache_stats_p(k)    FILLED(quern_cache_stats, k)
#define GOOD_quern_compiler_info_p    (&(quern_compiler_info)QUERN_COMPILER_INFO_INIT)
#define BADS_quern_compiler_info_p    3
#define BAD_quern_compiler_info_p(k)  FILLED(quern_compiler_info, k)
#define GOOD_quern_device_info_p      (&(quern_device_info)QUERN_DEVICE_INFO_INIT)
#define BADS_quern_device_info_p      3
#define BAD_quern_device_info_p(k)    FILLED(quern_device_info, k)
#define GOOD_quern_function_info_p    (&(quern_function_info)QUERN_FUNCTION_INFO_INIT)
#define BADS_quern_function_info_p    3
#define BAD_quern_function_info_p(k)  FILLED(quern_function_info, k)
#define GOOD_quern_kernel_info_p      (&(quern_kernel_info)QUERN_KERNEL_INFO_INIT)
#define BADS_quern_kernel_info_p      3
#define BAD_quern_kernel_info_p(k)    FILLED(quern_kernel_info, k)
#define GOOD_quern_allocator_p        (&(quern_allocator)QUERN_ALLOCATOR_INIT)
#define BADS_quern_allocator_p        3
#define BAD_quern_allocator_p(k)      FILLED(quern_allocator, k)
#define GOOD_quern_memory_stats_p     (&(quern_memory_stats)QUERN_MEMORY_STATS_INIT)
#define BADS_quern_memory_stats_p     3
#define BAD_quern_memory_stats_p(k)   FILLED(quern_memory_stats, k)
#define GOOD_quern_parameter_info_p   (&(quern_parameter_info)QUERN_PARAMETER_INFO_INIT)
#define BADS_quern_parameter_info_p   3
#define BAD_quern_parameter_info_p(k) FILLED(quern_parameter_info, k)
#define GOOD_quern_record_p           (&(quern_record)QUERN_RECORD_INIT)
#define BADS_quern_record_p           3
#define BAD_quern_record_p(k)         FILLED(quern_record, k)

#define GOOD_quern_pointer_info_p            (&(quern_pointer_info)QUERN_POINTER_INFO_INIT)
#define BADS_quern_pointer_info_p            3
#define BAD_quern_pointer_info_p(k)          FILLED(quern_pointer_info, k)
#define GOOD_quern_array_interface_p         (&(quern_array_interface)QUERN_ARRAY_INTERFACE_INIT)
#define BADS_quern_array_interface_p         3
#define BAD_quern_array_interface_p(k)       FILLED(quern_array_interface, k)
#define GOOD_quern_dl_managed_versioned_pp   made_tensor()
#define BADS_quern_dl_managed_versioned_pp   1
#define BAD_quern_dl_managed_versioned_pp(k) NULL
#define GOOD_quern_dl_managed_pp             made_legacy()
#define BADS_quern_dl_managed_pp             1
#define BAD_quern_dl_managed_pp(k)           NULL
#define GOOD_quern_dl_tensor_p               good_dltensor()
#define BADS_quern_dl_tensor_p               1
#define BAD_quern_dl_tensor_p(k)             NULL
#define GOOD_quern_dtype_p                   (&(quern_dtype){QUERN_DTYPE_NONE})
#define BADS_quern_dtype_p                   1
#define BAD_quern_dtype_p(k)                 NULL
#define GOOD_quern_dl_dtype_p                (&(quern_dl_dtype){0})
#define BADS_quern_dl_dtype_p                1
#define BAD_quern_dl_dtype_p(k)              NULL
#define GOOD_void_pp                         (&(void *){NULL})
#define BADS_void_pp                         1
#define BAD_void_pp(k)                       NULL

/* ---- numbers: out of range ------------------------------------------------------------------ */

#define GOOD_int                       1
#define BADS_int                       3
#define BAD_int(k)                     ((k) == 0 ? -1 : (k) == 1 ? QUERN_MAX_NDIM + 1 : INT_MAX)
#define GOOD_int32_t                   50
#define BADS_int32_t                   2
#define BAD_int32_t(k)                 ((k) == 0 ? INT32_MIN : INT32_MAX)
#define GOOD_size_t                    1
#define BADS_size_t                    2
#define BAD_size_t(k)                  ((k) == 0 ? SIZE_MAX : SIZE_MAX / 2 + 1)
#define GOOD_uint32_t                  32
#define BADS_uint32_t                  1
#define BAD_uint32_t(k)                UINT32_MAX
#define GOOD_quern_dtype               QUERN_INT32
#define BADS_quern_dtype               3
#define BAD_quern_dtype(k)             ((quern_dtype)((k) == 0 ? 0 : (k) == 1 ? 99 : -1))
#define GOOD_quern_memory              QUERN_MEMORY_PINNED
#define BADS_quern_memory              3
#define BAD_quern_memory(k)            ((quern_memory)((k) == 0 ? 0 : (k) == 1 ? 99 : -1))
#define GOOD_quern_order               QUERN_ORDER_F
#define BADS_quern_order               2
#define BAD_quern_order(k)             ((quern_order)((k) == 0 ? 3 : -1))
#define GOOD_quern_status              QUERN_OK
#define BADS_quern_status              1
#define BAD_quern_status(k)            ((quern_status)12345)
#define GOOD_quern_function_property   QUERN_FUNCTION_SHARED_CARVEOUT
#define BADS_quern_function_property   2
#define BAD_quern_function_property(k) ((quern_function_property)((k) == 0 ? 0 : 99))

#define GOOD_uint64_t               0
#define BADS_uint64_t               2
#define BAD_uint64_t(k)             ((k) == 0 ? UINT64_MAX : UINT64_C(4))
#define GOOD_quern_dl_device_type   QUERN_DL_CPU
#define BADS_quern_dl_device_type   2
#define BAD_quern_dl_device_type(k) ((k) == 0 ? -1 : 99)
#define GOOD_quern_dl_dtype         ((quern_dl_dtype){QUERN_DL_FLOAT, 32, 1})
#define BADS_quern_dl_dtype         5
#define BAD_quern_dl_dtype(k)                                                                      \
    ((quern_dl_dtype[]){                                                                           \
        {QUERN_DL_FLOAT, 32, 4}, {QUERN_DL_INT, 7, 1}, {99, 8, 1}, {255, 255, 1}, {0}}[k])

/* ---- what is read: NULL, and what cannot be ---------------------------------------------------
 */

#define BADS_const_char_const_p      1
#define BAD_const_char_const_p(k)    NULL
#define GOOD_const_char_p            "T x"
#define BADS_const_char_p            1
#define BAD_const_char_p(k)          NULL
#define GOOD_const_int64_t_p         shape
#define BADS_const_int64_t_p         2
#define BAD_const_int64_t_p(k)       ((k) == 0 ? NULL : (const int64_t[]){-5, INT64_MAX})
#define GOOD_const_int_p             ((const int[]){1, 0})
#define BADS_const_int_p             2
#define BAD_const_int_p(k)           ((k) == 0 ? NULL : (const int[]){7, 0})
#define GOOD_const_void_p            host
#define BADS_const_void_p            1
#define BAD_const_void_p(k)          NULL
#define GOOD_void_p                  host
#define BADS_void_p                  1
#define BAD_void_p(k)                NULL
#define GOOD_const_quern_allocator_p NULL
#define BADS_const_quern_allocator_p 3
#define BAD_const_quern_allocator_p(k)                                                             \
    (&(const quern_allocator){.size = (k) == 0   ? 0                                               \
                                      : (k) == 1 ? UINT32_MAX                                      \
                                                 : sizeof(quern_allocator)})
#define GOOD_const_quern_slice_p        (&(const quern_slice)QUERN_SLICE_ALL)
#define BADS_const_quern_slice_p        2
#define BAD_const_quern_slice_p(k)      ((k) == 0 ? NULL : &(const quern_slice){QUERN_SLICE_NONE, 0, 0})
#define GOOD_const_quern_value_p        good_values
#define BADS_const_quern_value_p        5
#define BAD_const_quern_value_p(k)      bad_values(k)
#define GOOD_quern_value                quern_literal_int(3)
#define BADS_quern_value                2
#define BAD_quern_value(k)              ((k) == 0 ? (quern_value){99, 0, {0}} : quern_value_array(x))
#define GOOD_const_quern_link_input_p   (&(const quern_link_input){"a", "", NULL, 0})
#define BADS_const_quern_link_input_p   2
#define BAD_const_quern_link_input_p(k) ((k) == 0 ? NULL : &(const quern_link_input){0})
#define GOOD_const_quern_record_p       good_record()
#define BADS_const_quern_record_p       4
#define BAD_const_quern_record_p(k)     bad_record(k)
#define GOOD_const_quern_options_p                                                                 \
    (&(const quern_options){.size = sizeof(quern_options), .device = "soft"})
#define BADS_const_quern_options_p              3
#define BAD_const_quern_options_p(k)            bad_options(k)
#define GOOD_const_quern_call_options_p         NULL
#define BADS_const_quern_call_options_p         4
#define BAD_const_quern_call_options_p(k)       bad_call(k)
#define GOOD_const_quern_launch_options_p       NULL
#define BADS_const_quern_launch_options_p       3
#define BAD_const_quern_launch_options_p(k)     bad_launch(k)
#define GOOD_const_quern_prepare_options_p      NULL
#define BADS_const_quern_prepare_options_p      2
#define BAD_const_quern_prepare_options_p(k)    bad_prepare(k)
#define GOOD_quern_preparation_p                preparation(-1)
#define BADS_quern_preparation_p                5
#define BAD_quern_preparation_p(k)              preparation(k)
#define GOOD_const_quern_export_options_p       NULL
#define BADS_const_quern_export_options_p       2
#define BAD_const_quern_export_options_p(k)     FILLED(quern_export_options, (k) + 1)
#define GOOD_const_quern_kernel_options_p       NULL
#define BADS_const_quern_kernel_options_p       3
#define BAD_const_quern_kernel_options_p(k)     bad_kernel(k)
#define GOOD_const_quern_reduction_options_p    NULL
#define BADS_const_quern_reduction_options_p    3
#define BAD_const_quern_reduction_options_p(k)  bad_reduction(k)
#define GOOD_const_quern_scan_options_p         NULL
#define BADS_const_quern_scan_options_p         3
#define BAD_const_quern_scan_options_p(k)       bad_scan(k)
#define GOOD_const_quern_expression_options_p   NULL
#define BADS_const_quern_expression_options_p   3
#define BAD_const_quern_expression_options_p(k) bad_expression(k)
#define GOOD_const_quern_module_options_p       NULL
#define BADS_const_quern_module_options_p       5
#define BAD_const_quern_module_options_p(k)     bad_module(k)
#define GOOD_const_quern_stream_options_p       NULL
#define BADS_const_quern_stream_options_p       3
#define BAD_const_quern_stream_options_p(k)     bad_stream(k)
#define GOOD_const_quern_cuda_array_options_p   NULL
#define BADS_const_quern_cuda_array_options_p   4
#define BAD_const_quern_cuda_array_options_p(k) bad_cuda_array(k)
#define GOOD_const_quern_texture_options_p      NULL
#define BADS_const_quern_texture_options_p      4
#define BAD_const_quern_texture_options_p(k)    bad_texture(k)
#define GOOD_const_quern_device_methods_p       ((const quern_device_methods *)&methods)
#define BADS_const_quern_device_methods_p       3
#define BAD_const_quern_device_methods_p(k)                                                        \
    ((k) == 0                                                                                      \
         ? NULL                                                                                    \
         : &(const quern_device_methods){.size = (k) == 1 ? 0 : sizeof(quern_device_methods)})
#define GOOD_quern_cache_miss_p            (&(quern_cache_miss)QUERN_CACHE_MISS_INIT)
#define BADS_quern_cache_miss_p            3
#define BAD_quern_cache_miss_p(k)          FILLED(quern_cache_miss, k)
#define GOOD_quern_cache_progress          NULL
#define BADS_quern_cache_progress          0
#define BAD_quern_cache_progress(k)        NULL
#define GOOD_quern_remote_stats_p          (&(quern_remote_stats)QUERN_REMOTE_STATS_INIT)
#define BADS_quern_remote_stats_p          3
#define BAD_quern_remote_stats_p(k)        FILLED(quern_remote_stats, k)
#define GOOD_quern_fleet_report_p          (&(quern_fleet_report)QUERN_FLEET_REPORT_INIT)
#define BADS_quern_fleet_report_p          3
#define BAD_quern_fleet_report_p(k)        FILLED(quern_fleet_report, k)
#define GOOD_quern_public_key_p            (&(quern_public_key)QUERN_PUBLIC_KEY_INIT)
#define BADS_quern_public_key_p            3
#define BAD_quern_public_key_p(k)          FILLED(quern_public_key, k)
#define GOOD_quern_recompiled_p            (&(quern_recompiled){QUERN_RECOMPILED_NOT})
#define BADS_quern_recompiled_p            1
#define BAD_quern_recompiled_p(k)          NULL
#define GOOD_quern_fleet_progress          NULL
#define BADS_quern_fleet_progress          0
#define BAD_quern_fleet_progress(k)        NULL
#define GOOD_const_quern_prewarm_options_p NULL
#define BADS_const_quern_prewarm_options_p 2
#define BAD_const_quern_prewarm_options_p(k)                                                       \
    (&(const quern_prewarm_options){.size = (k) == 0 ? 0 : UINT32_MAX})
#define GOOD_quern_cache_visitor   visit
#define BADS_quern_cache_visitor   1
#define BAD_quern_cache_visitor(k) NULL
#define GOOD_callback              released
#define BADS_callback              1
#define BAD_callback(k)            NULL

#define GOOD_quern_dl_managed_versioned_p    good_tensor()
#define BADS_quern_dl_managed_versioned_p    8
#define BAD_quern_dl_managed_versioned_p(k)  bad_tensor(k)
#define GOOD_quern_dl_managed_p              good_legacy()
#define BADS_quern_dl_managed_p              7
#define BAD_quern_dl_managed_p(k)            bad_legacy(k)
#define GOOD_const_quern_dl_tensor_p         good_dltensor()
#define BADS_const_quern_dl_tensor_p         7
#define BAD_const_quern_dl_tensor_p(k)       bad_dltensor(k)
#define GOOD_const_quern_array_interface_p   good_interface()
#define BADS_const_quern_array_interface_p   9
#define BAD_const_quern_array_interface_p(k) bad_interface(k)

#include "every_own.h" /* where a function has its own */

#endif /* EVERY_H */
