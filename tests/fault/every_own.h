/* SPDX-License-Identifier: MIT
 *
 * Arguments of single functions, where those of every.h for their types are not right.
 */
#ifndef EVERY_OWN_H
#define EVERY_OWN_H

#define ALL -1 /* nothing is bad */

/* texts */
#define GOOD_quern_elementwise_in         "T x, int32 s"
#define GOOD_quern_elementwise_out        "T z"
#define GOOD_quern_elementwise_operation  "z = x + s"
#define GOOD_quern_expression_expression  "x + y + z"
#define GOOD_quern_expression_names       ((const char *const[]){"x", "y", "z"})
#define GOOD_quern_reduction_out          "T y"
#define GOOD_quern_reduction_map          "x"
#define GOOD_quern_reduction_reduce       "a + b"
#define GOOD_quern_reduction_post         "y = a"
#define GOOD_quern_reduction_identity     "0"
#define ANY_quern_reduction_identity      ALL
#define GOOD_quern_scan_out               "T y"
#define GOOD_quern_scan_map               "x"
#define GOOD_quern_scan_scan              "a + b"
#define GOOD_quern_scan_post              "y = a"
#define GOOD_quern_scan_identity          "0"
#define ANY_quern_scan_identity           ALL
#define GOOD_quern_module_new_source      "extern \"C\" __global__ void f(int *x) { *x = 1; }"
#define GOOD_quern_module_open_path       path
#define GOOD_quern_module_function_name   "f"
#define GOOD_quern_module_global_name     "g"
#define GOOD_quern_cache_visit_key_prefix NULL
#define GOOD_quern_cache_push_key_prefix  cached_key()
#define ANY_quern_cache_push_key_prefix   ALL
#define ANY_quern_cache_push_report       1
#define GOOD_quern_cache_push_context     NULL
#define ANY_quern_cache_push_context      ALL
#define GOOD_quern_cache_recompile_key    cached_key()
#define GOOD_quern_prewarm_keys           ((const char *const[]){cached_key()})
#define ANY_quern_prewarm_report          1
#define GOOD_quern_signing_key_path       key_path()
#define ANY_quern_signing_key_name        ALL
#define ANY_quern_cache_visit_key_prefix  ALL
#define GOOD_quern_cache_export_path      pack
#define GOOD_quern_cache_import_path      pack
#define ANY_quern_cache_export_written    ALL
#define ANY_quern_cache_import_added      ALL

/* arrays */
#define GOOD_quern_array_new_ndim            2
#define GOOD_quern_array_new_in_ndim         2
#define GOOD_quern_array_new_on_ndim         2
#define ANY_quern_array_new_on_stream        1
#define GOOD_quern_array_from_ndim           2
#define GOOD_quern_array_wrap_ndim           2
#define GOOD_quern_array_reshape_ndim        2
#define GOOD_quern_array_broadcast_ndim      2
#define GOOD_quern_array_wrap_strides        NULL
#define ANY_quern_array_wrap_strides         1
#define ANY_quern_array_wrap_release         ALL
#define GOOD_quern_array_wrap_context        NULL
#define ANY_quern_array_wrap_context         ALL
#define ANY_quern_array_transpose_axes       1
#define ANY_quern_array_copy_to_array        OTHERS
#define GOOD_quern_array_fill_bytes          4
#define GOOD_quern_array_read_bytes          sizeof host
#define GOOD_quern_array_write_bytes         sizeof host
#define GOOD_quern_array_fill_on_bytes       4
#define GOOD_quern_array_read_on_bytes       sizeof host
#define GOOD_quern_array_write_on_bytes      sizeof host
#define ANY_quern_array_copy_on_stream       1
#define ANY_quern_array_assign_on_stream     1
#define ANY_quern_array_copy_order_on_stream 1
#define ANY_quern_array_fill_on_stream       1
#define ANY_quern_array_read_on_stream       1
#define ANY_quern_array_write_on_stream      1
#define GOOD_quern_module_global_ndim        1
#define GOOD_quern_module_global_shape       (&(const int64_t){4})
#define GOOD_quern_array_new_ndim            2
#define GOOD_quern_array_from_ndim           2
#define GOOD_quern_array_wrap_ndim           2
#define GOOD_quern_array_reshape_ndim        2
#define GOOD_quern_array_broadcast_ndim      2
#define GOOD_quern_array_wrap_strides        NULL
#define ANY_quern_array_wrap_strides         1
#define ANY_quern_array_wrap_release         ALL
#define GOOD_quern_array_wrap_context        NULL
#define ANY_quern_array_wrap_context         ALL
#define ANY_quern_array_transpose_axes       1
#define GOOD_quern_array_fill_bytes          4
#define GOOD_quern_array_read_bytes          sizeof host
#define GOOD_quern_array_write_bytes         sizeof host
#define GOOD_quern_array_field_array         records
#define GOOD_quern_array_field_name          "a"
#define GOOD_quern_dtype_from_descr_descr    "[('a', '<f4')]"
#define GOOD_quern_dtype_from_descr_name     "Made"
#define GOOD_quern_record_get_info_dtype     quern_array_dtype(records)
#define GOOD_quern_module_global_ndim        1
#define GOOD_quern_module_global_shape       (&(const int64_t){4})

/* other libraries */
#define GOOD_quern_dlpack_allocate_SetError     told
#define ANY_quern_pointer_get_info_pointer      ALL
#define ANY_quern_array_from_dltensor_release   ALL
#define GOOD_quern_array_from_dltensor_context  NULL
#define ANY_quern_array_from_dltensor_context   ALL
#define ANY_quern_array_from_interface_release  ALL
#define GOOD_quern_array_from_interface_context NULL
#define ANY_quern_array_from_interface_context  ALL
#define ANY_quern_array_get_interface_stream    1
#define ANY_quern_stream_follow_stream          1
#define ANY_quern_stream_lead_stream            1
#define ANY_quern_dlpack_use_engine             1

/* engines */
#define GOOD_quern_allocator_from_library_path     "libm.so.6" /* nobody asks it for memory */
#define GOOD_quern_allocator_from_library_allocate "sin"
#define GOOD_quern_allocator_from_library_release  "cos"
#define ANY_quern_allocator_from_library_device    ALL
#define GOOD_quern_memory_set_limit_bytes          0
#define ANY_quern_memory_set_limit_bytes           ALL
#define ANY_quern_memory_trim_keep                 ALL
#define GOOD_quern_open_device_options             NULL

/* calls */
#define GOOD_quern_call_n_count                 3
#define GOOD_quern_bind_count                   3
#define GOOD_quern_explain_count                3
#define GOOD_quern_tune_count                   3
#define GOOD_quern_kernel_infer_count           3
#define GOOD_quern_expression_count             3
#define ANY_quern_expression_values             2 /* an array of any engine has a dtype */
#define ANY_quern_kernel_infer_capacity         ALL
#define GOOD_quern_bound_set_array_index        0
#define GOOD_quern_bound_set_array_array        another_none
#define GOOD_quern_function_call_n_values       good_arguments
#define GOOD_quern_module_load_image            ptx
#define GOOD_quern_module_load_bytes            strlen(ptx)
#define GOOD_quern_kernel_get_parameter_index   2
#define GOOD_quern_function_get_parameter_index 0

/* what may be left out, and what has no limits */
#define ANY_quern_cache_clear_removed    ALL
#define ANY_quern_cache_prune_removed    ALL
#define ANY_quern_cache_prune_bytes      ALL
#define ANY_quern_cache_prune_days       ALL
#define ANY_quern_cache_verify_checked   ALL
#define ANY_quern_cache_verify_removed   ALL
#define ANY_quern_cache_verify_progress  ALL
#define ANY_quern_cache_verify_context   ALL
#define ANY_quern_cache_visit_context    ALL
#define ANY_quern_compiler_get_info_load ALL
#define GOOD_quern_compiler_use_path     NULL
#define ANY_quern_compiler_use_path      ALL
/* room for more devices than a machine has */
#define GOOD_quern_device_list_infos               ((quern_device_info[64]){QUERN_DEVICE_INFO_INIT})
#define ANY_quern_device_list_capacity             ALL
#define GOOD_quern_module_function_names_names     ((const char *[4]){NULL})
#define ANY_quern_module_function_names_capacity   ALL
#define GOOD_quern_kernel_sources_sources          ((const char *[4]){NULL})
#define ANY_quern_kernel_sources_capacity          ALL
#define ANY_quern_event_record_stream              1
#define ANY_quern_stream_wait_event_stream         1
#define GOOD_quern_stream_wrap_handle              NULL
#define ANY_quern_stream_wrap_handle               ALL
#define GOOD_quern_stream_wrap_owned_handle        NULL
#define ANY_quern_stream_wrap_owned_handle         ALL
#define GOOD_quern_stream_wrap_owned_context       NULL
#define ANY_quern_stream_wrap_owned_context        ALL
#define ANY_quern_stream_call_context              ALL
#define ANY_quern_graph_launch_stream              1
#define GOOD_quern_stream_capture_stream           fresh(0)
#define ANY_quern_stream_capture_stream            OTHERS
#define GOOD_quern_stream_end_capture_stream       fresh(1)
#define ANY_quern_function_occupancy_block_threads ALL
#define ANY_quern_function_occupancy_shared_bytes  ALL

/* textures: of an engine whose device has them */
#define GOOD_quern_cuda_array_new_engine        quern_array_engine(texels)
#define GOOD_quern_cuda_array_new_ndim          2
#define GOOD_quern_cuda_array_write_on_array    texels
#define GOOD_quern_cuda_array_write_on_stream   NULL
#define ANY_quern_cuda_array_write_on_stream    1
#define GOOD_quern_cuda_array_read_on_array     texels
#define GOOD_quern_cuda_array_read_on_stream    NULL
#define ANY_quern_cuda_array_read_on_stream     1
#define GOOD_quern_texture_new_linear_array     texels
#define GOOD_quern_texture_new_linear_channels  1
#define GOOD_quern_texture_new_pitched_array    texels
#define GOOD_quern_texture_new_pitched_channels 1

/* references: one more for those that take one */
#define GOOD_quern_close_engine                    opened()
#define GOOD_quern_array_release_array             quern_array_retain(x)
#define GOOD_quern_kernel_release_kernel           quern_kernel_retain(kernel)
#define GOOD_quern_bound_release_bound             quern_bound_retain(bound)
#define GOOD_quern_module_release_module           quern_module_retain(module)
#define GOOD_quern_function_release_function       quern_function_retain(function)
#define GOOD_quern_stream_release_stream           quern_stream_retain(stream)
#define GOOD_quern_event_release_event             quern_event_retain(event)
#define GOOD_quern_graph_release_graph             quern_graph_retain(graph)
#define GOOD_quern_cuda_array_release_cuda_array   quern_cuda_array_retain(cuda_array)
#define GOOD_quern_texture_release_texture         quern_texture_retain(texture)
#define GOOD_quern_surface_release_surface         quern_surface_retain(surface)
#define GOOD_quern_explanation_release_explanation quern_explanation_retain(explanation)
#define GOOD_quern_tuning_release_tuning           quern_tuning_retain(tuning)

#endif /* EVERY_OWN_H */
