/* SPDX-License-Identifier: MIT
 *
 * values: what the command makes of an argument, compared with NumPy. In: `table_values FILE`,
 * lines of cases.py; the device from QUERN_DEVICE. Each value is parsed, generated and viewed as an
 * input, and once more in place, as an output, where a step that copies has to be refused; and all
 * of that with arrays made on the host and with arrays made on the device. Out: a
 * line for each value that differs, and one with how many there were; status 1 if any differs.
 */
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One line of the file, its fields apart. */
typedef struct line {
    const char *text, *dtype, *shape, *hash, *sharing;
} line;

static line split(char *text)
{
    const char *fields[5] = {"", "", "", "", ""};
    text[strcspn(text, "\n")] = 0;
    for (int k = 0; k < 5 && text; k++) {
        fields[k] = text;
        text = strchr(text, '\t');
        if (text) {
            *text++ = 0;
        }
    }
    return (line){fields[0], fields[1], fields[2], fields[3], fields[4]};
}

static void stop(const char *what)
{
    fprintf(stderr, "%s: %s", what, quern_last_error_text());
    exit(1);
}

/* The array of a value; NULL where it is refused, with the reason in *problem. */
static quern_array *make(quern_engine *engine, const char *text, bool in_place,
                         const cli_draw *draw, cli_problem *problem)
{
    cli_value value;
    if (!cli_value_parse(&value, text, problem)) {
        return NULL;
    }
    quern_array *array;
    if (cli_generator_make(&array, engine, &value.generator, draw) != QUERN_OK) {
        stop(text);
    }
    for (unsigned step = 0; step < value.view.steps; step++) {
        if (!cli_view_apply(&array, &value.view, step, in_place, problem)) {
            if (!problem->text[0]) {
                stop(text);
            }
            quern_array_release(array);
            return NULL;
        }
    }
    return array;
}

/* ---- what NumPy said ------------------------------------------------------------------------ */

/* Every NaN the same. */
static void settle_nans(void *data, quern_dtype dtype, int64_t count)
{
    bool single = dtype == QUERN_FLOAT32 || dtype == QUERN_COMPLEX64;
    int64_t parts = dtype >= QUERN_COMPLEX64 ? 2 * count : count;
    if (dtype < QUERN_FLOAT16) {
        return;
    }
    for (int64_t k = 0; k < parts; k++) {
        uint16_t *half = (uint16_t *)data + k;
        float *f = (float *)data + k;
        double *d = (double *)data + k;
        if (dtype == QUERN_FLOAT16) {
            *half = (*half & 0x7fff) > 0x7c00 ? 0x7e00 : *half;
        } else if (single && isnan(*f)) {
            memcpy(f, &(uint32_t){0x7fc00000}, sizeof *f);
        } else if (!single && isnan(*d)) {
            memcpy(d, &(uint64_t){UINT64_C(0x7ff8) << 48}, sizeof *d);
        }
    }
}

static uint64_t hash_of(quern_array *array)
{
    int64_t count = quern_array_count(array);
    size_t bytes = (size_t)count * quern_dtype_size(quern_array_dtype(array));
    unsigned char *data = cli_data_new(bytes);
    if (quern_array_read(array, data, bytes) != QUERN_OK) {
        stop("reading");
    }
    settle_nans(data, quern_array_dtype(array), count);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t k = 0; k < bytes; k++) {
        hash = (hash ^ data[k]) * UINT64_C(0x100000001b3);
    }
    cli_data_free(data);
    return hash;
}

static bool same_shape(quern_array *array, const char *expected)
{
    const char *text = quern_array_ndim(array) == 0 ? "()" : "";
    for (int k = 0; k < quern_array_ndim(array); k++) {
        text =
            cli_sprintf("%s%s%lld", text, k > 0 ? "x" : "", (long long)quern_array_shape(array)[k]);
    }
    return strcmp(text, expected) == 0;
}

static bool is_as_said(quern_array *array, const line *said)
{
    return strcmp(quern_dtype_name(quern_array_dtype(array)), said->dtype) == 0 &&
           same_shape(array, said->shape) && hash_of(array) == strtoull(said->hash, NULL, 16);
}

/* NumPy allows addresses that are not multiples of the element's size; no GPU does. */
static bool may_be_misaligned(const line *said)
{
    return strstr(said->text, ".view(") != NULL;
}

static const char *compare(quern_engine *engine, const line *said, const cli_draw *draw)
{
    static cli_problem problem; /* its text may be what is returned */
    problem = (cli_problem){0};
    bool refused = strcmp(said->dtype, "error") == 0;
    quern_array *array = make(engine, said->text, false, draw, &problem);
    if (!array || refused) {
        quern_array_release(array);
        bool placed =
            array || (problem.begin < problem.end && problem.end <= strlen(said->text) + 1);
        return refused && !array ? (placed ? NULL : "the place is wrong")
                                 : (array ? "is taken" : problem.text);
    }
    const char *wrong = is_as_said(array, said) ? NULL : "differs";
    quern_array_release(array);
    if (wrong || !*said->sharing) {
        return wrong;
    }
    array = make(engine, said->text, true, draw, &problem);
    bool is_view = strcmp(said->sharing, "view") == 0;
    if (array && (!is_view || !is_as_said(array, said))) {
        wrong = "in place, a copy is taken";
    } else if (!array && is_view && !may_be_misaligned(said)) {
        wrong = "in place, a view is refused";
    }
    quern_array_release(array);
    return wrong;
}

int main(int argc, char **argv)
{
    quern_engine *engine;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    char text[1024];
    long count = 0, failed = 0;
    if (!file) {
        fprintf(stderr, "usage: table_values FILE\n");
        return 2;
    }
    if (quern_open(&engine, NULL) != QUERN_OK) {
        stop("engine");
    }
    while (fgets(text, sizeof text, file)) {
        line said = split(text);
        count++;
        for (int there = 0; there < 2; there++) {
            const cli_draw draw = {.place = there ? CLI_ON_DEVICE : CLI_ON_HOST};
            const char *wrong = compare(engine, &said, &draw);
            if (wrong) {
                failed++;
                printf("FAILED %s, made on the %s: %s\n", said.text, there ? "device" : "host",
                       wrong);
            }
        }
        cli_free_all();
    }
    fclose(file);
    quern_close(engine);
    printf("%ld values, %ld failed\n", count, failed);
    return count == 0 || failed > 0;
}
