/* SPDX-License-Identifier: MIT
 *
 * Arguments to the device and outputs back. In: parameters with their values taken apart. Out:
 * device arrays; then files and printed arrays.
 *
 * A view is made on the device, over the whole array, so that the kernel really gets its strides. A
 * file in Fortran order becomes a transposed view; nothing is transposed on the host.
 */
#include "files.h"

#include <stdio.h>

#define READ_BYTES (1 << 20) /* of a file at a time: what a core keeps in its cache */

/* Whether the kernel writes into the argument and the result is wanted. */
static bool is_written(const cli_parameter *parameter)
{
    return parameter->output || parameter->value.save || parameter->value.print;
}

static int apply_step(cli_parameter *parameter, unsigned step)
{
    cli_problem problem;
    if (cli_view_apply(&parameter->array, &parameter->value.view, step, is_written(parameter),
                       &problem)) {
        return CLI_OK;
    }
    return problem.text[0]
               ? cli_fail_problem(parameter->name, parameter->lead, parameter->text, &problem)
               : cli_fail_library(parameter->name);
}

/* Read elements [begin, end) of a contiguous array without further dimensions, through `buffer`. */
static int read_part(quern_array *flat, cli_input *in, int64_t begin, int64_t end, void *buffer)
{
    size_t bytes = (size_t)(end - begin) * quern_dtype_size(in->npy.dtype);
    const quern_slice part = {begin, end, 1};
    quern_array *slice = NULL;
    CLI_TRY(cli_input_read(in, buffer, bytes));
    quern_status status = quern_array_slice(&slice, flat, 1, &part);
    if (status == QUERN_OK) {
        status = quern_array_write(slice, buffer, bytes);
    }
    quern_array_release(slice);
    return status == QUERN_OK ? CLI_OK : cli_fail_library(in->name);
}

/* Read the elements of a contiguous array, piece by piece, so that they need not be in host memory
 * all at once. */
static int read_data(quern_array *array, cli_input *in)
{
    int64_t count = quern_array_count(array);
    int64_t most = (int64_t)(READ_BYTES / quern_dtype_size(in->npy.dtype));
    most = count < most ? count : most;
    void *buffer = cli_data_new((size_t)most * quern_dtype_size(in->npy.dtype));
    quern_array *flat = NULL;
    int status = CLI_OK;
    if (!buffer) {
        status = cli_fail("%s: not enough memory", in->name);
    } else if (quern_array_reshape(&flat, array, 1, &count) != QUERN_OK) {
        status = cli_fail_library(in->name);
    }
    for (int64_t at = 0; at < count && status == CLI_OK; at += most) {
        status = read_part(flat, in, at, count - at < most ? count : at + most, buffer);
    }
    quern_array_release(flat);
    cli_data_free(buffer);
    return status == CLI_OK ? cli_input_finish(in) : status;
}

/* Whether an output may be written into the file that is read, which then must not be mapped. */
static bool is_target(const cli_parameters *parameters, const cli_input *in)
{
    struct stat read, saved;
    bool target = fstat(in->file, &read) != 0;
    for (size_t k = 0; k < parameters->count && !target; k++) {
        const char *save = parameters->items[k].value.save;
        target = save && stat(save, &saved) == 0 && saved.st_dev == read.st_dev &&
                 saved.st_ino == read.st_ino;
    }
    return target;
}

/* Let the software device compute on a large file in place, so that only what is used is read.
 * False if the file has to be read. */
static bool map_array(cli_parameter *parameter, const cli_parameters *parameters,
                      quern_engine *engine, cli_input *in, const int64_t *shape)
{
    quern_device_info device = QUERN_DEVICE_INFO_INIT;
    void (*release)(void *);
    void *context;
    bool soft =
        quern_device_get_info(&device, engine) == QUERN_OK && cli_begins_with(device.id, "soft");
    if (!soft || is_written(parameter) || is_target(parameters, in)) {
        return false;
    }
    void *memory = cli_input_map(in, &release, &context);
    if (!memory) {
        return false;
    }
    if (quern_array_wrap(&parameter->array, engine, in->npy.dtype, in->npy.ndim, shape, NULL,
                         memory, release, context) != QUERN_OK) {
        release(context);
        return false;
    }
    return true;
}

/* Make the array whose header was read. */
static int load_array(cli_parameter *parameter, const cli_parameters *parameters,
                      quern_engine *engine, cli_input *in)
{
    const cli_npy *npy = &in->npy;
    int64_t shape[QUERN_MAX_NDIM] = {0};
    for (int k = 0; k < npy->ndim; k++) {
        shape[k] = npy->shape[npy->fortran_order ? npy->ndim - 1 - k : k];
    }
    if (!map_array(parameter, parameters, engine, in, shape)) {
        if (quern_array_new(&parameter->array, engine, npy->dtype, npy->ndim, shape) != QUERN_OK) {
            return cli_fail_library(parameter->name);
        }
        CLI_TRY(read_data(parameter->array, in));
    }
    if (npy->fortran_order) {
        quern_array *stored = parameter->array;
        quern_status status = quern_array_transpose(&parameter->array, stored, NULL);
        quern_array_release(stored);
        return status == QUERN_OK ? CLI_OK : cli_fail_library(parameter->name);
    }
    return CLI_OK;
}

static int load_file(cli_parameter *parameter, const cli_parameters *parameters,
                     quern_engine *engine)
{
    const cli_value *value = &parameter->value;
    cli_input in;
    int status = cli_input_open(&in, parameter->name, value->path, value->member, parameter->dtype);
    if (status == CLI_OK) {
        status = load_array(parameter, parameters, engine, &in);
    }
    cli_input_close(&in);
    return status;
}

static int load(cli_parameter *parameter, const cli_parameters *parameters, quern_engine *engine,
                uint64_t seed, uint64_t stream)
{
    const cli_value *value = &parameter->value;
    if (parameter->allocate || value->kind == CLI_VALUE_DIRECT) {
        return CLI_OK;
    }
    if (value->kind == CLI_VALUE_FILE) {
        CLI_TRY(load_file(parameter, parameters, engine));
    } else {
        const cli_draw draw = {seed, stream, CLI_ANYWHERE};
        if (cli_generator_make(&parameter->array, engine, &value->generator, &draw) != QUERN_OK) {
            return cli_fail_library(parameter->name);
        }
    }
    for (unsigned step = 0; step < value->view.steps; step++) {
        CLI_TRY(apply_step(parameter, step));
    }
    return CLI_OK;
}

int cli_parameters_load(cli_parameters *parameters, quern_engine *engine, uint64_t seed)
{
    for (size_t k = 0; k < parameters->count; k++) {
        CLI_TRY(load(&parameters->items[k], parameters, engine, seed, k));
    }
    return CLI_OK;
}

int cli_parameters_read(cli_parameters *parameters)
{
    for (size_t k = 0; k < parameters->count; k++) {
        cli_parameter *p = &parameters->items[k];
        if (!p->print && !p->value.save) {
            continue;
        }
        p->bytes =
            (size_t)quern_array_count(p->array) * quern_dtype_size(quern_array_dtype(p->array));
        p->result = cli_data_new(p->bytes);
        if (!p->result) {
            return cli_fail("%s: not enough memory for %zu bytes", p->name, p->bytes);
        }
        if (quern_array_read(p->array, p->result, p->bytes) != QUERN_OK) {
            return cli_fail_library(NULL);
        }
    }
    return CLI_OK;
}

/* An output as a file. */
static cli_array_file file_of(const cli_parameter *p)
{
    char *header = cli_alloc(cli_npy_header_room(quern_array_dtype(p->array)));
    size_t length = cli_npy_header(header, quern_array_dtype(p->array), quern_array_ndim(p->array),
                                   quern_array_shape(p->array));
    return (cli_array_file){p->value.save_member, {header, length}, {p->result, p->bytes}};
}

/* Prepare the file of output `first`. An archive is prepared at the first output that goes into it,
 * with all of them. */
static int stage(const cli_parameters *parameters, size_t first)
{
    const cli_parameter *p = &parameters->items[first];
    cli_array_file files[QUERN_MAX_PARAMETERS];
    size_t count = 0;
    for (size_t k = 0; k < parameters->count && p->value.save_member; k++) {
        const cli_parameter *other = &parameters->items[k];
        if (other->value.save_member && other->archive == p->archive) {
            if (k < first) {
                return CLI_OK;
            }
            files[count++] = file_of(other);
        }
    }
    if (p->value.save_member) {
        return cli_archive_stage(p->value.save, files, count);
    }
    cli_array_file file = file_of(p);
    cli_piece *pieces = cli_alloc(2 * sizeof *pieces);
    pieces[0] = file.header;
    pieces[1] = file.data;
    return cli_save_stage(p->value.save, pieces, 2);
}

int cli_parameters_save(const cli_parameters *parameters, bool quiet)
{
    int status = CLI_OK;
    for (size_t k = 0; k < parameters->count && status == CLI_OK; k++) {
        if (parameters->items[k].value.save) {
            status = stage(parameters, k);
        }
    }
    if (status == CLI_OK) {
        status = cli_save_publish(quiet);
    }
    cli_save_discard();
    return status;
}

void cli_parameters_print(const cli_parameters *parameters)
{
    size_t printed = 0;
    for (size_t k = 0; k < parameters->count; k++) {
        printed += parameters->items[k].print;
    }
    for (size_t k = 0; k < parameters->count; k++) {
        const cli_parameter *p = &parameters->items[k];
        if (p->print) {
            cli_print_array(printed > 1 ? cli_sprintf("%s = ", p->name) : "",
                            quern_array_dtype(p->array), quern_array_ndim(p->array),
                            quern_array_shape(p->array), p->result);
        }
    }
}

void cli_parameters_free(cli_parameters *parameters)
{
    for (size_t k = 0; k < parameters->count; k++) {
        quern_array_release(parameters->items[k].array);
        cli_data_free(parameters->items[k].result);
    }
    parameters->count = 0;
}
