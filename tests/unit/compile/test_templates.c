/* SPDX-License-Identifier: MIT
 *
 * The templates by themselves: NVRTC compiles each from a small file that gives its holes as macros
 * (tests/template), in every form, without a warning and without the engine. Skipped where NVRTC is
 * absent.
 */
#include "compile/compile.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *file;
    const char *form[5]; /* as options */
} cases[] = {
    {"drive_boxed.cu", {NULL}},
    {"drive_boxed_runs.cu", {NULL}},
    {"drive_boxed_words.cu", {NULL}},
    {"drive_elementwise.cu", {NULL}},
    {"drive_phases.cu", {NULL}},
    {"drive_rows.cu", {"-DLANES=1"}},
    {"drive_rows.cu", {"-DLANES=8"}},
    {"drive_slabs.cu", {NULL}},
    {"drive_thin.cu", {NULL}},
    {"drive_tiled.cu", {NULL}},
    {"drive_tiled_packs.cu", {NULL}},
    {"drive_turns.cu", {"-DEARLY=0"}},
    {"drive_turns.cu", {"-DEARLY=1"}},
    {"drive_reduction.cu", {"-DCOLUMNS=0", "-DSPLIT=0", "-DORDERED=0"}},
    {"drive_reduction.cu", {"-DCOLUMNS=0", "-DSPLIT=0", "-DORDERED=1"}},
    {"drive_reduction.cu", {"-DCOLUMNS=0", "-DSPLIT=0", "-DORDERED=0", "-DBATCH=8"}},
    {"drive_reduction.cu", {"-DCOLUMNS=0", "-DSPLIT=1", "-DORDERED=0", "-DHALVES=1"}},
    {"drive_reduction.cu", {"-DCOLUMNS=0", "-DSPLIT=1", "-DORDERED=0"}},
    {"drive_reduction.cu", {"-DCOLUMNS=0", "-DSPLIT=1", "-DORDERED=1"}},
    {"drive_reduction.cu", {"-DCOLUMNS=0", "-DSPLIT=0", "-DORDERED=0", "-DLINED=1"}},
    {"drive_reduction.cu", {"-DCOLUMNS=0", "-DSPLIT=1", "-DORDERED=0", "-DLINED=1"}},
    {"drive_reduction.cu", {"-DCOLUMNS=1", "-DSPLIT=0", "-DORDERED=0"}},
    {"drive_reduction.cu", {"-DCOLUMNS=1", "-DSPLIT=1", "-DORDERED=1"}},
    {"drive_reduction.cu", {"-DCOLUMNS=1", "-DSPLIT=1", "-DORDERED=0", "-DEDGED=1"}},
    {"drive_reduction.cu", {"-DCOLUMNS=0", "-DSPLIT=1", "-DORDERED=0", "-DCHOOSES=1"}},
    {"drive_reduction.cu", {"-DCOLUMNS=1", "-DSPLIT=0", "-DORDERED=0", "-DEDGED=1", "-DCHOOSES=1"}},
    {"drive_reduction_apart.cu", {"-DBATCH=2"}},
    {"drive_reduction_apart.cu", {"-DBATCH=3"}},
    {"drive_reduction_joined.cu", {"-DSPLIT=0", "-DOUTPUTS=1"}},
    {"drive_reduction_joined.cu", {"-DSPLIT=1", "-DOUTPUTS=1"}},
    {"drive_reduction_joined.cu", {"-DSPLIT=1", "-DOUTPUTS=2"}},
    {"drive_reduction_joined.cu", {"-DSPLIT=1", "-DOUTPUTS=2", "-DCHOOSES=1"}},
    {"drive_reduction_phases.cu", {"-DSPLIT=0", "-DRAGGED=1"}},
    {"drive_reduction_phases.cu", {"-DSPLIT=1", "-DRAGGED=0"}},
    {"drive_reduction_phases.cu", {"-DSPLIT=0", "-DRAGGED=1", "-DCHOOSES=1"}},
    {"drive_reduction_search.cu", {"-DSPLIT=0", "-DTURNED=1", "-DKEYS=0"}},
    {"drive_reduction_search.cu", {"-DSPLIT=1", "-DTURNED=0", "-DKEYS=1"}},
    {"drive_reduction_spans.cu", {"-DSPLIT=0", "-DRAGGED=0"}},
    {"drive_reduction_spans.cu", {"-DSPLIT=0", "-DRAGGED=1", "-DCHOOSES=1"}},
    {"drive_reduction_spans.cu", {"-DSPLIT=0", "-DRAGGED=1"}},
    {"drive_reduction_spans.cu", {"-DSPLIT=1", "-DRAGGED=1"}},
    {"drive_reduction_whole.cu", {"-DHELD=held", "-DRELAYED=0"}},
    {"drive_reduction_whole.cu", {"-DHELD=held", "-DRELAYED=1"}},
    {"drive_reduction_whole.cu", {"-DHELD=held", "-DRELAYED=0", "-DHALVES=1"}},
    {"drive_reduction_whole.cu", {"-DHELD=shifted", "-DRELAYED=0"}},
    {"drive_scan.cu", {"-DCOLUMNS=0", "-DBLOCK=0", "-DTILES=0", "-DEXCLUSIVE=0"}},
    {"drive_scan.cu", {"-DCOLUMNS=0", "-DBLOCK=1", "-DTILES=0", "-DEXCLUSIVE=1"}},
    {"drive_scan.cu", {"-DCOLUMNS=0", "-DBLOCK=1", "-DTILES=1", "-DEXCLUSIVE=0"}},
    {"drive_scan.cu", {"-DCOLUMNS=1", "-DBLOCK=1", "-DTILES=0", "-DEXCLUSIVE=1"}},
    {"drive_scan.cu", {"-DCOLUMNS=1", "-DBLOCK=1", "-DTILES=1", "-DEXCLUSIVE=0"}},
    {"drive_images.cu", {"-DKNOWN=0"}},
    {"drive_images.cu", {"-DKNOWN=16"}},
    {"drive_scan_apart.cu", {"-DEXCLUSIVE=0"}},
    {"drive_scan_apart.cu", {"-DEXCLUSIVE=1"}},
    {"drive_scan_boxed.cu", {"-DEXCLUSIVE=0", "-DSTRIPS=0", "-DTILES=0"}},
    {"drive_scan_boxed.cu", {"-DEXCLUSIVE=1", "-DSTRIPS=1", "-DTILES=0"}},
    {"drive_scan_boxed.cu", {"-DEXCLUSIVE=0", "-DSTRIPS=0", "-DTILES=1"}},
    {"drive_scan_descend.cu", {"-DEXCLUSIVE=0"}},
    {"drive_scan_descend.cu", {"-DEXCLUSIVE=1"}},
    {"drive_scan_held.cu", {"-DRAGGED=0", "-DEXCLUSIVE=0"}},
    {"drive_scan_held.cu", {"-DRAGGED=1", "-DEXCLUSIVE=1"}},
    {"drive_scan_packed.cu", {"-DAGAIN=0", "-DEXCLUSIVE=0", "-DWOVEN=1"}},
    {"drive_scan_packed.cu", {"-DAGAIN=1", "-DEXCLUSIVE=1", "-DWOVEN=0"}},
    {"drive_scan_packed.cu", {"-DAGAIN=1", "-DEXCLUSIVE=0", "-DWOVEN=1"}},
    {"drive_scan_parts.cu", {"-DEXCLUSIVE=0"}},
    {"drive_scan_parts.cu", {"-DEXCLUSIVE=1"}},
    {"drive_scan_runs.cu", {"-DEXCLUSIVE=0"}},
    {"drive_scan_runs.cu", {"-DEXCLUSIVE=1"}},
    {"drive_scan_swaths.cu", {"-DEXCLUSIVE=0"}},
    {"drive_scan_swaths.cu", {"-DEXCLUSIVE=1"}},
    {"drive_scan_strips.cu", {"-DLINES=0", "-DHELD=0", "-DEXCLUSIVE=0"}},
    {"drive_scan_strips.cu", {"-DLINES=0", "-DHELD=0", "-DEXCLUSIVE=1"}},
    {"drive_scan_strips.cu", {"-DLINES=0", "-DHELD=1", "-DEXCLUSIVE=0"}},
    {"drive_scan_strips.cu", {"-DLINES=0", "-DHELD=1", "-DEXCLUSIVE=1"}},
    {"drive_scan_strips.cu", {"-DLINES=1", "-DHELD=0", "-DEXCLUSIVE=0"}},
    {"drive_scan_strips.cu", {"-DLINES=1", "-DHELD=0", "-DEXCLUSIVE=1"}},
    {"drive_scan_staged.cu", {"-DALONE=1", "-DCOLUMNS=0", "-DTILES=0", "-DEXCLUSIVE=0"}},
    {"drive_scan_staged.cu", {"-DALONE=1", "-DCOLUMNS=1", "-DTILES=0", "-DEXCLUSIVE=1"}},
    {"drive_scan_staged.cu", {"-DALONE=0", "-DCOLUMNS=0", "-DTILES=0", "-DEXCLUSIVE=1"}},
    {"drive_scan_staged.cu",
     {"-DALONE=0", "-DCOLUMNS=0", "-DTILES=0", "-DEXCLUSIVE=0", "-DPACED=1"}},
    {"drive_scan_staged.cu", {"-DALONE=0", "-DCOLUMNS=0", "-DTILES=1", "-DEXCLUSIVE=0"}},
    {"drive_scan_staged.cu", {"-DALONE=0", "-DCOLUMNS=1", "-DTILES=0", "-DEXCLUSIVE=0"}},
    {"drive_scan_staged.cu", {"-DALONE=0", "-DCOLUMNS=1", "-DTILES=1", "-DEXCLUSIVE=1"}},
};

static void need_nvrtc(void)
{
    qn_compiler_identity identity;
    if (!qn_compiler_find(&identity, NULL)) {
        /* It compiles for real. Under ./dev it never skips: NVRTC is fetched where there is none.
         */
        cr_skip_test("NVRTC is not on this machine");
    }
}

Test(templates, compile_alone, .init = need_nvrtc)
{
    for (size_t c = 0; c < QN_COUNT(cases); c++) {
        char path[4096], source[4200];
        const char *options[8] = {"-I" QUERN_TEMPLATES};
        size_t count = 1;
        for (size_t k = 0; k < QN_COUNT(cases[c].form) && cases[c].form[k]; k++) {
            options[count++] = cases[c].form[k];
        }
        snprintf(path, sizeof path, "%s/%s", QUERN_DRIVERS, cases[c].file);
        snprintf(source, sizeof source, "#include \"%s\"\n", path);
        qn_compile_request request = {.source = source,
                                      .file_name = "template.cu",
                                      .arch = 90,
                                      .kind = QN_IMAGE_PTX,
                                      .minimal = true,
                                      .options = options,
                                      .option_count = (uint32_t)count};
        qn_image image = {0};
        cr_assert_eq(qn_compile(&image, &request, NULL, 0), QUERN_OK, "%s %s: %s", cases[c].file,
                     count > 1 ? options[1] : "", quern_last_error_text());
        cr_expect(strstr(image.data, ".visible .entry ") != NULL, "%s", cases[c].file);
        qn_image_free(&image);
    }
}
