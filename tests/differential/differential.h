/* SPDX-License-Identifier: MIT
 *
 * differential: the same PTX on the software device and on a GPU. In: a device, the table of cases
 * and the list of single instructions. Out: what each answered, recorded in a folder, or compared
 * with what was recorded there or with another device. A GPU's answers are in golden/.
 *
 *     differential.c  main: options, devices, the loop over cases
 *     cases.c         the table of cases, one line each
 *     arguments.c     "f32=2 &f32[64]edge >f32[64]zero" into parameters and arrays
 *     values.c        numbers by generator and seed
 *     launch.c        one case on one device
 *     results.c       recorded bytes: saved, loaded, compared
 *     forms.c         single instructions: their list, and the loop over it
 *     form_text.c     their PTX, operands and bounds
 */
#ifndef QN_TEST_DIFFERENTIAL_H
#define QN_TEST_DIFFERENTIAL_H

#include "device/device_internal.h"
#include "ptx/lanes/lanes.h"

/* ---- cases ---------------------------------------------------------------------------------- */

typedef struct diff_case {
    const char *name;
    const char *ptx;            /**< NULL: as `name` */
    uint32_t grid[3], block[3]; /**< 0 means 1 */
    uint32_t shared;            /**< dynamic, bytes */
    uint32_t repeat;            /**< launches, each on its own part of every array; 0 means 1 */
    bool cooperative, prints;
    const char *arguments; /**< see arguments.c */
    const char *fails; /**< the launch must fail; on the software device with this in its text */
} diff_case;

extern const diff_case diff_cases[];
extern const size_t diff_case_count;

/* ---- results -------------------------------------------------------------------------------- */

enum { DIFF_COLUMNS = 40 };

/** How an array is compared. Elements of column (index % period) with a bound may differ by that
 * many units in the last place, or by that much absolutely; all others must have equal bits. */
typedef struct diff_bounds {
    uint32_t period;
    double ulps[DIFF_COLUMNS], absolute[DIFF_COLUMNS];
    uint64_t skipped; /**< bit k: element k of the period is not compared */
    bool sorted;      /**< compared as a set: the order depends on the scheduling */
    bool any_nan;     /**< given two NaN, an operation on doubles takes the first operand's, and the
                         GPU's compiler decides which is first */
} diff_bounds;

typedef struct diff_result {
    unsigned char *data;
    size_t bytes;
    char letter;    /**< 'f', 'B' (bfloat16) or another for integers */
    uint32_t width; /**< bytes of an element */
    diff_bounds bounds;
} diff_result;

typedef struct diff_results {
    diff_result *items;
    size_t count;
} diff_results;

void diff_results_free(diff_results *results);
bool diff_results_save(const diff_results *results, const char *folder, const char *name);
/** Data only: the caller's results say how to compare. */
bool diff_results_load(diff_results *results, const char *folder, const char *name);
/** True when equal within bounds; *worst is the largest difference within them, in ulps. Prints the
 * first differences, after `name`, unless the result is standard output. */
bool diff_results_compare(const diff_results *got, const diff_results *wanted, const char *name,
                          double *worst);
/** The distance of two elements of a floating-point type: 0 for equal values or two NaN. */
double diff_ulps(char letter, uint32_t width, uint64_t a, uint64_t b);
double diff_value(char letter, uint32_t width, uint64_t bits);

/* ---- arguments ------------------------------------------------------------------------------ */

enum { DIFF_ARRAYS = 12, DIFF_PARAMETERS = 20, DIFF_PARAMETER_BYTES = 4096, DIFF_POINTERS = 24 };

typedef struct diff_array {
    char letter;
    uint32_t width;
    size_t count; /**< elements of one launch */
    bool is_output;
    int points_at; /**< elements are addresses in this array; -1: they are numbers */
    diff_bounds bounds;
    unsigned char *host;
    void *device;
} diff_array;

typedef struct diff_arguments {
    diff_array arrays[DIFF_ARRAYS];
    size_t array_count;
    unsigned char bytes[DIFF_PARAMETER_BYTES];
    size_t byte_count;
    size_t parameters[DIFF_PARAMETERS]; /**< where each begins */
    size_t parameter_count;
    struct {
        size_t at, array; /**< the address of an array goes to byte `at` */
    } pointers[DIFF_POINTERS];
    size_t pointer_count;
} diff_arguments;

/** False: the text is wrong; standard error says how. */
bool diff_arguments_make(diff_arguments *out, const diff_case *test, uint32_t repeat);
void diff_arguments_free(diff_arguments *arguments);

/* ---- values --------------------------------------------------------------------------------- */

uint64_t diff_random(uint64_t *state);
uint64_t diff_seed(const char *name, uint64_t more);
/** Bits of a number of a type, from what is written for it. */
uint64_t diff_number(char letter, uint32_t width, double value);
/** A value with a trap in it: zeros, infinities, NaN, denormals, extremes; or an ordinary one. */
uint64_t diff_edge(char letter, uint32_t width, uint64_t *state);
/** Fill by generator; *end is after its text. False: not a generator. */
bool diff_fill(diff_array *array, size_t count, const char *generator, const char **end,
               uint64_t seed);

/* ---- launch --------------------------------------------------------------------------------- */

typedef struct diff_device {
    const quern_device_methods *methods;
    quern_device *handle;
    bool is_soft;
} diff_device;

bool diff_device_open(diff_device *device, const char *name);
void diff_device_close(diff_device *device);
/** Where the texts of the cases are, and their architecture: two digits. */
typedef struct diff_texts {
    const char *folder, *arch;
} diff_texts;

/** Run a case. On failure of the launch *error is its text (owned), else NULL. */
bool diff_run(diff_results *out, char **error, const diff_device *device, const diff_case *test,
              const diff_texts *texts);

/* ---- single instructions -------------------------------------------------------------------- */

enum { FORM_VECTORS = 256 };

typedef struct diff_operands {
    uint64_t a[FORM_VECTORS], b[FORM_VECTORS], c[FORM_VECTORS], e[FORM_VECTORS];
} diff_operands;

typedef struct diff_answers {
    uint64_t d[FORM_VECTORS];
    uint64_t flag[FORM_VECTORS]; /**< q of p|q, or the condition code left behind */
} diff_answers;

void diff_form_operands(diff_operands *out, const qn_lane_form *form);
/** Add a kernel k<number> of this one instruction to a module's text. */
void diff_form_text(qn_text *ptx, const qn_lane_form *form, size_t number, int target);
bool diff_form_flags(const qn_lane_form *form);
/** The type of a form's result or sources: 'f', 'B' or an integer's. */
char diff_form_letter(const char *name, bool of_result);
/** Largest error of an approximate form's answer as its documentation has it, in ulps and
 * absolutely; false for a form whose bits are defined. */
bool diff_form_bound(const qn_lane_form *form, double *ulps, double *absolute);

typedef struct diff_forms_options {
    const char *list;             /**< forms.txt: "75 add.f32", "- what.no.ptxas.takes" */
    const char *record, *compare; /**< folders */
    const char *only;             /**< a form's name, or NULL */
    const diff_device *device, *against;
} diff_forms_options;

/** The number of forms that differ; -1: could not run. */
int diff_forms(const diff_forms_options *options);
/** Print one module with the forms named on standard input, for an architecture. */
bool diff_forms_write(int target);

#endif /* QN_TEST_DIFFERENTIAL_H */
