/* SPDX-License-Identifier: MIT
 *
 * The array of a generator. In: what generator.c has read, and a seed. Out: an array on the device,
 * whose elements do not depend on where they were made.
 *
 * A GPU makes large arrays itself, by elements.cu. Small ones are made on the host and copied,
 * which takes less time than to compile that kernel; and all those of a software device are made
 * on the host, where its memory is: the processor does that five times as fast as by way of PTX.
 */
#include "embedded/elements.h"
#include "generate.h"

enum {
    THREADS = 256,
    PIECE_BYTES = 1 << 20,
    HOST_BYTES = 4 << 20, /* the host makes so many in the time that a compilation takes */
};

/* ---- on the device -------------------------------------------------------------------------- */

/* Compile the kernel of one kind of recipe and of elements. */
static quern_status compile(quern_function **out, quern_engine *engine, const cli_form *f)
{
    const char *const options[] = {
        "--fmad=false",
        "--device-as-default-execution-space",
        cli_sprintf("-DKIND=%u", f->kind),
        cli_sprintf("-DPART=%u", f->part),
        cli_sprintf("-DWIDTH=%u", f->width),
        cli_sprintf("-DPARTS=%u", f->parts),
        cli_sprintf("-DEXPONENT=%d", f->small.exponent),
        cli_sprintf("-DFRACTION=%d", f->small.fraction),
        cli_sprintf("-DINFINITE=%u", f->small.infinity),
        cli_sprintf("-DSATURATES=%u", f->small.saturates),
    };
    const quern_header header = {"elements.h", qn_embedded_elements_h};
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    quern_module *module = NULL;
    o.options = options;
    o.option_count = CLI_COUNT(options);
    o.file_name = "elements.cu";
    o.headers = &header;
    o.header_count = 1;
    quern_status status = quern_module_new(&module, engine, qn_embedded_elements_cu, &o);
    if (status == QUERN_OK) {
        status = quern_module_function(out, module, "generate");
    }
    quern_module_release(module);
    return status;
}

static quern_status launch(quern_function *function, quern_array *array, const cli_recipe *r)
{
    const uint64_t blocks = (r->bytes + CLI_BLOCK_BYTES - 1) / CLI_BLOCK_BYTES;
    const quern_value values[] = {quern_value_struct(r, sizeof *r), quern_value_array(array)};
    return quern_function_call_n(function, values, CLI_COUNT(values),
                                 &QUERN_GRID((blocks + THREADS - 1) / THREADS, THREADS));
}

/* Make the elements there; false in *done where nothing can be compiled, so that the host has to.
 */
static quern_status make_there(bool *done, quern_array *array, const cli_recipe *recipe)
{
    quern_function *function = NULL;
    quern_status status = compile(&function, quern_array_engine(array), &recipe->form);
    *done = status != QUERN_ERROR_NVRTC_NOT_FOUND && status != QUERN_ERROR_NVRTC;
    if (status == QUERN_OK) {
        status = launch(function, array, recipe);
    }
    quern_function_release(function);
    return *done ? status : QUERN_OK;
}

/* ---- on the host ---------------------------------------------------------------------------- */

/* Bytes [begin, end) of a contiguous array without further dimensions, through `buffer`. */
static quern_status write_piece(quern_array *flat, const cli_recipe *recipe, uint64_t begin,
                                uint64_t end, void *buffer)
{
    const uint64_t size = (uint64_t)recipe->form.width * recipe->form.parts;
    const quern_slice slice = {(int64_t)(begin / size), (int64_t)(end / size), 1};
    quern_array *piece = NULL;
    cli_recipe_follow(buffer, recipe, begin, end - begin);
    quern_status status = quern_array_slice(&piece, flat, 1, &slice);
    if (status == QUERN_OK) {
        status = quern_array_write(piece, buffer, (size_t)(end - begin));
    }
    quern_array_release(piece);
    return status;
}

/* Piece by piece, so that they need not be in host memory all at once. */
static quern_status make_here(quern_array *array, const cli_recipe *recipe)
{
    const int64_t count = quern_array_count(array);
    const uint64_t most = recipe->bytes < PIECE_BYTES ? recipe->bytes : PIECE_BYTES;
    void *buffer = cli_alloc((size_t)most + 1);
    quern_array *flat = NULL;
    quern_status status = quern_array_reshape(&flat, array, 1, &count);
    for (uint64_t at = 0; at < recipe->bytes && status == QUERN_OK; at += most) {
        const uint64_t left = recipe->bytes - at;
        status = write_piece(flat, recipe, at, at + (left < most ? left : most), buffer);
    }
    quern_array_release(flat);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------ */

/* The one element that all are. */
static quern_status fill(quern_array *array, const cli_generator *g)
{
    uint64_t element[2] = {0, 0}; /* room for the largest element there is */
    cli_generator_element(element, g);
    return quern_array_fill(array, element, quern_dtype_size(g->dtype));
}

static quern_status make(quern_array *array, const cli_generator *g, const cli_draw *draw)
{
    bool done = false;
    cli_recipe recipe;
    if (g->kind == CLI_EMPTY) {
        return QUERN_OK;
    }
    if (cli_generator_is_uniform(g)) {
        return fill(array, g);
    }
    cli_recipe_of(&recipe, g, draw->seed, draw->stream);
    const bool here = recipe.bytes <= HOST_BYTES || quern_array_host_pointer(array);
    if (draw->place == CLI_ON_DEVICE || (draw->place == CLI_ANYWHERE && !here)) {
        quern_status status = make_there(&done, array, &recipe);
        if (status != QUERN_OK || done) {
            return status;
        }
    }
    return make_here(array, &recipe);
}

quern_status cli_generator_make(quern_array **out, quern_engine *engine, const cli_generator *g,
                                const cli_draw *draw)
{
    quern_status status = quern_array_new(out, engine, g->dtype, g->ndim, g->shape);
    if (status == QUERN_OK) {
        status = make(*out, g, draw);
    }
    if (status != QUERN_OK) {
        quern_array_release(*out);
        *out = NULL;
    }
    return status;
}
